// Which event is whose, and what is durable before what.
#include "controller/control/controller.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "controller/control/timers.hpp"
#include "controller/control/watch/plausibility.hpp"
#include "core/messages/intake_limits.hpp"

namespace loom {
namespace {

/// What raises terms or revisions costs a journal row, and everybody under way his commit.
constexpr TokenRate kClaims{limits::kClaimsBelieved, 1, Duration{limits::kClaimIntervalNs}};

}  // namespace

Controller::Controller(ControllerOptions options)
    : facts_{std::move(options.fabric), std::move(options.algorithm), options.timings},
      journal_(std::move(options.record_bytes)),
      audit_(facts_, journal_),
      refusals_(facts_, alarms_),
      claims_(kClaims),
      sessions_(facts_, desired_, confirmed_, alarms_),
      unusable_(facts_, confirmed_, sessions_, alarms_),
      jobs_(facts_, desired_),
      light_(facts_, desired_, confirmed_, sessions_, jobs_),
      found_(facts_, desired_, confirmed_, sessions_, options.drift),
      commits_({facts_, desired_, confirmed_, journal_, alarms_, sessions_, jobs_, found_, unusable_}),
      tentative_(facts_, desired_, confirmed_, found_, jobs_, unusable_),
      reconciler_({facts_, desired_, confirmed_, journal_, alarms_, sessions_, commits_, tentative_, unusable_}, options.drift),
      demand_({facts_, desired_, confirmed_, journal_, alarms_, jobs_, commits_, tentative_}, options.adapt),
      reports_({facts_, desired_, confirmed_, alarms_, sessions_, jobs_, commits_, reconciler_, demand_, light_, unusable_,
                refusals_, journal_}),
      answers_(facts_, confirmed_, audit_),
      resets_(facts_, sessions_, answers_, reports_, unusable_),
      requests_({facts_, desired_, confirmed_, journal_, alarms_, sessions_, jobs_, commits_, tentative_, reconciler_, answers_,
                 resets_, audit_, reports_, unusable_, refusals_}) {}

void Controller::step(Instant now, const Event& event, EffectSink& sink) {
  facts_.now = now;
  std::visit([&](const auto& what) { on(what, sink); }, event);
  reconciler_.follow_commits(sink);
  audit_.follow(commits_.history(), sink);
  const FabricCommit* moving = commits_.moving();
  light_.follow(moving == nullptr ? nullptr : moving->shared_plan());
}

// --- start ---------------------------------------------------------------------------------------------------------------

/// The journal's last word on each subject.
void Controller::restore(const std::vector<Record>& records) {
  journal_.restore(records);
  const SnapshotRecord& state = journal_.state();
  facts_.header.term = state.term;
  desired_.restore({state.intent, state.laser_request, state.next_job, state.probation, {}});
  for (const IntentCause& cause : state.answered) {
    answers_.restore(cause);
  }
  commits_.restore(state);
  for (const auto& plan : state.uncertain) {
    unusable_.may_have_left(*plan);
  }
  if (state.going != nullptr) {
    unusable_.may_have_left(*state.going);
  }
  std::map<JobId, LitStage> lit;
  for (const LitStage& stage : state.lit) {
    lit[stage.job] = stage;
  }
  for (const Job& job : desired_.intent().jobs) {
    const auto since = lit.find(job.id);
    const bool was_lit = since != lit.end() && since->second.stage == job.stage;
    jobs_.restored(job.id, was_lit ? std::optional(since->second.revision) : std::nullopt);
  }
}

void Controller::on(const Started& started, EffectSink& sink) {
  facts_.header.clock = started.clock;
  facts_.started_at = facts_.now;
  facts_.wall_offset = started.wall_offset;
  restore(started.records);
  facts_.header.term = Term{facts_.header.term.value + 1};
  audit_.note_own("controller started, term " + std::to_string(facts_.header.term.value), sink);
  journal_.append(TermRecord{facts_.header.term}, PlanAct{}, sink);
  facts_.started = true;
  sink.emit(SetTimer{timers::kSweep, facts_.now + facts_.timings.beat_interval});
  sink.emit(SetTimer{timers::kBeat, facts_.now + facts_.timings.beat_interval});
  sink.emit(SetTimer{timers::kReconcile, facts_.now + facts_.timings.reconcile_interval});
  desired_.move_probation(started.clock, facts_.now);
  if (const auto& probation = desired_.probation()) {
    sink.emit(SetTimer{timers::kProbation, std::max(facts_.now, probation->deadline)});
  }
  reconciler_.start(sink);
  if (!desired_.intent().jobs.empty() || commits_.has_uncertain_state()) {
    commits_.want_plan("the controller started again", sink);
  }
}

// --- messages ------------------------------------------------------------------------------------------------------------

void Controller::on(const MessageArrived& message, EffectSink& sink) {
  if (message.from.kind == Peer::Kind::operator_) {
    if (const auto* request = std::get_if<OperatorRequest>(&message.envelope.body)) {
      requests_.on_request(message.from, message.envelope, *request, sink);
    } else {
      refusals_.note({RefusalKind::malformed, message.envelope.principal, {}, "an operator's key sends what no operator sends"},
                     sink);
    }
    return;
  }
  const NodeId node = message.envelope.node;
  const bool is_own_name = message.from.kind == Peer::Kind::agent && message.from.id == node.value;
  if (!is_own_name || node.value >= sessions_.size()) {
    refusals_.note({RefusalKind::foreign,
                    message.envelope.principal,
                    {},
                    "node " + std::to_string(message.from.id) + " speaks as node " + std::to_string(node.value) + " of " +
                        std::to_string(sessions_.size())},
                   sink);
    return;
  }
  if (auto refusal = judge(facts_, commits_.next_revision(), node, message.envelope)) {
    refusals_.note({refusal->kind, message.envelope.principal, node, std::move(refusal->what)}, sink);
    return;
  }
  on_agent(node, message.envelope, sink);
}

void Controller::keep_observations(NodeId node, const std::string& principal, const ObservationReport& report,
                                   EffectSink& sink) {
  for (const Observation& observation : report.observations) {
    if (auto refusal = judge(facts_, node, observation)) {
      refusals_.note({refusal->kind, principal, node, std::move(refusal->what)}, sink);
    } else if (sessions_.keep(observation)) {
      unusable_.observe(observation, sink);
      light_.note_change();
      reconciler_.judge(observation.device, sink);
    }
  }
  commits_.consider_planning(sink);  // it may have waited for what devices hold
}

void Controller::on_agent(NodeId node, const Envelope& envelope, EffectSink& sink) {
  if (const auto* hello = std::get_if<Hello>(&envelope.body)) {
    return on_hello(node, envelope, *hello, sink);
  }
  if (!sessions_.admit(node, sink)) {
    return;
  }
  if (const auto* heartbeat = std::get_if<Heartbeat>(&envelope.body)) {
    if (sessions_.keep(node, *heartbeat, commits_.moving(), sink)) {
      reconciler_.relight(node, sink);
    }
    commits_.begin_if_ready(sink);
  } else if (const auto* report = std::get_if<ObservationReport>(&envelope.body)) {
    keep_observations(node, envelope.principal, *report, sink);
  } else if (const auto* done = std::get_if<CycleDone>(&envelope.body)) {
    commits_.on_cycle_done(node, envelope.revision, *done, sink);
  } else if (const auto* alarm = std::get_if<AlarmReport>(&envelope.body)) {
    if (alarm->alarm.code == AlarmCode::lasers_off) {  // an interlock, or a hand at the agent
      audit_.note(envelope.principal, Role::agent, "node " + std::to_string(node.value) + ": " + alarm->alarm.evidence, {},
                  sink);
    }
    sessions_.keep(node, *alarm, sink);
  } else if (const auto* traffic = std::get_if<TrafficReport>(&envelope.body)) {
    demand_.keep(node, *traffic);
  } else if (const auto* reset = std::get_if<DeviceReset>(&envelope.body)) {
    resets_.on_answer(node, *reset, sink);
  } else {
    commits_.on_answer(node, envelope.revision, envelope.body, sink);
  }
}

void Controller::on_hello(NodeId node, const Envelope& envelope, const Hello& hello, EffectSink& sink) {
  const Revision gone = envelope.revision;
  const bool raises_numbers = hello.term_seen > facts_.header.term || std::max(hello.applied, gone) >= commits_.next_revision();
  if (raises_numbers && claims_.take(1, facts_.now) == 0) {
    return refusals_.note(
        {RefusalKind::implausible, envelope.principal, node,
         "node " + std::to_string(node.value) + " says hello with term " + std::to_string(hello.term_seen.value) +
             " and revision " + std::to_string(std::max(hello.applied, gone).value) +
             ", above the controller's; so many such hellos came before that none is believed for " +
             std::to_string(limits::kClaimIntervalNs / 1'000'000'000) + " s (limit kClaimsBelieved)"},
        sink);
  }
  const Greeting greeting = sessions_.greet(node, hello, commits_.go_beyond(node, std::max(hello.applied, gone), sink), sink);
  if (greeting.is_new_incarnation) {
    demand_.forget(node);
    reconciler_.forget(node);
    unusable_.forget(node);
  }
  if (hello.term_seen > facts_.header.term) {
    // Somebody commanded this agent under a higher term: take one above it, durably, before speaking to it.
    facts_.header.term = Term{hello.term_seen.value + 1};
    journal_.append(TermRecord{facts_.header.term}, WelcomeAct{node}, sink);
  } else {
    sessions_.welcome(node, sink);
  }
  if (greeting.lost_its_plan) {
    commits_.interrupt(node, sink);
  }
  commits_.begin_if_ready(sink);
  commits_.consider_planning(sink);  // it may have waited for the last agent to say hello
}

void Controller::on(const MessageRefused& refused, EffectSink& sink) {
  Offence offence{refused.kind, refused.principal, {}, refused.error.message, refused.count};
  if (refused.error.code == ErrorCode::conflict) {
    offence.kind = RefusalKind::conflict;
  }
  if (refused.from.kind == Peer::Kind::agent && refused.from.id < sessions_.size()) {
    offence.node = NodeId{static_cast<std::uint32_t>(refused.from.id)};
  }
  refusals_.note(offence, sink);
  audit_.on_refused(refused, sink);
}

/// The transport has the new keys already. A role that may not order any more is as good as no key.
void Controller::on(const KeysChanged& changed, EffectSink& sink) {
  facts_.keyring_digest = changed.digest;
  audit_.on_keys(changed, sink);
  if (changed.problem) {
    return report_keyring_problem(*changed.problem, sink);
  }
  if (keyring_alarm_) {
    alarms_.clear(*keyring_alarm_);
  }
  for (const KeysChanged::Change& change : changed.changes) {
    const bool may_change = change.role == Role::operator_ || change.role == Role::admin;
    const bool is_lost =
        change.kind == KeysChanged::Change::Kind::removed || (change.kind == KeysChanged::Change::Kind::altered && !may_change);
    if (is_lost) {
      requests_.on_key_lost(change.principal, sink);
    }
  }
}

void Controller::report_keyring_problem(const Error& problem, EffectSink& sink) {
  Alarm alarm;
  alarm.code = AlarmCode::malformed_message;
  alarm.evidence = problem.message;
  alarm.next_command = problem.next_command.empty() ? "loom keys list" : problem.next_command;
  keyring_alarm_ = alarms_.raise_apart(keyring_alarm_, std::move(alarm), facts_.now, sink);
}

// --- timers, plans -------------------------------------------------------------------------------------------------------

void Controller::on(const TimerFired& timer, EffectSink& sink) {
  if (timer.timer == timers::kTick) {
    commits_.on_tick(sink);
  } else if (timer.timer == timers::kSweep) {
    sweep(sink);
    sink.emit(SetTimer{timers::kSweep, facts_.now + facts_.timings.beat_interval});
  } else if (timer.timer == timers::kBeat) {
    sessions_.beat(sink);
    sink.emit(SetTimer{timers::kBeat, facts_.now + facts_.timings.beat_interval});
  } else if (timer.timer == timers::kReconcile) {
    reconciler_.reconcile(sink);
    sink.emit(SetTimer{timers::kReconcile, facts_.now + facts_.timings.reconcile_interval});
  } else if (timer.timer == timers::kReset) {
    resets_.repeat(sink);
  } else if (timer.timer == timers::kProbation) {
    requests_.watch_probation(sink);
  } else if (timer.timer == timers::kPlan) {
    commits_.consider_planning(sink);
  }
}

void Controller::sweep(EffectSink& sink) {
  sessions_.sweep(sink);
  refusals_.sweep();
  commits_.begin_if_ready(sink);
  reconciler_.follow_commits(sink);
  light_.look();
  if (const auto name = unusable_.take_recovery(); name && commits_.misses_something()) {
    commits_.want_plan(*name + " follows orders again", sink);
  }
  demand_.look(sink);
  audit_.sweep(sink);
}

void Controller::on(const Planned& planned, EffectSink& sink) {
  take_plan(planned, sink);
  requests_.try_waiting(sink);
}

void Controller::take_plan(const Planned& planned, EffectSink& sink) {
  if (commits_.on_planned(planned.outcome, sink)) {
    return;
  }
  auto outcome = tentative_.on_planned(planned.outcome, commits_.next_circuit(), sink);
  if (!outcome) {
    return;
  }
  if (std::holds_alternative<AdoptionChange>(outcome->plan.purpose)) {
    reconciler_.on_adoption(*outcome, sink);
  } else if (std::holds_alternative<DemandChange>(outcome->plan.purpose)) {
    demand_.on_tried(*outcome, sink);
  } else {
    requests_.on_tried(*std::move(outcome), sink);
  }
}

// --- journal -------------------------------------------------------------------------------------------------------------

void Controller::on(const Appended& appended, EffectSink& sink) {
  while (auto act = journal_.take_due(appended.count)) {
    perform(*act, sink);
    reconciler_.follow_commits(sink);
  }
  if (appended.snapshot_due) {
    journal_.append_snapshot([this](const IntentCause& cause) { return !answers_.remembers(cause); }, sink);
  }
}

/// Nothing acts on what is not durable: the light stays as it is, whoever waits for an answer gets it, and no commit begins.
void Controller::on(const AppendFailed& failed, EffectSink& sink) {
  const bool is_first = !journal_.failure();
  for (JournalAct& act : journal_.fail(failed.error)) {
    if (auto* answer = std::get_if<ReplyAct>(&act)) {
      requests_.on_not_recorded(*answer, sink);
    }
  }
  if (!is_first) {
    return;
  }
  Alarm alarm;
  alarm.code = AlarmCode::journal_damaged;
  alarm.evidence = "the journal refuses new rows: " + failed.error.message;
  alarm.next_command = failed.error.next_command.empty() ? "loom status" : failed.error.next_command;
  alarms_.raise(std::move(alarm), facts_.now, sink);
  commits_.on_journal_failed(sink);
}

void Controller::perform(JournalAct& act, EffectSink& sink) {
  if (auto* answer = std::get_if<ReplyAct>(&act)) {
    answers_.answer(answer->to, std::move(answer->reply), sink);
    sessions_.send_latches(commits_.moving(), sink);
    commits_.consider_planning(sink);
  } else if (const auto* go = std::get_if<GoAct>(&act)) {
    commits_.on_going_recorded(go->revision, sink);
  } else if (const auto* confirm = std::get_if<ConfirmAct>(&act)) {
    commits_.on_confirmed_recorded(confirm->revision, sink);
  } else if (const auto* welcome = std::get_if<WelcomeAct>(&act)) {
    sessions_.welcome(welcome->node, sink);
  } else {
    commits_.consider_planning(sink);
  }
}

}  // namespace loom
