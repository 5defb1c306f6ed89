// SPDX-License-Identifier: Apache-2.0
// Revisions ascend in a journal, so the newest one that was read parts what is news from what is not.
#include "sim_backend/snapshot_news.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/journal/journal_state.hpp"

namespace loom {

void RevisionsRead::note(const Record& record) {
  if (const auto* snapshot = std::get_if<SnapshotRecord>(&record)) {
    for (const Record& each : unread_records(*snapshot, *this)) {
      note(each);
    }
    return;
  }
  const auto* commit = std::get_if<CommitRecord>(&record);
  if (commit == nullptr) {
    return;
  }
  if (commit->decision == CommitDecision::planned) {
    planned = *commit;
    planned.plan = plan_of(*commit, confirmed_plan);
    planned.change = nullptr;
    return;
  }
  if (commit->decision == CommitDecision::going) {
    gone = with_plan(*commit).plan;
    going = std::max(going, commit->revision);
    return;
  }
  ended = std::max(ended, commit->revision);
  if (commit->decision == CommitDecision::confirmed) {
    confirmed = std::max(confirmed, commit->revision);
    confirmed_plan = gone != nullptr && gone->revision == commit->revision ? gone : confirmed_plan;
  }
}

CommitRecord RevisionsRead::with_plan(CommitRecord record) const {
  if (record.decision == CommitDecision::going && record.plan == nullptr && record.revision == planned.revision) {
    record.plan = planned.plan;
    record.intent = planned.intent;
  }
  return record;
}

std::vector<Record> unread_records(const SnapshotRecord& snapshot, const RevisionsRead& read) {
  std::vector<Record> records{
      IntentRecord{snapshot.intent, snapshot.laser_request, snapshot.next_job, {}, {}, snapshot.laser_request_to_all}};
  const auto add_going = [&](const std::shared_ptr<const Plan>& plan) {
    if (plan->revision > read.going) {
      records.emplace_back(CommitRecord{CommitDecision::going, plan->revision, snapshot.next_circuit, plan});
    }
  };
  if (snapshot.confirmed != nullptr && snapshot.confirmed->revision > read.confirmed) {
    add_going(snapshot.confirmed);
    records.emplace_back(
        CommitRecord{CommitDecision::confirmed, snapshot.confirmed->revision, snapshot.confirmed_next_circuit, nullptr});
  }
  for (const std::shared_ptr<const Plan>& plan : snapshot.uncertain) {
    add_going(plan);
    if (plan->revision > read.ended) {
      records.emplace_back(CommitRecord{CommitDecision::returned, plan->revision, snapshot.next_circuit, nullptr});
    }
  }
  if (snapshot.going != nullptr) {
    add_going(snapshot.going);
  }
  if (snapshot.planned != nullptr && snapshot.planned->revision != read.planned.revision) {
    records.emplace_back(CommitRecord{CommitDecision::planned, snapshot.planned->revision, snapshot.next_circuit,
                                      snapshot.planned, snapshot.planned_intent});
  }
  return records;
}

}  // namespace loom
