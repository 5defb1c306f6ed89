// SPDX-License-Identifier: Apache-2.0
// A repair is a commit like any other that touches nothing but what drifted; a device that stays wrong after a few of them is
// left to people, aloud.
#include "controller/control/commit/reconciler.hpp"

#include <algorithm>
#include <utility>

#include "controller/control/timers.hpp"
#include "controller/plan/light/light_scope.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Where one agent is away, the repairs of the others are found one by one; so many at a time.
constexpr std::size_t kRepairsApart = 64;

ReconcileLimits limits_of(const ControllerTimings& timings) {
  ReconcileLimits limits;
  limits.stale_after = timings.stale_after;
  return limits;
}

/// Agents that came back without their plan, and whose devices have all been read since: they are given it again.
std::vector<NodeId> to_be_restored(const Fabric& fabric, const AgentSessions& sessions) {
  std::vector<NodeId> nodes;
  for (const Node& node : fabric.nodes) {
    if (sessions.may_be_restored(node.id)) {
      nodes.push_back(node.id);
    }
  }
  return nodes;
}

/// Light that the repair darkened beside the devices that it was about, where its agents can bring it back. Switches and rings
/// that it was about may be moving, be it that somebody else failed: light returns when they have been set, too.
RepairScope taken_away_by(const FabricCommit& failed, const std::vector<DeviceId>& repaired, const Fabric& fabric,
                          const AgentSessions& sessions) {
  RepairScope rest;
  const auto is_laser = [&](DeviceId id) { return fabric.device(id).role == DeviceRole::transmitter; };
  for (const NodePlan& node : failed.plan().plan.nodes) {
    if (!failed.takes_part(node.node) || node.node == failed.failure().node || !sessions.may_take_part(node.node)) {
      continue;
    }
    for (const DevicePlan& device : node.devices) {
      if (device.touched &&
          (!is_laser(device.device) || !std::binary_search(repaired.begin(), repaired.end(), device.device))) {
        rest.devices.push_back(device.device);
      }
      if (device.touched && fabric.steers_others[device.device.value]) {
        rest.steering.push_back(device.device);
      }
    }
    if (!rest.devices.empty() && fabric.device(rest.devices.back()).agent == node.node) {
      rest.nodes.push_back(node.node);
    }
  }
  if (std::ranges::none_of(rest.devices, is_laser)) {
    return {};
  }
  std::sort(rest.devices.begin(), rest.devices.end());
  std::sort(rest.steering.begin(), rest.steering.end());
  return rest;
}

/// Of a repair: lasers whose light would come to something that an earlier one may have left `moving`, and that this one does
/// not set before light returns. `dark`: a plan in which nothing is set.
std::vector<DeviceId> lasers_into(std::vector<DeviceId> moving, const Fabric& fabric, const Plan& desired, const Plan& dark,
                                  const RepairScope& scope) {
  std::erase_if(moving, [&](DeviceId id) { return std::ranges::binary_search(scope.devices, id); });
  if (moving.empty()) {
    return moving;
  }
  const std::vector<const Observation*> unread(fabric.devices.size(), nullptr);
  std::vector<DeviceId> lasers = lasers_that_meet({fabric, desired, {&dark}, unread}, moving);
  std::erase_if(lasers, [&](DeviceId id) { return !std::ranges::binary_search(scope.devices, id); });
  return lasers;
}

void leave_out(const std::vector<DeviceId>& lasers, const Fabric& fabric, RepairScope& scope) {
  const auto is_out = [&](DeviceId id) { return std::ranges::binary_search(lasers, id); };
  std::erase_if(scope.devices, is_out);
  std::erase_if(scope.nodes, [&](NodeId node) {
    return std::ranges::none_of(scope.devices, [&](DeviceId id) { return fabric.device(id).agent == node; });
  });
  if (std::ranges::none_of(scope.devices, [&](DeviceId id) { return fabric.device(id).role == DeviceRole::transmitter; })) {
    scope = {};
  }
}

}  // namespace

Reconciler::Reconciler(const ReconcilerParts& parts, const DriftPolicy& policy)
    : facts_(parts.facts),
      desired_(parts.desired),
      confirmed_(parts.confirmed),
      journal_(parts.journal),
      alarms_(parts.alarms),
      sessions_(parts.sessions),
      numbers_(parts.numbers),
      returns_(parts.returns),
      commits_(parts.commits),
      tentative_(parts.tentative),
      unusable_(parts.unusable),
      light_(parts.light),
      policy_(policy),
      dark_(plan_as_found(*facts_.fabric, std::vector<const Observation*>(facts_.fabric->devices.size(), nullptr))),
      drift_(parts.drift),
      measured_(facts_, sessions_, light_) {}

void Reconciler::start(EffectSink& sink) {
  for (const DeviceOverride& override : desired_.intent().overrides) {
    if (override.is_adopted() && override.device.value < facts_.fabric->devices.size()) {
      alarm_of_adopted(override, sink);
    }
  }
}

void Reconciler::forget(NodeId node) {
  for (const DeviceId device : facts_.fabric->devices_of_agent[node.value]) {
    drift_.judge(device, Drift::none, facts_.now);
  }
}

void Reconciler::relight(NodeId node, EffectSink& sink) {
  for (const DeviceId device : facts_.fabric->devices_of_agent[node.value]) {
    drift_.renew(device, facts_.now);
  }
  sink.emit(SetTimer{timers::kReconcile, facts_.now + facts_.timings.debounce});
}

// --- judging -------------------------------------------------------------------------------------------------------------

/// A device of an agent that a commit is moving, that is being returned or is in maintenance is not judged: it is not meant to
/// be right.
bool Reconciler::is_judged(NodeId node) const {
  const FabricCommit* commit = moving(commits_);
  const bool moves = commit != nullptr && commit->takes_part(node);
  return judges() && !moves && !returns_.is_returning(node) && !desired_.in_maintenance(node);
}

const DevicePlan* Reconciler::desired_of(DeviceId id) const {
  const auto& devices = desired_plan().nodes[facts_.fabric->device(id).agent.value].devices;
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == id; });
  return found == devices.end() ? nullptr : &*found;
}

void Reconciler::judge(DeviceId id, EffectSink& sink) {
  for (const DeviceId laser : light_.lasers_seen_by(id)) {
    judge(laser, sink);
  }
  const NodeId node = facts_.fabric->device(id).agent;
  const DevicePlan* plan = is_judged(node) ? desired_of(id) : nullptr;
  if (plan == nullptr) {
    if (desired_.in_maintenance(node) && drift_.judge(id, Drift::none, facts_.now) == DriftWatch::News::sound) {
      alarms_.clear(AlarmCode::drift, {}, id);
    }
    return;
  }
  const Observation* seen = sessions_.observed(id);
  Drift drift = measured_.drift_of(*plan, limits_of(facts_.timings));
  const bool older_than_light =
      seen != nullptr && seen->health != DeviceHealth::failed && seen->read_at <= sessions_.readings().light_since(id);
  if (drift != Drift::stale && older_than_light) {
    drift = Drift::none;  // its last commit read it back; this reading is of before
  }
  if (drift == Drift::stale && !confirmed_.exists()) {
    drift = Drift::none;  // nobody has asked anything of it
  }
  const AgentSession& session = sessions_[node];
  if (drift == Drift::stale && session.is_present() && facts_.now - session.greeted_at <= poll_bound(facts_.timings)) {
    return;  // its agent has not had the time to read everything
  }
  switch (drift_.judge(id, drift, facts_.now)) {
    case DriftWatch::News::none:
      break;
    case DriftWatch::News::sound:
      if (const DeviceOverride* override = desired_.override_of(id); override != nullptr && override->is_adopted()) {
        alarm_of_adopted(*override, sink);
      } else {
        alarms_.clear(AlarmCode::drift, {}, id);
      }
      break;
    case DriftWatch::News::drifted:
      if (facts_.fabric->device(id).role == DeviceRole::monitor || measured_.is_others(id)) {
        drift_.leave_to_people(id);  // what it measures is others' light
      }
      alarm_of_drift(*plan, drift, sink);
      sink.emit(SetTimer{timers::kReconcile, facts_.now + facts_.timings.debounce});
      break;
  }
}

/// Not where another alarm says it: its agent is gone, its lasers are latched off, or it follows no order.
void Reconciler::alarm_of_drift(const DevicePlan& plan, Drift drift, EffectSink& sink) {
  const Device& device = facts_.fabric->device(plan.device);
  const AgentSession& session = sessions_[device.agent];
  const bool is_said = !session.is_present() || (session.is_latched_off() && drift == Drift::missing);
  if (is_said || unusable_.is_unusable(device.id)) {
    return;
  }
  Alarm alarm;
  alarm.code = AlarmCode::drift;
  alarm.node = device.agent;
  alarm.device = device.id;
  measured_.explain(plan, drift, limits_of(facts_.timings), alarm);
  alarms_.raise(std::move(alarm), facts_.now, sink);
}

/// All devices after a commit; else only those whose reading grew old, for whatever is new has been judged when it came.
void Reconciler::judge_all(EffectSink& sink) {
  if (!judges()) {
    return;
  }
  for (const Device& device : facts_.fabric->devices) {
    const Observation* seen = sessions_.observed(device.id);
    const bool is_old = seen == nullptr || facts_.now - seen->read_at > facts_.timings.stale_after;
    if (judge_everything_ || is_old) {
      judge(device.id, sink);
    }
  }
  judge_everything_ = false;
}

void Reconciler::alarm_of_given_up(EffectSink& sink) {
  for (const DeviceId id : drift_.take_given_up(facts_.now)) {
    if (unusable_.is_unusable(id)) {
      continue;  // its alarm stands, and says when it is tried again
    }
    const bool is_adopting = policy_.answer_to(drift_.drift_of(id)) == DriftAnswer::adopt;
    const Device& device = facts_.fabric->device(id);
    Alarm alarm;
    alarm.code = AlarmCode::drift;
    alarm.node = device.agent;
    alarm.device = id;
    alarm.evidence =
        format_text("{} (device {}) is still {} after {}{} within {} s; it is left as it is", device.name, id.value,
                    to_string(drift_.drift_of(id)), facts_.timings.repair_attempts, is_adopting ? " adoptions" : " repairs",
                    facts_.timings.repair_quiet / std::chrono::seconds{1});
    alarm.next_command = format_text("loom device show {}", id.value);
    alarms_.raise(std::move(alarm), facts_.now, sink);
  }
}

// --- repairing -----------------------------------------------------------------------------------------------------------

/// What a repair of these would touch; nothing if somebody would have to take part who cannot.
std::optional<RepairScope> Reconciler::scope_of(const std::vector<DeviceId>& devices, const std::vector<NodeId>& restored) {
  std::vector<const Observation*> observations;
  for (const Device& device : facts_.fabric->devices) {  // of the others too: light goes where they stand, and shines unasked
    const Observation* seen = sessions_.observed(device.id);
    const bool is_drifted = std::binary_search(devices.begin(), devices.end(), device.id);
    const bool is_fresh = seen != nullptr && seen->read_at > sessions_.readings().light_since(device.id);
    observations.push_back(is_drifted || is_fresh ? seen : nullptr);
  }
  RepairScope scope = repair_scope(*facts_.fabric, desired_plan(), devices, observations, restored);
  const bool all_can =
      lasers_into(left_moving_.unread(sessions_), *facts_.fabric, desired_plan(), dark_, scope).empty() &&
      std::all_of(scope.nodes.begin(), scope.nodes.end(), [this](NodeId node) { return sessions_.may_take_part(node); }) &&
      std::none_of(scope.devices.begin(), scope.devices.end(), [this](DeviceId id) { return unusable_.may_emit_light(id); });
  return all_can ? std::optional(std::move(scope)) : std::nullopt;
}

void Reconciler::want_repair(RepairScope scope, EffectSink& sink) {
  std::string reason;
  if (repairing_.empty()) {
    reason = format_text("the plan of {} agents that started again", scope.nodes.size());
  } else {
    const DeviceId first = repairing_.front();
    reason = format_text("repair of {} ({}){}", facts_.fabric->device(first).name, to_string(drift_.drift_of(first)),
                         repairing_.size() > 1 ? format_text(" and {} more devices", repairing_.size() - 1) : "");
  }
  commits_.repair_with_next_plan(std::move(scope));
  commits_.want_plan(std::move(reason), sink);
}

void Reconciler::reconcile(EffectSink& sink) {
  judge_all(sink);
  alarm_of_given_up(sink);
  const bool awaits_hellos = facts_.now < numbers_.known_by() && !are_all_known(sessions_, *facts_.fabric);
  if (!commits_.is_idle() || !judges() || awaits_hellos || adopt(sink)) {
    return;
  }
  std::vector<DeviceId> devices = drift_.due(facts_.now);
  merge_sorted(devices, drift_.stale_among(unusable_.to_be_tried(), facts_.now));
  std::erase_if(devices, [&](DeviceId id) {
    const NodeId node = facts_.fabric->device(id).agent;
    // An agent that holds a plan which this controller does not know keeps its light until somebody asks for another.
    const bool is_anothers = !confirmed_.exists() && sessions_[node].applied != Revision{};
    return !sessions_.may_take_part(node) || !is_judged(node) || is_anothers || unusable_.is_unusable(id);
  });
  std::vector<NodeId> restored = to_be_restored(*facts_.fabric, sessions_);
  if (devices.empty() && restored.empty()) {
    return;
  }
  auto scope = scope_of(devices, restored);
  if (!scope) {  // somebody is away: whoever does not need him
    const std::vector<DeviceId> candidates = std::move(devices);
    devices.clear();
    for (std::size_t i = 0; i < std::min(candidates.size(), kRepairsApart); ++i) {
      if (scope_of({candidates[i]}, {})) {
        devices.push_back(candidates[i]);
      }
    }
    std::erase_if(restored, [this](NodeId node) { return !scope_of({}, {node}); });
    scope = devices.empty() && restored.empty() ? std::nullopt : scope_of(devices, restored);
  }
  if (!scope) {
    if (const auto moving = left_moving_.take_unusable(unusable_)) {  // another way, or none, aloud
      commits_.want_plan(facts_.fabric->device(*moving).name + " may be moving, and follows no order", sink);
    }
    return;
  }
  drift_.repair_begins(devices, facts_.now);
  for (const NodeId node : restored) {
    sessions_.begin_restore(node);
  }
  repairing_ = std::move(devices);
  want_repair(*std::move(scope), sink);
}

void Reconciler::follow_commits(EffectSink& sink) {
  if (const auto end = commits_.take_end()) {
    on_commit_end(*end, sink);
  }
}

/// A repair that failed has no revision to return to: what it took away is lit again without the devices that it could not
/// repair.
void Reconciler::on_commit_end(const CommitEnd& end, EffectSink& sink) {
  if (end.is_confirmed) {
    repairing_.clear();
    judge_everything_ = true;
    return;
  }
  if (!end.is_repair) {
    return;  // it returns by itself
  }
  alarm_of_failed_repair(*end.failed, sink);
  judge_everything_ = true;
  left_moving_.note(*end.failed, *facts_.fabric, facts_.now);
  RepairScope rest = taken_away_by(*end.failed, repairing_, *facts_.fabric, sessions_);
  const std::vector<DeviceId> moving = left_moving_.unread(sessions_);
  if (const auto lasers = lasers_into(moving, *facts_.fabric, desired_plan(), dark_, rest); !lasers.empty()) {
    leave_out(lasers, *facts_.fabric, rest);  // they are missing, and are lit when what moves has been read
  }
  if (end.failed->may_have_moved() && !rest.devices.empty() && !repairing_.empty()) {
    repairing_.clear();  // once: if this fails too, its light is missing and is repaired as such
    commits_.repair_with_next_plan(std::move(rest));
    commits_.want_plan("light that a failed repair took away", sink);
    return;
  }
  commits_.consider_planning(sink);
}

void Reconciler::alarm_of_failed_repair(const FabricCommit& failed, EffectSink& sink) {
  Alarm alarm;
  alarm.code = AlarmCode::drift;
  if (failed.failure().node.value < sessions_.size()) {
    alarm.node = failed.failure().node;
  }
  alarm.device = repairing_.empty() ? std::nullopt : std::optional(repairing_.front());
  alarm.evidence = format_text("revision {} did not repair: {}", failed.revision().value, failed.failure().why);
  alarm.next_command = "loom schedule history";
  alarms_.raise(std::move(alarm), facts_.now, sink);
}

}  // namespace loom
