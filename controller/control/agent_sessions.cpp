// SPDX-License-Identifier: Apache-2.0
// Hello, heartbeat, silence, alarms, observations, laser latches.
#include "controller/control/agent_sessions.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Shall this node's lasers be latched off for itself? In maintenance, once its light has gone by a commit.
bool is_out_of_service(NodeId node, const DesiredIntent& desired, const ConfirmedPlans& confirmed) {
  return desired.in_maintenance(node) && !confirmed.has_light_at(node);
}

bool wants_dark(NodeId node, const DesiredIntent& desired, const ConfirmedPlans& confirmed) {
  return desired.intent().lasers_off || is_out_of_service(node, desired, confirmed);
}

/// The orders about its lasers that an agent has not followed yet: repeated until it says that it has, but never into a commit
/// of its own. Darkness for all waits for no disk; of a node that goes out of service somebody has to know still when the
/// controller starts again.
std::vector<SetLasers> owed_to(NodeId node, const AgentSession& session, const FabricCommit* moving,
                               const DesiredIntent& desired, const ConfirmedPlans& confirmed, const JournalQueue& journal) {
  std::vector<SetLasers> orders;
  const bool is_off = desired.intent().lasers_off;
  if (moving != nullptr && moving->takes_part(node) && !is_off) {
    return orders;
  }
  if (session.laser_order != 0 && session.lasers_latched_off != is_off) {
    orders.push_back({!is_off, session.laser_order, session.rearmed_latch});
  }
  const bool is_out = is_out_of_service(node, desired, confirmed);
  const bool may_be_told = is_out ? journal.is_empty() && !journal.failure() : !is_off;
  if (session.node_order != 0 && session.node_latched_off != is_out && may_be_told) {
    orders.push_back({!is_out, session.node_order, 0, true});
  }
  return orders;
}

/// Sent again with every word of the agent, until its heartbeat says that it has it.
std::vector<Body> owed(NodeId node, const AgentSession& session, const FabricCommit* moving, const DesiredIntent& desired,
                       const ConfirmedPlans& confirmed, const JournalQueue& journal) {
  std::vector<Body> bodies;
  for (const SetLasers& order : owed_to(node, session, moving, desired, confirmed, journal)) {
    bodies.emplace_back(order);  // one that it knows is ignored there
  }
  if (session.confirmed != confirmed.revision() && session.applied == confirmed.revision()) {
    bodies.emplace_back(Confirm{});
  }
  return bodies;
}

Alarm lasers_off_at(NodeId node, const std::string& why) {
  Alarm alarm;
  alarm.code = AlarmCode::lasers_off;
  alarm.node = node;
  alarm.evidence = format_text("node {}{}", node.value, why);
  alarm.next_command = "loom lasers rearm";
  return alarm;
}

/// What latched itself lights nothing until it is rearmed, whoever started again meanwhile: so it is said at every greeting
/// too. True: the agent has latched itself anew.
bool keep_own_latch(AgentSession& session, const OwnLatch& latch) {
  const bool is_news = session.own_latch != latch && latch.number != 0;
  session.own_latch = latch;
  return is_news;
}

}  // namespace

Send EnvelopeHeader::to_agent(NodeId node, Revision revision, Body body) const {
  return {agent_peer(node),
          Envelope{kWireVersion, "controller", Role::controller, term, node, clock, revision, std::move(body)}};
}

AgentSessions::AgentSessions(const ControllerFacts& facts, const DesiredIntent& desired, const ConfirmedPlans& confirmed,
                             const JournalQueue& journal, AlarmBoard& alarms, DeviceReadings& readings)
    : facts_(facts),
      desired_(desired),
      confirmed_(confirmed),
      journal_(journal),
      alarms_(alarms),
      readings_(readings),
      sessions_(facts.fabric->nodes.size()) {}

bool AgentSessions::may_take_part(NodeId node) const {
  return is_present(node) && !sessions_[node.value].is_latched_off() && !desired_.in_maintenance(node);
}

bool AgentSessions::is_ready(NodeId node) const {
  const AgentSession& session = sessions_[node.value];
  return session.is_present() &&
         (facts_.now >= rearm_until_ || !session.is_latched_off() || wants_dark(node, desired_, confirmed_));
}

bool AgentSessions::is_given_up(NodeId node) const {
  const AgentSession& session = sessions_[node.value];
  const Instant received = std::max(session.last_received(), facts_.started_at);
  return !session.is_present() && facts_.now - received >= facts_.timings.stage_deadline && !desired_.in_maintenance(node);
}

bool AgentSessions::is_latched_by_itself(NodeId node) const {
  const AgentSession& session = sessions_[node.value];
  return session.is_present() && session.is_latched_off() && !wants_dark(node, desired_, confirmed_) &&
         facts_.now >= rearm_until_;
}

bool AgentSessions::may_be_restored(NodeId node) const {
  const AgentSession& session = sessions_[node.value];
  return session.lacks_plan && may_take_part(node) && readings_.has_all(facts_.fabric->devices_of_agent[node.value]) &&
         session.restore_after <= facts_.now;
}

void AgentSessions::send(NodeId node, Body body, EffectSink& sink) const {
  sink.emit(facts_.header.to_agent(node, confirmed_.revision(), std::move(body)));
}

void AgentSessions::welcome(NodeId node, EffectSink& sink, std::optional<Error> refusal) {
  sessions_[node.value].is_told = true;
  if (!refusal) {
    return send(node, Welcome{facts_.timings.beat_interval, confirmed_.revision()}, sink);
  }
  AgentSession& session = sessions_[node.value];
  if (std::exchange(session.turned_away, refusal->message) != refusal->message) {
    Alarm alarm;
    alarm.code = AlarmCode::agent_duplicate;
    alarm.node = node;
    alarm.evidence = format_text("node {} was turned away: {}", node.value, refusal->message);
    alarm.next_command = refusal->next_command;
    alarms_.raise(std::move(alarm), facts_.now, sink);
  }
  send(node, Unwelcome{*std::move(refusal)}, sink);
}

void AgentSessions::beat(EffectSink& sink) {
  const std::size_t turn = ++beats_ % kBeatsAtRest;
  for (std::size_t i = turn; i < sessions_.size(); i += kBeatsAtRest) {
    if (sessions_[i].is_present()) {
      send(NodeId{static_cast<std::uint32_t>(i)}, Beat{confirmed_.revision()}, sink);
    }
  }
}

Greeting AgentSessions::greet(NodeId node, const std::string& principal, const Hello& hello, bool is_unknown,
                              EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  Greeting greeting;
  greeting.is_new_incarnation = session.boot_id != hello.boot_id;
  session.on(AgentSessionTrigger::hello, facts_.now);
  alarms_.clear(AlarmCode::agent_dead, node);
  alarms_.clear(AlarmCode::clock_unsynchronised, node);  // an agent that still has reason says so again when it is welcomed
  if (!session.turned_away.empty()) {
    session.turned_away.clear();
    alarms_.clear(AlarmCode::agent_duplicate, node);
  }
  session.boot_id = hello.boot_id;
  session.principal = principal;
  session.pulsed_at.reset();
  session.applied = hello.applied;
  session.confirmed = {};
  if (keep_own_latch(session, hello.own_latch)) {
    alarms_.raise(lasers_off_at(node, " has latched its lasers off by itself: " + hello.own_latch.cause), facts_.now, sink);
  }
  session.lasers_latched_off = hello.lasers_latched_off;
  session.node_latched_off = hello.node_latched_off;
  session.is_reported_dark = false;
  session.is_unknown = is_unknown;
  if (greeting.is_new_incarnation) {
    // What an earlier incarnation of the agent reported says nothing of this one: read first.
    session.greeted_at = facts_.now;
    session.restores = 0;
    session.restore_after = facts_.now;
    for (const DeviceId device : facts_.fabric->devices_of_agent[node.value]) {
      readings_.forget(device);
    }
  }
  const bool holds_another_plan = hello.applied.value == 0 || is_unknown;
  greeting.lost_its_plan = holds_another_plan && confirmed_.exists() && greeting.is_new_incarnation;
  session.lacks_plan = greeting.lost_its_plan || (session.lacks_plan && !greeting.is_new_incarnation);
  return greeting;
}

bool AgentSessions::admit(NodeId node, Term follows, EffectSink& sink) {
  if (sessions_[node.value].on(AgentSessionTrigger::word, facts_.now) == AgentSessionAction::demand_hello) {
    sessions_[node.value].is_told |= follows < facts_.header.term;
    send(node, Unwelcome{Error{ErrorCode::busy, "this controller does not know you yet: say hello"}}, sink);
    return false;
  }
  return true;
}

bool AgentSessions::keep(NodeId node, const Heartbeat& heartbeat, const FabricCommit* moving, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  const bool was_latched = session.is_latched_off();
  session.applied = heartbeat.applied;
  session.confirmed = heartbeat.confirmed;
  if (keep_own_latch(session, heartbeat.own_latch)) {
    alarms_.raise(lasers_off_at(node, " has latched its lasers off by itself: " + heartbeat.own_latch.cause), facts_.now, sink);
  }
  session.node_latched_off = heartbeat.node_latched_off;
  if (heartbeat.lasers_latched_off != session.lasers_latched_off) {
    session.lasers_latched_off = heartbeat.lasers_latched_off;
    if (heartbeat.lasers_latched_off && session.own_latch.number == 0 && !desired_.intent().lasers_off &&
        !desired_.in_maintenance(node)) {
      alarms_.raise(
          lasers_off_at(node, " keeps its lasers dark by itself (an interlock contact that it has not read closed yet)"),
          facts_.now, sink);
    }
  }
  if (was_latched && !session.is_latched_off()) {
    alarms_.clear(AlarmCode::lasers_off, node);
  }
  for (Body& body : owed(node, session, moving, desired_, confirmed_, journal_)) {
    send(node, std::move(body), sink);
  }
  return was_latched && !session.is_latched_off();
}

bool AgentSessions::keep_pulse(NodeId node, const Envelope& from, const FabricCommit* moving, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  if (session.state() != AgentSessionState::absent && session.principal != from.principal) {
    return false;
  }
  if (admit(node, from.term, sink)) {
    session.pulsed_at = facts_.now;
    for (Body& body : owed(node, session, moving, desired_, confirmed_, journal_)) {
      send(node, std::move(body), sink);
    }
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
    alarm.evidence = format_text("node {} has said nothing for {} ms (limit {} ms); its light is kept", i,
                                 (facts_.now - sessions_[i].last_received()) / std::chrono::milliseconds{1},
                                 timings.dead_after / std::chrono::milliseconds{1});
    alarm.next_command = format_text("loom node show {}", i);
    alarms_.raise(std::move(alarm), facts_.now, sink);
  }
}

void AgentSessions::keep_confirmed() {
  for (const NodeId node : confirmed_.plan().changed) {
    AgentSession& session = sessions_[node.value];
    session.lacks_plan = false;
    session.is_unknown = false;
    session.restores = 0;
    for (const DevicePlan& device : confirmed_.plan().nodes[node.value].devices) {
      if (device.touched) {
        readings_.confirm_light(device.device, facts_.now);
      }
    }
  }
}

void AgentSessions::begin_restore(NodeId node) {
  AgentSession& session = sessions_[node.value];
  session.restore_after = facts_.now + facts_.timings.repair_backoff * (1LL << std::min(session.restores++, 6U));
}

// --- laser latches -------------------------------------------------------------------------------------------------------

void AgentSessions::send_latches(const FabricCommit* moving, EffectSink& sink) const {
  for (const Node& node : facts_.fabric->nodes) {
    for (const SetLasers& order : owed_to(node.id, sessions_[node.id.value], moving, desired_, confirmed_, journal_)) {
      if (is_present(node.id)) {
        send(node.id, order, sink);
      }
    }
  }
}

void AgentSessions::keep_laser_order(std::uint64_t number, std::optional<NodeId> node) {
  if (node) {
    sessions_[node->value].node_order = number;
    return;
  }
  for (AgentSession& session : sessions_) {
    session.laser_order = session.node_order = number;
  }
}

void AgentSessions::await_rearm(Instant until, OwnLatches own) {
  rearm_until_ = until;
  for (AgentSession& session : sessions_) {
    session.rearmed_latch = own == OwnLatches::lift ? session.own_latch.number : session.rearmed_latch;
  }
}

std::uint32_t present_agents(const AgentSessions& sessions) {
  std::uint32_t count = 0;
  for (std::uint32_t node = 0; node < sessions.size(); ++node) {
    count += sessions.is_present(NodeId{node}) ? 1U : 0U;
  }
  return count;
}

bool are_all_known(const AgentSessions& sessions, const Fabric& fabric) {
  return std::ranges::all_of(fabric.nodes, [&](const Node& node) {
    const AgentSession& session = sessions[node.id];
    return session.boot_id != 0 && (!session.is_unknown || sessions.readings().has_all(fabric.devices_of_agent[node.id.value]));
  });
}

void order_darkness_anew(Term term, DesiredIntent& desired, AgentSessions& sessions) {
  if (desired.intent().lasers_off) {
    sessions.keep_laser_order(desired.take_laser_request(term, true));
  }
  for (const NodeId node : desired.intent().maintenance) {
    sessions.keep_laser_order(desired.take_laser_request(term), node);
  }
}

}  // namespace loom
