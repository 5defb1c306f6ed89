// SPDX-License-Identifier: Apache-2.0
// A copy made as `loom backup` makes one, and gone again.
#include "cli/journal.hpp"

#include <utility>

#include "proto/codec.hpp"
#include "runtime/journal/journal_copy.hpp"

namespace loom::cli {

Result<std::vector<JournalRow>> read_journal(const StateFolder& files) {
  return read_journal(std::filesystem::path(files.controller_journal()));
}

Result<std::vector<JournalRow>> read_journal(const std::filesystem::path& journal) {
  const std::filesystem::path copy = journal.string() + ".read";
  std::vector<JournalRow> rows;
  const auto copied =
      copy_journal(journal, copy, [&](std::string_view stream, std::uint64_t number, std::string_view row) -> Result<void> {
        auto record = decode_record(row);
        if (record && stream == "controller") {
          rows.push_back({number, std::move(*record)});
        }
        return record ? Result<void>{} : std::unexpected(std::move(record).error());
      });
  std::error_code ignored;
  std::filesystem::remove(copy, ignored);
  if (!copied) {
    return std::unexpected(copied.error());
  }
  return rows;
}

}  // namespace loom::cli
