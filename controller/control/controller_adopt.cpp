// What was found becomes desired, where the policy says so: an override that nobody ordered, planned and verified on trial like
// an operator's, journalled, and committed without anything going dark, for the fabric is so already.
#include <algorithm>

#include "controller/control/controller.hpp"
#include "controller/control/desk.hpp"
#include "controller/plan/adoption.hpp"

namespace loom {
namespace {

std::string command_that_clears(DeviceId device) { return "loom device set " + std::to_string(device.value) + " --clear"; }

std::string text_of(const Setpoint& setpoint) {
  if (const auto* laser = std::get_if<LaserSetpoint>(&setpoint)) {
    return (laser->emit ? "light at " + to_string(centre_of(laser->slot)) + " and " : std::string()) + to_string(laser->power);
  }
  std::string text;
  if (const auto* wss = std::get_if<WssSetpoint>(&setpoint)) {
    for (const WssRoute& row : wss->routes) {
      text += (text.empty() ? "route of " : ", ") + to_string(centre_of(row.slot)) + " from input " +
              std::to_string(row.input) + " to output " + std::to_string(row.output);
    }
  } else if (const auto* ocs = std::get_if<OcsSetpoint>(&setpoint)) {
    for (const CrossConnect& row : ocs->connects) {
      text += (text.empty() ? "input " : ", ") + std::to_string(row.input) + " to output " + std::to_string(row.output);
    }
  }
  return text;
}

}  // namespace

const DeviceOverride* Controller::override_of(DeviceId device) const {
  const auto found = std::find_if(intent_.overrides.begin(), intent_.overrides.end(),
                                  [&](const DeviceOverride& override) { return override.device == device; });
  return found == intent_.overrides.end() ? nullptr : &*found;
}

/// One device at a time, switches first: light that was found may run by rows that were found. True: one is on trial.
bool Controller::adopt_now(Instant now, EffectSink& sink) {
  const Fabric& fabric = *options_.fabric;
  const auto is_adoption = [](const Trial& trial) { return trial.adopts.has_value(); };
  if (std::any_of(trials_.begin(), trials_.end(), is_adoption)) {
    return true;
  }
  std::vector<DeviceId> devices = drift_.adoptable(now);
  std::erase_if(devices, [&](DeviceId id) {
    const NodeId node = fabric.device(id).agent;
    return !may_take_part(node) || !is_judged(node) || desired_of(id) == nullptr || observed_of(id) == nullptr;
  });
  std::stable_partition(devices.begin(), devices.end(), [&](DeviceId id) {
    return fabric.device(id).kind == DeviceKind::wss || fabric.device(id).kind == DeviceKind::ocs;
  });
  if (devices.empty()) {
    return false;
  }
  const DeviceId id = devices.front();
  drift_.repair_begins({id}, now);
  auto found = adoption_of(fabric, *desired_of(id), *observed_of(id), drift_.drift_of(id), confirmed(), override_of(id));
  Trial trial;
  trial.adopts = found ? *found : DeviceOverride{id, {}, confirmed()};
  if (!found) {
    refuse_trial(trial, found.error(), sink);
    return false;
  }
  trial.reason = fabric.device(id).name + " adopted as it was found";
  trial.ways = {[override = *found](const Intent& intent) -> Result<Intent> {
    Intent changed = intent;
    set_override(changed, override);
    return changed;
  }};
  try_out(std::move(trial), sink);
  return true;
}

/// Whoever waits for an answer hears it; what cannot be adopted is an alarm, and is left as it is.
void Controller::refuse_trial(const Trial& trial, Error error, EffectSink& sink) {
  if (trial.adapts) {
    if (const auto watch = watches_.find(*trial.adapts); watch != watches_.end()) {
      watch->second.kept(now_, "there is no plan for it (" + error.message + "); kept");
    }
    return;
  }
  if (!trial.adopts) {
    return refuse(trial.asker, std::move(error), sink);
  }
  const DeviceId id = trial.adopts->device;
  const Device& device = options_.fabric->device(id);
  drift_.cannot_adopt(id);
  Alarm alarm;
  alarm.code = AlarmCode::drift;
  alarm.node = device.agent;
  alarm.device = id;
  alarm.evidence = device.name + " (device " + std::to_string(id.value) + ") is " +
                   std::string(to_string(drift_.drift_of(id))) + " and is left as it is; it is not adopted: " + error.message;
  alarm.next_command = "loom device show " + std::to_string(id.value);
  raise(std::move(alarm), sink);
}

/// Only beside the plan that it was found beside, and while nothing moves: else it is looked at again after its backoff.
void Controller::adopt_found(const Trial& trial, const PlanResult& tried, Instant now, EffectSink& sink) {
  const DeviceOverride& found = *trial.adopts;
  if (!is_idle() || trial.before != intent_ || confirmed() != found.found_beside ||
      !may_be_adopted(drift_.drift_of(found.device))) {
    return;
  }
  intent_ = tried.intent;
  append(intent_record(), IntentAct{}, sink);
  want_plan(trial.reason, now, sink);
}

/// It stands as long as the adoption does.
void Controller::tell_adopted(const DeviceOverride& override, EffectSink& sink) {
  const Device& device = options_.fabric->device(override.device);
  Alarm alarm;
  alarm.code = AlarmCode::drift;
  alarm.node = device.agent;
  alarm.device = device.id;
  alarm.evidence = device.name + " (device " + std::to_string(device.id.value) +
                   ") is adopted as it was found beside revision " + std::to_string(override.found_beside.value) + ": " +
                   text_of(override.setpoint);
  alarm.next_command = command_that_clears(device.id);
  raise(std::move(alarm), sink);
}

}  // namespace loom
