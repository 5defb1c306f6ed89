// SPDX-License-Identifier: Apache-2.0
// What monitors say of the confirmed plan's light: power by receiver, light that does not arrive, lasers beside their place.
#include <algorithm>
#include <utility>

#include "controller/control/watch/light_watch.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::vector<std::optional<ReceivedPower>>& sized(std::vector<std::optional<ReceivedPower>>& received, const Fabric& fabric) {
  received.resize(fabric.elements.size());
  return received;
}

/// A channel that the reading does not name is dark.
void add_monitor(const Fabric& fabric, const Observation& seen, const MonitorObservation& monitor,
                 std::vector<std::optional<ReceivedPower>>& received) {
  const Device& device = fabric.device(seen.device);
  for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
    const auto is_before = [](const LightReading& light, std::size_t wanted) { return light.channel < wanted; };
    const auto first = std::lower_bound(monitor.lights.begin(), monitor.lights.end(), channel, is_before);
    const auto last = std::lower_bound(first, monitor.lights.end(), channel + 1, is_before);
    Milliwatt sum;
    for (auto light = first; light != last; ++light) {
      sum = sum + to_milliwatt(light->power);
    }
    const bool has_peaks = first != last && first->frequency.mhz != 0;
    received[device.elements[channel].value] =
        ReceivedPower{first == last       ? kNoLight
                      : last - first == 1 ? first->power
                                          : to_dbm(sum),
                      seen.read_at, has_peaks ? std::span<const LightReading>(first, last) : std::span<const LightReading>{}};
  }
}

}  // namespace

bool LightWatch::is_wavemeter(DeviceId monitor) const {
  const Observation* seen = sessions_.observed(monitor);
  const auto* reading = seen == nullptr ? nullptr : std::get_if<MonitorObservation>(&seen->reading);
  return reading != nullptr && reading->is_wavemeter;
}

void LightWatch::gather_received(Sight& sight) const {
  const Fabric& fabric = *facts_.fabric;
  for (const std::optional<Observation>& seen : sight.readings.devices) {
    const bool is_sound = seen && seen->health != DeviceHealth::failed && seen->health != DeviceHealth::unknown;
    if (!is_sound) {
      continue;
    }
    if (const auto* monitor = std::get_if<MonitorObservation>(&seen->reading);
        monitor != nullptr && fabric.device(seen->device).role == DeviceRole::monitor) {
      add_monitor(fabric, *seen, *monitor, sized(sight.received, fabric));
    }
    const auto* module = std::get_if<TransmitterObservation>(&seen->reading);
    const auto node = module != nullptr && module->received
                          ? fabric.node_of_element[fabric.device(seen->device).elements[0].value]
                          : std::nullopt;
    if (node && fabric.nodes[node->value].receivers.size() == 1) {  // the receiver in the same module
      const ElementId receiver = fabric.nodes[node->value].receivers.front();
      if (!fabric.device_of_element[receiver.value]) {
        sized(sight.received, fabric)[receiver.value] = ReceivedPower{*module->received, seen->read_at};
      }
    }
  }
}

/// A switch's own reading says whether it has taps.
bool LightWatch::measures_light(DeviceId device) const {
  const DeviceRole role = facts_.fabric->device(device).role;
  const Observation* seen = role == DeviceRole::circuit_switch ? sessions_.observed(device) : nullptr;
  const auto* reading = seen == nullptr ? nullptr : std::get_if<CircuitSwitchObservation>(&seen->reading);
  return role == DeviceRole::monitor || (reading != nullptr && !reading->powers.empty());
}

std::optional<MissingLight> LightWatch::missing_light(DeviceId witness) const {
  if (!confirmed_.exists() || !measures_light(witness)) {
    return std::nullopt;
  }
  const Device& device = facts_.fabric->device(witness);
  const Sight seen = sight();
  for (const ElementId element : device.elements) {
    const auto missing =
        device.role == DeviceRole::monitor ? missing_at_receiver(element, seen) : missing_in_switch(element, seen);
    if (missing) {
      return missing;
    }
  }
  return std::nullopt;
}

std::optional<MissingLight> LightWatch::missing_at_receiver(ElementId receiver, const Sight& seen) const {
  const auto index = missing_at(paths(), receiver, seen.readings);
  const MeasuredLight dark{LightState::dark, LightCause::received_low, Duration{}, receiver};
  return index ? std::optional(missing_of(*index, dark, *facts_.fabric->device_of_element[receiver.value], seen))
               : std::nullopt;
}

std::optional<MissingLight> LightWatch::missing_in_switch(ElementId element, const Sight& seen) const {
  const LightPaths& ways = paths();
  const auto [found, is_new] = through_.try_emplace(element);
  for (std::size_t i = 0; is_new && i < ways.plan().circuits.size(); ++i) {
    if (const auto hops = ways.hops(i); std::ranges::find(hops, element, &Hop::element) != hops.end()) {
      found->second.push_back(i);
    }
  }
  for (const std::size_t index : found->second) {
    if (const auto dark = missing_in(ways, index, element, seen.readings)) {
      return missing_of(index, *dark, *facts_.fabric->device_of_element[element.value], seen);
    }
  }
  return std::nullopt;
}

MissingLight LightWatch::missing_of(std::size_t index, const MeasuredLight& dark, DeviceId witness, const Sight& seen) const {
  const LightPaths& ways = paths();
  MissingLight missing{ways.plan().circuits[index].id, facts_.now, {}};
  for (const Hop& hop : ways.hops(index)) {
    const auto device = facts_.fabric->device_of_element[hop.element.value];
    const Observation* read = device ? sessions_.observed(*device) : nullptr;
    const bool is_witness = device && (*device == witness || facts_.fabric->device(*device).role == DeviceRole::monitor);
    missing.all_read_since =
        read == nullptr || is_witness ? missing.all_read_since : std::min(missing.all_read_since, read->read_at);
  }
  missing.why = describe_light(ways, index, dark, seen.readings);
  return missing;
}

std::optional<std::size_t> LightWatch::circuit_of_laser(DeviceId laser) const {
  if (!has_monitors_ || !confirmed_.exists() || facts_.fabric->device(laser).role != DeviceRole::transmitter) {
    return std::nullopt;
  }
  (void)paths();
  const auto found = circuit_of_transmitter_.find(facts_.fabric->device(laser).elements.front());
  if (found == circuit_of_transmitter_.end()) {
    return std::nullopt;
  }
  const auto is_measured = [this](const Sighting& sighting) {
    const auto monitor = facts_.fabric->device_of_element[sighting.receiver.value];
    return monitor && is_wavemeter(*monitor);
  };
  return std::ranges::any_of(paths_->sightings(found->second), is_measured) ? std::optional(found->second) : std::nullopt;
}

std::optional<Observation> LightWatch::as_measured(DeviceId laser) const {
  const auto circuit = circuit_of_laser(laser);
  const Observation* seen = circuit ? sessions_.observed(laser) : nullptr;
  const auto* own = seen != nullptr ? std::get_if<TransmitterObservation>(&seen->reading) : nullptr;
  if (own == nullptr) {
    return std::nullopt;
  }
  const Sight here = sight();
  const auto measured = measured_frequency(paths(), *circuit, here.readings);
  if (!measured) {
    return std::nullopt;
  }
  Observation corrected = *seen;
  std::get<TransmitterObservation>(corrected.reading).frequency = measured->frequency;
  return corrected;
}

std::string LightWatch::who_measured(DeviceId laser) const {
  const auto circuit = circuit_of_laser(laser);
  const Sight here = sight();
  const auto measured = circuit ? measured_frequency(paths(), *circuit, here.readings) : std::nullopt;
  const Observation* seen = sessions_.observed(laser);
  const auto* own = seen != nullptr ? std::get_if<TransmitterObservation>(&seen->reading) : nullptr;
  if (!measured || own == nullptr) {
    return {};
  }
  const auto monitor = facts_.fabric->device_of_element[measured->receiver.value];
  return format_text("measured by {}{} {} ms ago; the laser itself says {}",
                     monitor ? facts_.fabric->device(*monitor).name : facts_.fabric->element(measured->receiver).name,
                     monitor ? format_text(" (device {})", monitor->value) : "",
                     (facts_.now - measured->read_at) / std::chrono::milliseconds{1}, to_string(own->frequency));
}

std::vector<DeviceId> LightWatch::lasers_seen_by(DeviceId monitor) const {
  std::vector<DeviceId> lasers;
  if (!has_monitors_ || !confirmed_.exists() || !is_wavemeter(monitor)) {
    return lasers;
  }
  for (const ElementId receiver : facts_.fabric->device(monitor).elements) {
    for (const std::size_t index : paths().sighted_at(receiver)) {
      if (const auto laser = facts_.fabric->device_of_element[paths().plan().circuits[index].transmitter.value]) {
        lasers.push_back(*laser);
      }
    }
  }
  std::ranges::sort(lasers);
  lasers.erase(std::unique(lasers.begin(), lasers.end()), lasers.end());
  return lasers;
}

std::vector<DeviceId> LightWatch::proven_lasers() const {
  std::vector<DeviceId> lasers;
  if (!has_monitors_ || !confirmed_.exists()) {
    return lasers;
  }
  const Sight here = sight();
  const LightPaths& ways = paths();
  for (const auto& [transmitter, index] : circuit_of_transmitter_) {
    const auto laser = facts_.fabric->device_of_element[transmitter.value];
    const auto measured = measured_frequency(ways, index, here.readings);
    const FrequencySlot slot = ways.plan().circuits[index].slot;
    if (laser && measured && magnitude(measured->frequency - centre_of(slot)) <= here.readings.limits.detuned_beyond) {
      lasers.push_back(*laser);
    }
  }
  std::ranges::sort(lasers);
  return lasers;
}

/// Light to measure by is followed as circuits are, after them: what they leave at a wavemeter is told apart from it.
std::map<ElementId, ProbeSight> LightWatch::probe_sights() const {
  std::map<ElementId, ProbeSight> sights;
  const std::vector<Probe>& probes = confirmed_.exists() ? confirmed_.intent().probes : std::vector<Probe>{};
  const auto is_one = [&](const Device& device) { return device.role == DeviceRole::monitor && is_wavemeter(device.id); };
  if (probes.empty() || std::ranges::none_of(facts_.fabric->devices, is_one)) {
    return sights;
  }
  auto lights = std::make_shared<Plan>(confirmed_.plan());
  const std::size_t first = lights->circuits.size();
  for (const Probe& probe : probes) {
    Circuit& light = lights->circuits.emplace_back();
    light.transmitter = probe.transmitter;
    light.receiver = probe.receiver;
    light.slot = probe.slot;
  }
  const LightPaths ways(facts_.fabric, std::move(lights));
  const Sight here = sight();
  for (std::size_t i = 0; i < probes.size(); ++i) {
    for (const Sighting& sighting : probes[i].emit ? ways.sightings(first + i) : std::span<const Sighting>{}) {
      const auto monitor = facts_.fabric->device_of_element[sighting.receiver.value];
      if (sighting.is_alone_in_slot && monitor && is_wavemeter(*monitor)) {
        const auto measured = measured_frequency(ways, first + i, here.readings);
        sights[probes[i].receiver] = {*monitor, measured ? std::optional(measured->frequency) : std::nullopt};
        break;
      }
    }
  }
  return sights;
}

}  // namespace loom
