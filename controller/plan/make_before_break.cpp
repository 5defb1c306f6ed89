// SPDX-License-Identifier: Apache-2.0
// What ends and what begins, by pair of nodes, and whose ends nobody else needs.
#include "controller/plan/make_before_break.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "controller/plan/lower/lower.hpp"

namespace loom {
namespace {

/// Ordered: all circuits of one job between the same two nodes are alike.
auto pair_of(const Circuit* circuit) { return std::tuple(circuit->job, circuit->source, circuit->destination); }

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
    Circuits held;
    std::ranges::copy_if(ended_, std::back_inserter(held), [&](const Circuit* circuit) {
      return is_replaced(circuit) && !taken[circuit->transmitter.value] && !taken[circuit->receiver.value] && stood(*circuit) &&
             shall_stand(circuit->job);
    });
    return held.empty() ? std::nullopt : std::optional(beside(held));
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

  const Job* job_of(JobId id) const {
    const auto job = std::ranges::find(target_.intent.jobs, id, &Job::id);
    return job == target_.intent.jobs.end() ? nullptr : &*job;
  }

  /// What the job is to have is standing light of a schedule that somebody gave: that comes out the same when it is planned
  /// again, and a scheduler may choose otherwise once the light of now is there.
  bool shall_stand(JobId id) const {
    const Job* job = job_of(id);
    const auto schedule = std::ranges::find(target_.schedule.jobs, id, &JobSchedule::job);
    if (job == nullptr || schedule == target_.schedule.jobs.end() ||
        std::ranges::find(target_.intent.pinned, id, &JobSchedule::job) == target_.intent.pinned.end()) {
      return false;
    }
    const Stage& stage = schedule->stages[job->stage];
    return stage.transmit == Transmit::slots && is_standing(stage);
  }

  Bridge beside(const Circuits& held) const {
    Bridge bridge{target_.schedule, {}};
    for (const Circuit* circuit : held) {
      JobSchedule& schedule = *std::ranges::find(bridge.schedule.jobs, circuit->job, &JobSchedule::job);
      schedule.stages[job_of(circuit->job)->stage].timeslots.front().circuits.push_back(*circuit);
      ++schedule.waiting;
      bridge.held.push_back(circuit->id);
    }
    return bridge;
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
