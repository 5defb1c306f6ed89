// SPDX-License-Identifier: Apache-2.0
// Journal state: what a sequence of records says, as one SnapshotRecord. A pure fold: the state after some records and then a
// snapshot of it is the same state, so whatever is read from records may as well be read from a snapshot and its tail.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/planning.hpp"

namespace loom {

/// Folds one more record into what those before it said. A SnapshotRecord replaces everything.
void apply(SnapshotRecord& state, Record record);

/// Why a record cannot follow what those before it said; empty: it can.
std::string misfit_of(const SnapshotRecord& state, const Record& record);

/// What an earlier incarnation left: all records of a journal, oldest first.
SnapshotRecord state_of(const std::vector<Record>& records);

/// Of a commit that its agents prepare for. `confirmed`: what the journal says to be confirmed, null for nothing; a plan that
/// changes little of it is written as that change.
CommitRecord planned_row(const std::shared_ptr<const PlanResult>& plan, CircuitId next_circuit,
                         const std::shared_ptr<const Plan>& confirmed = nullptr);
/// The record's plan, made of its change and `confirmed` where it has no other. Null: it has none, or the change is none of
/// `confirmed`.
std::shared_ptr<const Plan> plan_of(const CommitRecord& record, const std::shared_ptr<const Plan>& confirmed);

/// Null: that revision was never confirmed, or is no longer kept.
const KeptRevision* kept_revision(const SnapshotRecord& state, Revision revision);

}  // namespace loom
