// SPDX-License-Identifier: Apache-2.0
// Counts. Electrical trees are counted on the network that the arena plays, the others by their architecture's arithmetic.
#include "controller/arena/cost/bill.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "controller/architectures/electrical/fat_tree.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/sip_ml/episode.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/workload/quantity_text.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kInterfacesMost = 64;
constexpr std::string_view kPanels = "topoopt-panels";

/// Settings and counts of one bill; the first error is kept.
struct Counter {
  const BillTerms& terms;
  Bill bill{};
  std::optional<Error> error{};

  std::uint32_t setting(std::string_view key, std::int64_t absent, std::int64_t least, std::int64_t most) {
    const auto value = whole_number(terms.settings, key, absent, least, most);
    if (!value) {
      error = value.error();
    }
    return static_cast<std::uint32_t>(value ? *value : absent);
  }
  BitRate part_of_rate(std::uint32_t parts) const { return {terms.rate.bits_per_second / parts}; }
  void add(Part part, double count, BitRate rate = {}) {
    const auto same =
        std::ranges::find_if(bill.lines, [&](const BillLine& line) { return line.part == part && line.rate == rate; });
    if (same != bill.lines.end()) {
      same->count += count;
    } else if (count > 0) {
      bill.lines.push_back({part, rate, count});
    }
  }
  /// Duplex runs of fibre.
  void add_fibre(double links) { add(Part::fibre_m, links * terms.fibre_metres); }
};

/// Planes of one tree each: every link has a port and a transceiver at either end.
void count_tree(Counter& counter, double oversubscription) {
  const BillTerms& terms = counter.terms;
  FatTreeShape shape;
  shape.radix = counter.setting("radix", 0, 0, 65'536);
  const auto over = number(terms.settings, "oversubscription", oversubscription, 1, 1'000);
  const auto ratio = number(terms.settings, "cost_ratio", 1, 1e-3, 1);
  if (!over || !ratio) {
    counter.error = over ? ratio.error() : over.error();
    return;
  }
  shape.oversubscription = *over;
  const BitRate edge{std::llround(static_cast<double>(counter.part_of_rate(terms.interfaces).bits_per_second) * *ratio)};
  const BitRate above{std::llround(static_cast<double>(edge.bits_per_second) / *over)};
  const auto network = make_fat_tree({.nodes = terms.nodes, .rate = edge}, shape);
  if (!network) {
    counter.error = network.error();
    return;
  }
  double uplinks = 0;
  for (const NetworkLink& link : network->links) {
    uplinks += link.from >= terms.nodes && link.to >= terms.nodes ? 0.5 : 0;  // one each way
  }
  const double planes = terms.interfaces;
  const double servers = planes * terms.nodes;
  counter.add(Part::nic_port, servers, edge);
  counter.add(Part::switch_port, servers, edge);
  counter.add(Part::transceiver, 2 * servers, edge);
  counter.add(Part::switch_port, 2 * planes * uplinks, above);
  counter.add(Part::transceiver, 2 * planes * uplinks, above);
  counter.add_fibre(servers + planes * uplinks);
  counter.bill.counted = format_text(
      "{} plane(s) of the tree that is played, {} servers and {} links between switches in each; a port and a transceiver at "
      "both ends of a link",
      terms.interfaces, terms.nodes, std::llround(uplinks));
}
void count_full_tree(Counter& counter) { count_tree(counter, 1); }
void count_oversubscribed_tree(Counter& counter) { count_tree(counter, 2); }

/// NIC ports and transceivers of direct connections; returns how many.
double count_interfaces(Counter& counter, std::uint32_t degree) {
  const double interfaces = static_cast<double>(counter.terms.nodes) * degree;
  counter.add(Part::nic_port, interfaces, counter.part_of_rate(degree));
  counter.add(Part::transceiver, interfaces, counter.part_of_rate(degree));
  return interfaces;
}

void count_direct(Counter& counter, std::uint32_t degree) {
  counter.add_fibre(count_interfaces(counter, degree) / 2);
  counter.bill.counted = format_text("{} interfaces a server, joined directly", degree);
}
void count_expander(Counter& counter) { count_direct(counter, counter.setting("degree", 4, 2, kInterfacesMost)); }
void count_ring(Counter& counter) { count_direct(counter, 2); }

void count_circuit_switched(Counter& counter) {
  const std::uint32_t degree = counter.setting("degree", 4, 1, kInterfacesMost);
  const double interfaces = count_interfaces(counter, degree);
  counter.add(Part::ocs_port, interfaces);
  counter.add_fibre(interfaces);
  counter.bill.counted = format_text("{} interfaces a server, each on a port of a circuit switch", degree);
}

void count_panels(Counter& counter) {
  const std::uint32_t degree = counter.setting("degree", 4, 1, kInterfacesMost);
  const double interfaces = count_interfaces(counter, degree);
  counter.add(Part::switch_1x2, interfaces);
  counter.add(Part::patch_panel_port, 2 * interfaces);
  counter.add_fibre(interfaces);
  counter.bill.counted =
      format_text("{} interfaces a server, each through a 1x2 switch on a port of an active and of a look-ahead panel", degree);
}

void count_sip_ring(Counter& counter) {
  const auto wavelengths = static_cast<std::uint32_t>(wavelengths_of(counter.terms.rate));
  const std::uint32_t rings = sip_rings_of(wavelengths);
  counter.add(Part::sip_wavelength, static_cast<double>(counter.terms.nodes) * wavelengths);
  const double hop_metres = static_cast<double>(SipRingParameters{}.hop_length_mm) / 1e3;
  counter.add(Part::fibre_m, static_cast<double>(rings) * counter.terms.nodes * hop_metres);
  counter.bill.counted = format_text("{} wavelengths of 25 Gb/s a server on {} rings, {} m of fibre a hop", wavelengths, rings,
                                     std::llround(hop_metres));
}

void count_sip_ocs(Counter& counter) {
  const std::uint32_t switches = counter.setting("switches", 20, 1, 4'096);
  const double ports = static_cast<double>(counter.terms.nodes) * switches;
  const double each = std::max(1.0, std::ceil(wavelengths_of(counter.part_of_rate(switches))));
  counter.add(Part::sip_wavelength, ports * each);
  counter.add(Part::ocs_port, ports);
  counter.add_fibre(ports);
  counter.bill.counted = format_text("a port of each of {} circuit switches a server, {} wavelength(s) of 25 Gb/s on each",
                                     switches, std::llround(each));
}

/// Lasers and wavelength switches of the fabric that the arena lights.
void count_oddl(Counter& counter) {
  OddlParameters parameters;
  parameters.group_size = counter.setting("group_size", parameters.group_size, 1, 1'024);
  parameters.nodes = (counter.terms.nodes + parameters.group_size - 1) / parameters.group_size * parameters.group_size;
  parameters.channels = std::max(parameters.channels, static_cast<std::int32_t>(parameters.group_size));
  parameters.rate = counter.terms.rate;
  if (counter.error) {
    return;
  }
  const Fabric fabric = make_oddl(parameters);
  double lasers = 0;
  double ports = 0;
  for (const Element& element : fabric.elements) {
    lasers += std::holds_alternative<Transmitter>(element.kind) ? 1 : 0;
    ports += std::holds_alternative<WavelengthSelectiveSwitch>(element.kind) ? element.inputs + element.outputs : 0;
  }
  counter.add(Part::nic_port, lasers, parameters.rate);
  counter.add(Part::transceiver, lasers, parameters.rate);
  counter.add(Part::tunable_laser, lasers);
  counter.add(Part::wss_port, ports);
  counter.add_fibre(lasers);
  counter.bill.counted =
      format_text("reconstruction: {} servers in groups of {}; couplers, gratings and amplifiers are not counted",
                  parameters.nodes, parameters.group_size);
}

struct Entry {
  std::string_view fabric;
  void (*count)(Counter&);
  bool is_by_rate = false;
  std::uint32_t degree = 0;  ///< where the setting is absent; 0: has none
};
constexpr std::array<Entry, 10> kBills{{{"fat-tree", count_full_tree, true, 0},
                                        {"fat-tree-oversub", count_oversubscribed_tree, true, 0},
                                        {"expander", count_expander, true, 4},
                                        {"ring", count_ring, true, 2},
                                        {"topoopt", count_circuit_switched, false, 4},
                                        {kPanels, count_panels, false, 4},
                                        {"ocs-reconfig", count_circuit_switched, false, 4},
                                        {"sip-ring", count_sip_ring, false, 0},
                                        {"sip-ocs", count_sip_ocs, false, 0},
                                        {"oddl", count_oddl, false, 0}}};

const Entry* entry_of(std::string_view fabric) {
  const auto found = std::ranges::find(kBills, fabric, &Entry::fabric);
  return found == kBills.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string_view> billed_fabrics() {
  std::vector<std::string_view> names;
  for (const Entry& each : kBills) {
    names.push_back(each.fabric);
  }
  return names;
}

bool is_bought_by_rate(std::string_view fabric) {
  const Entry* entry = entry_of(fabric);
  return entry != nullptr && entry->is_by_rate;
}

Result<std::uint32_t> interfaces_of(std::string_view fabric, const BillTerms& terms) {
  const Entry* entry = entry_of(fabric);
  if (entry == nullptr || entry->degree == 0) {
    return terms.interfaces;
  }
  const auto degree = whole_number(terms.settings, "degree", entry->degree, 1, kInterfacesMost);
  return degree ? Result<std::uint32_t>(static_cast<std::uint32_t>(*degree)) : std::unexpected(degree.error());
}

Result<Bill> bill_of(std::string_view fabric, const BillTerms& terms) {
  const Entry* entry = entry_of(fabric);
  if (entry == nullptr) {
    std::string known;
    for (const Entry& each : kBills) {
      known += format_text("{}{}", known.empty() ? "" : ", ", each.fabric);
    }
    return fail(ErrorCode::unsupported,
                fabric == "ideal-switch"
                    ? std::string("ideal-switch: no bill: a switch of so many ports is not sold")
                    : format_text("{}: no bill of materials; there are those of {}", fabric.substr(0, 128), known));
  }
  Counter counter{terms};
  entry->count(counter);
  if (counter.error) {
    return std::unexpected(*std::move(counter.error));
  }
  return std::move(counter.bill);
}

Result<Cost> cost_of(const Bill& bill, const PriceList& prices) {
  Cost cost;
  cost.counted = bill.counted;
  for (const BillLine& line : bill.lines) {
    const auto unit = price_of(prices, line.part, line.rate);
    if (!unit) {
      return std::unexpected(unit.error());
    }
    cost.lines.push_back({line, *unit, line.count * unit->price});
    cost.total += cost.lines.back().total;
  }
  return cost;
}

Result<BitRate> rate_bought(std::string_view fabric, const BillTerms& terms, const PriceList& prices, double sum) {
  const auto cost_at = [&](std::int64_t bits_per_second) -> Result<double> {
    BillTerms own = terms;
    own.rate = {bits_per_second};
    const auto bill = bill_of(fabric, own);
    const auto cost = bill ? cost_of(*bill, prices) : Result<Cost>(std::unexpected(bill.error()));
    return cost ? Result<double>(cost->total) : std::unexpected(cost.error());
  };
  constexpr std::int64_t kStep = 1'000'000;
  const auto interfaces = interfaces_of(fabric, terms);
  if (!interfaces) {
    return std::unexpected(interfaces.error());
  }
  // Links above an oversubscribed edge are slower than the edge's; what is asked for lies above the least rate of all.
  const auto over = fabric == "fat-tree-oversub" ? number(terms.settings, "oversubscription", 2, 1, 1'000)
                                                 : number(terms.settings, "oversubscription", 1, 1, 1'000);
  const double least_of_link = static_cast<double>(least_rate(prices).bits_per_second) * (over ? *over : 1);
  std::int64_t low = static_cast<std::int64_t>(std::ceil(least_of_link / kStep)) * *interfaces;  // in steps
  low = std::max<std::int64_t>(low, 1);
  const auto least = cost_at(low * kStep);
  if (!least) {
    return std::unexpected(least.error());
  }
  if (*least > sum) {
    return fail(ErrorCode::infeasible, format_text("{}: at {} a server, the least rate that is sold, it costs more than that",
                                                   fabric, text_of(BitRate{low * kStep})));
  }
  std::int64_t high = 100'000'000;  // steps: 100 Tb/s
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto cost = cost_at(middle * kStep);
    if (!cost) {
      return std::unexpected(cost.error());
    }
    (*cost <= sum ? low : high) = middle;
  }
  return BitRate{low * kStep};
}

}  // namespace loom
