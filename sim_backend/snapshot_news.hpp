// SPDX-License-Identifier: Apache-2.0
// What a snapshot of the controller's journal says to a judge that has read only some of the rows which it stands for: those
// rows again, as far as a snapshot knows of them. One that has read them all learns nothing of a plan twice.
#pragma once

#include <vector>

#include "core/journal/journal.hpp"

namespace loom {

/// The newest revisions of which a reader knows; 0: none.
struct RevisionsRead {
  Revision going;
  Revision confirmed;
  Revision ended;  ///< confirmed or returned

  /// Of any record; a SnapshotRecord counts as those that it stands for.
  void note(const Record& record);
};

/// In the order in which they were written, the snapshot's intent first. A revision that is neither confirmed nor going when
/// the snapshot is made is told as one that returned.
std::vector<Record> unread_records(const SnapshotRecord& snapshot, const RevisionsRead& read);

}  // namespace loom
