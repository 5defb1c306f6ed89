// The controller's events and its journal: what is durable before what.
#include "controller/control/controller.hpp"

#include <algorithm>

#include "controller/control/timers.hpp"
#include "core/journal_state.hpp"

namespace loom {

Controller::Controller(ControllerOptions options)
    : options_(std::move(options)),
      drift_(options_.fabric == nullptr ? 0 : options_.fabric->devices.size(), options_.timings, options_.drift) {
  LOOM_ASSERT(options_.fabric != nullptr);
  light_since_.resize(options_.fabric->devices.size(), Instant::min());
  sessions_.resize(options_.fabric->nodes.size());
  observations_.resize(options_.fabric->devices.size());
}

void Controller::step(Instant now, const Event& event, EffectSink& sink) {
  now_ = now;
  std::visit([&](const auto& what) { on(what, now, sink); }, event);
}

void Controller::say(NodeId node, Body body, EffectSink& sink) {
  sink.emit(letterhead().to_agent(node, confirmed(), std::move(body)));
}

void Controller::append(Record record, Act act, EffectSink& sink) {
  apply(journal_, record);
  sink.emit(Append{std::move(record)});
  acts_.push_back({++appended_, std::move(act)});
}

void Controller::raise(Alarm alarm, EffectSink& sink) {
  if (alarm.next_command.empty()) {
    alarm.next_command = next_command_for(alarm);
  }
  sink.emit(RaiseAlarm{alarm});
  alarms_.raise(std::move(alarm), now_);
}

/// The journal's last word on each subject; a revision that was going and never confirmed leaves its agents in doubt.
void Controller::restore(const std::vector<Record>& records) {
  journal_ = state_of(records);
  term_ = journal_.term;
  intent_ = journal_.intent;
  laser_order_ = journal_.laser_order;
  next_job_ = journal_.next_job;
  probation_ = journal_.probation;
  next_revision_ = journal_.next_revision;
  next_circuit_ = journal_.next_circuit;
  for (const IntentCause& cause : journal_.answered) {
    OperatorReply answered;
    answered.request = cause.request;
    answered.job = cause.job;
    answered.revision = cause.revision;
    answered_.push_back({cause.principal, answered.request, Peer{Peer::Kind::operator_, 0}, answered});
  }
  if (journal_.confirmed != nullptr) {
    auto result = std::make_shared<PlanResult>();
    result->plan = *journal_.confirmed;
    result->intent = *journal_.kept.back().intent;
    result->next_circuit = journal_.confirmed_next_circuit;
    confirmed_ = std::move(result);
  }
  UncertainLight uncertain = journal_.uncertain;
  if (journal_.going != nullptr) {
    add_uncertain(uncertain, *journal_.going);
  }
  doubt_ = Doubt{std::move(uncertain.nodes), std::move(uncertain.devices), std::move(uncertain.switches)};
  std::map<JobId, LitStage> lit;
  for (const LitStage& stage : journal_.lit) {
    lit[stage.job] = stage;
  }
  for (const Job& job : intent_.jobs) {
    JobEntry& entry = jobs_[job.id];
    entry.job = job.id;
    entry.name = job.spec.name;
    entry.workload = job.spec.workload;
    entry.nodes = job.nodes;
    entry.stage = job.stage;
    const auto since = lit.find(job.id);
    entry.was_lit = since != lit.end() && since->second.stage == job.stage;
    entry.revision = entry.was_lit ? since->second.revision : Revision{};
  }
}

void Controller::on(const Started& started, Instant now, EffectSink& sink) {
  clock_ = started.clock;
  restore(started.records);
  term_ = Term{term_.value + 1};
  append(TermRecord{term_}, IntentAct{}, sink);
  started_ = true;
  sink.emit(SetTimer{timers::kSweep, now + options_.timings.beat_interval});
  sink.emit(SetTimer{timers::kBeat, now + options_.timings.beat_interval});
  sink.emit(SetTimer{timers::kReconcile, now + options_.timings.reconcile_interval});
  if (probation_ && probation_->clock != clock_) {
    probation_->clock = clock_;  // nobody can say how much time has passed: as if it were over
    probation_->deadline = now;
  }
  if (probation_) {
    sink.emit(SetTimer{timers::kProbation, std::max(now, probation_->deadline)});
  }
  for (const DeviceOverride& override : intent_.overrides) {
    if (override.is_adopted() && override.device.value < options_.fabric->devices.size()) {
      tell_adopted(override, sink);
    }
  }
  if (!intent_.jobs.empty() || !doubt_.empty()) {
    want_plan("the controller started again", now, sink);
  }
}

void Controller::on(const MessageArrived& message, Instant now, EffectSink& sink) {
  if (message.from.kind == Peer::Kind::operator_) {
    if (const auto* request = std::get_if<OperatorRequest>(&message.envelope.body)) {
      on_operator(message.from, message.envelope, *request, now, sink);
    } else {
      ++malformed_;
    }
    return;
  }
  const bool is_own_name = message.from.kind == Peer::Kind::agent && message.from.id == message.envelope.node.value;
  if (!is_own_name || message.envelope.node.value >= sessions_.size()) {
    ++malformed_;
    return;
  }
  on_agent(message.envelope.node, message.envelope, now, sink);
}

void Controller::on(const MessageRefused& refused, Instant, EffectSink& sink) {
  ++malformed_;
  const bool is_duplicate = refused.error.code == ErrorCode::conflict;
  Alarm alarm;
  alarm.code = is_duplicate ? AlarmCode::agent_duplicate : AlarmCode::malformed_message;
  if (refused.from.kind == Peer::Kind::agent && refused.from.id < sessions_.size()) {
    alarm.node = NodeId{static_cast<std::uint32_t>(refused.from.id)};
    alarm.next_command = "loom node show " + std::to_string(refused.from.id);
  } else {
    alarm.next_command = "loom status";
  }
  alarm.evidence = refused.error.message;
  raise(std::move(alarm), sink);
}

void Controller::on(const TimerFired& timer, Instant now, EffectSink& sink) {
  if (timer.timer == timers::kTick) {
    if (commit_ != nullptr && !commit_waits_) {
      commit_->on_tick(now, letterhead(), sink);
      after_commit_moved(now, sink);
    }
  } else if (timer.timer == timers::kSweep) {
    sweep(now, sink);
    sink.emit(SetTimer{timers::kSweep, now + options_.timings.beat_interval});
  } else if (timer.timer == timers::kBeat) {
    beat(now, sink);
    sink.emit(SetTimer{timers::kBeat, now + options_.timings.beat_interval});
  } else if (timer.timer == timers::kReconcile) {
    reconcile_now(now, sink);
    sink.emit(SetTimer{timers::kReconcile, now + options_.timings.reconcile_interval});
  } else if (timer.timer == timers::kReset) {
    repeat_resets(now, sink);
  } else if (timer.timer == timers::kProbation) {
    watch_probation(now, sink);
  } else if (timer.timer == timers::kPlan) {
    consider_planning(now, sink);
  }
}

void Controller::on(const Appended& appended, Instant now, EffectSink& sink) {
  while (!acts_.empty() && acts_.front().count <= appended.count) {
    Act act = std::move(acts_.front().act);
    acts_.pop_front();
    perform(act, now, sink);
  }
  if (appended.snapshot_due) {
    append(journal_, SnapshotAct{}, sink);
  }
}

void Controller::on(const AppendFailed& failed, Instant, EffectSink& sink) {
  // Nothing acts on what is not durable: the acts stay pending, the light stays as it is.
  Alarm alarm;
  alarm.code = AlarmCode::journal_damaged;
  alarm.evidence = "the journal refuses new rows: " + failed.error.message;
  alarm.next_command = "loom status";
  raise(std::move(alarm), sink);
}

void Controller::perform(Act& act, Instant now, EffectSink& sink) {
  if (auto* reply_act = std::get_if<ReplyAct>(&act)) {
    settle(reply_act->to, std::move(reply_act->reply), sink);
    say_latches(sink);
    consider_planning(now, sink);
  } else if (const auto* go = std::get_if<GoAct>(&act)) {
    if (commit_ != nullptr && commit_->revision() == go->revision && commit_->verdict() == CommitVerdict::wants_going) {
      commit_recorded_ = false;
      commit_->go(now, letterhead(), sink);
      after_commit_moved(now, sink);
    }
  } else if (const auto* confirm = std::get_if<ConfirmAct>(&act)) {
    if (commit_ != nullptr && commit_->revision() == confirm->revision) {
      commit_recorded_ = false;
      finish_confirmed(now, sink);
    }
  } else if (const auto* welcome = std::get_if<WelcomeAct>(&act)) {
    say(welcome->node, Welcome{options_.timings.beat_interval, confirmed()}, sink);
  } else {
    consider_planning(now, sink);
  }
}

}  // namespace loom
