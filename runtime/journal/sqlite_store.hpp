// SPDX-License-Identifier: Apache-2.0
// SqliteStore: the real StorageSeam. One writer thread commits whatever has gathered while it was busy with the last commit
// (group commit), so many machines of one process share one fsync. Streams never see each other's rows.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/journal/journal_file.hpp"
#include "runtime/post.hpp"
#include "runtime/seams.hpp"

namespace loom {

class SqliteStore {
 public:
  /// Errors: as JournalFile::open.
  static Result<std::unique_ptr<SqliteStore>> open(JournalOptions options, Post post);
  /// Makes durable what was appended; answers that the loop has not run by then are its own affair.
  ~SqliteStore();
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  /// The same seam for the same name; it lives as long as the store. Its load() blocks, its append() never does. More than
  /// 4096 rows that wait: `busy`.
  StorageSeam& stream(std::string_view name);

  /// After what was loaded or made durable last. Never blocks.
  JournalSize size() const;

 private:
  class Stream;
  class Writer;
  explicit SqliteStore(std::unique_ptr<Writer> writer);
  std::unique_ptr<Writer> writer_;
};

}  // namespace loom
