// SPDX-License-Identifier: Apache-2.0
// What a judge remembers of the controller's journal: which plan a `going` lets go, and which revisions it has read of, so that
// of a snapshot it learns only those of the rows which it stands for that it has not read. One that has read them all learns
// nothing of a plan twice.
#pragma once

#include <memory>
#include <vector>

#include "core/journal/journal.hpp"

namespace loom {

/// The newest revisions of which a reader knows; 0: none.
struct RevisionsRead {
  CommitRecord planned;                        ///< the newest one, with its plan; no plan: none
  std::shared_ptr<const Plan> gone;            ///< the newest one
  std::shared_ptr<const Plan> confirmed_plan;  ///< of which the next one may be recorded as a change
  Revision going;
  Revision confirmed;
  Revision ended;  ///< confirmed or returned

  /// Of any record; a SnapshotRecord counts as those that it stands for.
  void note(const Record& record);
  /// A `going` whose plan stands in the row before it has it, and its intent, as if it were its own. To be asked of what was
  /// noted last.
  CommitRecord with_plan(CommitRecord record) const;
};

/// In the order in which they were written, the snapshot's intent first. A revision that is neither confirmed nor going when
/// the snapshot is made is told as one that returned.
std::vector<Record> unread_records(const SnapshotRecord& snapshot, const RevisionsRead& read);

}  // namespace loom
