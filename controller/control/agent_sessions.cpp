// Hello, heartbeat, silence, alarms, observations, laser latches.
#include "controller/control/agent_sessions.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace loom {

Send EnvelopeHeader::to_agent(NodeId node, Revision revision, Body body) const {
  return {agent_peer(node),
          Envelope{kWireVersion, "controller", Role::controller, term, node, clock, revision, std::move(body)}};
}

AgentSessions::AgentSessions(const ControllerFacts& facts, const DesiredIntent& desired, const ConfirmedPlans& confirmed,
                             AlarmBoard& alarms)
    : facts_(facts),
      desired_(desired),
      confirmed_(confirmed),
      alarms_(alarms),
      sessions_(facts.fabric->nodes.size()),
      observations_(facts.fabric->devices.size()),
      light_since_(facts.fabric->devices.size(), Instant::min()) {}

std::uint32_t AgentSessions::present() const {
  return static_cast<std::uint32_t>(
      std::count_if(sessions_.begin(), sessions_.end(), [](const AgentSession& session) { return session.is_present(); }));
}

const Observation* AgentSessions::observed(DeviceId device) const {
  return observations_[device.value].has_value() ? &*observations_[device.value] : nullptr;
}

bool AgentSessions::may_take_part(NodeId node) const {
  return is_present(node) && !sessions_[node.value].lasers_latched_off && !desired_.in_maintenance(node);
}

bool AgentSessions::is_ready(NodeId node) const {
  const AgentSession& session = sessions_[node.value];
  return session.is_present() && (facts_.now >= rearm_until_ || !session.lasers_latched_off || wants_dark(node));
}

bool AgentSessions::is_given_up(NodeId node) const {
  const AgentSession& session = sessions_[node.value];
  const Instant received = std::max(session.last_received(), facts_.started_at);
  return !session.is_present() && facts_.now - received >= facts_.timings.stage_deadline && !desired_.in_maintenance(node);
}

bool AgentSessions::is_latched_by_itself(NodeId node) const {
  const AgentSession& session = sessions_[node.value];
  return session.is_present() && session.lasers_latched_off && !wants_dark(node) && facts_.now >= rearm_until_;
}

bool AgentSessions::may_be_restored(NodeId node) const {
  const AgentSession& session = sessions_[node.value];
  return session.lacks_plan && may_take_part(node) && has_reported(node) && session.restore_after <= facts_.now;
}

void AgentSessions::send(NodeId node, Body body, EffectSink& sink) const {
  sink.emit(facts_.header.to_agent(node, confirmed_.revision(), std::move(body)));
}

void AgentSessions::welcome(NodeId node, EffectSink& sink) const {
  send(node, Welcome{facts_.timings.beat_interval, confirmed_.revision()}, sink);
}

void AgentSessions::beat(EffectSink& sink) const {
  for (const Node& node : facts_.fabric->nodes) {
    if (is_present(node.id)) {
      send(node.id, Beat{confirmed_.revision()}, sink);
    }
  }
}

bool AgentSessions::has_reported(NodeId node) const {
  const auto& own = facts_.fabric->devices_of_agent[node.value];
  return std::all_of(own.begin(), own.end(), [&](DeviceId id) { return observed(id) != nullptr; });
}

bool AgentSessions::are_all_known() const {
  const auto& nodes = facts_.fabric->nodes;
  return std::all_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    const AgentSession& session = sessions_[node.id.value];
    return session.boot_id != 0 && (!session.is_unknown || has_reported(node.id));
  });
}

Greeting AgentSessions::greet(NodeId node, const Hello& hello, bool is_unknown, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  Greeting greeting;
  greeting.is_new_incarnation = session.boot_id != hello.boot_id;
  session.on(AgentSessionTrigger::hello, facts_.now);
  alarms_.clear(AlarmCode::agent_dead, node);
  session.boot_id = hello.boot_id;
  session.applied = hello.applied;
  note_own_latch(node, hello.own_latch, sink);
  session.lasers_latched_off = hello.lasers_latched_off;
  session.is_reported_dark = false;
  session.is_unknown = is_unknown;
  if (greeting.is_new_incarnation) {
    begin_incarnation(node);
  }
  const bool holds_another_plan = hello.applied.value == 0 || is_unknown;
  greeting.lost_its_plan = holds_another_plan && confirmed_.exists() && greeting.is_new_incarnation;
  session.lacks_plan = greeting.lost_its_plan || (session.lacks_plan && !greeting.is_new_incarnation);
  return greeting;
}

/// What an earlier incarnation of the agent reported says nothing of this one: read first.
void AgentSessions::begin_incarnation(NodeId node) {
  AgentSession& session = sessions_[node.value];
  session.greeted_at = facts_.now;
  session.restores = 0;
  session.restore_after = facts_.now;
  for (const DeviceId device : facts_.fabric->devices_of_agent[node.value]) {
    observations_[device.value].reset();
    light_since_[device.value] = Instant::min();
  }
}

bool AgentSessions::admit(NodeId node, EffectSink& sink) {
  if (sessions_[node.value].on(AgentSessionTrigger::word, facts_.now) == AgentSessionAction::demand_hello) {
    send(node, Unwelcome{Error{ErrorCode::busy, "this controller does not know you yet: say hello"}}, sink);
    return false;
  }
  return true;
}

bool AgentSessions::keep(NodeId node, const Heartbeat& heartbeat, const FabricCommit* moving, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  const bool is_lifted = session.lasers_latched_off && !heartbeat.lasers_latched_off;
  session.applied = heartbeat.applied;
  note_own_latch(node, heartbeat.own_latch, sink);
  if (heartbeat.lasers_latched_off != session.lasers_latched_off) {
    session.lasers_latched_off = heartbeat.lasers_latched_off;
    if (!heartbeat.lasers_latched_off) {
      alarms_.clear(AlarmCode::lasers_off, node);
    } else if (session.own_latch.number == 0 && !desired_.intent().lasers_off && !desired_.in_maintenance(node)) {
      Alarm alarm;
      alarm.code = AlarmCode::lasers_off;
      alarm.node = node;
      alarm.evidence = "node " + std::to_string(node.value) +
                       " keeps its lasers dark by itself (an interlock contact that it has not read closed yet)";
      alarm.next_command = "loom lasers rearm";
      alarms_.raise(std::move(alarm), facts_.now, sink);
    }
  }
  // Orders about lasers are repeated until the agent says that it has followed; an order that it knows is ignored there.
  if (latch_differs(node, moving)) {
    send(node, SetLasers{!wants_dark(node), desired_.laser_request(), session.rearmed_latch}, sink);
  }
  if (heartbeat.confirmed != confirmed_.revision() && heartbeat.applied == confirmed_.revision()) {
    send(node, Confirm{}, sink);
  }
  return is_lifted;
}

/// What latched itself lights nothing until it is rearmed, whoever started again meanwhile: so it is said at every greeting
/// too.
void AgentSessions::note_own_latch(NodeId node, const OwnLatch& latch, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  if (session.own_latch == latch) {
    return;
  }
  session.own_latch = latch;
  if (latch.number == 0) {
    return;
  }
  Alarm alarm;
  alarm.code = AlarmCode::lasers_off;
  alarm.node = node;
  alarm.evidence = "node " + std::to_string(node.value) + " has latched its lasers off by itself: " + latch.cause;
  alarm.next_command = "loom lasers rearm";
  alarms_.raise(std::move(alarm), facts_.now, sink);
}

/// What to type next is the controller's to say.
void AgentSessions::keep(NodeId node, const AlarmReport& report, EffectSink& sink) {
  Alarm alarm = report.alarm;
  alarm.node = node;
  alarm.next_command = next_command_for(alarm);
  const bool was_ordered =
      alarm.code == AlarmCode::lasers_off && (desired_.intent().lasers_off || desired_.in_maintenance(node));
  if (!was_ordered) {
    alarms_.raise(std::move(alarm), facts_.now, sink, AlarmSource::agent);
  }
}

bool AgentSessions::keep(const Observation& observation) {
  const std::size_t index = observation.device.value;
  if (observations_[index].has_value() && observation.read_at < observations_[index]->read_at) {
    return false;
  }
  observations_[index] = observation;
  if (observation.health == DeviceHealth::ready) {
    alarms_.clear(AlarmCode::device_failed, {}, observation.device);
  }
  return true;
}

void AgentSessions::sweep(EffectSink& sink) {
  const ControllerTimings& timings = facts_.timings;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (sessions_[i].judge_silence(facts_.now, timings.suspect_after, timings.dead_after) != AgentSessionAction::report_dead) {
      continue;
    }
    Alarm alarm;
    alarm.code = AlarmCode::agent_dead;
    alarm.node = NodeId{static_cast<std::uint32_t>(i)};
    alarm.evidence = "node " + std::to_string(i) + " has said nothing for " +
                     std::to_string((facts_.now - sessions_[i].last_received()) / std::chrono::milliseconds{1}) +
                     " ms (limit " + std::to_string(timings.dead_after / std::chrono::milliseconds{1}) +
                     " ms); its light is kept";
    alarm.next_command = "loom node show " + std::to_string(i);
    alarms_.raise(std::move(alarm), facts_.now, sink);
  }
}

void AgentSessions::keep_confirmed() {
  for (const NodeId node : confirmed_.plan().changed) {
    AgentSession& session = sessions_[node.value];
    session.lacks_plan = false;
    session.restores = 0;
    for (const DevicePlan& device : confirmed_.plan().nodes[node.value].devices) {
      if (device.touched) {
        light_since_[device.device.value] = facts_.now;
      }
    }
  }
}

void AgentSessions::begin_restore(NodeId node) {
  AgentSession& session = sessions_[node.value];
  session.restore_after = facts_.now + facts_.timings.repair_backoff * (1LL << std::min(session.restores++, 6U));
}

// --- laser latches -------------------------------------------------------------------------------------------------------

/// Shall this node's lasers be latched off? A node in maintenance once its light has gone by a commit.
bool AgentSessions::wants_dark(NodeId node) const {
  return desired_.intent().lasers_off || (desired_.in_maintenance(node) && !confirmed_.has_light_at(node));
}

/// Orders about lasers are repeated until the agent says that it has followed, but never into a commit of its own.
bool AgentSessions::latch_differs(NodeId node, const FabricCommit* moving) const {
  const bool is_busy = moving != nullptr && moving->takes_part(node) && !desired_.intent().lasers_off;
  return desired_.laser_request() > 0 && sessions_[node.value].lasers_latched_off != wants_dark(node) && !is_busy;
}

void AgentSessions::send_latches(const FabricCommit* moving, EffectSink& sink) const {
  for (const Node& node : facts_.fabric->nodes) {
    if (is_present(node.id) && latch_differs(node.id, moving)) {
      send(node.id, SetLasers{!wants_dark(node.id), desired_.laser_request(), sessions_[node.id.value].rearmed_latch}, sink);
    }
  }
}

void AgentSessions::rearm(Instant until) {
  rearm_until_ = until;
  for (AgentSession& session : sessions_) {
    session.rearmed_latch = session.own_latch.number;
  }
}

void AgentSessions::darken_all(EffectSink& sink) const {
  for (const Node& node : facts_.fabric->nodes) {
    if (is_present(node.id)) {
      send(node.id, SetLasers{false, desired_.laser_request()}, sink);
    }
  }
}

}  // namespace loom
