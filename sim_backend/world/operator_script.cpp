// SPDX-License-Identifier: Apache-2.0
// One pass over entries and actions after every event; the timer is set to the earliest instant at which one of them is due.
#include "sim_backend/world/operator_script.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr TimerId kDueTimer{1};

bool is_asking(const OperatorScript::Entry& entry) {
  using State = OperatorScript::State;
  return entry.state == State::submitting || entry.state == State::looking || entry.state == State::cancelling;
}

bool is_over(const OperatorScript::Entry& entry) {
  return entry.state == OperatorScript::State::ended || entry.state == OperatorScript::State::refused;
}

std::vector<ScheduledCircuit> circuits_of(const std::vector<CircuitReport>& rows) {
  std::vector<ScheduledCircuit> circuits;
  for (const CircuitReport& row : rows) {
    circuits.push_back({row.circuit.job, row.circuit.source, row.circuit.destination, row.circuit.slot, row.timeslot,
                        row.circuit.transmitter, row.circuit.receiver});
  }
  return circuits;
}

Instant later(Instant from, Duration by) { return by == kForever ? kNever : from + by; }

/// What an order is about: a node, a device, a job, all lasers, or the schedule.
std::tuple<ActionKind, std::uint32_t, std::string> subject_of(const ScenarioAction& action) {
  switch (action.kind) {
    case ActionKind::drain:
    case ActionKind::undrain:
    case ActionKind::maintain:
    case ActionKind::release:
      return {ActionKind::drain, action.node.value, {}};
    case ActionKind::reset:
    case ActionKind::darken:
    case ActionKind::clear:
      return {ActionKind::reset, action.device.value, {}};
    case ActionKind::cancel:
    case ActionKind::resize:
      return {ActionKind::cancel, 0, action.job};
    case ActionKind::lasers:
    case ActionKind::schedule:
      break;
  }
  return {action.kind, 0, {}};
}

bool is_towards_darkness(const ScenarioAction& action) {
  return action.kind == ActionKind::maintain || action.kind == ActionKind::darken ||
         (action.kind == ActionKind::lasers && !action.lasers_on);
}

}  // namespace

OperatorScript::OperatorScript(std::vector<ScriptedJob> jobs, Duration patience, std::vector<ScenarioAction> actions)
    : patience_(patience) {
  for (ScriptedJob& job : jobs) {
    by_name_[job.submission.name] = entries_.size();
    Entry entry;
    entry.counts_iterations = job.submission.iterations > 0;
    entry.scripted = std::move(job);
    entries_.push_back(std::move(entry));
  }
  for (ScenarioAction& action : actions) {
    Action ordered;
    ordered.what = std::move(action);
    actions_.push_back(std::move(ordered));
  }
}

void OperatorScript::step(Instant now, const Event& event, EffectSink& sink) {
  if (const auto* arrived = std::get_if<MessageArrived>(&event)) {
    if (const auto* reply = std::get_if<OperatorReply>(&arrived->envelope.body)) {
      on_reply(now, *reply);
    }
  }
  act(now, sink);
}

void OperatorScript::on_reply(Instant now, const OperatorReply& reply) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& each) { return each.request == reply.request && is_asking(each); });
  if (entry != entries_.end()) {
    return on_job_reply(*entry, reply, now);
  }
  const auto action = std::find_if(actions_.begin(), actions_.end(), [&](const Action& each) {
    return each.request == reply.request && each.request != RequestId{} && !each.answered_at;
  });
  if (action == actions_.end()) {
    return;
  }
  if (const auto* rows = std::get_if<std::vector<CircuitReport>>(&reply.rows); rows != nullptr && !action->circuits) {
    action->circuits = circuits_of(*rows);  // an order of its own follows at once
    action->request = RequestId{};
    action->again_at = now;
  } else {
    action->answered_at = now;
    action->refusal = reply.outcome.ok() ? std::string() : reply.outcome.error->message;
  }
}

void OperatorScript::on_job_reply(Entry& entry, const OperatorReply& reply, Instant now) {
  if (entry.state == State::cancelling) {
    entry.state = State::ended;
  } else if (entry.state == State::looking) {
    on_jobs(entry, reply, now);
  } else if (!reply.outcome.ok()) {
    entry.state = State::refused;
    entry.reason = reply.outcome.error->message;
  } else if (const std::string& changed = entry.scripted.submission.changes; !changed.empty()) {
    entry.state = State::ended;
    entry.job = entries_[by_name_.at(changed)].job;
    entry.submitted_at = now;
  } else {
    begin_running(entry, reply.job, now);
  }
}

void OperatorScript::begin_running(Entry& entry, JobId job, Instant now) const {
  entry.state = State::running;
  entry.job = job;
  entry.submitted_at = now;
  entry.ends_at = std::min(entry.ends_at, later(now, entry.scripted.submission.runs_for));
}

/// The submission was not answered: either its job is there, or it never came.
void OperatorScript::on_jobs(Entry& entry, const OperatorReply& reply, Instant now) {
  if (const auto* rows = std::get_if<std::vector<JobReport>>(&reply.rows)) {
    for (const JobReport& row : *rows) {
      if (row.name == entry.scripted.submission.name) {
        return begin_running(entry, row.job, now);
      }
    }
  }
  entry.state = State::waiting;
}

Instant OperatorScript::due_of(const Entry& entry) const {
  if (is_asking(entry)) {
    return later(entry.asked_at, patience_);
  }
  if (entry.state == State::running) {
    return entry.ends_at;
  }
  if (entry.state != State::waiting || stopped_) {
    return kNever;
  }
  if (const std::string& changed = entry.scripted.submission.changes; !changed.empty()) {
    const State state = entries_[by_name_.at(changed)].state;
    if (state == State::waiting || state == State::submitting || state == State::looking) {
      return kNever;
    }
  }
  if (!entry.scripted.submission.after.empty() && !is_over(entries_[by_name_.at(entry.scripted.submission.after)])) {
    return kNever;
  }
  return Instant{entry.scripted.submission.at};
}

void OperatorScript::act(Instant now, EffectSink& sink) {
  Instant next = kNever;
  for (Action& action : actions_) {
    follow_cancel(action, now);
    if (due_of(action) <= now) {
      order(action, now, sink);
    }
    if (const Instant due = due_of(action); due > now) {
      next = std::min(next, due);
    }
  }
  for (Entry& entry : entries_) {
    if (due_of(entry) <= now) {
      ask_for(entry, now, sink);
    }
    if (const Instant due = due_of(entry); due > now) {
      next = std::min(next, due);
    }
  }
  if (next != kNever) {
    sink.emit(SetTimer{kDueTimer, next, Precision::ordinary});
  }
}

/// What its state asks for next.
void OperatorScript::ask_for(Entry& entry, Instant now, EffectSink& sink) {
  if (const std::string& changed = entry.scripted.submission.changes; !changed.empty()) {
    entry.state = State::submitting;  // the same change twice is one
    ask(entry, now, ChangeJob{entries_[by_name_.at(changed)].job, entry.scripted.spec, false}, sink);
  } else if (entry.state == State::waiting) {
    entry.state = State::submitting;
    ask(entry, now, SubmitJob{entry.scripted.spec, false}, sink);
  } else if (entry.state == State::submitting || entry.state == State::looking) {
    entry.state = State::looking;
    ask(entry, now, Query{Noun::jobs, {}}, sink);
  } else {
    entry.state = State::cancelling;
    entry.ended_at = entry.ended_at.value_or(now);
    ask(entry, now, CancelJob{entry.job, false}, sink);
  }
}

void OperatorScript::ask(Entry& entry, Instant now, OperatorAsk question, EffectSink& sink) {
  entry.asked_at = now;
  entry.request = RequestId{++last_request_};
  send(entry.request, std::move(question), sink);
}

void OperatorScript::send(RequestId request, OperatorAsk question, EffectSink& sink) {
  Envelope envelope;
  envelope.role = Role::operator_;
  envelope.clock = kVirtualClock;
  envelope.body = OperatorRequest{request, std::move(question)};
  sink.emit(Send{controller_peer(), std::move(envelope)});
}

/// Of an action about a job; null: of another.
const OperatorScript::Entry* OperatorScript::job_of(const Action& action) const {
  return action.what.job.empty() ? nullptr : &entries_[by_name_.at(action.what.job)];
}

/// Orders about a job wait until it is there. Orders that may bring light wait until the one before them about the same
/// subject has been answered; who wants it dark says so at once.
Instant OperatorScript::due_of(const Action& action) const {
  if (action.answered_at || (action.asked_at == kNever && stopped_)) {
    return kNever;
  }
  if (action.asked_at != kNever) {
    return action.again_at;
  }
  const bool follows = !is_towards_darkness(action.what) && std::ranges::any_of(actions_, [&](const Action& other) {
    return other.asked_at != kNever && !other.answered_at && subject_of(other.what) == subject_of(action.what);
  });
  if (follows) {
    return kNever;
  }
  const Entry* job = job_of(action);
  const bool is_there = job == nullptr || job->state == State::running || is_over(*job);
  return is_there ? Instant{action.what.at} : kNever;
}

/// Not answered, it is ordered again under the same number, and is one order.
void OperatorScript::order(Action& action, Instant now, EffectSink& sink) {
  action.asked_at = std::min(action.asked_at, now);
  if (const Entry* job = job_of(action); job != nullptr && is_over(*job)) {
    action.answered_at = now;
    action.refusal = format_text("job {} has ended before", action.what.job);
    return;
  }
  if (action.what.kind == ActionKind::cancel) {
    action.again_at = kNever;
    Entry& entry = entries_[by_name_.at(action.what.job)];
    entry.ends_at = std::min(entry.ends_at, now);  // its own pass follows
    return;
  }
  action.again_at = later(now, patience_);
  if (action.request == RequestId{}) {
    action.request = RequestId{++last_request_};
  }
  send(action.request, order_of(action), sink);
}

OperatorAsk OperatorScript::order_of(const Action& action) const {
  const ScenarioAction& what = action.what;
  const auto node = [&](NodeAction order) { return NodeRequest{what.node, order, what.force, false}; };
  switch (what.kind) {
    case ActionKind::drain:
      return node(NodeAction::drain);
    case ActionKind::undrain:
      return node(NodeAction::undrain);
    case ActionKind::maintain:
      return node(NodeAction::maintain);
    case ActionKind::release:
      return node(NodeAction::release);
    case ActionKind::resize:
      return ResizeJob{job_of(action)->job, what.nodes, false};
    case ActionKind::lasers:
      return LasersRequest{what.lasers_on};
    case ActionKind::reset:
      return ResetRequest{what.device};
    case ActionKind::darken:
    case ActionKind::clear:
      return DeviceRequest{what.device, what.setpoint, false};
    case ActionKind::schedule:
      if (what.rolls_back) {
        return RollBackSchedule{{}, false};
      }
      return action.circuits ? OperatorAsk(ApplySchedule{ApplyMode::update, *action.circuits, {}, false})
                             : OperatorAsk(Query{Noun::circuits, {}});
    case ActionKind::cancel:
      break;  // order()
  }
  return CancelJob{job_of(action)->job, false};
}

/// The job's own entry cancels it.
void OperatorScript::follow_cancel(Action& action, Instant now) {
  const bool waits = action.what.kind == ActionKind::cancel && action.asked_at != kNever && !action.answered_at;
  if (waits && is_over(*job_of(action))) {
    action.answered_at = now;
  }
}

bool OperatorScript::is_done() const {
  return has_asked_all() && std::none_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
           return entry.state == State::running && entry.counts_iterations;
         });
}

bool OperatorScript::has_asked_all() const {
  const auto is_settled = [&](const Entry& entry) { return !is_asking(entry) && due_of(entry) == kNever; };
  return std::all_of(entries_.begin(), entries_.end(), is_settled) &&
         std::all_of(actions_.begin(), actions_.end(), [&](const Action& action) {
           return due_of(action) == kNever && (action.asked_at == kNever || action.answered_at);
         });
}

}  // namespace loom
