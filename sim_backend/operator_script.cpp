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

Instant later(Instant from, Duration by) { return by == kForever ? kNever : from + by; }

}  // namespace

OperatorScript::OperatorScript(std::vector<ScriptedJob> jobs) {
  for (ScriptedJob& job : jobs) {
    by_name_[job.submission.name] = entries_.size();
    entries_.push_back({std::move(job), State::waiting, RequestId{}, JobId{}, Instant{}, kNever, {}});
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
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.request == reply.request && (entry.state == State::submitting || entry.state == State::cancelling);
  });
  if (found == entries_.end()) {
    return;
  }
  if (found->state == State::cancelling) {
    found->state = State::ended;
    return;
  }
  if (!reply.outcome.ok()) {
    found->state = State::refused;
    found->reason = reply.outcome.error->message;
    return;
  }
  found->state = State::running;
  found->job = reply.job;
  found->submitted_at = now;
  found->ends_at = std::min(later(now, found->scripted.submission.runs_for), last_iteration(*found, now));
}

Instant OperatorScript::due_of(const Entry& entry) const {
  if (entry.state == State::running) {
    return entry.ends_at;
  }
  if (entry.state != State::waiting || stopped_) {
    return kNever;
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
    const Instant due = due_of(entry);
    if (due > now) {
      next = std::min(next, due);
    } else if (entry.state == State::waiting) {
      entry.state = State::submitting;
      ask(entry, SubmitJob{entry.scripted.spec, false}, sink);
    } else {
      entry.state = State::cancelling;
      ask(entry, CancelJob{entry.job, false}, sink);
    }
  }
  if (next != kNever) {
    sink.emit(SetTimer{kDueTimer, next, Precision::ordinary});
  }
}

void OperatorScript::ask(Entry& entry, OperatorAsk question, EffectSink& sink) {
  entry.request = RequestId{++last_request_};
  Envelope envelope;
  envelope.role = Role::operator_;
  envelope.clock = kVirtualClock;
  envelope.body = OperatorRequest{entry.request, std::move(question)};
  sink.emit(Send{controller_peer(), std::move(envelope)});
}

bool OperatorScript::is_done() const {
  return std::all_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    const bool asking = entry.state == State::submitting || entry.state == State::cancelling;
    return !asking && due_of(entry) == kNever;
  });
}

}  // namespace loom
