// Where events meet the pieces. The order in advance() is the order of right: interlock, timelines, commit, audit.
#include "agents/agent.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "agents/order_check.hpp"
#include "core/intake_limits.hpp"
#include "core/journal_state.hpp"

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

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

Agent::Agent(const AgentOptions& options, std::vector<std::unique_ptr<Driver>> drivers)
    : options_(options),
      voice_{options.node, {}, {}},
      lanes_(options.fabric, options.node, std::move(drivers)),
      timelines_(voice_, lanes_),
      executor_(lanes_),
      grants_(voice_, executor_, static_cast<std::uint32_t>(options.fabric->nodes.size())),
      commit_({options.arm_lead, options.late_limit}, voice_, lanes_, timelines_, grants_),
      interlock_(contacts_of(*options.fabric, options.node)),
      session_(SessionOptions{options.hello_interval, options.heartbeat_interval}),
      audit_({options.audit_interval, options.report_interval}, voice_, lanes_),
      resets_(voice_, lanes_),
      orders_here_(voice_, lanes_) {}

void Agent::step(Instant now, const Event& event, EffectSink& sink) {
  const Turn turn{now, &sink};
  if (const auto* started = std::get_if<Started>(&event)) {
    start(turn, *started);
  }
  if (!started_) {
    return;
  }
  std::visit(Overloaded{
                 [&](const MessageArrived& message) { hear(turn, message); },
                 [&](const BusReplied& reply) { counters_.foreign_replies += lanes_.replied(turn, reply) ? 0U : 1U; },
                 [&](const InterlockChanged& change) { contact(turn, change); },
                 [&](const TrafficHeard& heard) { traffic_.hear(turn.now, heard.told); },
                 [&](const Appended& appended) {
                   if (appended.snapshot_due) {
                     SnapshotRecord snapshot;
                     snapshot.term = voice_.term;
                     snapshot.latch = interlock_.record();
                     turn.sink->emit(Append{std::move(snapshot)});
                   }
                 },
                 [&](const AppendFailed& failure) {
                   voice_.warn(turn, {AlarmCode::journal_damaged,
                                      {},
                                      {},
                                      "the latch of this agent is not durable: " + failure.error.message,
                                      "loom lasers off"});
                 },
                 [](const auto&) {},
             },
             event);
  advance(turn);
}

void Agent::start(Turn turn, const Started& started) {
  started_ = true;
  boot_id_ = started.boot_id;
  wall_offset_ = started.wall_offset;
  voice_.clock = started.clock;
  const SnapshotRecord earlier = state_of(started.records);
  voice_.term = std::max(voice_.term, earlier.term);
  interlock_.restore(earlier.latch);
  session_.start(turn);
  if (interlock_.latched()) {
    latch(turn);
  }
  lanes_.bar_light(interlock_.bars_light());  // what is lit stays so until a contact is found open, or cannot be read
  audit_.start(turn);
}

// --- words ---------------------------------------------------------------------------------------------------------------

/// The transport has proven that the key behind `from` may speak for that node.
void Agent::hear_peer(Turn turn, const MessageArrived& message) {
  const auto* word = std::get_if<GrantWord>(&message.envelope.body);
  const bool is_theirs = message.envelope.role == Role::agent && message.envelope.node.value == message.from.id &&
                         message.envelope.node != options_.node;
  if (word == nullptr || !is_theirs) {
    ++counters_.misdirected;
    return;
  }
  grants_.hear(turn, message.envelope.node, message.envelope, *word);
}

/// The transport has proven the role of the key; whoever may order darkness needs no controller for it.
void Agent::hear_operator(Turn turn, const MessageArrived& message) {
  if (orders_here_.take(turn, message, row()) != OrdersHere::Verdict::darken) {
    return;
  }
  const LatchRecord before = interlock_.record();
  interlock_.order_here(message.envelope.principal, wall_text(turn));
  latch(turn);  // also where it is latched already: what is asked for is proof
  keep_latch(turn, before, true);
}

void Agent::hear(Turn turn, const MessageArrived& message) {
  if (message.from.kind == Peer::Kind::agent) {
    return hear_peer(turn, message);
  }
  if (message.from.kind == Peer::Kind::operator_) {
    return hear_operator(turn, message);
  }
  const Envelope& envelope = message.envelope;
  if (message.from.kind != Peer::Kind::controller || envelope.node != options_.node) {
    ++counters_.misdirected;
    return;
  }
  if (const auto fault = implausible(envelope, {turn.now, voice_.term, commit_.newest(), interlock_.record().order})) {
    return refuse_implausible(turn, envelope, *fault);
  }
  if (envelope.term < voice_.term) {
    return refuse_stale_term(turn, envelope);
  }
  if (envelope.term > voice_.term) {
    adopt_term(turn, envelope.term);
  }
  session_.heard(turn.now);
  obey(turn, envelope);
}

/// Aloud, but not as often as messages run.
void Agent::refuse_implausible(Turn turn, const Envelope& envelope, const std::string& fault) {
  ++counters_.implausible;
  if (const auto* order = std::get_if<SetLasers>(&envelope.body); order != nullptr && !order->on) {
    set_lasers(turn, {false, interlock_.record().order});  // whoever says dark is followed; its number is forgotten
  }
  if (counters_.implausible > 1 && between(implausible_told_, turn.now) < Duration{limits::kRefusalToldNs}) {
    return;
  }
  implausible_told_ = turn.now;
  voice_.warn(turn, {AlarmCode::malformed_message,
                     {},
                     {},
                     "the controller is not followed: " + fault + " (" + std::to_string(counters_.implausible) + " so far)",
                     "loom node show " + std::to_string(options_.node.value)});
}

void Agent::adopt_term(Turn turn, Term term) {
  voice_.term = term;
  turn.sink->emit(Append{TermRecord{term}});
  commit_.fence(turn);
  session_.newer_term(turn);
}

void Agent::refuse_stale_term(Turn turn, const Envelope& envelope) {
  ++counters_.stale_term;
  const Error error{ErrorCode::stale_term, "term " + std::to_string(envelope.term.value) + " is fenced, node " +
                                               std::to_string(options_.node.value) + " obeys term " +
                                               std::to_string(voice_.term.value)};
  const auto say = [&](Body body) { voice_.say(turn, envelope.revision, std::move(body)); };
  std::visit(Overloaded{
                 [&](const Prepare&) { say(Prepared{{error}, {}}); },
                 [&](const Arm&) { say(Armed{{error}, {}}); },
                 [&](const Go&) { say(Darkened{{error}, {}}); },
                 [&](const Proceed& proceed) {
                   say(proceed.phase == CommitPhase::move ? Body(Settled{{error}, {}}) : Body(Applied{{error}, {}}));
                 },
                 [&](const SetLasers& order) {
                   if (!order.on) {
                     set_lasers(turn, order);  // whoever says dark is obeyed
                   }
                 },
                 [](const auto&) {},
             },
             envelope.body);
}

void Agent::obey(Turn turn, const Envelope& envelope) {
  if (obey_commit(turn, envelope)) {
    return;
  }
  std::visit(Overloaded{
                 [&](const Welcome& welcome) {
                   knows_all_ = knows_all_ && session_.state() == SessionState::joined;
                   session_.welcome(turn, welcome.heartbeat_interval);
                   commit_.confirm(turn, welcome.confirmed);
                   timelines_.say_again();
                   grants_.say_again();
                 },
                 [&](const Unwelcome& unwelcome) {
                   if (unwelcome.error.code == ErrorCode::busy) {
                     return session_.newer_term(turn);  // it started again and asks who we are: nobody was turned away
                   }
                   session_.unwelcome(turn);
                   turn.sink->emit(RaiseAlarm{{AlarmCode::agent_duplicate,
                                               options_.node,
                                               {},
                                               "the controller turned this agent away: " + unwelcome.error.message,
                                               "loom node show " + std::to_string(options_.node.value)}});
                 },
                 [&](const Beat& beat) { commit_.confirm(turn, beat.confirmed); },
                 [&](const SetLasers& order) { set_lasers(turn, order); },
                 [&](const ResetDevice& order) { resets_.order(turn, order); },
                 [&](const auto&) { ++counters_.unexpected; },
             },
             envelope.body);
}

bool Agent::obey_commit(Turn turn, const Envelope& envelope) {
  const Revision revision = envelope.revision;
  return std::visit(Overloaded{
                        [&](const Prepare& prepare) {
                          const auto latched =
                              interlock_.bars_light() ? std::optional(interlock_.refusal(options_.node)) : std::nullopt;
                          return commit_.prepare(turn, revision, prepare.plan, latched), true;
                        },
                        [&](const Arm& arm) { return commit_.arm(turn, revision, envelope.clock, arm.fire_at), true; },
                        [&](const Go&) { return commit_.go(turn, revision), true; },
                        [&](const Proceed& proceed) { return commit_.proceed(turn, revision, envelope.clock, proceed), true; },
                        [&](const Confirm&) { return commit_.confirm(turn, revision), true; },
                        [&](const Abandon&) { return commit_.abandon(turn, revision), true; },
                        [](const auto&) { return false; },
                    },
                    envelope.body);
}

// --- interlock -----------------------------------------------------------------------------------------------------------

void Agent::set_lasers(Turn turn, const SetLasers& order) {
  const LatchRecord before = interlock_.record();
  switch (interlock_.order(order)) {
    case Interlock::Change::latched:
      latch(turn);
      break;
    case Interlock::Change::lifted:
      lanes_.bar_light(interlock_.bars_light());
      break;
    case Interlock::Change::held:
      voice_.warn(turn, {AlarmCode::lasers_off, {}, {}, interlock_.refusal(options_.node).message, "loom lasers rearm"});
      break;
    case Interlock::Change::none:
      break;
  }
  if (interlock_.record() == before) {
    return;  // known, or older than what was obeyed: an answer would only be asked again, as fast as messages run
  }
  turn.sink->emit(Append{interlock_.record()});
  if (session_.state() == SessionState::joined) {
    say_heartbeat(turn);  // the answer
  }
}

void Agent::contact(Turn turn, const InterlockChanged& change) {
  const LatchRecord before = interlock_.record();
  const bool was_barred = interlock_.bars_light();
  if (interlock_.contact(change, wall_text(turn)) == Interlock::Change::latched) {
    latch(turn);
  }
  keep_latch(turn, before, was_barred);
}

/// What an event about the latch leaves behind, after darkness.
void Agent::keep_latch(Turn turn, const LatchRecord& before, bool was_barred) {
  lanes_.bar_light(interlock_.bars_light());
  const bool has_changed = interlock_.record() != before;
  if (has_changed) {
    turn.sink->emit(Append{interlock_.record()});
  }
  if ((has_changed || interlock_.bars_light() != was_barred) && session_.state() == SessionState::joined) {
    say_heartbeat(turn);
  }
}

/// Dark first; words and reasons after.
void Agent::latch(Turn turn) {
  lanes_.bar_light(true);
  timelines_.stop_all();
  grants_.halt();
  darken_lasers(turn);
  const Error refusal = interlock_.refusal(options_.node);
  commit_.trouble(turn, refusal);
  voice_.warn(turn, {AlarmCode::lasers_off, {}, {}, refusal.message, "loom lasers rearm"});
}

void Agent::darken_lasers(Turn turn) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].is_laser() && lanes_.take(i, Activity::interlock)) {
      lanes_.aim(turn, i, Activity::interlock, lanes_.dark(i));
      lanes_.forget_programme(i);
    }
  }
}

void Agent::advance_interlock(Turn turn) {
  const bool again = darken_again_.passed(turn.now);
  bool failed = false;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].claim.owner() != Activity::interlock) {
      continue;
    }
    if (again && lanes_[i].progress == Progress::failed) {
      lanes_.aim(turn, i, Activity::interlock, lanes_.dark(i));
    }
    if (lanes_[i].progress == Progress::proven) {
      lanes_.release(i, Activity::interlock);
    }
    failed = failed || lanes_[i].progress == Progress::failed;
  }
  if (again) {
    darken_again_.forget();
  }
  if (failed && !darken_again_.is_set()) {
    darken_again_.set(turn, later(turn.now, kDarkenAgain));
  }
}

// --- what time and devices bring ------------------------------------------------------------------------------------------

void Agent::advance(Turn turn) {
  lanes_.advance(turn);
  advance_interlock(turn);
  timelines_.advance(turn);
  commit_.advance(turn);
  grants_.advance(turn);
  resets_.advance(turn);
  if (orders_here_.is_waiting()) {
    orders_here_.advance(turn, row());
  }
  audit_.advance(turn);
  tell_failures(turn);
  speak(turn);
}

void Agent::tell_failures(Turn turn) {
  for (const std::size_t lane : lanes_.take_new_failures()) {
    const Device& device = *lanes_[lane].device;
    const std::string fault = lanes_[lane].driver->observe().fault;
    Alarm alarm{AlarmCode::device_failed, {}, device.id, {}, "loom device show " + std::to_string(device.id.value)};
    alarm.evidence = "device " + std::to_string(device.id.value) + " (" + device.name +
                     "): " + (fault.empty() ? "its driver gave up" : fault);
    voice_.warn(turn, std::move(alarm));
  }
}

void Agent::speak(Turn turn) {
  if (!greeted_ && audit_.has_seen_everything()) {
    greeted_ = true;
    session_.hurry(turn);
  }
  switch (session_.advance(turn)) {
    case Session::Due::hello:
      say_hello(turn);
      break;
    case Session::Due::heartbeat:
      say_heartbeat(turn);
      say_traffic(turn);
      timelines_.repeat_cycle_done(turn);
      grants_.repeat_done(turn);
      break;
    case Session::Due::nothing:
      break;
  }
  const bool report_is_due = audit_.report_is_due(turn);
  if (session_.state() != SessionState::joined) {
    return;
  }
  if (report_is_due || !knows_all_ || reported_applied_ != commit_.applied()) {
    knows_all_ = true;
    reported_applied_ = commit_.applied();
    audit_.report_all(turn);
  } else {
    audit_.report_changes(turn);
  }
}

void Agent::say_hello(Turn turn) {
  greeted_ = true;
  Hello hello{options_.software, boot_id_, voice_.term, commit_.applied(), interlock_.bars_light(), {}, interlock_.own_latch()};
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    hello.devices.push_back({lanes_[i].device->id, lanes_[i].driver->observe().health});
  }
  voice_.say(turn, commit_.gone(), std::move(hello));
}

/// What is news with the next heartbeat, everything with every report.
void Agent::say_traffic(Turn turn) {
  if (!traffic_.is_fed()) {
    return;
  }
  TrafficReport report = traffic_.report(turn.now);
  const bool is_due = turn.now - traffic_said_at_ >= options_.report_interval;
  if (is_due || is_news(said_traffic_, report)) {
    traffic_said_at_ = turn.now;
    said_traffic_ = report;
    voice_.say(turn, commit_.applied(), std::move(report));
  }
}

void Agent::say_heartbeat(Turn turn) {
  voice_.say(turn, commit_.applied(),
             Heartbeat{commit_.applied(), commit_.confirmed(), interlock_.bars_light(), interlock_.own_latch()});
}

std::string Agent::wall_text(Turn turn) const { return to_string(wall_time(turn.now, wall_offset_)); }

/// How this node is, as its agent knows it.
NodeReport Agent::row() const {
  NodeReport row;
  row.node = options_.node;
  row.name = options_.fabric->nodes[options_.node.value].name;
  row.session = session_.state() == SessionState::joined ? "joined" : "alone";
  row.applied = commit_.applied();
  row.lasers_latched_off = interlock_.bars_light();
  row.devices = static_cast<std::uint32_t>(lanes_.size());
  row.dark_because = interlock_.bars_light() ? interlock_.refusal(options_.node).message : std::string();
  return row;
}

}  // namespace loom
