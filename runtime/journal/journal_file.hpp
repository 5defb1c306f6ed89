// SPDX-License-Identifier: Apache-2.0
// JournalFile: streams of opaque rows in one SQLite file (WAL, synchronous=FULL). Each row carries a CRC and a hash over its
// predecessor's, each stream its length, so a flipped bit, a lost tail and a swapped row are all noticed; a witness beside the
// database knows of rows that a damaged write-ahead log took along. Rows leave it only as a snapshot takes their place.
// Single-threaded; it blocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "runtime/journal/journal_chain.hpp"
#include "runtime/journal/journal_witness.hpp"
#include "runtime/seams.hpp"

struct sqlite3;

namespace loom {

struct JournalOptions {
  std::filesystem::path path;
  bool restore = false;  ///< move what follows the first damaged row aside and go on behind the sound prefix
  std::string restore_command = "start once with --restore-journal";  ///< what the damage sentence tells people to do
  std::string start_command = "start it again";                       ///< what has to follow once a full disk has room
};

struct JournalSize {
  std::uint64_t rows = 0;   ///< of all streams that were loaded or appended to, their last snapshots included
  std::uint64_t bytes = 0;  ///< on disk: the database and its write-ahead log
};

class JournalFile {
 public:
  struct Row {
    std::string_view stream;
    std::string_view bytes;
    StorageSeam::RowKind kind = StorageSeam::RowKind::addition;
  };

  /// Creates what is missing but the directory. Errors: conflict (another process has it), wrong_version, storage.
  static Result<JournalFile> open(JournalOptions options);
  JournalFile(JournalFile&&) noexcept;
  JournalFile& operator=(JournalFile&&) = delete;
  ~JournalFile();

  /// As StorageSeam::load. A stream with damage takes no rows until it is restored.
  /// Errors: storage (SQLite cannot read the file at all).
  Result<StorageSeam::Loaded> load(std::string_view stream, const StorageSeam::TakeRow& take);

  /// All of them or none, durable when it returns; with a snapshot the stream's rows before it are gone, in the same
  /// transaction. Errors: storage (full, damaged, or the disk failed once: then for good), out_of_range (kRecordBytes). They
  /// say what to type next.
  Result<void> append(std::span<const Row> rows);

  JournalSize size() const;

 private:
  struct Head : JournalHead {
    std::string damage;  ///< not empty: takes no rows
  };
  using Heads = std::map<std::string, Head, std::less<>>;
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  using Database = std::unique_ptr<sqlite3, Closer>;

  JournalFile(JournalOptions options, Database database, int lock);
  Result<void> begin();
  Result<void> upgrade();
  Result<std::string> damage_of(std::string_view stream, Head& head, const StorageSeam::TakeRow& take);
  std::string compare_with_witness(std::string_view stream, const Head& head) const;
  Result<void> restore(std::string_view stream, Head& head);
  Result<void> move_aside(std::string_view stream, const Head& head);
  Result<Head*> head_of(std::string_view stream);
  Result<void> insert(const Row& row, Head& head);
  Result<void> drop_before_snapshot(std::string_view stream, const Head& head);
  Result<void> record_head(std::string_view stream, const Head& head);
  Result<void> insert_all(std::span<const Row> rows, Heads& heads);
  void finish_append(std::span<const Row> rows, Heads heads);
  void give_space_back();
  Error explained(Error error);
  Result<void> run(const char* sql);
  std::string where() const { return "journal " + options_.path.string(); }
  std::unexpected<Error> broken(std::string_view what) const { return journal_error(database_.get(), where(), what); }

  JournalOptions options_;
  Database database_;
  int lock_ = -1;
  JournalWitness witness_;  ///< in the lock file
  Heads heads_;
  std::string failed_;  ///< the disk failed: nothing more is believed
};

}  // namespace loom
