// SPDX-License-Identifier: Apache-2.0
// What ends and what begins, by pair of nodes, and whose ends nobody else needs.
#include "controller/plan/make_before_break.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace loom {
namespace {

/// Ordered: all circuits of one job between the same two nodes are alike.
auto pair_of(const Circuit* circuit) { return std::tuple(circuit->job, circuit->source, circuit->destination); }

bool is_standing(const Stage& stage) {
  return stage.transmit == Transmit::slots && stage.timeslots.size() == 1 && stage.timeslots.front().hold == kForever;
}

class Bridging {
 public:
  Bridging(const Fabric& fabric, const Plan& base, const PlanResult& target) : fabric_(fabric), base_(base), target_(target) {}

  std::optional<Bridge> find() {
    compare();
    if (ended_.empty() || begun_.empty()) {
      return std::nullopt;
    }
    std::ranges::sort(begun_, {}, pair_of);
    std::ranges::sort(kept_, {}, pair_of);
    std::vector<bool> taken(fabric_.elements.size());
    for (const Circuit* circuit : begun_) {
      taken[circuit->transmitter.value] = taken[circuit->receiver.value] = true;
    }
    Bridge bridge{target_.schedule, {}};
    for (const Circuit* circuit : ended_) {
      Stage* stage = stage_of(circuit->job, bridge.schedule);
      if (stage != nullptr && is_replaced(circuit) && !taken[circuit->transmitter.value] && !taken[circuit->receiver.value] &&
          stood(*circuit)) {
        stage->timeslots.front().circuits.push_back(*circuit);
        ++std::ranges::find(bridge.schedule.jobs, circuit->job, &JobSchedule::job)->waiting;
        bridge.held.push_back(circuit->id);
      }
    }
    return bridge.held.empty() ? std::nullopt : std::optional(std::move(bridge));
  }

 private:
  using Circuits = std::vector<const Circuit*>;

  /// Both plans have their circuits in ascending order of their ids, and light that stays keeps its id.
  void compare() {
    auto before = base_.circuits.begin();
    for (const Circuit& circuit : target_.plan.circuits) {
      for (; before != base_.circuits.end() && before->id < circuit.id; ++before) {
        ended_.push_back(&*before);
      }
      if (before != base_.circuits.end() && before->id == circuit.id) {
        kept_.push_back(&circuit);
        ++before;
      } else {
        begun_.push_back(&circuit);
      }
    }
    for (; before != base_.circuits.end(); ++before) {
      ended_.push_back(&*before);
    }
  }

  bool is_replaced(const Circuit* circuit) const {
    return std::ranges::binary_search(begun_, pair_of(circuit), {}, pair_of) &&
           !std::ranges::binary_search(kept_, pair_of(circuit), {}, pair_of);
  }

  /// The one that the job is to have: standing light of a schedule that somebody gave, so that it comes out the same when it is
  /// planned again; a scheduler may choose otherwise once the light of now is there. Null: it has none.
  Stage* stage_of(JobId id, Schedule& schedule) const {
    const auto job = std::ranges::find(target_.intent.jobs, id, &Job::id);
    const auto of_job = std::ranges::find(schedule.jobs, id, &JobSchedule::job);
    if (job == target_.intent.jobs.end() || of_job == schedule.jobs.end() ||
        std::ranges::find(target_.intent.pinned, id, &JobSchedule::job) == target_.intent.pinned.end()) {
      return nullptr;
    }
    Stage& stage = of_job->stages[job->stage];
    return is_standing(stage) ? &stage : nullptr;
  }

  /// Its laser emits without an end.
  bool stood(const Circuit& circuit) const {
    const auto id = fabric_.device_of_element[circuit.transmitter.value];
    if (!id) {
      return false;
    }
    const auto& devices = base_.nodes[fabric_.device(*id).agent.value].devices;
    const auto device = std::ranges::lower_bound(devices, *id, {}, &DevicePlan::device);
    return device != devices.end() && device->device == *id && device->timeline.size() == 1 &&
           device->timeline.front().hold == kForever && emits(device->timeline.front().setpoint);
  }

  const Fabric& fabric_;
  const Plan& base_;
  const PlanResult& target_;
  Circuits ended_;  ///< ascending id
  Circuits begun_;  ///< ascending pair, once it is known that some end
  Circuits kept_;   ///< likewise
};

}  // namespace

std::optional<Bridge> bridge_between(const Fabric& fabric, const Plan& base, const PlanResult& target) {
  if (target.intent.pinned.empty()) {
    return std::nullopt;
  }
  return Bridging(fabric, base, target).find();
}

}  // namespace loom
