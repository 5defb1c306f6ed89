// Whose light a repair must take away: a walk along each transmitter's desired light, element by element.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "controller/plan/reconcile.hpp"

namespace loom {
namespace {

/// What differs of one drifted device; light that meets it goes dark while it moves.
struct Difference {
  const DevicePlan* plan = nullptr;
  const Observation* seen = nullptr;
};

template <class Row>
std::vector<Row> differing(const std::vector<Row>& wanted, const std::vector<Row>& seen) {
  std::vector<Row> rows;
  for (const auto& [some, others] : {std::pair{&wanted, &seen}, std::pair{&seen, &wanted}}) {
    std::copy_if(some->begin(), some->end(), std::back_inserter(rows), [&, theirs = others](const Row& row) {
      return std::find(theirs->begin(), theirs->end(), row) == theirs->end();
    });
  }
  return rows;
}

class ScopeFinder {
 public:
  ScopeFinder(const Fabric& fabric, const Plan& desired, const std::vector<DeviceId>& drifted,
              const std::vector<const Observation*>& observations)
      : fabric_(fabric), desired_(desired), settings_(fabric.devices.size(), nullptr) {
    for (const NodePlan& node : desired.nodes) {
      for (const DevicePlan& device : node.devices) {
        settings_[device.device.value] = &device;
      }
    }
    for (const DeviceId id : drifted) {
      devices_.insert(id);
      if (fabric.device(id).kind == DeviceKind::itla_laser) {
        transmitters_.insert(fabric.device(id).elements.front());
        continue;
      }
      for (const ElementId element : fabric.device(id).elements) {
        differences_[element] = {settings_[id.value], observations[id.value]};
      }
    }
  }

  RepairScope find(const std::vector<NodeId>& restored) {
    for (const DevicePlan* device : settings_) {
      if (device != nullptr && !differences_.empty()) {
        follow(*device);
      }
    }
    std::set<NodeId> nodes(restored.begin(), restored.end());
    for (const NodeId node : restored) {
      for (const ElementId transmitter : fabric_.nodes[node.value].transmitters) {
        if (plays_timeslots(transmitter)) {
          transmitters_.insert(transmitter);
        }
      }
    }
    take_whole_jobs();
    for (const ElementId transmitter : transmitters_) {
      devices_.insert(*fabric_.device_of_element[transmitter.value]);
    }
    RepairScope scope;
    for (const DeviceId id : devices_) {
      const Device& device = fabric_.device(id);
      nodes.insert(device.agent);
      scope.devices.push_back(id);
      if (device.kind == DeviceKind::wss || device.kind == DeviceKind::ocs) {
        scope.switches.push_back(id);
      }
    }
    scope.nodes.assign(nodes.begin(), nodes.end());
    return scope;
  }

 private:
  const Setpoint* setpoint_of(ElementId element) const {
    const auto device = fabric_.device_of_element[element.value];
    return device && settings_[device->value] != nullptr ? &settings_[device->value]->timeline.front().setpoint : nullptr;
  }

  bool plays_timeslots(ElementId transmitter) const {
    const auto device = fabric_.device_of_element[transmitter.value];
    const DevicePlan* plan = device ? settings_[device->value] : nullptr;
    return plan != nullptr && plan->timeline.back().hold != kForever;
  }

  void take_whole_jobs() {
    std::set<JobId> jobs;
    for (const Circuit& circuit : desired_.circuits) {
      if (transmitters_.contains(circuit.transmitter) && plays_timeslots(circuit.transmitter)) {
        jobs.insert(circuit.job);
      }
    }
    for (const Circuit& circuit : desired_.circuits) {
      if (jobs.contains(circuit.job)) {
        transmitters_.insert(circuit.transmitter);
      }
    }
  }

  void follow(const DevicePlan& device) {
    for (const TimedSetpoint& entry : device.timeline) {
      const auto* laser = std::get_if<LaserSetpoint>(&entry.setpoint);
      const ElementId transmitter = fabric_.device(device.device).elements.front();
      if (laser != nullptr && laser->emit && !transmitters_.contains(transmitter) &&
          meets_difference(transmitter, laser->slot)) {
        transmitters_.insert(transmitter);
      }
    }
  }

  bool meets_difference(ElementId transmitter, FrequencySlot slot) const {
    std::set<PortRef> been;
    std::vector<PortRef> ahead;  // outputs that the light leaves by
    const auto leave = [&](ElementId element, PortNumber output) {
      if (output < fabric_.element(element).outputs && been.insert({element, output}).second) {
        ahead.push_back({element, output});
      }
    };
    leave(transmitter, 0);
    while (!ahead.empty()) {
      const PortRef from = ahead.back();
      ahead.pop_back();
      const auto fibre = fabric_.fibre_out[from.element.value][from.port];
      if (!fibre) {
        continue;
      }
      const PortRef to = fabric_.fibres[fibre->value].to;
      const auto difference = differences_.find(to.element);
      if (difference != differences_.end() && concerns(difference->second, to, slot)) {
        return true;
      }
      for (const PortNumber output : exits(to, slot)) {
        leave(to.element, output);
      }
    }
    return false;
  }

  /// Every output that light of this slot may leave an element by, as desired. Where it cannot be told: all of them.
  std::vector<PortNumber> exits(PortRef at, FrequencySlot slot) const {
    const Element& element = fabric_.element(at.element);
    const Setpoint* setpoint = setpoint_of(at.element);
    if (const auto* wss = setpoint == nullptr ? nullptr : std::get_if<WssSetpoint>(setpoint)) {
      std::vector<PortNumber> outputs;
      for (const WssRoute& route : wss->routes) {
        if (route.input == at.port && overlaps(route.slot, slot)) {
          outputs.push_back(route.output);
        }
      }
      return outputs;
    }
    if (const auto* ocs = setpoint == nullptr ? nullptr : std::get_if<OcsSetpoint>(setpoint)) {
      std::vector<PortNumber> outputs;
      for (const CrossConnect& connect : ocs->connects) {
        if (connect.input == at.port) {
          outputs.push_back(connect.output);
        }
      }
      return outputs;
    }
    if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
      const std::int32_t channel = grating->channels.channel_of(slot);
      return channel < 0 || element.outputs == 0 ? std::vector<PortNumber>{}
                                                 : std::vector{static_cast<PortNumber>((channel + at.port) % element.outputs)};
    }
    if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
      return at.port < panel->wiring.size() ? std::vector{panel->wiring[at.port]} : std::vector<PortNumber>{};
    }
    std::vector<PortNumber> all(element.outputs);
    for (PortNumber output = 0; output < element.outputs; ++output) {
      all[output] = output;
    }
    return all;
  }

  bool concerns(const Difference& difference, PortRef at, FrequencySlot slot) const {
    const Setpoint& wanted = difference.plan->timeline.front().setpoint;
    const Reading reading = difference.seen == nullptr ? Reading{} : difference.seen->reading;
    if (const auto* wss = std::get_if<WssSetpoint>(&wanted)) {
      const auto* seen = std::get_if<WssObservation>(&reading);
      return seen == nullptr || concerns_rows(differing(wss->routes, seen->routes), at, slot, wss->routes);
    }
    if (const auto* ocs = std::get_if<OcsSetpoint>(&wanted)) {
      const auto* seen = std::get_if<OcsObservation>(&reading);
      if (seen == nullptr) {
        return true;
      }
      const auto outputs = exits(at, slot);
      const auto rows = differing(ocs->connects, seen->connects);
      return std::any_of(rows.begin(), rows.end(), [&](const CrossConnect& row) {
        return row.input == at.port || std::find(outputs.begin(), outputs.end(), row.output) != outputs.end();
      });
    }
    return concerns_ring(difference, at.element, slot, reading);
  }

  static bool concerns_rows(const std::vector<WssRoute>& rows, PortRef at, FrequencySlot slot,
                            const std::vector<WssRoute>& routes) {
    return std::any_of(rows.begin(), rows.end(), [&](const WssRoute& row) {
      const bool same_exit = std::any_of(routes.begin(), routes.end(), [&](const WssRoute& route) {
        return route.input == at.port && overlaps(route.slot, slot) && route.output == row.output;
      });
      return overlaps(row.slot, slot) && (row.input == at.port || same_exit);
    });
  }

  /// Light that the ring drops, or whose frequency the resonance passes on its way back.
  bool concerns_ring(const Difference& difference, ElementId element, FrequencySlot slot, const Reading& reading) const {
    const auto& ring = std::get<RingFilter>(fabric_.element(element).kind);
    const std::uint16_t channel = fabric_.index_in_device[element.value];
    const auto& rings = std::get<HeaterSetpoint>(difference.plan->timeline.front().setpoint).rings;
    const auto asked =
        std::find_if(rings.begin(), rings.end(), [&](const RingResonance& each) { return each.channel == channel; });
    const auto* bank = std::get_if<HeaterObservation>(&reading);
    if (bank == nullptr || channel >= bank->millivolts.size() || ring.free_spectral_range.mhz > 0) {
      return true;
    }
    const Frequency wanted = asked == rings.end() ? ring.cold_resonance : asked->resonance;
    const Frequency found = resonance_at(ring, bank->millivolts[channel]);
    return centre_of(slot) >= std::min(wanted, found) - ring.fwhm && centre_of(slot) <= std::max(wanted, found) + ring.fwhm;
  }

  const Fabric& fabric_;
  const Plan& desired_;
  std::vector<const DevicePlan*> settings_;  ///< by device
  std::map<ElementId, Difference> differences_;
  std::set<ElementId> transmitters_;
  std::set<DeviceId> devices_;
};

}  // namespace

RepairScope repair_scope(const Fabric& fabric, const Plan& desired, const std::vector<DeviceId>& drifted,
                         const std::vector<const Observation*>& observations, const std::vector<NodeId>& restored) {
  return ScopeFinder(fabric, desired, drifted, observations).find(restored);
}

}  // namespace loom
