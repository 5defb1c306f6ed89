// SPDX-License-Identifier: Apache-2.0
// What was found becomes desired, where the policy says so: an override that nobody ordered, planned and verified as a
// tentative plan like an operator's, journalled, and committed without anything going dark, for the fabric is so already.
#include <algorithm>
#include <utility>

#include "controller/control/commit/reconciler.hpp"
#include "controller/plan/reconcile/adoption.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string command_that_clears(DeviceId device) { return format_text("loom device set {} --clear", device.value); }

std::string text_of(const Setpoint& setpoint) {
  if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
    return (laser->emit ? format_text("light at {} and ", to_string(centre_of(laser->slot))) : std::string()) +
           to_string(laser->power);
  }
  std::string text;
  if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
    for (const WssRoute& row : wss->routes) {
      text += format_text("{}{} from input {} to output {}", text.empty() ? "route of " : ", ", to_string(centre_of(row.slot)),
                          row.input, row.output);
    }
  } else if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint)) {
    for (const CrossConnect& row : ocs->connects) {
      text += format_text("{}{} to output {}", text.empty() ? "input " : ", ", row.input, row.output);
    }
  }
  return text;
}

}  // namespace

/// One device at a time, switches first: light that was found may run by rows that were found. True: one is being tried.
bool Reconciler::adopt(EffectSink& sink) {
  const Fabric& fabric = *facts_.fabric;
  if (tentative_.has_adoption()) {
    return true;
  }
  if (!confirmed_.exists()) {
    return false;  // there is nothing that it could be beside
  }
  std::vector<DeviceId> devices = drift_.adoptable(facts_.now);
  std::erase_if(devices, [&](DeviceId id) {
    const NodeId node = fabric.device(id).agent;
    return !sessions_.may_take_part(node) || !is_judged(node) || desired_of(id) == nullptr || sessions_.observed(id) == nullptr;
  });
  std::stable_partition(devices.begin(), devices.end(),
                        [&](DeviceId id) { return fabric.device(id).role != DeviceRole::transmitter; });
  if (devices.empty()) {
    return false;
  }
  const DeviceId id = devices.front();
  drift_.repair_begins({id}, facts_.now);
  auto found = adoption_of(fabric, *desired_of(id), *sessions_.observed(id), drift_.drift_of(id), confirmed_.revision(),
                           desired_.override_of(id));
  if (!found) {
    cannot_adopt(id, found.error(), sink);
    return false;
  }
  TentativePlan plan;
  plan.purpose = AdoptionChange{*found};
  plan.reason = fabric.device(id).name + " adopted as it was found";
  plan.candidates = {[override = *found](const Intent& intent) -> Result<Intent> {
    Intent changed = intent;
    set_override(changed, override);
    return changed;
  }};
  if (const auto refused = tentative_.begin(std::move(plan), numbers_.next_circuit(), sink)) {
    on_adoption(*refused, sink);
  }
  return true;
}

/// What cannot be adopted is an alarm, and is left as it is.
void Reconciler::cannot_adopt(DeviceId id, const Error& error, EffectSink& sink) {
  const Device& device = facts_.fabric->device(id);
  drift_.leave_to_people(id);
  Alarm alarm;
  alarm.code = AlarmCode::drift;
  alarm.node = device.agent;
  alarm.device = id;
  alarm.evidence = format_text("{} (device {}) is {} and is left as it is; it is not adopted: {}", device.name, id.value,
                               to_string(drift_.drift_of(id)), error.message);
  alarm.next_command = format_text("loom device show {}", id.value);
  alarms_.raise(std::move(alarm), facts_.now, sink);
}

/// Only beside the plan that it was found beside, and while nothing moves: else it is looked at again after its backoff.
void Reconciler::on_adoption(const TentativeOutcome& outcome, EffectSink& sink) {
  const DeviceOverride& found = std::get<AdoptionChange>(outcome.plan.purpose).found;
  if (!outcome.result) {
    return cannot_adopt(found.device, outcome.result.error(), sink);
  }
  if (!commits_.is_idle() || outcome.plan.before != desired_.intent() || confirmed_.revision() != found.found_beside ||
      !may_be_adopted(drift_.drift_of(found.device))) {
    return;
  }
  desired_.replace((*outcome.result)->intent);
  journal_.append(desired_.record(), PlanAct{}, sink);
  commits_.want_plan(outcome.plan.reason, sink);
}

/// It stands as long as the adoption does.
void Reconciler::alarm_of_adopted(const DeviceOverride& override, EffectSink& sink) {
  const Device& device = facts_.fabric->device(override.device);
  Alarm alarm;
  alarm.code = AlarmCode::drift;
  alarm.node = device.agent;
  alarm.device = device.id;
  alarm.evidence = format_text("{} (device {}) is adopted as it was found beside revision {}: {}", device.name, device.id.value,
                               override.found_beside.value, text_of(override.setpoint));
  alarm.next_command = command_that_clears(device.id);
  alarms_.raise(std::move(alarm), facts_.now, sink);
}

}  // namespace loom
