// SPDX-License-Identifier: Apache-2.0
// Linear factors of everything, then one element and colour at a time.
#include "controller/plan/verify/passages.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {
namespace {

/// linear() of values of which few differ.
class LinearTable {
 public:
  double operator()(Db gain) {
    Entry& entry = entries_[static_cast<std::uint32_t>(gain.centi) % entries_.size()];
    if (entry.gain != gain) {
      entry = {gain, linear(gain)};
    }
    return entry.factor;
  }

 private:
  struct Entry {
    Db gain{0};
    double factor = 1;
  };
  std::array<Entry, 64> entries_;
};

}  // namespace

bool resonates(const RingFilter& ring, std::optional<Frequency> resonance, Frequency light) {
  std::int64_t distance = std::llabs(light.mhz - resonance.value_or(ring.cold_resonance).mhz);
  if (const std::int64_t range = ring.free_spectral_range.mhz; range > 0) {
    distance %= range;
    distance = std::min(distance, range - distance);
  }
  return distance <= ring.fwhm.mhz / 2;
}

Passages::Passages(const Fabric& fabric, const LightOrder& order, const Settings& settings, Faults& faults)
    : fabric_(fabric), order_(order), settings_(settings), faults_(faults), leak_exits_(fabric.elements.size()) {
  for (const Source& source : settings.sources) {
    for (const Emission& emission : source.emissions) {
      colours_.push_back(emission.laser.slot);
    }
  }
  std::sort(colours_.begin(), colours_.end());
  colours_.erase(std::unique(colours_.begin(), colours_.end()), colours_.end());
  measure();
  find_acting();
}

std::uint16_t Passages::colour_of(FrequencySlot slot) const {
  return static_cast<std::uint16_t>(std::lower_bound(colours_.begin(), colours_.end(), slot) - colours_.begin());
}

FrequencyOffset Passages::width_of_signal(const Cell& cell) const {
  return std::get<Transmitter>(fabric_.elements[cell.source].kind).signal_width;
}

bool Passages::touch(const Cell& a, const Cell& b) const {
  return magnitude(centre_of(colours_[a.colour]) - centre_of(colours_[b.colour])).mhz <
         (width_of_signal(a).mhz + width_of_signal(b).mhz) / 2;
}

/// Of one input, with filters behind it, nothing that leaks is ever heard: no light of the same colour is there. A receiver
/// right behind it receives all colours.
bool Passages::leak_is_received(const Element& grating) const {
  if (grating.inputs > 1) {
    return true;
  }
  const auto& outputs = fabric_.fibre_out[grating.id.value];
  return std::any_of(outputs.begin(), outputs.end(), [&](const std::optional<FibreId>& fibre) {
    return fibre && std::holds_alternative<Receiver>(fabric_.element(fabric_.fibres[fibre->value].to.element).kind);
  });
}

/// Linear factors of everything.
void Passages::measure() {
  LinearTable factor;
  for (const Element& element : fabric_.elements) {
    const Db gain = settings_.gains[element.id.value] - element.insertion_loss;
    double leak = 0;
    double drop = 1;
    if (const auto* switching = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
      leak = factor(gain - switching->isolation);
      if (settings_.wss[element.id.value] != nullptr) {
        leak_exits_[element.id.value] = leak_exits_of(element, *settings_.wss[element.id.value]);
      }
    } else if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind);
               grating && leak_is_received(element)) {
      leak = factor(gain - grating->isolation);
    } else if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
      leak = ring->isolation > Db{0} ? factor(gain - ring->isolation) : 0;
      drop = factor(gain - ring->drop_loss);
    }
    pass_factor_.push_back(factor(gain));
    drop_factor_.push_back(drop);
    leak_factor_.push_back(leak);
  }
}

/// Whatever comes to a ring comes in one of few colours, and again and again; and few rings differ.
void Passages::find_acting() {
  words_ = (colours_.size() + 63) / 64;
  acting_.resize(order_.elements.size() * words_);
  along_.resize(order_.elements.size());
  struct Alike {
    std::int64_t resonance = 0;
    FrequencyOffset fwhm;
    FrequencyOffset range;
    bool operator==(const Alike&) const = default;
  };
  struct Known {
    Alike alike;
    std::size_t place;  ///< of one that was looked at
  };
  std::array<std::optional<Known>, 256> known;
  for (std::size_t place = 0; place < order_.elements.size(); ++place) {
    const ElementId id = order_.elements[place];
    const auto* ring = std::get_if<RingFilter>(&fabric_.element(id).kind);
    if (ring == nullptr) {
      continue;
    }
    const auto& through = fabric_.fibre_out[id.value][0];
    along_[place] = through ? pass_factor_[id.value] * order_.fibre_factor[through->value] : 0;
    const auto resonance = settings_.resonances[id.value];
    const Alike alike{resonance.value_or(ring->cold_resonance).mhz, ring->fwhm, ring->free_spectral_range};
    auto& like = known[static_cast<std::uint64_t>(alike.resonance) / 1'000 % known.size()];
    const auto words = acting_.begin() + static_cast<std::ptrdiff_t>(place * words_);
    if (like && like->alike == alike) {
      std::copy_n(acting_.begin() + static_cast<std::ptrdiff_t>(like->place * words_), words_, words);
      continue;
    }
    for (std::size_t colour = 0; colour < colours_.size(); ++colour) {
      if (resonates(*ring, resonance, centre_of(colours_[colour]))) {
        words[static_cast<std::ptrdiff_t>(colour / 64)] |= 1ULL << (colour % 64);
      }
    }
    like = Known{alike, place};
  }
}

/// Leaks are many and need no passband: their exits are looked up. By input and colour; -1 where no route is open.
std::vector<std::int32_t> Passages::leak_exits_of(const Element& element, const WavelengthSwitchSetpoint& setpoint) const {
  std::vector<std::int32_t> exits(element.inputs * colours_.size(), -1);
  for (const WssRoute& route : setpoint.routes) {
    const FrequencySlot lowest{route.slot.n - route.slot.m - kWidestSlot, 0};
    for (auto at = std::lower_bound(colours_.begin(), colours_.end(), lowest);
         at != colours_.end() && at->n <= route.slot.n + route.slot.m + kWidestSlot; ++at) {
      if (overlaps(*at, route.slot)) {
        exits[route.input * colours_.size() + static_cast<std::size_t>(at - colours_.begin())] = route.output;
      }
    }
  }
  return exits;
}

Passage Passages::at(const Element& element, PortNumber input, const Cell& cell) const {
  if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
    return at_wss(element, *wss, input, cell);
  }
  if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
    return at_ring(element, *ring, input, cell);
  }
  if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
    return at_grating(element, *grating, input, cell);
  }
  Passage way{-1, pass_factor_[element.id.value], 0};
  if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    const std::vector<std::int32_t>& output_of = settings_.ocs[element.id.value];
    way.output = output_of.empty() ? -1 : output_of[input];
  } else if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
    way.output = input < panel->wiring.size() ? panel->wiring[input] : -1;
  } else if (!std::holds_alternative<PacketSwitch>(element.kind)) {
    way.output = kEveryOutput;  // coupler and tap; amplifier and attenuator have one
  }
  return way;
}

Passage Passages::at_grating(const Element& element, const ArrayedWaveguideGrating& grating, PortNumber input,
                             const Cell& cell) const {
  const std::int32_t channel = grating.channels.channel_of(colours_[cell.colour]);
  if (cell.signals > 0 && channel < 0) {
    faults_.add(rules::kAliasing, [&] {
      return format_text("{}: light at {} is none of its channels and would leave by another order", element.name,
                         to_string(centre_of(colours_[cell.colour])));
    });
  }
  if (cell.signals > 0 && grating.passband < width_of_signal(cell)) {
    faults_.add(rules::kPassband, [&] {
      return format_text("{} passes {} MHz of a signal of {} MHz", element.name, grating.passband.mhz,
                         width_of_signal(cell).mhz);
    });
  }
  return {channel < 0 ? -1 : (channel + input) % element.outputs, pass_factor_[element.id.value],
          leak_factor_[element.id.value]};
}

Passage Passages::at_wss(const Element& element, const WavelengthSelectiveSwitch& wss, PortNumber input,
                         const Cell& cell) const {
  Passage way{-1, pass_factor_[element.id.value], leak_factor_[element.id.value]};
  const WavelengthSwitchSetpoint* setpoint = settings_.wss[element.id.value];
  if (setpoint == nullptr) {
    return way;
  }
  const FrequencySlot slot = colours_[cell.colour];
  if (cell.signals == 0) {
    way.output = leak_exits_[element.id.value][input * colours_.size() + cell.colour];
    return way;
  }
  each_overlapping(setpoint->routes, input, slot, [&](const WssRoute& route) {
    const std::int64_t half = width_of_signal(cell).mhz / 2;
    const bool fits = centre_of(slot).mhz - half >= lower_edge_of(route.slot).mhz + wss.passband_edge.mhz &&
                      centre_of(slot).mhz + half <= upper_edge_of(route.slot).mhz - wss.passband_edge.mhz;
    if (fits) {
      way.output = route.output;
      way.factor = pass_factor_[element.id.value] * linear(-route.attenuation);
    } else {
      faults_.add(rules::kPassband, [&] {
        return format_text("{}: a signal of {} MHz at {} does not fit its slot at {} of {} MHz less its edges", element.name,
                           2 * half, to_string(centre_of(slot)), to_string(centre_of(route.slot)), width_of(route.slot).mhz);
      });
    }
  });
  return way;
}

Passage Passages::at_ring(const Element& element, const RingFilter& ring, PortNumber input, const Cell& cell) const {
  if (!acts(order_.place[element.id.value], cell.colour)) {
    return {input == 0 ? 0 : -1, pass_factor_[element.id.value], 0};
  }
  const Frequency light = centre_of(colours_[cell.colour]);
  const auto resonance = settings_.resonances[element.id.value];
  if (cell.signals > 0 && ring.fwhm < width_of_signal(cell)) {
    faults_.add(rules::kPassband, [&] {
      return format_text("{}{}{} MHz of a signal of {} MHz", element.name, input == 0 ? " drops " : " adds ", ring.fwhm.mhz,
                         width_of_signal(cell).mhz);
    });
  }
  if (const auto distance = magnitude(light - resonance.value_or(ring.cold_resonance));
      cell.signals > 0 && distance.mhz > ring.fwhm.mhz / 2) {
    faults_.add(rules::kAliasing, [&] {
      return format_text(
          "{}: light at {} meets another order of it, {} MHz beside the resonance that is set; its free spectral range is {} "
          "MHz",
          element.name, to_string(light), distance.mhz, ring.free_spectral_range.mhz);
    });
  }
  return {input == 0 ? 1 : 0, drop_factor_[element.id.value], leak_factor_[element.id.value]};
}

}  // namespace loom::verifying
