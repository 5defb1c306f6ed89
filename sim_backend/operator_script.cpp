// One pass over the entries after every event; the timer is set to the earliest instant at which one of them is due.
#include "sim_backend/operator_script.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

constexpr TimerId kDueTimer{1};

/// Training of `iterations` takes at least its compute time; how long its traffic takes is not the script's to know.
Instant last_iteration(const OperatorScript::Entry& entry, Instant submitted_at) {
  const std::uint32_t iterations = entry.scripted.submission.iterations;
  return iterations == 0 ? kNever : submitted_at + entry.scripted.spec.compute * iterations;
}

bool is_asking(const OperatorScript::Entry& entry) {
  using State = OperatorScript::State;
  return entry.state == State::submitting || entry.state == State::looking || entry.state == State::cancelling;
}

Instant later(Instant from, Duration by) { return by == kForever ? kNever : from + by; }

}  // namespace

OperatorScript::OperatorScript(std::vector<ScriptedJob> jobs, Duration patience) : patience_(patience) {
  for (ScriptedJob& job : jobs) {
    by_name_[job.submission.name] = entries_.size();
    entries_.push_back({std::move(job), State::waiting, RequestId{}, JobId{}, Instant{}, Instant{}, kNever, {}});
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
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.request == reply.request && is_asking(entry); });
  if (found == entries_.end()) {
    return;
  }
  if (found->state == State::cancelling) {
    found->state = State::ended;
  } else if (found->state == State::looking) {
    on_jobs(*found, reply, now);
  } else if (!reply.outcome.ok()) {
    found->state = State::refused;
    found->reason = reply.outcome.error->message;
  } else if (!found->scripted.submission.changes.empty()) {
    found->state = State::ended;
  } else {
    begin_running(*found, reply.job, now);
  }
}

void OperatorScript::begin_running(Entry& entry, JobId job, Instant now) const {
  entry.state = State::running;
  entry.job = job;
  entry.submitted_at = now;
  entry.ends_at = std::min(later(now, entry.scripted.submission.runs_for), last_iteration(entry, now));
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
  if (!entry.scripted.submission.after.empty()) {
    const Entry& before = entries_[by_name_.at(entry.scripted.submission.after)];
    if (before.state != State::ended && before.state != State::refused) {
      return kNever;
    }
  }
  return Instant{entry.scripted.submission.at};
}

void OperatorScript::act(Instant now, EffectSink& sink) {
  Instant next = kNever;
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
    ask(entry, now, CancelJob{entry.job, false}, sink);
  }
}

void OperatorScript::ask(Entry& entry, Instant now, OperatorAsk question, EffectSink& sink) {
  entry.asked_at = now;
  entry.request = RequestId{++last_request_};
  Envelope envelope;
  envelope.role = Role::operator_;
  envelope.clock = kVirtualClock;
  envelope.body = OperatorRequest{entry.request, std::move(question)};
  sink.emit(Send{controller_peer(), std::move(envelope)});
}

bool OperatorScript::is_done() const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return !is_asking(entry) && due_of(entry) == kNever; });
}

}  // namespace loom
