// SPDX-License-Identifier: Apache-2.0
// Hellos first: nobody else is listened to before.
#include "controller/control/agent_messages.hpp"

#include <algorithm>
#include <utility>

#include "controller/control/watch/plausibility.hpp"
#include "core/fabric/fabric_identity.hpp"
#include "core/messages/intake_limits.hpp"
#include "core/text/clock_text.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Instants of two clocks cannot be compared, and a plan for another fabric sets the wrong devices.
std::optional<Error> mismatch(const ControllerFacts& facts, const Envelope& envelope, const Hello& hello) {
  if (envelope.clock != facts.header.clock) {
    return Error{ErrorCode::conflict,
                 format_text("the controller's clock is {}, this agent's is {}: what one times the other cannot follow",
                             clock_text(facts.header.clock), clock_text(envelope.clock)),
                 "lightloomd --clock tai and lightloom-agent --clock tai (monotonic for both where all is on one host)"};
  }
  if (hello.fabric.digest == 0 || hello.fabric.digest == facts.fabric_digest) {
    return std::nullopt;
  }
  return Error{ErrorCode::conflict, difference_between(*facts.fabric, hello.fabric),
               "give both the same scenario and fabric files, and start the one whose files were old again"};
}

/// What raises terms or revisions costs a journal row, and everybody under way his commit.
constexpr TokenRate kClaims{limits::kClaimsBelieved, 1, Duration{limits::kClaimIntervalNs}};

}  // namespace

AgentMessages::AgentMessages(const AgentMessageParts& parts) : to_(parts), claims_(kClaims) {}

void AgentMessages::on_message(Peer from, const Envelope& envelope, EffectSink& sink) {
  const NodeId node = envelope.node;
  const bool is_own_name = from.kind == Peer::Kind::agent && from.id == node.value;
  if (!is_own_name || node.value >= to_.sessions.size()) {
    to_.refusals.note({RefusalKind::foreign,
                       envelope.principal,
                       {},
                       format_text("node {} speaks as node {} of {}", from.id, node.value, to_.sessions.size())},
                      sink);
    return;
  }
  if (auto refusal = judge(to_.facts, to_.numbers.next(), node, envelope)) {
    to_.refusals.note({refusal->kind, envelope.principal, node, std::move(refusal->what)}, sink);
    return;
  }
  on_body(node, envelope, sink);
}

void AgentMessages::on_body(NodeId node, const Envelope& envelope, EffectSink& sink) {
  if (const auto* hello = std::get_if<Hello>(&envelope.body)) {
    return on_hello(node, envelope, *hello, sink);
  }
  if (!to_.sessions.admit(node, envelope.term, sink)) {
    return;
  }
  if (const auto* heartbeat = std::get_if<Heartbeat>(&envelope.body)) {
    if (to_.sessions.keep(node, *heartbeat, moving(to_.commits), sink)) {
      to_.reconciler.relight(node, sink);
    }
    to_.commits.begin_if_ready(sink);
    tell_peers(node, envelope.principal, heartbeat->peers_digest, sink);
  } else if (const auto* pulse = std::get_if<Pulse>(&envelope.body)) {
    keep_pulse(envelope, *pulse, sink);
  } else if (const auto* report = std::get_if<ObservationReport>(&envelope.body)) {
    keep_observations(node, envelope.principal, *report, sink);
  } else if (const auto* done = std::get_if<CycleDone>(&envelope.body)) {
    if (const auto job = to_.jobs.keep_cycle(node, envelope.revision, done->underflows)) {
      to_.commits.advance_stage(*job, sink);
    }
  } else if (const auto* iterations = std::get_if<IterationReport>(&envelope.body)) {
    to_.jobs.keep_iterations(node, *iterations, envelope.revision);
  } else if (const auto* alarm = std::get_if<AlarmReport>(&envelope.body)) {
    on_alarm(node, envelope.principal, *alarm, sink);
  } else if (const auto* traffic = std::get_if<TrafficReport>(&envelope.body)) {
    to_.demand.keep(node, *traffic);
  } else if (const auto* reset = std::get_if<DeviceReset>(&envelope.body)) {
    to_.resets.on_answer(node, *reset, sink);
  } else {
    to_.commits.on_answer(node, envelope.revision, envelope.body, sink);
  }
}

void AgentMessages::on_hello(NodeId node, const Envelope& envelope, const Hello& hello, EffectSink& sink) {
  if (auto refusal = mismatch(to_.facts, envelope, hello)) {
    return to_.sessions.welcome(node, sink, std::move(refusal));
  }
  const Revision gone = envelope.revision;
  // The same term is another one where it was not heard from here: of a controller whose disk kept no row of it.
  const Term term = to_.facts.header.term;
  const bool was_commanded = hello.term_seen > term || (hello.term_seen == term && !to_.sessions[node].is_told);
  const bool raises_numbers = was_commanded || std::max(hello.applied, gone) >= to_.numbers.next();
  if (raises_numbers && claims_.take(1, to_.facts.now) == 0) {
    return to_.refusals.note({RefusalKind::implausible, envelope.principal, node,
                              format_text("node {} says hello with term {} and revision {}, not the controller's; so many "
                                          "such hellos came before that none is believed for {} s (limit kClaimsBelieved)",
                                          node.value, hello.term_seen.value, std::max(hello.applied, gone).value,
                                          limits::kClaimIntervalNs / 1'000'000'000)},
                             sink);
  }
  const Greeting greeting = to_.sessions.greet(node, envelope.principal, hello,
                                               to_.numbers.go_beyond(node, std::max(hello.applied, gone), sink), sink);
  if (greeting.is_new_incarnation) {
    to_.demand.forget(node);
    to_.reconciler.forget(node);
    to_.unusable.forget(node);
  }
  if (was_commanded) {  // by somebody else: take a term above that, durably, before speaking to it
    to_.numbers.others_commanded();
    const bool is_rearmed = !to_.desired.intent().lasers_off && to_.desired.laser_request_to_all() >= first_laser_request(term);
    to_.facts.header.term = Term{hello.term_seen.value + 1};
    if (is_rearmed) {  // by us, with a number that the other may have darkened them with
      to_.sessions.keep_laser_order(to_.desired.take_laser_request(to_.facts.header.term, true));
    }
    order_darkness_anew(to_.facts.header.term, to_.desired, to_.sessions);
    to_.journal.append(TermRecord{to_.facts.header.term}, WelcomeAct{node}, sink);
  } else {
    to_.sessions.welcome(node, sink);
  }
  if (peers_.note(node, envelope.principal, hello.listens_at, to_.facts.now)) {
    sink.emit(LearnPeers{peers_.addresses().peers});  // for operators on the controller's host
  }
  if (greeting.lost_its_plan) {
    to_.commits.interrupt(node, sink);
  }
  to_.commits.begin_if_ready(sink);
  to_.commits.consider_planning(sink);  // it may have waited for the last agent to say hello
}

/// One a beat: more of them would have everybody told again what he is owed.
void AgentMessages::keep_pulse(const Envelope& from, const Pulse& pulse, EffectSink& sink) {
  const auto& last = to_.sessions[from.node].pulsed_at;
  if (last && to_.facts.now - *last < to_.facts.timings.beat_interval / 4) {
    return;
  }
  const FabricCommit* const commit = moving(to_.commits);
  for (const NodeId node : pulse.nodes) {
    if (!to_.sessions.keep_pulse(node, from, commit, sink)) {
      return to_.refusals.note({RefusalKind::foreign, from.principal, from.node,
                                format_text("node {} pulses for node {}, for which the key of {} said hello", from.node.value,
                                            node.value, to_.sessions[node].principal)},
                               sink);
    }
  }
  to_.commits.begin_if_ready(sink);
}

/// Through one of its nodes, until that one says that it knows.
void AgentMessages::tell_peers(NodeId node, const std::string& principal, std::uint64_t known, EffectSink& sink) const {
  if (peers_.lacks(node, principal, known)) {
    to_.sessions.send(node, peers_.addresses(), sink);
  }
}

void AgentMessages::keep_observations(NodeId node, const std::string& principal, const ObservationReport& report,
                                      EffectSink& sink) {
  for (const Observation& observation : report.observations) {
    if (auto refusal = judge(to_.facts, node, observation)) {
      to_.refusals.note({refusal->kind, principal, node, std::move(refusal->what)}, sink);
    } else if (to_.readings.keep(observation)) {
      if (observation.health == DeviceHealth::ready) {
        to_.alarms.clear(AlarmCode::device_failed, {}, observation.device);
      }
      to_.unusable.observe(observation, sink);
      to_.light.note_change();
      to_.reconciler.judge(observation.device, sink);
    }
  }
  to_.commits.consider_planning(sink);  // it may have waited for what devices hold
}

/// What to type next is the controller's to say.
void AgentMessages::on_alarm(NodeId node, const std::string& principal, const AlarmReport& report, EffectSink& sink) {
  Alarm alarm = report.alarm;
  if (alarm.code == AlarmCode::lasers_off) {  // an interlock, or a hand at the agent
    to_.audit.note(principal, Role::agent, format_text("node {}: {}", node.value, alarm.evidence), {}, sink);
  }
  alarm.node = node;
  alarm.next_command = next_command_for(alarm);
  const bool was_ordered =
      alarm.code == AlarmCode::lasers_off && (to_.desired.intent().lasers_off || to_.desired.in_maintenance(node));
  if (!was_ordered) {
    to_.alarms.raise(std::move(alarm), to_.facts.now, sink, AlarmSource::agent);
  }
}

}  // namespace loom
