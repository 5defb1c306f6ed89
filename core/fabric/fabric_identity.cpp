// SPDX-License-Identifier: Apache-2.0
// One overload a kind of element: a field that a plan rests on and that is not folded here would be a difference unseen.
#include "core/fabric/fabric_identity.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>
#include <utility>
#include <variant>

#include "core/digest.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

class Folder {
 public:
  Folder& add(std::string_view text) {
    digest_.add(std::uint64_t{text.size()});
    digest_.add(text);
    return *this;
  }
  Folder& add(std::int64_t number) {
    digest_.add(static_cast<std::uint64_t>(number));
    return *this;
  }
  Folder& add(double number) {
    digest_.add(std::bit_cast<std::uint64_t>(number));
    return *this;
  }
  Folder& add(Duration duration) { return add(std::int64_t{duration.count()}); }
  Folder& add(FrequencyOffset offset) { return add(std::int64_t{offset.mhz}); }
  Folder& add(Frequency frequency) { return add(std::int64_t{frequency.mhz}); }
  Folder& add(Db ratio) { return add(std::int64_t{ratio.centi}); }
  Folder& add(Dbm power) { return add(std::int64_t{power.centi}); }
  Folder& add(BitRate rate) { return add(std::int64_t{rate.bits_per_second}); }
  Folder& add(const ChannelPlan& plan) {
    return add(std::int64_t{plan.first.n})
        .add(std::int64_t{plan.first.m})
        .add(std::int64_t{plan.step_n})
        .add(std::int64_t{plan.count});
  }
  template <class Tag>
  Folder& add(const std::vector<Id<Tag>>& ids) {
    add(static_cast<std::int64_t>(ids.size()));
    for (const auto id : ids) {
      add(std::int64_t{id.value});
    }
    return *this;
  }
  Folder& add(const std::optional<Dbm>& power) { return add(std::int64_t{power ? 1 : 0}).add(power.value_or(Dbm{0})); }
  std::uint64_t value() const { return digest_.value(); }

 private:
  Digest digest_;
};

struct KindFolder {
  Folder& to;

  void operator()(const Transmitter& in) const {
    to.add(in.rate).add(in.signal_width).add(in.launch_power).add(std::int64_t{in.tunable}).add(in.channels);
    to.add(in.retune_max).add(in.blank_max).add(in.enable_max).add(in.control_max);
    to.add(static_cast<std::int64_t>(in.tunes));
  }
  void operator()(const Receiver& in) const { to.add(in.sensitivity).add(in.overload).add(in.acquisition_max); }
  void operator()(const Coupler&) const {}
  void operator()(const WavelengthSelectiveSwitch& in) const {
    to.add(in.isolation).add(in.passband_edge).add(in.settle_max).add(in.reload_dip);
  }
  void operator()(const ArrayedWaveguideGrating& in) const { to.add(in.channels).add(in.passband).add(in.isolation); }
  void operator()(const Amplifier& in) const {
    to.add(in.gain).add(in.input_min).add(in.input_max).add(in.settle_max);
    to.add(in.gain_min.value_or(in.gain)).add(in.gain_max.value_or(in.gain));
  }
  void operator()(const RingFilter& in) const {
    to.add(in.fwhm).add(in.free_spectral_range).add(in.cold_resonance).add(in.mhz_per_milliwatt).add(in.heater_ohm);
    to.add(in.heater_volt_max).add(in.drop_loss).add(in.isolation);
  }
  void operator()(const OpticalCircuitSwitch& in) const { to.add(in.settle_max).add(in.isolation); }
  void operator()(const PatchPanel& in) const {
    to.add(static_cast<std::int64_t>(in.wiring.size()));
    for (const PortNumber port : in.wiring) {
      to.add(std::int64_t{port});
    }
  }
  void operator()(const Attenuator& in) const { to.add(in.loss_max).add(in.loss).add(in.settle_max); }
  void operator()(const Tap&) const {}
  void operator()(const PacketSwitch& in) const { to.add(in.port_rate).add(in.latency); }
};

void fold(Folder& to, const Node& node) {
  to.add(node.name).add(std::int64_t{node.group}).add(node.transmitters).add(node.receivers);
}

void fold(Folder& to, const Element& element) {
  to.add(element.name).add(std::int64_t{element.inputs}).add(std::int64_t{element.outputs}).add(element.insertion_loss);
  to.add(static_cast<std::int64_t>(element.kind.index()));
  std::visit(KindFolder{to}, element.kind);
}

void fold(Folder& to, const Fibre& fibre) {
  for (const PortRef& end : {fibre.from, fibre.to}) {
    to.add(std::int64_t{end.element.value}).add(std::int64_t{end.port});
  }
  to.add(std::int64_t{fibre.length_mm}).add(fibre.loss).add(fibre.power_limit);
}

void fold(Folder& to, const Device& device) {
  to.add(device.name).add(static_cast<std::int64_t>(device.role)).add(std::int64_t{device.agent.value});
  to.add(std::int64_t{device.bus.value}).add(std::int64_t{device.bus_address}).add(device.elements);
  to.add(device.model).add(device.serial);
  for (const DeviceSetting& setting : device.profile) {
    to.add(setting.key);
    std::visit([&](const auto& value) { to.add(value); }, setting.value);
  }
}

std::size_t items_of(const Fabric& fabric) {
  return fabric.nodes.size() + fabric.elements.size() + fabric.fibres.size() + fabric.devices.size();
}

/// Calls `visit` with each item and its place.
template <class Visit>
void for_each_item(const Fabric& fabric, Visit visit) {
  const auto all = [&](const auto& items) {
    for (const auto& item : items) {
      visit(item);
    }
  };
  all(fabric.nodes);
  all(fabric.elements);
  all(fabric.fibres);
  all(fabric.devices);
}

std::string name_of(const Fabric& fabric, std::size_t item) {
  if (item < fabric.nodes.size()) {
    return format_text("node '{}'", fabric.nodes[item].name);
  }
  item -= fabric.nodes.size();
  if (item < fabric.elements.size()) {
    return format_text("element '{}'", fabric.elements[item].name);
  }
  item -= fabric.elements.size();
  if (item < fabric.fibres.size()) {
    const Fibre& fibre = fabric.fibres[item];
    return format_text("the fibre from '{}' to '{}'", fabric.element(fibre.from.element).name,
                       fabric.element(fibre.to.element).name);
  }
  return format_text("device '{}'", fabric.devices[item - fabric.fibres.size()].name);
}

std::size_t step_of(std::size_t items) {
  return std::bit_ceil(std::max<std::size_t>((items + kFabricMarks - 1) / kFabricMarks, 1));
}

std::string counts_that_differ(const FabricIdentity& ours, const FabricIdentity& theirs) {
  const std::pair<const char*, std::uint32_t FabricIdentity::*> kCounts[] = {{"nodes", &FabricIdentity::nodes},
                                                                             {"elements", &FabricIdentity::elements},
                                                                             {"fibres", &FabricIdentity::fibres},
                                                                             {"devices", &FabricIdentity::devices}};
  std::string text;
  for (const auto& [word, count] : kCounts) {
    if (ours.*count != theirs.*count) {
      text += format_text("; {} {} here and {} there", ours.*count, word, theirs.*count);
    }
  }
  return text;
}

/// Both mark at multiples of the longer of their steps.
std::string first_difference(const Fabric& fabric, const FabricIdentity& ours, const FabricIdentity& theirs) {
  const std::size_t items = items_of(fabric);
  const std::size_t their_items = std::size_t{theirs.nodes} + theirs.elements + theirs.fibres + theirs.devices;
  const std::size_t our_step = step_of(items);
  const std::size_t their_step = step_of(their_items);
  const std::size_t step = std::max(our_step, their_step);
  for (std::size_t end = step; end - step < items; end += step) {
    const std::size_t mine = end / our_step - 1;
    const std::size_t yours = end / their_step - 1;
    const bool agrees = mine < ours.marks.size() && yours < theirs.marks.size() && ours.marks[mine] == theirs.marks[yours];
    if (!agrees) {
      const std::size_t last = std::min(end, items) - 1;
      return end - step == last ? format_text("; the first difference is {}", name_of(fabric, last))
                                : format_text("; the first difference is between {} and {}", name_of(fabric, end - step),
                                              name_of(fabric, last));
    }
  }
  return {};
}

}  // namespace

FabricIdentity identity_of(const Fabric& fabric) {
  FabricIdentity identity{fabric.name,
                          0,
                          static_cast<std::uint32_t>(fabric.nodes.size()),
                          static_cast<std::uint32_t>(fabric.elements.size()),
                          static_cast<std::uint32_t>(fabric.fibres.size()),
                          static_cast<std::uint32_t>(fabric.devices.size()),
                          {}};
  const std::size_t items = items_of(fabric);
  const std::size_t step = step_of(items);
  Folder folder;
  std::size_t done = 0;
  for_each_item(fabric, [&](const auto& item) {
    fold(folder, item);
    if (++done % step == 0 || done == items) {
      identity.marks.push_back(folder.value());
    }
  });
  folder.add(fabric.name).add(static_cast<std::int64_t>(fabric.return_path)).add(fabric.power_limit).add(fabric.hazard_level);
  folder.add(fabric.times.agent_trip).add(fabric.times.clock_error).add(fabric.times.flight_error);
  identity.digest = folder.value() == 0 ? 1 : folder.value();  // 0 says that it was not said
  return identity;
}

std::string difference_between(const Fabric& ours, const FabricIdentity& theirs) {
  const FabricIdentity own = identity_of(ours);
  if (theirs.digest == 0 || theirs.digest == own.digest) {
    return {};
  }
  const std::string named = own.name == theirs.name ? format_text("fabric '{}'", own.name)
                                                    : format_text("fabric '{}', theirs '{}'", own.name, theirs.name);
  const std::string counts = counts_that_differ(own, theirs);
  std::string first = first_difference(ours, own, theirs);
  if (counts.empty() && first.empty()) {
    first = "; nodes, elements, fibres and devices agree, so a time or a limit of the whole fabric differs";
  }
  return format_text("{} has digest {} here and {} there{}{}", named, digest_text(own.digest), digest_text(theirs.digest),
                     counts, first);
}

std::string digest_text(std::uint64_t digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) {
    text += kDigits[digest >> static_cast<unsigned>(shift) & 0xFU];
  }
  return text;
}

}  // namespace loom
