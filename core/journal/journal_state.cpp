// SPDX-License-Identifier: Apache-2.0
// One overload a kind of record; the last record on a subject counts.
#include "core/journal/journal_state.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Light and heat were there to be measured.
bool is_look(const Intent& intent) { return !intent.probes.empty() || !intent.drives.empty(); }

bool has_job(const Intent& intent, JobId id) {
  const auto it = std::lower_bound(intent.jobs.begin(), intent.jobs.end(), id,
                                   [](const Job& job, JobId wanted) { return job.id < wanted; });
  return it != intent.jobs.end() && it->id == id;
}

/// The stages that this plan has newly lit; jobs that nobody can bring back are forgotten.
void note_stages(SnapshotRecord& state) {
  std::set<JobId> jobs;
  for (const Circuit& circuit : state.confirmed->circuits) {
    jobs.insert(circuit.job);
  }
  for (const Job& job : state.kept.back().intent->jobs) {
    if (!jobs.contains(job.id)) {
      continue;
    }
    const auto known = std::lower_bound(state.lit.begin(), state.lit.end(), job.id,
                                        [](const LitStage& lit, JobId wanted) { return lit.job < wanted; });
    if (known == state.lit.end() || known->job != job.id) {
      state.lit.insert(known, {job.id, job.stage, state.confirmed->revision});
    } else if (known->stage != job.stage) {
      *known = {job.id, job.stage, state.confirmed->revision};
    }
  }
  std::erase_if(state.lit, [&](const LitStage& lit) {
    return !has_job(state.intent, lit.job) && std::none_of(state.kept.begin(), state.kept.end(), [&](const KeptRevision& kept) {
      return has_job(*kept.intent, lit.job);
    });
  });
}

template <class Row>
void push_bounded(std::vector<Row>& rows, Row row, std::size_t max) {
  rows.push_back(std::move(row));
  if (rows.size() > max) {
    rows.erase(rows.begin());
  }
}

void apply_one(SnapshotRecord& state, const TermRecord& record) { state.term = std::max(state.term, record.term); }

void apply_one(SnapshotRecord& state, IntentRecord record) {
  state.intent = std::move(record.intent);
  state.laser_request = record.laser_request;
  state.laser_request_to_all = record.laser_request_to_all;
  state.next_job = record.next_job;
  state.probation = std::move(record.probation);
  if (record.cause) {
    push_bounded(state.answered, *std::move(record.cause), limits::kRequestsRemembered);
  }
}

/// A revision that was going and is neither confirmed nor returned when the next one goes is uncertain as one that returned.
void leave_going(SnapshotRecord& state) {
  if (state.going != nullptr) {
    push_bounded(state.uncertain, std::exchange(state.going, nullptr), limits::kUncertainPlans);
    state.going_intent = nullptr;
  }
}

std::shared_ptr<const Intent> intent_of(const SnapshotRecord& state, std::shared_ptr<const Intent> own) {
  return own != nullptr ? std::move(own) : std::make_shared<const Intent>(state.intent);
}

/// What was planned before is followed by this decision, or it was given up.
void apply_one(SnapshotRecord& state, CommitRecord record) {
  state.next_revision = std::max(state.next_revision, Revision{record.revision.value + 1});
  state.next_circuit = std::max(state.next_circuit, record.next_circuit);
  const std::shared_ptr<const Plan> planned = std::exchange(state.planned, nullptr);
  std::shared_ptr<const Intent> planned_intent = std::exchange(state.planned_intent, nullptr);
  if (record.decision == CommitDecision::planned) {
    state.planned = plan_of(record, state.confirmed);
    state.planned_intent = state.planned == nullptr ? nullptr : intent_of(state, std::move(record.intent));
    return;
  }
  if (record.plan != nullptr) {
    leave_going(state);
    state.going = std::move(record.plan);
    state.going_intent = intent_of(state, std::move(record.intent));
  } else if (record.decision == CommitDecision::going && planned != nullptr && planned->revision == record.revision) {
    leave_going(state);
    state.going = planned;
    state.going_intent = std::move(planned_intent);
  }
  if (state.going == nullptr || state.going->revision != record.revision) {
    return;
  }
  if (record.decision == CommitDecision::returned) {
    leave_going(state);
  } else if (record.decision == CommitDecision::confirmed) {
    state.confirmed = std::exchange(state.going, nullptr);
    state.confirmed_next_circuit = state.next_circuit;
    state.uncertain.clear();
    if (!state.kept.empty() && is_look(*state.kept.back().intent)) {
      state.kept.pop_back();  // nobody goes back to light that was there to be measured
    }
    push_bounded(state.kept, {record.revision, std::exchange(state.going_intent, nullptr), state.confirmed->circuits},
                 limits::kRevisionsKept);
    note_stages(state);
  }
}

void apply_one(SnapshotRecord& state, const LatchRecord& record) { state.latch = record; }
void apply_one(SnapshotRecord& state, SnapshotRecord record) { state = std::move(record); }

void apply_one(SnapshotRecord& state, AuditRecord record) { push_bounded(state.audit, std::move(record), limits::kAuditKept); }

}  // namespace

void apply(SnapshotRecord& state, Record record) {
  std::visit([&](auto& one) { apply_one(state, std::move(one)); }, record);
}

std::string misfit_of(const SnapshotRecord& state, const Record& record) {
  const auto* commit = std::get_if<CommitRecord>(&record);
  if (commit != nullptr && commit->change != nullptr && commit->plan == nullptr) {
    return state.confirmed != nullptr ? misfit_of(*state.confirmed, *commit->change)
                                      : format_text("revision {} is recorded as a change of revision {}; nothing is confirmed",
                                                    commit->revision.value, commit->change->of.value);
  }
  if (commit == nullptr || commit->decision != CommitDecision::going || commit->plan != nullptr ||
      (state.planned != nullptr && state.planned->revision == commit->revision)) {
    return {};
  }
  return format_text("revision {} goes, and the row of its plan is missing", commit->revision.value);
}

CommitRecord planned_row(const std::shared_ptr<const PlanResult>& plan, CircuitId next_circuit,
                         const std::shared_ptr<const Plan>& confirmed) {
  CommitRecord row{CommitDecision::planned, plan->plan.revision, next_circuit, {plan, &plan->plan}, {plan, &plan->intent}};
  if (auto change = confirmed == nullptr ? std::nullopt : change_of(*confirmed, plan->plan)) {
    row.change = std::make_shared<const PlanChange>(*std::move(change));
  }
  return row;
}

std::shared_ptr<const Plan> plan_of(const CommitRecord& record, const std::shared_ptr<const Plan>& confirmed) {
  const bool is_made = record.plan == nullptr && record.change != nullptr && confirmed != nullptr &&
                       misfit_of(*confirmed, *record.change).empty();
  return is_made ? std::make_shared<const Plan>(changed_plan(*confirmed, *record.change)) : record.plan;
}

const KeptRevision* kept_revision(const SnapshotRecord& state, Revision revision) {
  const auto it =
      std::find_if(state.kept.begin(), state.kept.end(), [&](const KeptRevision& kept) { return kept.revision == revision; });
  return it == state.kept.end() ? nullptr : &*it;
}

SnapshotRecord state_of(const std::vector<Record>& records) {
  SnapshotRecord state;
  for (const Record& record : records) {
    apply(state, record);
  }
  return state;
}

}  // namespace loom
