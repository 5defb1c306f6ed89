// SPDX-License-Identifier: Apache-2.0
// Look-ups in the plan.
#include "controller/control/jobs/confirmed_plans.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "controller/plan/lower/lower.hpp"

namespace loom {
namespace {

/// What the schedule has for its jobs' present stages, light of several timeslots once; of jobs that have nothing there, what
/// they had `before`.
std::vector<Circuit> light_of(const PlanResult& plan, const std::vector<Circuit>& before) {
  std::vector<Circuit> circuits;
  for (const Job& job : plan.intent.jobs) {
    const auto own = static_cast<std::ptrdiff_t>(circuits.size());
    const auto scheduled = std::ranges::find(plan.schedule.jobs, job.id, &JobSchedule::job);
    const bool is_known = scheduled != plan.schedule.jobs.end() && job.stage < scheduled->stages.size();
    for (const Timeslot& timeslot : is_known ? scheduled->stages[job.stage].timeslots : std::vector<Timeslot>{}) {
      circuits.insert(circuits.end(), timeslot.circuits.begin(), timeslot.circuits.end());
    }
    const auto order = [](const Circuit& circuit) { return std::tuple(circuit.transmitter, circuit.receiver, circuit.slot.n); };
    std::ranges::stable_sort(circuits.begin() + own, circuits.end(), {}, order);
    circuits.erase(std::unique(circuits.begin() + own, circuits.end(), is_same_light), circuits.end());
    if (static_cast<std::ptrdiff_t>(circuits.size()) == own) {
      std::ranges::copy_if(before, std::back_inserter(circuits), [&](const Circuit& circuit) { return circuit.job == job.id; });
    }
  }
  return circuits;
}

}  // namespace

void ConfirmedPlans::confirm(std::shared_ptr<const PlanResult> confirmed) {
  if (confirmed == nullptr || !confirmed->intent.lasers_off) {
    darkened_.reset();
  } else {
    const std::vector<Circuit> before = darkened_ ? *darkened_ : exists() ? plan().circuits : std::vector<Circuit>{};
    darkened_ = std::make_shared<const std::vector<Circuit>>(light_of(*confirmed, before));
  }
  present_ = std::move(confirmed);
  left_alone_.clear();
  if (!exists()) {
    return;
  }
  for (const NodePlan& node : plan().nodes) {
    for (const DevicePlan& device : node.devices) {
      if (device.left_alone) {
        left_alone_.push_back(device.device);
      }
    }
  }
  std::ranges::sort(left_alone_);
}

void ConfirmedPlans::restore(const SnapshotRecord& state) {
  if (state.confirmed == nullptr) {
    return;
  }
  auto result = std::make_shared<PlanResult>();
  result->plan = *state.confirmed;
  result->intent = *state.kept.back().intent;
  result->next_circuit = state.confirmed_next_circuit;
  const auto lit =
      std::find_if(state.kept.rbegin(), state.kept.rend(), [](const KeptRevision& kept) { return !kept.intent->lasers_off; });
  if (lit != state.kept.rend()) {
    darkened_ = std::make_shared<const std::vector<Circuit>>(lit->circuits);
  }
  confirm(std::move(result));
}

std::shared_ptr<const Plan> ConfirmedPlans::base() const {
  return exists() ? std::shared_ptr<const Plan>(present_, &present_->plan) : nullptr;
}

bool ConfirmedPlans::is_followed() const {
  return exists() &&
         std::ranges::any_of(present_->schedule.jobs, [](const JobSchedule& schedule) { return schedule.waiting > 0; });
}

const JobSchedule* ConfirmedPlans::schedule_of(JobId job) const {
  if (!exists()) {
    return nullptr;
  }
  const auto& jobs = present_->schedule.jobs;
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const JobSchedule& each) { return each.job == job; });
  return found == jobs.end() ? nullptr : &*found;
}

bool ConfirmedPlans::needs(NodeId node) const {
  const auto lets_light_by = [](const DevicePlan& device) {
    const Setpoint& setpoint = device.timeline.front().setpoint;
    const auto* rings = std::get_if<FilterSetpoint>(&setpoint);
    const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint);
    const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint);
    return (rings != nullptr && !rings->rings.empty()) || (wss != nullptr && !wss->routes.empty()) ||
           (ocs != nullptr && !ocs->connects.empty());
  };
  return has_light_at(node) || (exists() && std::ranges::any_of(plan().nodes[node.value].devices, lets_light_by));
}

const DevicePlan* ConfirmedPlans::desired_of(const Fabric& fabric, DeviceId device) const {
  return device_of(fabric, plan(), device);
}

}  // namespace loom
