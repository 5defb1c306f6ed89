// SPDX-License-Identifier: Apache-2.0
// Where events meet the pieces. The order in advance() is the order of right: interlock, timelines, commit, audit.
#include "agents/agent.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "agents/commit/message_check.hpp"
#include "agents/devices/symptom.hpp"
#include "core/journal/journal_state.hpp"
#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {

namespace {

/// A laser that could not be darkened is tried again after this.
constexpr Duration kDarkenAgain = std::chrono::milliseconds{500};

/// Lengths of periods jitter; that is no news.
bool is_news(const TrafficReport& before, const TrafficReport& now) {
  const auto is_same = [](const CommunicatorTraffic& a, const CommunicatorTraffic& b) {
    return a.communicator == b.communicator && a.rank == b.rank && a.period == b.period;
  };
  return before.trouble != now.trouble || !std::equal(before.communicators.begin(), before.communicators.end(),
                                                      now.communicators.begin(), now.communicators.end(), is_same);
}

/// Of the interlock contacts that cover this node.
std::vector<std::string> contacts_of(const Fabric& fabric, NodeId node) {
  std::vector<std::string> names;
  for (const InterlockContact& contact : fabric.interlocks) {
    if (contact.first <= node && node <= contact.last) {
      names.push_back(contact.name);
    }
  }
  return names;
}

/// Anything but a sign of life, a reading or an alarm goes out: somebody waits for this agent, or hears it say something again.
bool takes_part(const std::vector<Effect>& effects, std::size_t from) {
  return std::any_of(effects.begin() + static_cast<std::ptrdiff_t>(from), effects.end(), [](const Effect& effect) {
    const auto* send = std::get_if<Send>(&effect);
    return send != nullptr && !std::holds_alternative<Heartbeat>(send->envelope.body) &&
           !std::holds_alternative<Pulse>(send->envelope.body) &&
           !std::holds_alternative<ObservationReport>(send->envelope.body) &&
           !std::holds_alternative<AlarmReport>(send->envelope.body);
  });
}

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

void report_failures(StepContext context, DeviceUnits& units, const EnvelopeSender& envelopes) {
  for (const std::size_t unit : units.take_new_failures()) {
    const Device& device = *units[unit].device;
    Alarm alarm{AlarmCode::device_failed, {}, device.id, {}, format_text("loom device show {}", device.id.value)};
    alarm.evidence =
        format_text("device {} ({}): {}", device.id.value, device.name, sentence_of(device, units[unit].driver->observe()));
    envelopes.warn(context, std::move(alarm));
  }
}

}  // namespace

Agent::Agent(const AgentOptions& options, std::vector<std::unique_ptr<Driver>> drivers)
    : options_(options),
      envelopes_{options.node, {}, {}},
      host_(envelopes_, options.identity, options.listens_at),
      units_(options.fabric, options.node, std::move(drivers), options.edges),
      timelines_(envelopes_, units_),
      executor_(units_),
      grants_(envelopes_, executor_, static_cast<std::uint32_t>(options.fabric->nodes.size())),
      barrier_(envelopes_, timelines_, grants_),
      commit_({options.arm_lead, options.late_limit}, envelopes_, units_, timelines_, grants_, barrier_),
      interlock_(contacts_of(*options.fabric, options.node)),
      signs_(envelopes_, commit_, interlock_, host_),
      session_({.hello_interval = options.hello_interval,
                .heartbeat_interval = options.heartbeat_interval,
                .is_pulsed = options.is_pulsed}),
      audit_({options.audit_interval, options.report_interval}, envelopes_, units_),
      locks_(envelopes_, units_, options.lock_interval),
      resets_(envelopes_, units_),
      requests_here_(envelopes_, units_) {}

void Agent::step(Instant now, const Event& event, EffectSink& sink) {
  const StepContext context{now, &sink};
  const std::size_t emitted = sink.effects().size();
  if (const auto* started = std::get_if<Started>(&event)) {
    start(context, *started);
  }
  if (!started_) {
    return;
  }
  const auto greet_again = [&](bool is_news) {
    if (is_news && session_.state() == SessionState::joined) {
      session_.newer_term(context);
    }
  };
  DeviceNews news = DeviceNews::came_to_rest;
  std::visit(Overloaded{
                 [&](const MessageArrived& message) { receive(context, message); },
                 [&](const MessageRefused& refused) { note_refused(context, refused); },
                 [&](const BusReplied& reply) {
                   news = units_.replied(context, reply);
                   counters_.foreign_replies += news == DeviceNews::foreign ? 1U : 0U;
                 },
                 [&](const TimerFired& fired) { news = units_.woke(context, fired.timer); },
                 [&](const InterlockChanged& change) { contact(context, change); },
                 [&](const ClockJudged& judged) { greet_again(host_.judge(context, judged)); },
                 [&](const PeersListen& listening) { greet_again(host_.listen(listening)); },
                 [&](const PulseDue& due) {
                   if (session_.state() == SessionState::joined) {  // else it has lost its controller meanwhile, and greets
                     envelopes_.send(context, commit_.applied(), Pulse{due.nodes});
                   }
                 },
                 [&](const TrainingReady& ready) { barrier_.receive(context, ready); },
                 [&](const TrafficReceived& received) { traffic_.receive(context.now, received.reported); },
                 [&](const Appended& appended) {
                   if (appended.snapshot_due) {
                     SnapshotRecord snapshot;
                     snapshot.term = envelopes_.term;
                     snapshot.latch = interlock_.record();
                     context.sink->emit(Append{std::move(snapshot)});
                   }
                 },
                 [&](const AppendFailed& failure) {
                   envelopes_.warn(context, {AlarmCode::journal_damaged,
                                             {},
                                             {},
                                             "the latch of this agent is not durable: " + failure.error.message,
                                             "loom lasers off"});
                 },
                 [](const auto&) {},
             },
             event);
  // Of hundreds of exchanges of a device the last is news; whoever waits for an instant has a timer of his own.
  if (news != DeviceNews::goes_on) {
    advance(context);
  }
  if (options_.is_pulsed && takes_part(sink.effects(), emitted)) {
    session_.stir(context);
  }
}

void Agent::start(StepContext context, const Started& started) {
  started_ = true;
  boot_id_ = started.boot_id;
  wall_offset_ = started.wall_offset;
  envelopes_.clock = started.clock;
  const SnapshotRecord earlier = state_of(started.records);
  envelopes_.term = std::max(envelopes_.term, earlier.term);
  interlock_.restore(earlier.latch);
  session_.start(context);
  if (interlock_.latched()) {
    latch(context);
  }
  units_.bar_light(interlock_.bars_light());  // what is lit stays so until a contact is found open, or cannot be read
  audit_.start(context);
}

// --- words ---------------------------------------------------------------------------------------------------------------

/// The transport has proven that the key behind `from` may speak for that node.
void Agent::receive_peer(StepContext context, const MessageArrived& message) {
  const Envelope& envelope = message.envelope;
  const bool is_theirs =
      envelope.role == Role::agent && envelope.node.value == message.from.id && envelope.node != options_.node;
  if (!is_theirs) {
    ++counters_.misdirected;
  } else if (const auto* grant_message = std::get_if<GrantPlaneMessage>(&envelope.body)) {
    grants_.receive(context, envelope.node, envelope, *grant_message);
  } else if (const auto* ready = std::get_if<PassReady>(&envelope.body)) {
    barrier_.receive(context, envelope.node, envelope, *ready);
  } else if (const auto* begin = std::get_if<PassBegin>(&envelope.body)) {
    barrier_.receive(context, envelope.node, envelope, *begin);
  } else {
    ++counters_.misdirected;
  }
}

/// The transport has proven the role of the key; whoever may order darkness needs no controller for it.
void Agent::receive_operator(StepContext context, const MessageArrived& message) {
  if (requests_here_.take(context, message, row()) != RequestsHere::Verdict::darken) {
    return;
  }
  const LatchRecord before = interlock_.record();
  interlock_.order_here(message.envelope.principal, wall_text(context));
  latch(context);  // also where it is latched already: what is asked for is proof
  keep_latch(context, before, true);
}

void Agent::receive(StepContext context, const MessageArrived& message) {
  if (message.from.kind == Peer::Kind::agent) {
    return receive_peer(context, message);
  }
  if (message.from.kind == Peer::Kind::operator_) {
    return receive_operator(context, message);
  }
  const Envelope& envelope = message.envelope;
  if (message.from.kind != Peer::Kind::controller || envelope.node != options_.node) {
    ++counters_.misdirected;
    return;
  }
  if (const auto fault = implausible(envelope, {context.now, envelopes_.term, commit_.newest(),
                                                std::max(interlock_.record().order, interlock_.record().node_order)})) {
    return refuse_implausible(context, envelope, *fault);
  }
  if (envelope.term < envelopes_.term) {
    return refuse_stale_term(context, envelope);
  }
  if (envelope.term > envelopes_.term) {
    adopt_term(context, envelope.term);
  }
  session_.received(context.now);
  handle(context, envelope);
}

/// The transport turned it away, or it did not decode. Aloud, but not as often as messages run: whoever floods us shall not
/// flood the controller through us.
void Agent::note_refused(StepContext context, const MessageRefused& refused) {
  const bool is_first = counters_.refused == 0;
  counters_.refused += refused.count;
  if (!is_first && between(refused_reported_, context.now) < Duration{limits::kRefusalReportedNs}) {
    return;
  }
  refused_reported_ = context.now;
  envelopes_.warn(context, {AlarmCode::malformed_message,
                            {},
                            {},
                            format_text("{} ({}; {} messages refused so far)", refused.error.message, to_string(refused.kind),
                                        counters_.refused),
                            format_text("loom node show {}", options_.node.value)});
}

/// Aloud, but not as often as messages run.
void Agent::refuse_implausible(StepContext context, const Envelope& envelope, const std::string& fault) {
  ++counters_.implausible;
  if (const auto* order = std::get_if<SetLasers>(&envelope.body); order != nullptr && !order->on) {
    const LatchRecord& latch = interlock_.record();
    set_lasers(context, {false, order->of_node ? latch.node_order : latch.order, 0,
                         order->of_node});  // whoever says dark is followed; its number is forgotten
  }
  if (counters_.implausible > 1 && between(implausible_reported_, context.now) < Duration{limits::kRefusalReportedNs}) {
    return;
  }
  implausible_reported_ = context.now;
  envelopes_.warn(context, {AlarmCode::malformed_message,
                            {},
                            {},
                            format_text("the controller is not followed: {} ({} so far)", fault, counters_.implausible),
                            format_text("loom node show {}", options_.node.value)});
}

void Agent::adopt_term(StepContext context, Term term) {
  envelopes_.term = term;
  context.sink->emit(Append{TermRecord{term}});
  commit_.fence(context);
  session_.newer_term(context);
}

void Agent::refuse_stale_term(StepContext context, const Envelope& envelope) {
  ++counters_.stale_term;
  const Error error{ErrorCode::stale_term, format_text("term {} is fenced, node {} follows term {}", envelope.term.value,
                                                       options_.node.value, envelopes_.term.value)};
  const auto send = [&](Body body) { envelopes_.send(context, envelope.revision, std::move(body)); };
  std::visit(Overloaded{
                 [&](const Prepare&) { send(Prepared{{error}, {}}); },
                 [&](const Arm&) { send(Armed{{error}, {}}); },
                 [&](const Go&) { send(Darkened{{error}, {}}); },
                 [&](const Proceed& proceed) {
                   send(proceed.phase == CommitPhase::move ? Body(Settled{{error}, {}}) : Body(Applied{{error}, {}}));
                 },
                 [&](const SetLasers& order) {
                   if (!order.on) {
                     set_lasers(context, order);  // whoever says dark is obeyed
                   }
                 },
                 [](const auto&) {},
             },
             envelope.body);
}

void Agent::handle(StepContext context, const Envelope& envelope) {
  if (handle_commit(context, envelope)) {
    return;
  }
  std::visit(Overloaded{
                 [&](const Welcome& welcome) {
                   knows_all_ = knows_all_ && session_.state() == SessionState::joined;
                   session_.welcome(context, welcome.heartbeat_interval);
                   host_.welcomed();
                   host_.warn_of_clock(context);  // this controller may not know it
                   commit_.confirm(context, welcome.confirmed);
                   timelines_.send_again();
                   grants_.send_again();
                 },
                 [&](const Unwelcome& unwelcome) {
                   if (unwelcome.error.code == ErrorCode::busy) {
                     return session_.newer_term(context);  // it started again and asks who we are: nobody was turned away
                   }
                   session_.unwelcome(context);
                   host_.tell_turned_away(context, unwelcome.error);
                 },
                 [&](const PeerAddresses& addresses) { host_.learn(context, addresses); },
                 [&](const Beat& beat) { commit_.confirm(context, beat.confirmed); },
                 [&](const SetLasers& order) { set_lasers(context, order); },
                 [&](const ResetDevice& order) { resets_.order(context, order); },
                 [&](const auto&) { ++counters_.unexpected; },
             },
             envelope.body);
}

bool Agent::handle_commit(StepContext context, const Envelope& envelope) {
  const Revision revision = envelope.revision;
  return std::visit(
      Overloaded{
          [&](const Prepare& prepare) {
            const auto latched =
                interlock_.bars_light() ? std::optional(interlock_.refusal(options_.node)) : host_.clock_problem();
            return commit_.prepare(context, revision, prepare.plan, latched), true;
          },
          [&](const Arm& arm) { return commit_.arm(context, revision, envelope.clock, arm.fire_at), true; },
          [&](const Go& go) { return commit_.go(context, revision, envelope.clock, go), true; },
          [&](const Proceed& proceed) { return commit_.proceed(context, revision, envelope.clock, proceed), true; },
          [&](const Confirm&) {
            commit_.confirm(context, revision);
            audit_.read_light(context);
            locks_.wait_for_light(context.now);
            return true;
          },
          [&](const Abandon&) { return commit_.abandon(context, revision), true; },
          [](const auto&) { return false; },
      },
      envelope.body);
}

// --- interlock -----------------------------------------------------------------------------------------------------------

void Agent::set_lasers(StepContext context, const SetLasers& order) {
  const LatchRecord before = interlock_.record();
  switch (interlock_.order(order)) {
    case Interlock::Change::latched:
      latch(context);
      break;
    case Interlock::Change::lifted:
      units_.bar_light(interlock_.bars_light());
      break;
    case Interlock::Change::held:
      envelopes_.warn(context, {AlarmCode::lasers_off, {}, {}, interlock_.refusal(options_.node).message, "loom lasers rearm"});
      break;
    case Interlock::Change::none:
      break;
  }
  if (interlock_.record() == before) {
    return;  // known, or older than what was obeyed: an answer would only be asked again, as fast as messages run
  }
  context.sink->emit(Append{interlock_.record()});
  if (session_.state() == SessionState::joined) {
    signs_.send_heartbeat(context);  // the answer
    session_.stir(context);
  }
}

void Agent::contact(StepContext context, const InterlockChanged& change) {
  const LatchRecord before = interlock_.record();
  const bool was_barred = interlock_.bars_light();
  if (interlock_.contact(change, wall_text(context)) == Interlock::Change::latched) {
    latch(context);
  }
  keep_latch(context, before, was_barred);
}

/// What an event about the latch leaves behind, after darkness.
void Agent::keep_latch(StepContext context, const LatchRecord& before, bool was_barred) {
  units_.bar_light(interlock_.bars_light());
  const bool has_changed = interlock_.record() != before;
  if (has_changed) {
    context.sink->emit(Append{interlock_.record()});
  }
  if ((has_changed || interlock_.bars_light() != was_barred) && session_.state() == SessionState::joined) {
    signs_.send_heartbeat(context);
    session_.stir(context);
  }
}

/// Dark first; words and reasons after.
void Agent::latch(StepContext context) {
  units_.bar_light(true);
  timelines_.stop_all();
  grants_.halt();
  barrier_.end(context);
  darken_lasers(context);
  const Error refusal = interlock_.refusal(options_.node);
  commit_.trouble(context, refusal);
  envelopes_.warn(context, {AlarmCode::lasers_off, {}, {}, refusal.message, "loom lasers rearm"});
}

void Agent::darken_lasers(StepContext context) {
  darkens_ = true;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].is_laser() && units_.take(i, Activity::interlock)) {
      units_.command(context, i, Activity::interlock, units_.dark(i));
      units_.keep_programme(i, {});
    }
  }
}

void Agent::advance_interlock(StepContext context) {
  if (!darkens_) {
    return;
  }
  const bool again = darken_again_.passed(context.now);
  bool failed = false;
  darkens_ = false;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].claim.owner() != Activity::interlock) {
      continue;
    }
    if (again && units_[i].progress == Progress::failed) {
      units_.command(context, i, Activity::interlock, units_.dark(i));
    }
    if (units_[i].progress == Progress::proven) {
      units_.release(i, Activity::interlock);
    }
    darkens_ = darkens_ || units_[i].claim.owner() == Activity::interlock;
    failed = failed || units_[i].progress == Progress::failed;
  }
  if (again) {
    darken_again_.forget();
  }
  if (failed && !darken_again_.is_set()) {
    darken_again_.set(context, later(context.now, kDarkenAgain));
  }
}

// --- what time and devices bring ------------------------------------------------------------------------------------------

void Agent::advance(StepContext context) {
  units_.advance(context);
  advance_interlock(context);
  timelines_.advance(context);
  commit_.advance(context);
  grants_.advance(context);
  barrier_.advance(context);
  resets_.advance(context);
  locks_.advance(context);
  if (requests_here_.is_waiting()) {
    requests_here_.advance(context, row());
  }
  audit_.advance(context);
  report_failures(context, units_, envelopes_);
  speak(context);
}

void Agent::speak(StepContext context) {
  if (!greeted_ && audit_.has_seen_everything()) {
    greeted_ = true;
    session_.hurry(context);
  }
  const bool has_news = !options_.is_pulsed || traffic_.is_fed() || signs_.has_news();
  switch (session_.advance(context, has_news)) {
    case Session::Due::hello:
      send_hello(context);
      break;
    case Session::Due::heartbeat:
      signs_.send_heartbeat(context);
      send_traffic(context);
      timelines_.repeat_cycle_done(context);
      grants_.repeat_done(context);
      barrier_.report(context);
      break;
    case Session::Due::nothing:
      break;
  }
  const bool report_is_due = audit_.report_is_due(context);
  if (session_.state() != SessionState::joined) {
    return;
  }
  if (report_is_due || !knows_all_ || reported_applied_ != commit_.applied()) {
    knows_all_ = true;
    reported_applied_ = commit_.applied();
    audit_.report_all(context);
  } else {
    audit_.report_changes(context);
  }
}

void Agent::send_hello(StepContext context) {
  greeted_ = true;
  Hello hello;
  hello.software = options_.software;
  hello.boot_id = boot_id_;
  hello.term_seen = envelopes_.term;
  hello.applied = commit_.applied();
  hello.lasers_latched_off = interlock_.bars_light_beside_node();
  hello.own_latch = interlock_.own_latch();
  hello.node_latched_off = interlock_.latched_as_node();
  host_.describe(hello);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    hello.devices.push_back({units_[i].device->id, units_[i].driver->observe().health});
  }
  envelopes_.send(context, commit_.gone(), std::move(hello));
}

/// What is news with the next heartbeat, everything with every report.
void Agent::send_traffic(StepContext context) {
  if (!traffic_.is_fed()) {
    return;
  }
  TrafficReport report = traffic_.report(context.now);
  const bool is_due = context.now - traffic_sent_at_ >= options_.report_interval;
  if (is_due || is_news(sent_traffic_, report)) {
    traffic_sent_at_ = context.now;
    sent_traffic_ = report;
    envelopes_.send(context, commit_.applied(), std::move(report));
  }
}

std::string Agent::wall_text(StepContext context) const { return to_string(wall_time(context.now, wall_offset_)); }

/// How this node is, as its agent knows it.
NodeReport Agent::row() const {
  NodeReport row;
  row.node = options_.node;
  row.name = options_.fabric->nodes[options_.node.value].name;
  row.session = session_.state() == SessionState::joined ? "joined" : "alone";
  row.applied = commit_.applied();
  row.lasers_latched_off = interlock_.bars_light();
  row.devices = static_cast<std::uint32_t>(units_.size());
  row.dark_because = interlock_.bars_light() ? interlock_.refusal(options_.node).message : std::string();
  return row;
}

}  // namespace loom
