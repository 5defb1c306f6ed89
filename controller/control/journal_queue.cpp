// SPDX-License-Identifier: Apache-2.0
// Rows, acts, limits.
#include "controller/control/journal_queue.hpp"

#include "core/journal/journal_state.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {

void JournalQueue::restore(const std::vector<Record>& records) { state_ = state_of(records); }

void JournalQueue::append(Record record, JournalAct act, EffectSink& sink) {
  append(std::move(record), sink);
  acts_.push_back({appended_, std::move(act)});
}

void JournalQueue::append(Record record, EffectSink& sink) {
  apply(state_, record);
  sink.emit(Append{std::move(record)});
  ++appended_;
}

void JournalQueue::append_planned(const std::shared_ptr<const PlanResult>& plan, CircuitId next_circuit, EffectSink& sink) {
  if (!has_planned(plan->plan.revision)) {
    append(planned_row(plan, next_circuit, state_.confirmed), sink);
  }
}

void JournalQueue::append_snapshot(const IsForgotten& is_forgotten, EffectSink& sink) {
  std::erase_if(state_.answered, is_forgotten);
  SnapshotRecord snapshot = state_;
  while (bytes_ && snapshot.kept.size() > 1 && bytes_(snapshot) > limits::kRecordBytes) {
    snapshot.kept.erase(snapshot.kept.begin());
  }
  sink.emit(Append{std::move(snapshot)});
  ++appended_;
}

std::optional<JournalAct> JournalQueue::take_due(std::uint64_t durable) {
  if (acts_.empty() || acts_.front().row > durable) {
    return std::nullopt;
  }
  JournalAct act = std::move(acts_.front().act);
  acts_.pop_front();
  return act;
}

std::vector<JournalAct> JournalQueue::fail(Error why) {
  if (!failure_) {
    failure_ = std::move(why);
  }
  std::vector<JournalAct> acts;
  for (PendingAct& pending : std::exchange(acts_, {})) {
    acts.push_back(std::move(pending.act));
  }
  return acts;
}

std::optional<Error> JournalQueue::refusal_of(const IntentRecord& record) const {
  if (failure_) {
    return failure_;
  }
  const std::size_t bytes = bytes_ ? bytes_(record) : 0;
  if (bytes <= limits::kIntentBytes) {
    return std::nullopt;
  }
  return Error{ErrorCode::out_of_range,
               format_text("with this, what all operators want takes {} bytes of the journal; the limit, kIntentBytes, is {}: "
                           "cancel jobs, or submit this one with fewer collectives",
                           bytes, limits::kIntentBytes),
               "loom job list"};
}

std::optional<Error> JournalQueue::refusal_of_plan(std::size_t row_bytes) {
  if (row_bytes <= limits::kRecordBytes) {
    return std::nullopt;
  }
  return Error{
      ErrorCode::out_of_range,
      format_text("the plan takes {} bytes of the journal; the limit, kRecordBytes, is {}", row_bytes, limits::kRecordBytes),
      "loom job list"};
}

}  // namespace loom
