// SPDX-License-Identifier: Apache-2.0
// Readings that are newer than the light that was confirmed since.
#include "controller/control/commit/found_state.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "controller/plan/light/light_scope.hpp"
#include "controller/plan/lower/lower.hpp"

namespace loom {
namespace {

/// So many drifted devices are looked at one by one.
constexpr std::size_t kLookedAtApart = 16;

bool does_something(const Setpoint& setpoint) {
  const auto* heater = std::get_if<FilterSetpoint>(&setpoint);
  const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint);
  const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint);
  return emits(setpoint) || (heater != nullptr && !heater->rings.empty()) || (wss != nullptr && !wss->routes.empty()) ||
         (ocs != nullptr && !ocs->connects.empty());
}

/// The plan asks nothing of this node, whatever its lasers do: not to arbitrate either.
bool asks_nothing(const Fabric& fabric, const NodePlan& slice, Revision revision) {
  const bool is_laid =
      (slice.grants && slice.grants->routed_by == revision) || (slice.iterations && slice.iterations->routed_by == revision);
  return !is_laid && std::ranges::all_of(slice.devices, [&](const DevicePlan& device) {
    return device.left_alone || (!device.touched && fabric.device(device.device).role != DeviceRole::transmitter);
  });
}

}  // namespace

std::vector<const Observation*> FoundState::fresh() const {
  std::vector<const Observation*> observations;
  for (const Device& device : facts_.fabric->devices) {
    const Observation* seen = sessions_.observed(device.id);
    const bool is_fresh =
        seen != nullptr && seen->health != DeviceHealth::unknown && seen->read_at > sessions_.readings().light_since(device.id);
    const AgentSession& session = sessions_[device.agent];
    const bool went_dark = device.role == DeviceRole::transmitter && (session.is_latched_off() || session.is_reported_dark);
    observations.push_back(is_fresh && !went_dark ? seen : nullptr);
  }
  return observations;
}

/// Else it is adopted, left to people, or its agent is not there to do it.
bool FoundState::may_darken(DeviceId laser) const {
  return policy_.foreign == DriftAnswer::repair && sessions_.may_take_part(facts_.fabric->device(laser).agent);
}

/// A node in maintenance that is away: nobody waits for it, and unless it latched its lasers off, or somebody has seen that
/// they are dark, they may shine still.
bool FoundState::is_left_to_itself(NodeId node) const {
  const AgentSession& session = sessions_[node];
  return desired_.in_maintenance(node) && !session.is_present() && !session.is_latched_off() && !session.is_reported_dark;
}

void FoundState::add_light_of(DeviceId id, const Observation* seen, std::vector<ObservedLight>& observed) const {
  const auto* reading = seen == nullptr ? nullptr : std::get_if<TransmitterObservation>(&seen->reading);
  const bool is_alone = is_left_to_itself(facts_.fabric->device(id).agent);
  if (!is_alone && (reading == nullptr || !reading->emitting)) {
    return;
  }
  const DevicePlan* plan = confirmed_.exists() ? confirmed_.desired_of(*facts_.fabric, id) : nullptr;
  const bool is_planned = plan != nullptr && std::any_of(plan->timeline.begin(), plan->timeline.end(),
                                                         [](const TimedSetpoint& entry) { return emits(entry.setpoint); });
  if (is_planned) {
    for (std::size_t i = 0; is_alone && i < plan->timeline.size(); ++i) {
      const auto& light = std::get<TransmitterSetpoint>(plan->timeline[i].setpoint);
      if (light.emit) {
        observed.push_back({id, light, false});
      }
    }
    return;
  }
  const auto found = seen == nullptr ? std::nullopt : found_setpoint(*facts_.fabric, id, seen->reading);
  if (found && emits(*found)) {
    observed.push_back({id, std::get<TransmitterSetpoint>(*found), may_darken(id)});
  }
}

/// Null: nothing was read that does anything.
std::shared_ptr<const Plan> FoundState::first_base(std::vector<const Observation*> observations,
                                                   std::vector<ObservedLight>& observed) const {
  std::erase_if(observed, [&](const ObservedLight& light) {
    if (!light.may_darken) {
      observations[light.laser.value] = nullptr;  // it stays, whatever is planned
    }
    return light.may_darken;  // part of the base: it goes dark with the first plan
  });
  const bool is_dark = std::none_of(observations.begin(), observations.end(), [&](const Observation* seen) {
    const auto found = seen == nullptr ? std::nullopt : found_setpoint(*facts_.fabric, seen->device, seen->reading);
    return found && does_something(*found);
  });
  return is_dark ? nullptr : std::make_shared<const Plan>(plan_as_found(*facts_.fabric, observations));
}

void FoundState::add_to(PlanRequest& request) const {
  std::vector<const Observation*> observations = fresh();
  for (const Device& device : facts_.fabric->devices) {
    if (device.role == DeviceRole::transmitter) {
      add_light_of(device.id, observations[device.id.value], request.observed);
    }
  }
  request.darkened = confirmed_.darkened();
  request.base = confirmed_.exists() ? confirmed_.base() : first_base(std::move(observations), request.observed);
}

bool FoundState::is_for_now(const std::vector<ObservedLight>& observed) const {
  return policy_.foreign == DriftAnswer::repair && std::ranges::any_of(observed, [this](const ObservedLight& light) {
           const NodeId node = facts_.fabric->device(light.laser).agent;
           return !light.may_darken && !sessions_.is_present(node) && !sessions_.is_given_up(node) &&
                  !desired_.in_maintenance(node);
         });
}

KnownState FoundState::known(const std::vector<std::shared_ptr<const Plan>>& uncertain) const {
  KnownState known;
  known.confirmed = confirmed_.exists() ? &confirmed_.plan() : nullptr;
  for (const auto& plan : uncertain) {
    known.uncertain.push_back(plan.get());
  }
  known.observations = fresh();
  return known;
}

/// Nothing where somebody would have to take part who cannot.
RepairScope FoundState::scope_of(std::vector<DeviceId> drifted, const Plan& plan,
                                 const std::vector<const Observation*>& observations) const {
  std::ranges::sort(drifted);
  RepairScope scope = drifted.empty() ? RepairScope{} : repair_scope(*facts_.fabric, plan, drifted, observations, {});
  // What is latched off moves its switches and rings, and lights nothing. What the plan asks anything of is waited for anyhow.
  const bool all_can = std::ranges::all_of(scope.devices, [&](DeviceId id) {
    const Device& device = facts_.fabric->device(id);
    return device_of(*facts_.fabric, plan, id)->touched || sessions_.may_take_part(device.agent) ||
           (device.role != DeviceRole::transmitter && sessions_.is_present(device.agent) &&
            !desired_.in_maintenance(device.agent));
  });
  return all_can ? scope : RepairScope{};
}

/// What steers and waits for its repair, where light that the plan brings may meet what differs of it. What is in nobody's new
/// light waits on: it may be broken, and is no reason for a job to fail.
RepairScope FoundState::in_new_light(const Plan& plan, const std::vector<const Observation*>& observations) const {
  RepairScope found;
  std::vector<DeviceId> drifted;
  for (const DeviceId id : plan.touched.empty() ? std::vector<DeviceId>{} : drift_.to_repair()) {
    const Device& device = facts_.fabric->device(id);
    const DevicePlan& wanted = *device_of(*facts_.fabric, plan, id);
    const bool steers = device.role != DeviceRole::transmitter && device.role != DeviceRole::monitor;
    if (steers && !wanted.touched && !wanted.left_alone && observations[id.value] != nullptr) {
      drifted.push_back(id);
    }
  }
  const std::size_t together = drifted.size() > kLookedAtApart ? drifted.size() : 1;  // each look walks all light
  for (std::size_t i = 0; i < drifted.size(); i += together) {
    const auto first = drifted.begin() + static_cast<std::ptrdiff_t>(i);
    const RepairScope scope = scope_of({first, first + static_cast<std::ptrdiff_t>(together)}, plan, observations);
    const bool is_in_light = std::ranges::any_of(scope.devices, [&](DeviceId each) {
      const DevicePlan& row = *device_of(*facts_.fabric, plan, each);
      return facts_.fabric->device(each).role == DeviceRole::transmitter && row.touched && !is_dark(row);
    });
    if (is_in_light) {
      merge_scope(found, scope);
    }
  }
  return found;
}

/// What a commit of this plan has to set beside what it changes, at agents that hold another plan and of what the confirmed one
/// left alone: it was read to be otherwise.
RepairScope FoundState::otherwise(const Plan& plan, const std::vector<const Observation*>& observations) const {
  ReconcileLimits limits;
  limits.stale_after = facts_.timings.stale_after;
  std::vector<DeviceId> drifted;
  const auto consider = [&](const DevicePlan& device) {
    const Observation* seen = observations[device.device.value];
    const Drift drift = seen == nullptr ? Drift::none : drift_of(*facts_.fabric, device, seen, facts_.now, limits);
    if (!device.touched && !device.left_alone && drift != Drift::none && policy_.answer_to(drift) == DriftAnswer::repair) {
      drifted.push_back(device.device);
    }
  };
  const auto holds_another = [this](NodeId node) { return sessions_[node].lacks_plan && sessions_.may_take_part(node); };
  for (const NodePlan& node : plan.nodes) {
    if (holds_another(node.node)) {
      std::ranges::for_each(node.devices, consider);
    }
  }
  for (const DeviceId id : confirmed_.left_alone()) {
    const NodeId node = facts_.fabric->device(id).agent;
    if (sessions_.is_present(node) && !desired_.in_maintenance(node) && !holds_another(node)) {
      consider(*device_of(*facts_.fabric, plan, id));
    }
  }
  RepairScope scope = scope_of(std::move(drifted), plan, observations);
  merge_scope(scope, in_new_light(plan, observations));
  return scope;
}

/// Nodes, ascending, that nobody waits for although their light may meet what this plan moves.
std::vector<NodeId> FoundState::unproven_nodes(const KnownState& known, const Plan& plan) const {
  std::vector<NodeId> alone;
  std::copy_if(desired_.intent().maintenance.begin(), desired_.intent().maintenance.end(), std::back_inserter(alone),
               [this](NodeId node) { return is_left_to_itself(node); });
  if (alone.empty()) {
    return alone;
  }
  std::set<NodeId> unproven;
  for (const DeviceId laser : lasers_that_meet(*facts_.fabric, known, plan)) {
    const NodeId node = facts_.fabric->device(laser).agent;
    if (std::find(alone.begin(), alone.end(), node) != alone.end()) {
      unproven.insert(node);
    }
  }
  return {unproven.begin(), unproven.end()};
}

/// A node in maintenance takes part while it can be heard; nobody waits for one that is switched off, unless its light may meet
/// what moves: that is not steered before it is proven dark. Nor for one that was given up and of whose devices nothing is
/// asked.
std::shared_ptr<const PlanResult> FoundState::without_absent(std::shared_ptr<const PlanResult> plan,
                                                             const KnownState& known) const {
  const std::vector<NodeId> unproven = unproven_nodes(known, plan->plan);
  const auto is_absent = [&](NodeId node) {
    const bool is_maintained = desired_.in_maintenance(node) && !std::binary_search(unproven.begin(), unproven.end(), node);
    return !sessions_.is_present(node) &&
           (is_maintained ||
            (sessions_.is_given_up(node) && asks_nothing(*facts_.fabric, plan->plan.nodes[node.value], plan->plan.revision)));
  };
  if (unproven.empty() && std::none_of(plan->plan.changed.begin(), plan->plan.changed.end(), is_absent)) {
    return plan;
  }
  auto narrowed = std::make_shared<PlanResult>(*plan);
  std::ranges::for_each(unproven, [&](NodeId node) { take_part(node, narrowed->plan); });
  std::erase_if(narrowed->plan.changed, is_absent);
  return narrowed;
}

/// What of a scope can be asked: agents that nobody waits for any more, and devices that the plan leaves alone, are found as
/// they are when they come back.
RepairScope FoundState::reachable(RepairScope scope, const Plan& plan) const {
  std::erase_if(scope.nodes, [this](NodeId node) { return sessions_.is_given_up(node); });
  const auto is_left = [&](DeviceId id) {
    const NodeId agent = facts_.fabric->device(id).agent;
    const auto& devices = plan.nodes[agent.value].devices;
    return sessions_.is_given_up(agent) || std::any_of(devices.begin(), devices.end(), [&](const DevicePlan& device) {
             return device.device == id && device.left_alone;
           });
  };
  std::erase_if(scope.devices, is_left);
  std::erase_if(scope.steering, is_left);
  return scope;
}

/// Lasers of agents that carry out a revision which the journal does not know. They may play timeslots, and what was read of
/// one says nothing of the next.
RepairScope FoundState::strangers() const {
  RepairScope scope;
  for (const Node& node : facts_.fabric->nodes) {
    if (policy_.foreign != DriftAnswer::repair || !sessions_[node.id].is_unknown || !sessions_.may_take_part(node.id)) {
      continue;
    }
    scope.nodes.push_back(node.id);
    std::ranges::copy_if(facts_.fabric->devices_of_agent[node.id.value], std::back_inserter(scope.devices),
                         [&](DeviceId device) { return facts_.fabric->device(device).role == DeviceRole::transmitter; });
  }
  std::ranges::sort(scope.devices);
  return scope;
}

std::shared_ptr<const PlanResult> FoundState::widen(std::shared_ptr<const PlanResult> plan, const UncertainState& uncertain,
                                                    const RepairScope& repaired, const KnownState& known) const {
  std::vector<bool> lacks_plan(sessions_.size());
  for (const Node& node : facts_.fabric->nodes) {
    lacks_plan[node.id.value] = sessions_[node.id].lacks_plan;
  }
  RepairScope repairs = reachable(repaired, plan->plan);
  merge_scope(repairs, reachable(otherwise(plan->plan, known.observations), plan->plan));
  merge_scope(repairs, reachable(strangers(), plan->plan));
  const RepairScope suspected = reachable(uncertain.scope(), plan->plan);
  plan = widened(std::move(plan), *facts_.fabric, suspected, repairs, known, lacks_plan);
  return without_absent(std::move(plan), known);
}

}  // namespace loom
