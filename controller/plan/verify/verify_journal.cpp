// SPDX-License-Identifier: Apache-2.0
// Plans by the rules of every plan; of intents the numbers and kinds alone, since planning judges the rest.
#include "controller/plan/verify/verify_journal.hpp"

#include <algorithm>
#include <string>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

class Numbers {
 public:
  explicit Numbers(const Fabric& fabric) : fabric_(fabric) {}

  void see(const Intent& intent) {
    for (const Job& job : intent.jobs) {
      see_nodes(job.nodes, format_text("job {}", job.id.value));
    }
    see_nodes(intent.drained, "the list of drained nodes");
    see_nodes(intent.maintenance, "the list of nodes in maintenance");
    for (const DeviceOverride& override : intent.overrides) {
      see_override(override);
    }
    see(intent.pinned);
  }

  void see(const std::vector<JobSchedule>& schedules) {
    for (const JobSchedule& schedule : schedules) {
      for (const Stage& stage : schedule.stages) {
        for (const Timeslot& timeslot : stage.timeslots) {
          see(timeslot.circuits);
        }
      }
    }
  }

  void see(const std::vector<Circuit>& circuits) {
    for (const Circuit& circuit : circuits) {
      const std::string who = format_text("circuit {}", circuit.id.value);
      see_nodes({circuit.source, circuit.destination}, who);
      if (!is_kind<Transmitter>(circuit.transmitter) || !is_kind<Receiver>(circuit.receiver)) {
        refuse(format_text("{} runs from element {} to element {}, which are no transmitter and receiver of it", who,
                           circuit.transmitter.value, circuit.receiver.value));
      }
    }
  }

  void see(const Plan& plan) {
    verifying::Faults faults;
    if (!verifying::check_structure(fabric_, plan, verifying::whole_of(plan), faults)) {
      refuse(format_text("revision {}: {}", plan.revision.value, faults.take().front().evidence));
    }
    see_nodes(plan.changed, format_text("revision {}", plan.revision.value));
  }

  Result<void> verdict() const {
    return misfit_.empty()
               ? Result<void>{}
               : fail(ErrorCode::conflict, format_text("the journal names what fabric {} does not have: {}; start with the "
                                                       "fabric that it was written under, or with another --state",
                                                       fabric_.name, misfit_));
  }

 private:
  void refuse(std::string misfit) { misfit_ = misfit_.empty() ? std::move(misfit) : misfit_; }

  template <class Kind>
  bool is_kind(ElementId id) const {
    return id.value < fabric_.elements.size() && std::holds_alternative<Kind>(fabric_.element(id).kind);
  }

  void see_nodes(const std::vector<NodeId>& nodes, const std::string& who) {
    for (const NodeId node : nodes) {
      if (node.value >= fabric_.nodes.size()) {
        refuse(format_text("{} names node {} of {}", who, node.value, fabric_.nodes.size()));
      }
    }
  }

  void see_override(const DeviceOverride& override) {
    const std::string who = format_text("device {}", override.device.value);
    if (override.device.value >= fabric_.devices.size()) {
      return refuse(format_text("{} is set, of {}", who, fabric_.devices.size()));
    }
    const Device& device = fabric_.device(override.device);
    if (override.setpoint.index() != static_cast<std::size_t>(device.role)) {  // both in one order, see verify_setpoints.cpp
      refuse(format_text("{} ({}) is set as one of another kind", who, device.name));
    }
  }

  const Fabric& fabric_;
  std::string misfit_;  ///< the first
};

}  // namespace

Result<void> verify_journal(const Fabric& fabric, const SnapshotRecord& state) {
  Numbers numbers(fabric);
  for (const auto& plan : {state.confirmed, state.planned, state.going}) {
    if (plan != nullptr) {
      numbers.see(*plan);
    }
  }
  for (const auto& plan : state.uncertain) {
    numbers.see(*plan);
  }
  numbers.see(state.intent);
  if (state.going_intent != nullptr) {
    numbers.see(*state.going_intent);
  }
  for (const KeptRevision& kept : state.kept) {
    numbers.see(*kept.intent);
    numbers.see(kept.circuits);
  }
  if (state.probation) {
    numbers.see(state.probation->pinned_before);
  }
  return numbers.verdict();
}

}  // namespace loom
