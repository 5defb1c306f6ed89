// SPDX-License-Identifier: Apache-2.0
// JournalCopy: a consistent copy of a journal while its owner goes on writing it. Reads through SQLite's backup interface in
// one read transaction, so it never stops the owner and never sees half a group; the copy's chains are walked before it gets
// its name. The owner's file, lock and witness are not touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace loom {

struct CopiedStream {
  std::string name;
  std::uint64_t rows = 0;
  std::uint64_t last = 0;  ///< number of the last row
};

struct JournalCopy {
  std::uint64_t bytes = 0;
  std::vector<CopiedStream> streams;  ///< ascending name

  std::uint64_t rows() const;
};

/// Behind the name of a copy that is being made: no user's file is called so, and one that was interrupted is replaced.
inline constexpr const char* kCopyDraft = ".loom-draft";

/// Called for every row of the copy; an error makes the copy worthless.
using TakeCopiedRow = std::function<Result<void>(std::string_view stream, std::uint64_t number, std::string_view row)>;

/// Makes the draft of a copy: `to` appears (mode 0600), synced and in one file, or not at all; what was there is replaced.
/// Errors: not_found, wrong_version, storage (which file, why; a damaged journal: which row).
Result<JournalCopy> copy_journal(const std::filesystem::path& from, const std::filesystem::path& to, const TakeCopiedRow& take);

}  // namespace loom
