// SPDX-License-Identifier: Apache-2.0
// Which event is whose, and what is durable before what.
#include "controller/control/controller.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "controller/control/timers.hpp"
#include "core/fabric/fabric_identity.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// What only agents' machines are told.
template <class What>
constexpr bool kIsOfAgents =
    std::is_same_v<What, BusReplied> || std::is_same_v<What, InterlockChanged> || std::is_same_v<What, TrafficReceived> ||
    std::is_same_v<What, TrainingReady> || std::is_same_v<What, PeersListen> || std::is_same_v<What, PulseDue>;

Alarm keyring_alarm(const Error& problem) {
  Alarm alarm;
  alarm.code = AlarmCode::malformed_message;
  alarm.evidence = problem.message;
  alarm.next_command = problem.next_command.empty() ? "loom keys list" : problem.next_command;
  return alarm;
}

}  // namespace

Controller::Controller(ControllerOptions options)
    : facts_{std::move(options.fabric), std::move(options.algorithm), options.timings},
      journal_(std::move(options.record_bytes)),
      audit_(facts_, journal_),
      refusals_(facts_, alarms_),
      readings_(*facts_.fabric),
      sessions_(facts_, desired_, confirmed_, journal_, alarms_, readings_),
      unusable_(facts_, confirmed_, sessions_, alarms_),
      jobs_(facts_, desired_),
      light_(facts_, desired_, confirmed_, sessions_, jobs_),
      drift_(facts_.fabric->devices.size(), facts_.timings, options.drift),
      found_(facts_, desired_, confirmed_, sessions_, drift_, options.drift),
      numbers_(facts_, confirmed_, alarms_),
      returns_({facts_, desired_, confirmed_, alarms_, sessions_, jobs_}),
      commits_({facts_, desired_, confirmed_, journal_, alarms_, sessions_, jobs_, found_, unusable_, numbers_, returns_,
                dark_forecast_}),
      clock_(facts_, alarms_, commits_),
      tentative_(facts_, desired_, confirmed_, found_, jobs_, unusable_),
      reconciler_({facts_, desired_, confirmed_, journal_, alarms_, sessions_, numbers_, returns_, commits_, tentative_,
                   unusable_, light_, drift_},
                  options.drift),
      demand_({facts_, desired_, confirmed_, journal_, alarms_, jobs_, numbers_, commits_, tentative_}, options.adapt),
      reports_({facts_, desired_, confirmed_, alarms_, sessions_, jobs_, commits_, reconciler_, demand_, light_, unusable_,
                refusals_, journal_}),
      answers_(facts_, confirmed_, audit_),
      resets_(facts_, sessions_, readings_, answers_, reports_, unusable_),
      agents_({facts_, desired_, journal_, audit_, alarms_, refusals_, sessions_, readings_, unusable_, jobs_, light_, numbers_,
               commits_, reconciler_, demand_, resets_}),
      changes_({facts_, desired_, confirmed_, journal_, alarms_, jobs_, numbers_, dark_forecast_, commits_, tentative_,
                answers_, audit_, refusals_}),
      calibrations_(facts_, desired_, sessions_, journal_, audit_, commits_, answers_, changes_),
      requests_({facts_, desired_, confirmed_, journal_, alarms_, sessions_, jobs_, numbers_, commits_, reconciler_, answers_,
                 resets_, calibrations_, audit_, reports_, unusable_, refusals_, changes_}) {
  facts_.fabric_digest = identity_of(*facts_.fabric).digest;
}

void Controller::step(Instant now, const Event& event, EffectSink& sink) {
  facts_.now = now;
  std::visit(
      [&]<class What>(const What& what) {
        if constexpr (std::is_same_v<What, ClockJudged>) {
          clock_.on(what, sink);
        } else if constexpr (!kIsOfAgents<What>) {
          on(what, sink);
        }
      },
      event);
  reconciler_.follow_commits(sink);
  audit_.follow(commits_.history(), sink);
  const FabricCommit* commit = moving(commits_);
  light_.follow(commit == nullptr ? nullptr : commit->shared_plan());
}

// --- start ---------------------------------------------------------------------------------------------------------------

/// The journal's last word on each subject.
void Controller::restore(const std::vector<Record>& records) {
  journal_.restore(records);
  const SnapshotRecord& state = journal_.state();
  facts_.header.term = state.term;
  desired_.restore({state.intent, state.laser_request, state.next_job, state.probation, {}, state.laser_request_to_all},
                   facts_.header.clock, facts_.now);
  sessions_.keep_laser_order(desired_.laser_request_to_all());
  for (const Node& node : facts_.fabric->nodes) {
    sessions_.keep_laser_order(state.laser_request, node.id);
  }
  for (const IntentCause& cause : state.answered) {
    answers_.restore(cause);
  }
  confirmed_.restore(state);
  numbers_.restore(state);
  returns_.restore(state);
  unusable_.restore(state);
  std::map<JobId, LitStage> lit;
  for (const LitStage& stage : state.lit) {
    lit[stage.job] = stage;
  }
  for (const Job& job : desired_.intent().jobs) {
    const auto since = lit.find(job.id);
    const bool was_lit = since != lit.end() && since->second.stage == job.stage;
    jobs_.add(job.id, was_lit ? std::optional(since->second.revision) : std::nullopt);
  }
}

void Controller::on(const Started& started, EffectSink& sink) {
  facts_.header.clock = started.clock;
  facts_.started_at = facts_.now;
  facts_.wall_offset = started.wall_offset;
  restore(started.records);
  facts_.header.term = Term{facts_.header.term.value + 1};
  order_darkness_anew(facts_.header.term, desired_, sessions_);
  audit_.note_own(format_text("controller started, term {}", facts_.header.term.value), sink);
  journal_.append(TermRecord{facts_.header.term}, PlanAct{}, sink);
  facts_.started = true;
  sink.emit(SetTimer{timers::kSweep, facts_.now + facts_.timings.beat_interval});
  sink.emit(SetTimer{timers::kBeat, facts_.now + facts_.timings.beat_interval});
  sink.emit(SetTimer{timers::kReconcile, facts_.now + facts_.timings.reconcile_interval});
  if (const auto& probation = desired_.probation()) {
    sink.emit(SetTimer{timers::kProbation, std::max(facts_.now, probation->deadline)});
  }
  reconciler_.start(sink);
  if (!desired_.intent().jobs.empty() || !returns_.uncertain().empty()) {
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
  agents_.on_message(message.from, message.envelope, sink);
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
    keyring_alarm_ = alarms_.raise_apart(keyring_alarm_, keyring_alarm(*changed.problem), facts_.now, sink);
    return;
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
  if (commits_.is_idle()) {  // else a plan that leaves out what needs it may be on its way, and only then is it missed
    if (const auto name = unusable_.take_recovery(); name && returns_.misses_something()) {
      commits_.want_plan(*name + " follows orders again", sink);
    }
  }
  demand_.look(sink);
  calibrations_.watch(sink);
  audit_.sweep(sink);
}

void Controller::on(const Planned& planned, EffectSink& sink) {
  if (!commits_.on_planned(planned.outcome, sink)) {
    if (auto outcome = tentative_.on_planned(planned.outcome, numbers_.next_circuit(), sink)) {
      if (std::holds_alternative<AdoptionChange>(outcome->plan.purpose)) {
        reconciler_.on_adoption(*outcome, sink);
      } else if (std::holds_alternative<DemandChange>(outcome->plan.purpose)) {
        demand_.on_tried(*outcome, sink);
      } else {
        changes_.on_tried(*std::move(outcome), sink);
      }
    }
  }
  changes_.try_waiting(sink);
}

// --- journal -------------------------------------------------------------------------------------------------------------

void Controller::on(const Appended& appended, EffectSink& sink) {
  while (auto act = journal_.take_due(appended.count)) {
    if (auto* answer = std::get_if<ReplyAct>(&*act)) {
      answers_.answer(answer->to, std::move(answer->reply), sink);
      sessions_.send_latches(moving(commits_), sink);
      commits_.consider_planning(sink);
    } else if (const auto* go = std::get_if<GoAct>(&*act)) {
      commits_.on_recorded(CommitDecision::going, go->revision, sink);
    } else if (const auto* confirm = std::get_if<ConfirmAct>(&*act)) {
      commits_.on_recorded(CommitDecision::confirmed, confirm->revision, sink);
    } else if (const auto* welcome = std::get_if<WelcomeAct>(&*act)) {
      sessions_.welcome(welcome->node, sink);
    } else {
      commits_.consider_planning(sink);
    }
    reconciler_.follow_commits(sink);
  }
  if (appended.snapshot_due && moving(commits_) == nullptr) {  // else it is due at the commit's end: its rows are short
    journal_.append_snapshot([this](const IntentCause& cause) { return !answers_.remembers(cause); }, sink);
  }
}

/// Nothing acts on what is not durable: the light stays as it is, whoever waits for an answer gets it, and no commit begins.
void Controller::on(const AppendFailed& failed, EffectSink& sink) {
  const bool is_first = !journal_.failure();
  for (JournalAct& act : journal_.fail(failed.error)) {
    if (auto* answer = std::get_if<ReplyAct>(&act)) {
      changes_.on_not_recorded(*answer, sink);
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

}  // namespace loom
