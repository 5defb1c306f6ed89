// SPDX-License-Identifier: Apache-2.0
// What the controller of a lab wrote into its journal, read beside it: a copy is verified and decoded, the controller's own
// file is not touched. For accounts and judges of a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/result.hpp"
#include "runtime/state/state_folder.hpp"

namespace loom::cli {

struct JournalRow {
  std::uint64_t number = 0;  ///< from 1; rows that a snapshot stands for are not there any more
  Record record;
};

/// Oldest first. Errors: storage (damage, too), malformed.
Result<std::vector<JournalRow>> read_journal(const StateFolder& files);
/// The same of any controller's journal, or of a backup of one.
Result<std::vector<JournalRow>> read_journal(const std::filesystem::path& journal);

}  // namespace loom::cli
