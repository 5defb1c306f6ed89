// SPDX-License-Identifier: Apache-2.0
// Rules about jobs under grants. Their agents choose the instants, so what counts is every light that a table allows: each must
// be a circuit of its own job, known to the arbiter at its end, and nobody else's receiver may ever be asked.
#include <algorithm>
#include <map>
#include <set>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {
namespace {

class GrantRules {
 public:
  GrantRules(const Fabric& fabric, const Plan& plan, const Settings& settings, Faults& faults)
      : fabric_(fabric), plan_(plan), settings_(settings), faults_(faults) {}

  void run() {
    for (const NodePlan& slice : plan_.nodes) {
      if (slice.grants) {
        jobs_.insert(slice.grants->job);
        check_times(slice);
        check_wavelengths(slice);
        check_sends(slice);
      }
    }
    check_circuits();
    check_receivers();
    check_routed_by();
  }

 private:
  void refuse(const std::string& evidence) {
    faults_.add(rules::kGrantTable, [&] { return evidence; });
  }
  const std::string& name(NodeId node) const { return fabric_.nodes[node.value].name; }

  /// The machines' times must be no shorter than what the devices need.
  void check_times(const NodePlan& slice) {
    const GrantMap& map = *slice.grants;
    const GrantTimings& timings = map.timings;
    const Duration longest = Duration{limits::kGrantWindowNs} / 4 * 3 - overhead_of(timings);  // a quarter is for slack
    if (map.quantum <= Duration{} || map.quantum > longest) {
      refuse(format_text("{}: a quantum of {} ns, allowed 1 to {} ns", name(slice.node), map.quantum.count(), longest.count()));
    }
    for (const AllowedWavelength& wavelength : map.wavelengths) {
      if (wavelength.laser.value >= fabric_.devices.size() ||
          fabric_.device(wavelength.laser).role != DeviceRole::transmitter) {
        refuse(format_text("{}: its table names device {}, which is no laser", name(slice.node), wavelength.laser.value));
        continue;
      }
      const auto& transmitter = std::get<Transmitter>(fabric_.element(fabric_.device(wavelength.laser).elements[0]).kind);
      const Duration dark = transmitter.blank_max + transmitter.control_max;
      if (timings.tune < transmitter.retune_max + dark || guard_of(timings) < dark ||
          timings.trigger_late < transmitter.control_max || timings.rate > transmitter.rate) {
        refuse(format_text("{}: tuned within {} ns, needs {} ns; dark within {} ns, needs {} ns",
                           fabric_.device(wavelength.laser).name, timings.tune.count(), (transmitter.retune_max + dark).count(),
                           guard_of(timings).count(), dark.count()));
      }
    }
  }

  const Circuit* circuit_of(const NodePlan& slice, const AllowedWavelength& wavelength) const {
    const auto found = std::find_if(plan_.circuits.begin(), plan_.circuits.end(), [&](const Circuit& circuit) {
      return circuit.source == slice.node && circuit.destination == wavelength.destination && circuit.slot == wavelength.slot &&
             fabric_.device_of_element[circuit.transmitter.value] == wavelength.laser && circuit.job == slice.grants->job;
    });
    return found == plan_.circuits.end() ? nullptr : &*found;
  }

  /// Wavelengths, circuits and wavelength sets say the same.
  void check_wavelengths(const NodePlan& slice) {
    std::map<DeviceId, std::vector<FrequencySlot>> wavelength_sets;
    std::map<DeviceId, std::set<NodeId>> reached;
    for (const AllowedWavelength& wavelength : slice.grants->wavelengths) {
      if (circuit_of(slice, wavelength) == nullptr) {
        refuse(format_text("{}: its table allows {} to node {}, which is no circuit of job {}", name(slice.node),
                           to_string(centre_of(wavelength.slot)), wavelength.destination.value, slice.grants->job.value));
      }
      wavelength_sets[wavelength.laser].push_back(wavelength.slot);
      reached[wavelength.laser].insert(wavelength.destination);
    }
    for (auto& [laser, slots] : wavelength_sets) {
      const DevicePlan* device = laser.value < settings_.devices.size() ? settings_.devices[laser.value] : nullptr;
      std::vector<FrequencySlot> emitted;
      for (std::size_t i = 0; device != nullptr && i < device->timeline.size(); ++i) {
        const auto* setpoint = std::get_if<TransmitterSetpoint>(&device->timeline[i].setpoint);
        if (setpoint != nullptr && setpoint->emit) {
          emitted.push_back(setpoint->slot);
        }
      }
      const auto by_n = [](FrequencySlot a, FrequencySlot b) { return a.n < b.n; };
      std::sort(slots.begin(), slots.end(), by_n);
      std::sort(emitted.begin(), emitted.end(), by_n);
      if (slots != emitted) {
        refuse(format_text("{}: its table has {} wavelengths of device {}, the wavelength set {} others", name(slice.node),
                           slots.size(), laser.value, emitted.size()));
      }
      if (reached[laser] != reached.begin()->second) {
        refuse(name(slice.node) + ": its lasers do not reach the same nodes; a grant may be lit by any of them");
      }
    }
  }

  void check_sends(const NodePlan& slice) {
    for (const OfferedStream& stream : slice.grants->sends) {
      const bool has_wavelength =
          std::any_of(slice.grants->wavelengths.begin(), slice.grants->wavelengths.end(),
                      [&](const AllowedWavelength& wavelength) { return wavelength.destination == stream.destination; });
      if (stream.source != slice.node || !has_wavelength) {
        refuse(format_text("{}: it is to send from node {} to node {}, where its table leads no light", name(slice.node),
                           stream.source.value, stream.destination.value));
      }
    }
  }

  /// Every circuit of such a job is in its source's table, and the arbiter at its end knows the source and the same times.
  void check_circuits() {
    for (const Circuit& circuit : plan_.circuits) {
      if (!jobs_.contains(circuit.job)) {
        continue;
      }
      const auto& source = plan_.nodes[circuit.source.value].grants;
      const auto& end = plan_.nodes[circuit.destination.value].grants;
      const auto laser = fabric_.device_of_element[circuit.transmitter.value];
      const bool is_in_table =
          source && laser &&
          std::find(source->wavelengths.begin(), source->wavelengths.end(),
                    AllowedWavelength{circuit.destination, *laser, circuit.slot}) != source->wavelengths.end();
      if (!is_in_table) {
        refuse(format_text("circuit {} of job {} is in no table of {}", circuit.id.value, circuit.job.value,
                           name(circuit.source)));
        continue;
      }
      const bool agrees = end && end->job == circuit.job && end->routed_by == source->routed_by &&
                          end->timings == source->timings && end->quantum == source->quantum &&
                          std::binary_search(end->sources.begin(), end->sources.end(), circuit.source);
      if (!agrees) {
        refuse(format_text("{} has no arbiter that knows {} of job {} with the same times", name(circuit.destination),
                           name(circuit.source), circuit.job.value));
      }
    }
  }

  /// An arbiter guards a receiver from its own job alone, so no other job may ever reach it.
  void check_receivers() {
    std::map<ElementId, JobId> owner;
    for (const Circuit& circuit : plan_.circuits) {
      const auto [found, is_new] = owner.emplace(circuit.receiver, circuit.job);
      if (!is_new && found->second != circuit.job && (jobs_.contains(circuit.job) || jobs_.contains(found->second))) {
        faults_.add(rules::kJobIsolation, [&, other = found->second] {
          return format_text("{} receives job {} and job {}, one of them under grants", fabric_.element(circuit.receiver).name,
                             other.value, circuit.job.value);
        });
      }
    }
  }

  /// New arbiters wait for no former lease: so nobody of the job may stay lit while its light is laid.
  void check_routed_by() {
    std::map<JobId, Revision> routed_by;
    for (const NodePlan& slice : plan_.nodes) {
      if (!slice.grants) {
        continue;
      }
      const GrantMap& map = *slice.grants;
      const auto [found, is_new] = routed_by.emplace(map.job, map.routed_by);
      if (map.routed_by > plan_.revision || (!is_new && found->second != map.routed_by)) {
        refuse(format_text("{}: its light of job {} is of revision {}, others' of {}", name(slice.node), map.job.value,
                           map.routed_by.value, found->second.value));
      }
      for (const AllowedWavelength& wavelength : map.wavelengths) {
        const DevicePlan* device =
            wavelength.laser.value < settings_.devices.size() ? settings_.devices[wavelength.laser.value] : nullptr;
        if (device != nullptr && device->touched != (map.routed_by == plan_.revision)) {
          refuse(format_text("{}{} although the light of job {}{}", fabric_.device(wavelength.laser).name,
                             device->touched ? " goes dark" : " stays lit", map.job.value,
                             device->touched ? " stays as it was routed" : " is routed anew"));
        }
      }
    }
  }

  const Fabric& fabric_;
  const Plan& plan_;
  const Settings& settings_;
  Faults& faults_;
  std::set<JobId> jobs_;  ///< under grants
};

}  // namespace

void check_grants(const Fabric& fabric, const Plan& plan, const Settings& settings, Faults& faults) {
  GrantRules(fabric, plan, settings, faults).run();
}

}  // namespace loom::verifying

namespace loom {

Result<void> check_fire_skew(const Fabric& fabric, const Plan& plan, Duration fire_skew) {
  for (const NodePlan& slice : plan.nodes) {
    if (!slice.grants || slice.grants->routed_by != plan.revision) {
      continue;  // what is lit as it was keeps its times
    }
    const Duration guard = guard_of(slice.grants->timings);
    const Duration room = Duration{limits::kGrantWindowNs} / 4 * 3 - overhead_of(slice.grants->timings);
    if (guard < fire_skew || room < slice.grants->quantum) {
      return fail(ErrorCode::unverified,
                  format_text("{}: grants of job {} have a guard of {} ns, agents were measured to fire up to {} ns late, and "
                              "windows have room for {} ns of {} ns",
                              fabric.nodes[slice.node.value].name, slice.grants->job.value, guard.count(), fire_skew.count(),
                              room.count(), slice.grants->quantum.count()));
    }
  }
  return {};
}

}  // namespace loom
