// SPDX-License-Identifier: Apache-2.0
// A device is tried again when it answers and its time has come; each failure makes that time four times as long.
#include "controller/control/watch/unusable_watch.hpp"

#include <algorithm>
#include <utility>

#include "controller/plan/light/light_scope.hpp"
#include "controller/plan/lower/lower.hpp"
#include "controller/plan/reconcile/reconcile.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr Duration kBackoffMost = std::chrono::minutes{10};

/// A module that says that it is broken was read; a driver with a fault gave up.
bool gave_up(const Observation& seen) { return seen.health == DeviceHealth::failed && !seen.fault.empty(); }

void add(std::vector<FrequencySlot>& slots, FrequencySlot slot) {
  if (std::find(slots.begin(), slots.end(), slot) == slots.end()) {
    slots.push_back(slot);
  }
}

void add_emissions(const DevicePlan& plan, std::vector<FrequencySlot>& slots) {
  for (const TimedSetpoint& entry : plan.timeline) {
    const auto* laser = std::get_if<TransmitterSetpoint>(&entry.setpoint);
    if (laser != nullptr && laser->emit) {
      add(slots, laser->slot);
    }
  }
}

/// Light that comes and goes by itself, in timeslots or under grants: that it was read dark says nothing of the next moment.
bool plays(const DevicePlan& plan) {
  return plan.timeline.back().hold != kForever &&
         std::ranges::any_of(plan.timeline, [](const TimedSetpoint& entry) { return emits(entry.setpoint); });
}

/// Where it wants the switch, and where that may stand as long as it has not moved. The oldest of too many go.
void add_states(const DevicePlan& plan, std::vector<CircuitSwitchSetpoint>& states) {
  constexpr std::size_t kMost = limits::kSetpointsHeld / 2;  // a plan names what it knows of itself beside them
  const auto add_one = [&](const Setpoint& setpoint) {
    const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint);
    if (ocs != nullptr && std::ranges::find(states, *ocs) == states.end()) {
      states.erase(states.begin(), states.begin() + (states.size() == kMost ? 1 : 0));
      states.push_back(*ocs);
    }
  };
  add_one(plan.timeline.front().setpoint);
  std::ranges::for_each(plan.may_hold, add_one);
}

Duration backoff(Duration first, std::uint32_t failures) {
  return std::min<Duration>(first * (1LL << std::min(2 * (failures - 1), 20U)), kBackoffMost);
}

/// Of a laser: what the confirmed plan has it emit.
std::vector<FrequencySlot> base_emissions(const ConfirmedPlans& confirmed, const Fabric& fabric, DeviceId device) {
  std::vector<FrequencySlot> slots;
  const DevicePlan* plan = confirmed.exists() ? confirmed.desired_of(fabric, device) : nullptr;
  if (plan != nullptr) {
    add_emissions(*plan, slots);
  }
  return slots;
}

std::string name_of(const Device& device) { return format_text("{} (device {})", device.name, device.id.value); }

}  // namespace

void UnusableWatch::mark(DeviceId id, std::string why, EffectSink& sink) {
  Row& row = rows_[id];
  const bool is_known = row.failures > 0 && !row.is_tried;
  row.why = std::move(why);
  row.since = facts_.now;
  row.is_tried = false;
  if (is_known) {
    return;  // the same failure, told twice
  }
  ++row.failures;
  row.retry_at = facts_.now + backoff(facts_.timings.repair_backoff, row.failures);
  const Device& device = facts_.fabric->device(id);
  Alarm alarm;
  alarm.code = AlarmCode::device_failed;
  alarm.node = device.agent;
  alarm.device = id;
  alarm.evidence =
      format_text("{} follows no order: {}; plans do without it and its circuits until it does", name_of(device), row.why);
  alarm.next_command = format_text("loom device reset {}", id.value);
  alarms_.raise(std::move(alarm), facts_.now, sink);
}

void UnusableWatch::observe(const Observation& seen, EffectSink& sink) {
  if (facts_.fabric->device(seen.device).role == DeviceRole::monitor) {
    return;  // nothing is ordered of it, and light goes by it whether it looks or not
  }
  const auto found = rows_.find(seen.device);
  if (!gave_up(seen)) {
    if (found != rows_.end() && seen.health == DeviceHealth::ready) {
      rows_.erase(found);
    }
    return;
  }
  if (found == rows_.end()) {
    return mark(seen.device, seen.fault, sink);
  }
  Row& row = found->second;
  const Duration age = facts_.now - seen.read_at;
  if (!row.is_tried && facts_.now >= row.retry_at && seen.read_at > row.since) {
    row.is_tried = true;  // it answers; only an order can show whether it follows
  } else if (row.is_tried && age > 2 * poll_bound(facts_.timings)) {
    mark(seen.device, seen.fault, sink);  // it fell silent again
  }
}

void UnusableWatch::forget(NodeId node) {
  for (const DeviceId device : facts_.fabric->devices_of_agent[node.value]) {
    rows_.erase(device);
  }
}

bool UnusableWatch::commit_failed(const FabricCommit& failed, EffectSink& sink) {
  const Plan& plan = failed.plan().plan;
  bool is_blamed = false;
  if (const auto device = failed.failure().device; device && device->value < facts_.fabric->devices.size()) {
    mark(*device, failed.failure().why, sink);
    is_blamed = true;
  }
  for (const NodeId node : plan.changed) {
    is_blamed = is_blamed || sessions_.is_given_up(node) || sessions_.is_latched_by_itself(node);
  }
  if (failed.may_have_moved()) {
    may_have_left(plan);
  }
  return is_blamed;
}

void UnusableWatch::may_have_left(const Plan& plan) {
  for (const NodeId node : plan.changed) {
    for (const DevicePlan& device : plan.nodes[node.value].devices) {
      if (device.touched) {
        Left& left = left_[device.device];
        left.since = facts_.now;
        add_emissions(device, left.emissions);
        if (plays(device)) {
          playing_.insert(device.device);
        }
        add_states(device, left.states);
      }
    }
  }
}

void UnusableWatch::restore(const SnapshotRecord& state) {
  if (confirmed_.exists()) {
    commit_confirmed();
  }
  for (const auto& plan : state.uncertain) {
    may_have_left(*plan);
  }
  if (state.going != nullptr) {
    may_have_left(*state.going);
  }
}

void UnusableWatch::hold_back(const std::vector<DeviceId>& devices, DeviceId laser) {
  for (const DeviceId device : devices) {
    held_back_[device] = laser;
  }
}

void UnusableWatch::leave_behind(DeviceId laser) {
  Left& left = left_[laser];
  left.since = facts_.now;
  for (const FrequencySlot slot : base_emissions(confirmed_, *facts_.fabric, laser)) {
    add(left.emissions, slot);
  }
}

void UnusableWatch::commit_confirmed() {
  std::erase_if(held_back_, [this](const auto& row) { return !may_emit_light(row.second); });
  const Plan& plan = confirmed_.plan();
  for (const NodeId node : plan.changed) {
    for (const DevicePlan& device : plan.nodes[node.value].devices) {
      if (device.touched) {
        left_.erase(device.device);
        rows_.erase(device.device);
        playing_.erase(device.device);
        if (plays(device)) {
          playing_.insert(device.device);
        }
      }
    }
  }
  for (const DeviceId id : confirmed_.left_alone()) {
    const DevicePlan& device = *confirmed_.desired_of(*facts_.fabric, id);
    if (device.may_hold.empty()) {
      continue;
    }
    Left& left = left_[id];
    left.since = facts_.now;
    add_states(device, left.states);
    for (const Setpoint& held : device.may_hold) {
      if (const auto* light = std::get_if<TransmitterSetpoint>(&held)) {
        add(left.emissions, light->slot);
      }
    }
  }
}

/// The last instant at which an order may have changed it.
Instant UnusableWatch::done_at(DeviceId id) const {
  const auto left = left_.find(id);
  return std::max(sessions_.readings().light_since(id), left == left_.end() ? Instant::min() : left->second.since);
}

bool UnusableWatch::is_proven_dark(DeviceId id) const {
  const AgentSession& session = sessions_[facts_.fabric->device(id).agent];
  const Observation* seen = sessions_.observed(id);
  const auto* laser = seen == nullptr ? nullptr : std::get_if<TransmitterObservation>(&seen->reading);
  // A latch says nothing of one that follows no order, or that nobody has read since its agent started, or that is read lit.
  const bool follows = !rows_.contains(id) && seen != nullptr && seen->health != DeviceHealth::failed;
  const bool was_dark = laser != nullptr && !laser->emitting;
  const DevicePlan* plan = confirmed_.exists() ? confirmed_.desired_of(*facts_.fabric, id) : nullptr;
  const bool may_play = playing_.contains(id) || (plan != nullptr && plays(*plan));
  return session.is_reported_dark || (session.is_latched_off() && (was_dark || (follows && laser == nullptr))) ||
         (was_dark && seen->read_at > done_at(id) && !may_play);
}

/// What is known of it by its last reading, if that is newer than whatever was done to it.
UnusableDevice UnusableWatch::entry(DeviceId id, std::string why) const {
  UnusableDevice device{id, true, {}, std::move(why)};
  const Observation* seen = sessions_.observed(id);
  const auto left = left_.find(id);
  const bool is_laser = facts_.fabric->device(id).role == DeviceRole::transmitter;
  const std::vector<FrequencySlot> base = base_emissions(confirmed_, *facts_.fabric, id);
  if (is_laser && is_proven_dark(id)) {
    device.holds = base.empty();
    return device;
  }
  if (is_laser) {
    const auto found = seen == nullptr ? std::nullopt : found_setpoint(*facts_.fabric, id, seen->reading);
    const auto* light = found && emits(*found) ? &std::get<TransmitterSetpoint>(*found) : nullptr;
    const bool is_others = light != nullptr && std::find(base.begin(), base.end(), light->slot) == base.end();
    device.holds = left == left_.end() && !is_others;
    if (!device.holds) {
      device.may_emit = left == left_.end() ? std::vector<FrequencySlot>{} : left->second.emissions;
      for (const FrequencySlot slot : base) {
        add(device.may_emit, slot);
      }
      if (light != nullptr) {
        add(device.may_emit, light->slot);
      }
    }
  } else {
    const DevicePlan* plan = confirmed_.exists() ? confirmed_.desired_of(*facts_.fabric, id) : nullptr;
    const bool is_read = seen != nullptr && seen->read_at > done_at(id);
    const Drift drift = is_read && plan != nullptr ? drift_of(*facts_.fabric, *plan, seen, seen->read_at, {}) : Drift::none;
    const bool is_elsewhere = drift == Drift::missing || drift == Drift::foreign;  // somewhat beside its place it still serves
    device.holds = left == left_.end() ? !is_elsewhere : is_read && plan != nullptr && drift == Drift::none;
  }
  return device;
}

bool UnusableWatch::is_unusable(DeviceId id) const { return !why(id).empty(); }

std::vector<DeviceId> UnusableWatch::to_be_tried() const {
  std::vector<DeviceId> devices;
  for (const auto& [device, row] : rows_) {
    if (row.is_tried) {
      devices.push_back(device);
    }
  }
  return devices;
}

bool UnusableWatch::may_emit_light(DeviceId laser) const {
  if (!is_unusable(laser) || facts_.fabric->device(laser).role != DeviceRole::transmitter) {
    return false;
  }
  const UnusableDevice row = entry(laser, {});
  return !row.may_emit.empty() || (row.holds && !base_emissions(confirmed_, *facts_.fabric, laser).empty());
}

bool UnusableWatch::may_be_lit(DeviceId laser) const {
  const bool is_laser = facts_.fabric->device(laser).role == DeviceRole::transmitter;
  const bool was_lit = !confirmed_.exists() || !base_emissions(confirmed_, *facts_.fabric, laser).empty();
  return may_emit_light(laser) || (is_laser && was_lit && !is_proven_dark(laser));
}

std::string UnusableWatch::why(DeviceId id) const {
  const Device& device = facts_.fabric->device(id);
  if (const auto row = rows_.find(id); row != rows_.end() && !row->second.is_tried) {
    return row->second.why;
  }
  if (const auto held = held_back_.find(id); held != held_back_.end() && may_emit_light(held->second)) {
    return format_text("light of {} may meet it, and nobody can prove that dark: {}",
                       name_of(facts_.fabric->device(held->second)), why(held->second));
  }
  const AgentSession& session = sessions_[device.agent];
  if (sessions_.is_given_up(device.agent)) {
    return format_text("its agent is {}, node {} has sent nothing for longer than {} ms", to_string(session.state()),
                       device.agent.value, facts_.timings.stage_deadline / std::chrono::milliseconds{1});
  }
  return device.role == DeviceRole::transmitter && sessions_.is_latched_by_itself(device.agent)
             ? format_text("the lasers of node {} are latched off there (loom lasers rearm)", device.agent.value)
             : std::string{};
}

std::vector<UnusableDevice> UnusableWatch::devices() const {
  std::vector<UnusableDevice> devices;
  for (const Node& node : facts_.fabric->nodes) {
    const bool is_node = sessions_.is_given_up(node.id) || sessions_.is_latched_by_itself(node.id);
    for (const DeviceId device : facts_.fabric->devices_of_agent[node.id.value]) {
      if (auto others = is_node || rows_.contains(device) || held_back_.contains(device) ? std::vector<CrossConnect>{}
                                                                                         : occupied_of(device);
          !others.empty()) {
        std::string because = format_text("{}{}", describe_occupant(others.front()),
                                          others.size() == 1 ? "" : format_text(" ({} such connections)", others.size()));
        devices.push_back({device, true, {}, std::move(because), std::move(others)});
      }
      if (std::string because = is_node || rows_.contains(device) || held_back_.contains(device) ? why(device) : std::string{};
          !because.empty()) {
        devices.push_back(entry(device, std::move(because)));
      }
    }
  }
  std::sort(devices.begin(), devices.end(),
            [](const UnusableDevice& a, const UnusableDevice& b) { return a.device < b.device; });
  return devices;
}

void UnusableWatch::planned_without(const std::vector<UnusableDevice>& devices) {
  planned_without_.clear();
  planned_beside_.clear();
  for (const UnusableDevice& each : devices) {
    if (each.occupied.empty()) {
      planned_without_.push_back(each.device);
    }
    for (const CrossConnect occupied : each.occupied) {
      planned_beside_.emplace_back(each.device, occupied);
    }
  }
}

std::optional<std::string> UnusableWatch::take_recovery() {
  const auto usable = [this](DeviceId device) { return !is_unusable(device); };
  const auto found = std::find_if(planned_without_.begin(), planned_without_.end(), usable);
  if (found == planned_without_.end()) {
    return take_freed_port();
  }
  std::string name = name_of(facts_.fabric->device(*found));
  std::erase_if(planned_without_, usable);
  return name;
}

std::optional<std::string> UnusableWatch::take_freed_port() {
  const auto is_free = [this](const std::pair<DeviceId, CrossConnect>& row) {
    const std::vector<CrossConnect> others = occupied_of(row.first);
    return std::ranges::find(others, row.second) == others.end();
  };
  const auto found = std::ranges::find_if(planned_beside_, is_free);
  if (found == planned_beside_.end()) {
    return std::nullopt;
  }
  std::string name = name_of(facts_.fabric->device(found->first));
  std::erase_if(planned_beside_, is_free);
  return name;
}

std::vector<LeftSwitch> UnusableWatch::left_switches() const {
  std::vector<LeftSwitch> switches;
  for (const auto& [device, left] : left_) {
    if (!left.states.empty()) {
      switches.push_back({device, left.states});
    }
  }
  return switches;
}

std::vector<CrossConnect> UnusableWatch::occupied_of(DeviceId id) const {
  const Observation* seen = sessions_.observed(id);
  const auto* ocs = seen == nullptr ? nullptr : std::get_if<CircuitSwitchObservation>(&seen->reading);
  if (ocs == nullptr || ocs->occupied.empty()) {
    return {};
  }
  const DevicePlan* plan = confirmed_.exists() ? confirmed_.desired_of(*facts_.fabric, id) : nullptr;
  const auto* desired = plan == nullptr ? nullptr : std::get_if<CircuitSwitchSetpoint>(&plan->timeline.front().setpoint);
  std::vector<CrossConnect> ours = desired == nullptr ? std::vector<CrossConnect>{} : desired->connects;
  if (const auto left = left_.find(id); left != left_.end()) {  // an agent that began anew takes them for somebody else's
    for (const CircuitSwitchSetpoint& state : left->second.states) {
      ours = with_ours(std::move(ours), state.connects);
    }
  }
  return others_beside(*ocs, ours);
}

bool is_sound(const UnusableWatch& watch, const Fabric& fabric, NodeId node) {
  return std::ranges::none_of(fabric.devices_of_agent[node.value], [&](DeviceId device) { return watch.is_unusable(device); });
}

std::vector<PossibleLight> possible_light_of(const std::vector<UnusableDevice>& devices) {
  std::vector<PossibleLight> lights;
  for (const UnusableDevice& each : devices) {
    for (const FrequencySlot slot : each.may_emit) {
      lights.push_back({each.device, slot});
    }
  }
  return lights;
}

}  // namespace loom
