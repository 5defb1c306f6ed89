// Desired against observed: what drifted, what is said about it, and what a repair takes part in. A repair is a commit like any
// other that touches nothing but what drifted; a device that stays wrong after a few of them is left to people, aloud.
#include <algorithm>

#include "controller/control/controller.hpp"
#include "controller/control/timers.hpp"
#include "controller/plan/explain.hpp"
#include "controller/plan/reconcile.hpp"

namespace loom {
namespace {

/// Where one agent is away, the repairs of the others are found one by one; so many at a time.
constexpr std::size_t kRepairsApart = 64;

std::string named(const Fabric& fabric, DeviceId id) { return fabric.device(id).name; }

}  // namespace

/// Desired light while the lasers are ordered off is darkness, whatever the confirmed plan says.
bool Controller::has_desired_light() const { return confirmed_ != nullptr && !intent_.lasers_off; }

const DevicePlan* Controller::desired_of(DeviceId id) const {
  const auto& devices = confirmed_->plan.nodes[options_.fabric->device(id).agent.value].devices;
  const auto found = std::lower_bound(devices.begin(), devices.end(), id,
                                      [](const DevicePlan& plan, DeviceId wanted) { return plan.device < wanted; });
  return found == devices.end() || found->device != id ? nullptr : &*found;
}

const Observation* Controller::observed_of(DeviceId id) const {
  return observations_[id.value].has_value() ? &*observations_[id.value] : nullptr;
}

ReconcileLimits Controller::reconcile_limits() const {
  ReconcileLimits limits;
  limits.stale_after = options_.timings.stale_after;
  return limits;
}

DriftCounts Controller::drift_counts(Instant) const { return has_desired_light() ? drift_.counts() : DriftCounts{}; }

std::vector<DeviceReport> Controller::device_rows(const Query& query, Instant) const {
  std::vector<DeviceReport> rows;
  for (const Device& device : options_.fabric->devices) {
    if (query.id.has_value() && *query.id != device.id.value) {
      continue;
    }
    Observation never;
    never.device = device.id;
    const Drift drift = has_desired_light() ? drift_.drift_of(device.id) : Drift::none;
    const DevicePlan* plan = confirmed_ == nullptr ? nullptr : desired_of(device.id);
    const DeviceOverride* override = override_of(device.id);
    rows.push_back({device.id, device.name, device.kind, device.agent, observations_[device.id.value].value_or(never), drift,
                    plan == nullptr ? std::nullopt : std::optional(plan->timeline.front().setpoint),
                    override != nullptr && !override->is_adopted(), override != nullptr && override->is_adopted()});
  }
  const std::vector<std::uint32_t> lit = confirmed_ == nullptr ? std::vector<std::uint32_t>(options_.fabric->devices.size())
                                                               : lit_ways(*options_.fabric, confirmed_->plan);
  for (DeviceReport& row : rows) {
    row.lit_ways = lit[row.device.value];
  }
  return rows;
}

/// A device of an agent that a commit is moving, that is being returned or is in maintenance is not judged: it is not meant to
/// be right.
bool Controller::is_judged(NodeId node) const {
  const bool moves = commit_ != nullptr && !commit_waits_ && commit_->takes_part(node);
  const bool returns = return_attempts_ <= options_.timings.return_attempts &&
                       std::binary_search(doubt_.nodes.begin(), doubt_.nodes.end(), node);
  return has_desired_light() && !moves && !returns && !in_maintenance(node);
}

void Controller::judge(DeviceId id, Instant now, EffectSink& sink) {
  const NodeId node = options_.fabric->device(id).agent;
  const DevicePlan* plan = is_judged(node) ? desired_of(id) : nullptr;
  if (plan == nullptr) {
    if (in_maintenance(node) && drift_.judge(id, Drift::none, now) == DriftWatch::News::sound) {
      alarms_.clear(AlarmCode::drift, {}, id);
    }
    return;
  }
  const Observation* seen = observed_of(id);
  Drift drift = loom::drift_of(*options_.fabric, *plan, seen, now, reconcile_limits());
  const bool older_than_light =
      seen != nullptr && seen->health != DeviceHealth::failed && seen->read_at <= light_since_[id.value];
  if (drift != Drift::stale && older_than_light) {
    drift = Drift::none;  // its last commit read it back; this reading is of before
  }
  const AgentSession& session = sessions_[node.value];
  if (drift == Drift::stale && session.is_present() && now - session.greeted_at <= poll_bound(options_.timings)) {
    return;  // its agent has not had the time to read everything
  }
  switch (drift_.judge(id, drift, now)) {
    case DriftWatch::News::none:
      break;
    case DriftWatch::News::sound:
      if (const DeviceOverride* override = override_of(id); override != nullptr && override->is_adopted()) {
        tell_adopted(*override, sink);
      } else {
        alarms_.clear(AlarmCode::drift, {}, id);
      }
      break;
    case DriftWatch::News::drifted:
      tell_drift(*plan, drift, now, sink);
      sink.emit(SetTimer{timers::kReconcile, now + options_.timings.debounce});
      break;
  }
}

/// Not where another alarm says it for the whole node: its agent is gone, or its lasers are latched off.
void Controller::tell_drift(const DevicePlan& plan, Drift drift, Instant now, EffectSink& sink) {
  const Device& device = options_.fabric->device(plan.device);
  const AgentSession& session = sessions_[device.agent.value];
  if (!session.is_present() || (session.lasers_latched_off && drift == Drift::missing)) {
    return;
  }
  Alarm alarm;
  alarm.code = AlarmCode::drift;
  alarm.node = device.agent;
  alarm.device = device.id;
  alarm.evidence = evidence_of(*options_.fabric, plan, observed_of(device.id), drift, now, reconcile_limits());
  alarm.next_command = "loom device show " + std::to_string(device.id.value);
  raise(std::move(alarm), sink);
}

/// All devices after a commit; else only those whose reading grew old, for whatever is new has been judged when it came.
void Controller::judge_all(Instant now, EffectSink& sink) {
  if (!has_desired_light()) {
    return;
  }
  for (const Device& device : options_.fabric->devices) {
    const Observation* seen = observed_of(device.id);
    const bool is_old = seen == nullptr || now - seen->read_at > options_.timings.stale_after;
    if (judge_everything_ || is_old) {
      judge(device.id, now, sink);
    }
  }
  judge_everything_ = false;
}

bool Controller::may_take_part(NodeId node) const {
  return sessions_[node.value].is_present() && !sessions_[node.value].lasers_latched_off && !in_maintenance(node);
}

/// Agents that came back without their plan, and whose devices have all been read since: they are given it again.
std::vector<NodeId> Controller::to_be_restored(Instant now) const {
  std::vector<NodeId> nodes;
  for (const Node& node : options_.fabric->nodes) {
    const AgentSession& session = sessions_[node.id.value];
    const auto& own = options_.fabric->devices_of_agent[node.id.value];
    const bool all_read = std::all_of(own.begin(), own.end(), [&](DeviceId id) { return observed_of(id) != nullptr; });
    if (session.lacks_plan && may_take_part(node.id) && all_read && session.restore_after <= now) {
      nodes.push_back(node.id);
    }
  }
  return nodes;
}

/// What a repair of these would touch; nothing if somebody would have to take part who cannot.
std::optional<RepairScope> Controller::scope_of(const std::vector<DeviceId>& devices,
                                                const std::vector<NodeId>& restored) const {
  std::vector<const Observation*> observations(observations_.size(), nullptr);
  for (const DeviceId id : devices) {
    observations[id.value] = observed_of(id);
  }
  RepairScope scope = repair_scope(*options_.fabric, confirmed_->plan, devices, observations, restored);
  const bool all_can = std::all_of(scope.nodes.begin(), scope.nodes.end(), [this](NodeId node) { return may_take_part(node); });
  return all_can ? std::optional(std::move(scope)) : std::nullopt;
}

void Controller::want_repair(RepairScope scope, Instant now, EffectSink& sink) {
  const Fabric& fabric = *options_.fabric;
  std::string reason =
      repairing_.empty() ? "the plan of " + std::to_string(scope.nodes.size()) + " agents that started again"
                         : "repair of " + named(fabric, repairing_.front()) + " (" +
                               std::string(to_string(drift_.drift_of(repairing_.front()))) + ")" +
                               (repairing_.size() > 1 ? " and " + std::to_string(repairing_.size() - 1) + " more devices" : "");
  repair_.nodes = std::move(scope.nodes);
  repair_.devices = std::move(scope.devices);
  repair_.switches = std::move(scope.steering);
  want_plan(std::move(reason), now, sink);
}

/// Repairs when nothing else is under way.
void Controller::reconcile_now(Instant now, EffectSink& sink) {
  judge_all(now, sink);
  tell_given_up(now, sink);
  if (!is_idle() || !has_desired_light() || adopt_now(now, sink)) {
    return;
  }
  std::vector<DeviceId> devices = drift_.due(now);
  std::erase_if(devices, [&](DeviceId id) {
    const NodeId node = options_.fabric->device(id).agent;
    return !may_take_part(node) || !is_judged(node);
  });
  const std::vector<NodeId> restored = to_be_restored(now);
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
    scope = devices.empty() ? std::nullopt : scope_of(devices, {});
  }
  if (!scope) {
    return;
  }
  drift_.repair_begins(devices, now);
  for (const NodeId node : restored) {
    AgentSession& session = sessions_[node.value];
    session.restore_after = now + options_.timings.repair_backoff * (1LL << std::min(session.restores++, 6U));
  }
  repairing_ = std::move(devices);
  want_repair(*std::move(scope), now, sink);
}

void Controller::tell_given_up(Instant now, EffectSink& sink) {
  for (const DeviceId id : drift_.take_given_up(now)) {
    const bool is_adopting = options_.drift.answer_to(drift_.drift_of(id)) == DriftAnswer::adopt;
    Alarm alarm;
    alarm.code = AlarmCode::drift;
    alarm.node = options_.fabric->device(id).agent;
    alarm.device = id;
    alarm.evidence = named(*options_.fabric, id) + " (device " + std::to_string(id.value) + ") is still " +
                     std::string(to_string(drift_.drift_of(id))) + " after " +
                     std::to_string(options_.timings.repair_attempts) + (is_adopting ? " adoptions" : " repairs") + " within " +
                     std::to_string(options_.timings.repair_quiet / std::chrono::seconds{1}) + " s; it is left as it is";
    alarm.next_command = "loom device show " + std::to_string(id.value);
    raise(std::move(alarm), sink);
  }
}

/// A repair has no revision to return to: what it took away is lit again without the devices that it could not repair.
void Controller::finish_failed_repair(const FabricCommit& failed, Instant now, EffectSink& sink) {
  Alarm alarm;
  alarm.code = AlarmCode::drift;
  if (failed.failed_node().value < sessions_.size()) {
    alarm.node = failed.failed_node();
  }
  alarm.device = repairing_.empty() ? std::nullopt : std::optional(repairing_.front());
  alarm.evidence = "revision " + std::to_string(failed.revision().value) + " did not repair: " + failed.failure();
  alarm.next_command = "loom schedule history";
  raise(std::move(alarm), sink);
  judge_everything_ = true;
  RepairScope rest;
  for (const NodePlan& node : failed.plan().plan.nodes) {
    if (!failed.takes_part(node.node) || node.node == failed.failed_node() || !may_take_part(node.node)) {
      continue;
    }
    for (const DevicePlan& device : node.devices) {
      if (device.touched && !std::binary_search(repairing_.begin(), repairing_.end(), device.device)) {
        rest.devices.push_back(device.device);
      }
    }
    if (!rest.devices.empty() && options_.fabric->device(rest.devices.back()).agent == node.node) {
      rest.nodes.push_back(node.node);
    }
  }
  std::sort(rest.devices.begin(), rest.devices.end());
  if (failed.is_doubtful() && !rest.devices.empty() && !repairing_.empty()) {
    repairing_.clear();  // once: if this fails too, its light is missing and is repaired as such
    repair_ = Doubt{std::move(rest.nodes), std::move(rest.devices), {}};
    want_plan("light that a failed repair took away", now, sink);
    return;
  }
  consider_planning(now, sink);
}

}  // namespace loom
