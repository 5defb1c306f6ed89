// SPDX-License-Identifier: Apache-2.0
// Transactions: what is durable together, what leaves the file, and what is said when the disk or a row is not as it should be.
#include "runtime/journal/journal_file.hpp"

#include <sodium.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"
#include "runtime/journal/sqlite_statement.hpp"
#include "runtime/log.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/program/process_lock.hpp"

namespace loom {
namespace {

/// Pages of 4 KiB that stay in the file for the rows to come, 64 MiB.
constexpr std::uint64_t kFreePagesKept = 16'384;
constexpr const char* kSchema = R"(
  CREATE TABLE journal (stream TEXT NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL, crc INTEGER NOT NULL,
                        chain BLOB NOT NULL, PRIMARY KEY (stream, number)) STRICT, WITHOUT ROWID;
  CREATE TABLE head (stream TEXT PRIMARY KEY, count INTEGER NOT NULL, chain BLOB NOT NULL,
                     base INTEGER NOT NULL DEFAULT 0, base_chain BLOB NOT NULL DEFAULT 
                       x'0000000000000000000000000000000000000000000000000000000000000000') STRICT, WITHOUT ROWID;
  CREATE TABLE moved_aside (moved INTEGER PRIMARY KEY, stream TEXT, number INTEGER, bytes BLOB, crc INTEGER, chain BLOB) STRICT;
  PRAGMA user_version = 2;
)";
/// From version 1: no stream has a snapshot yet.
constexpr const char* kUpgrade = R"(
  ALTER TABLE head ADD COLUMN base INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE head ADD COLUMN base_chain BLOB NOT NULL DEFAULT x'0000000000000000000000000000000000000000000000000000000000000000';
  PRAGMA user_version = 2;
)";

/// What is in it is nobody else's to read: orders, keys' principals, where every job runs.
void close_journal_to_others(const std::filesystem::path& path) {
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    close_to_others(path.string() + suffix);
  }
}

/// The lock file remembers that there was a journal, so that one that was cut to nothing does not pass for a new one.
bool was_there_before(int lock) { return lseek(lock, 0, SEEK_END) > 0; }

Result<void> remember(int lock, const std::filesystem::path& path) {
  constexpr std::string_view kNote = "delete this file only together with its journal\n";
  if (pwrite(lock, kNote.data(), kNote.size(), 0) != static_cast<ssize_t>(kNote.size()) || fsync(lock) != 0) {
    return fail(ErrorCode::storage,
                format_text("journal {}: its lock file cannot be written: {}", path.string(), std::strerror(errno)));
  }
  return {};
}

std::uint64_t number_of(sqlite3* database, const char* sql) {
  SqliteStatement statement(database, sql);
  return statement.step() == SQLITE_ROW ? statement.number(0) : 0;
}

}  // namespace

void JournalFile::Closer::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

JournalFile::JournalFile(JournalOptions options, Database database, int lock)
    : options_(std::move(options)), database_(std::move(database)), lock_(lock), witness_(lock) {}

JournalFile::JournalFile(JournalFile&& other) noexcept
    : options_(std::move(other.options_)),
      database_(std::move(other.database_)),
      lock_(std::exchange(other.lock_, -1)),
      witness_(std::move(other.witness_)),
      heads_(std::move(other.heads_)),
      failed_(std::move(other.failed_)) {}

JournalFile::~JournalFile() {
  database_.reset();
  if (lock_ >= 0) {
    ::close(lock_);
  }
}

Result<void> JournalFile::run(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return broken(format_text("cannot run '{}'", std::string{sql, std::min<std::size_t>(std::strlen(sql), 40)}));
  }
  return {};
}

Result<JournalFile> JournalFile::open(JournalOptions options) {
  if (sodium_init() < 0) {
    return fail(ErrorCode::internal, "libsodium cannot be initialised");
  }
  auto lock = take_process_lock(options.path.string() + ".lock", "journal " + options.path.string());
  if (!lock) {
    return std::unexpected(lock.error());
  }
  close_journal_to_others(options.path);  // of a version that left it open
  sqlite3* opened = nullptr;
  const int status =
      sqlite3_open_v2(options.path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  JournalFile file(std::move(options), Database{opened}, lock->release());
  if (status != SQLITE_OK) {
    return file.broken("cannot be opened");
  }
  close_journal_to_others(file.options_.path);  // before anything is in it; SQLite gives its log the mode of its file
  sqlite3_busy_timeout(opened, 1000);           // a reader that looks at it while we start
  const int version = journal_schema_of(opened);
  if (version == 0) {
    LOOM_TRY(file.run("PRAGMA auto_vacuum = INCREMENTAL"));  // before the first table, or never
  }
  LOOM_TRY(file.run("PRAGMA journal_mode = WAL"));
  LOOM_TRY(file.run("PRAGMA journal_size_limit = 67108864"));  // a log that a large snapshot made long is cut again
  LOOM_TRY(file.run("PRAGMA synchronous = FULL"));
  if (version == 0) {
    LOOM_TRY(file.begin());
  } else if (version == 1) {
    LOOM_TRY(file.upgrade());
  } else if (version != kJournalSchema) {
    return fail(ErrorCode::wrong_version,
                format_text("{} has schema {}; this program reads {}{}", file.where(), version, kJournalSchema,
                            version > kJournalSchema ? ": a newer version wrote it, start that one" : ""));
  }
  return file;
}

Result<void> JournalFile::upgrade() {
  LOOM_TRY(run("BEGIN IMMEDIATE"));
  LOOM_TRY(run(kUpgrade));
  LOOM_TRY(run("COMMIT"));
  // Only a rewritten file can give space back. That it has no room for it is no reason to refuse: pages are used again.
  const bool rewritten = run("PRAGMA auto_vacuum = INCREMENTAL").has_value() && run("VACUUM").has_value();
  if (!rewritten) {
    log_warning(format_text("{} keeps the size that it has: {}", where(), sqlite3_errmsg(database_.get())));
  }
  return {};
}

/// An empty file becomes a journal, unless it was one.
Result<void> JournalFile::begin() {
  if (was_there_before(lock_)) {
    return fail(ErrorCode::storage,
                format_text("journal {} has been emptied: bring it back from a backup, or delete it and {}.lock to begin anew",
                            options_.path.string(), options_.path.string()));
  }
  LOOM_TRY(run("BEGIN IMMEDIATE"));
  LOOM_TRY(run(kSchema));
  LOOM_TRY(run("COMMIT"));
  return remember(lock_, options_.path);
}

// --- reading -------------------------------------------------------------------------------------------------------------

Result<StorageSeam::Loaded> JournalFile::load(std::string_view stream, const StorageSeam::TakeRow& take) {
  Head head;
  Result<std::string> damage = damage_of(stream, head, take);
  if (!damage) {
    return std::unexpected(std::move(damage).error());
  }
  StorageSeam::Loaded loaded{head.count - head.base, std::move(*damage)};
  if (!loaded.damage.empty()) {
    loaded.damage =
        format_text("{}, stream '{}': {}; the {} rows before it are sound", where(), stream, loaded.damage, loaded.rows);
    if (head.base > 0 && loaded.rows == 0) {
      loaded.damage += " (what came before was in that row: only a copy made by `loom backup` has it)";
    }
    if (options_.restore) {
      LOOM_TRY(restore(stream, head));
      loaded.damage += "; the rest was moved aside, into table moved_aside";
    } else {
      loaded.damage += "; it takes no new rows until it is restored: " + options_.restore_command;
      head.damage = loaded.damage;
    }
  }
  heads_.insert_or_assign(std::string{stream}, std::move(head));
  return loaded;
}

/// Walks the chain. `head` ends at the last row that is sound.
Result<std::string> JournalFile::damage_of(std::string_view stream, Head& head, const StorageSeam::TakeRow& take) {
  Result<std::string> damage = walk_journal(database_.get(), where(), stream, head, take);
  return !damage || !damage->empty() ? damage : compare_with_witness(stream, head);
}

/// What had been answered as durable before this incarnation. The witness may lag behind (power cuts), so more rows are no
/// fault.
std::string JournalFile::compare_with_witness(std::string_view stream, const Head& head) const {
  const auto witnessed = witness_.head_of(stream);
  if (!witnessed || witnessed->count < head.count) {
    return {};
  }
  if (witnessed->count > head.count) {
    return format_text(
        "row {} of {} was durable and is gone (the write-ahead log, {}-wal, is damaged or was removed, or this is an older "
        "copy)",
        head.count + 1, witnessed->count, options_.path.string());
  }
  return witnessed->chain == head.chain ? std::string{} : format_text("row {} is not the one that was written", head.count);
}

/// A segment without a sound row says nothing, its beginning included: the stream begins anew.
Result<void> JournalFile::restore(std::string_view stream, Head& head) {
  if (head.count == head.base) {
    head = {};
  }
  LOOM_TRY(move_aside(stream, head));
  return witness_.record(stream, {head.count, head.chain});
}

Result<void> JournalFile::move_aside(std::string_view stream, const Head& head) {
  LOOM_TRY(run("BEGIN IMMEDIATE"));
  SqliteStatement copy(database_.get(),
                       "INSERT INTO moved_aside (stream, number, bytes, crc, chain) "
                       "SELECT stream, number, bytes, crc, chain FROM journal WHERE stream = ? AND number > ?");
  SqliteStatement remove(database_.get(), "DELETE FROM journal WHERE stream = ? AND number > ?");
  const bool moved = copy.text(1, stream).number(2, head.count).step() == SQLITE_DONE &&
                     remove.text(1, stream).number(2, head.count).step() == SQLITE_DONE;
  Result<void> done = moved ? record_head(stream, head) : Result<void>{broken("what is damaged cannot be moved aside")};
  if (done) {
    done = run("COMMIT");
  }
  if (!done) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return done;
}

// --- writing -------------------------------------------------------------------------------------------------------------

/// A stream that nobody has loaded is proven first; what its rows mean is nobody's question then.
Result<JournalFile::Head*> JournalFile::head_of(std::string_view stream) {
  if (!heads_.contains(stream)) {
    const auto take = [](std::uint64_t, std::string_view) -> Result<void> { return {}; };
    if (const auto loaded = load(stream, take); !loaded) {
      return std::unexpected(loaded.error());
    }
  }
  return &heads_.find(stream)->second;
}

Result<void> JournalFile::insert(const Row& row, Head& head) {
  const std::uint64_t number = head.count + 1;
  const JournalHash chain = next_journal_chain(head.chain, row.stream, number, row.bytes);
  SqliteStatement insert_row(database_.get(), "INSERT INTO journal (stream, number, bytes, crc, chain) VALUES (?, ?, ?, ?, ?)");
  insert_row.text(1, row.stream).number(2, number).blob(3, row.bytes).number(4, journal_crc(row.bytes)).blob(5, view_of(chain));
  if (insert_row.step() != SQLITE_DONE) {
    return broken(format_text("row {} of '{}' cannot be written", number, row.stream));
  }
  if (row.kind == StorageSeam::RowKind::snapshot) {
    head.base = head.count;
    head.base_chain = head.chain;
    LOOM_TRY(drop_before_snapshot(row.stream, head));
  }
  head.count = number;
  head.chain = chain;
  return {};
}

Result<void> JournalFile::drop_before_snapshot(std::string_view stream, const Head& head) {
  SqliteStatement drop(database_.get(), "DELETE FROM journal WHERE stream = ? AND number <= ?");
  if (drop.text(1, stream).number(2, head.base).step() != SQLITE_DONE) {
    return broken("the rows before a snapshot cannot be dropped");
  }
  return {};
}

Result<void> JournalFile::record_head(std::string_view stream, const Head& head) {
  SqliteStatement record(database_.get(),
                         "INSERT OR REPLACE INTO head (stream, count, chain, base, base_chain) VALUES (?, ?, ?, ?, ?)");
  record.text(1, stream)
      .number(2, head.count)
      .blob(3, view_of(head.chain))
      .number(4, head.base)
      .blob(5, view_of(head.base_chain));
  return record.step() == SQLITE_DONE ? Result<void>{} : Result<void>{broken("a stream's length cannot be written")};
}

/// Inside a transaction. `heads`: how the streams end if it commits.
Result<void> JournalFile::insert_all(std::span<const Row> rows, Heads& heads) {
  for (const Row& row : rows) {
    if (row.bytes.size() > limits::kRecordBytes) {
      return fail(ErrorCode::out_of_range, format_text("{}: a row of {} bytes exceeds kRecordBytes = {}", where(),
                                                       row.bytes.size(), limits::kRecordBytes));
    }
    auto head = heads.find(row.stream);
    if (head == heads.end()) {
      const Result<Head*> known = head_of(row.stream);
      if (!known) {
        return std::unexpected(known.error());
      }
      head = heads.emplace(row.stream, **known).first;
    }
    if (!head->second.damage.empty()) {
      return fail(ErrorCode::storage, head->second.damage, options_.restore_command);
    }
    LOOM_TRY(insert(row, head->second));
  }
  for (const auto& [stream, head] : heads) {
    LOOM_TRY(record_head(stream, head));
  }
  return {};
}

Result<void> JournalFile::append(std::span<const Row> rows) {
  if (!failed_.empty()) {
    return fail(ErrorCode::storage, failed_, options_.start_command);
  }
  for (const Row& row : rows) {  // verified outside the transaction: restoring has one of its own
    if (const Result<Head*> known = head_of(row.stream); !known) {
      return std::unexpected(known.error());
    }
  }
  Heads heads;
  Result<void> done = run("BEGIN IMMEDIATE");
  if (done) {
    done = insert_all(rows, heads);
  }
  if (done) {
    done = run("COMMIT");
  }
  if (done) {
    finish_append(rows, std::move(heads));
    return done;
  }
  Error error = explained(std::move(done).error());
  if (sqlite3_get_autocommit(database_.get()) == 0) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return std::unexpected(std::move(error));
}

JournalSize JournalFile::size() const {
  JournalSize size;
  for (const auto& [stream, head] : heads_) {
    size.rows += head.count - head.base;
  }
  for (const char* suffix : {"", "-wal"}) {
    std::error_code gone;
    const auto bytes = std::filesystem::file_size(options_.path.string() + suffix, gone);
    size.bytes += gone ? 0 : bytes;
  }
  return size;
}

/// It is durable: what follows can fail without harm.
void JournalFile::finish_append(std::span<const Row> rows, Heads heads) {
  for (auto& [stream, head] : heads) {
    if (const auto witnessed = witness_.record(stream, {head.count, head.chain}); !witnessed) {
      log_warning(witnessed.error().message + "; rows are durable, but a damaged write-ahead log may pass unnoticed");
    }
    heads_.insert_or_assign(stream, std::move(head));
  }
  const auto is_snapshot = [](const Row& row) { return row.kind == StorageSeam::RowKind::snapshot; };
  if (std::any_of(rows.begin(), rows.end(), is_snapshot)) {
    give_space_back();
  }
}

/// The rows to come use the pages of those that are gone; the file system gets what they will not need.
void JournalFile::give_space_back() {
  const std::uint64_t free_pages = number_of(database_.get(), "PRAGMA freelist_count");
  if (free_pages <= kFreePagesKept) {
    return;
  }
  const std::string sql = format_text("PRAGMA incremental_vacuum({})", free_pages - kFreePagesKept);
  if (const auto done = run(sql.c_str()); !done) {
    log_warning(done.error().message);
  }
}

/// What to free, and what to start then. A failed fsync may have lost pages: after one nothing is believed but what a new
/// incarnation reads.
Error JournalFile::explained(Error error) {
  const int status = sqlite3_errcode(database_.get()) & 0xFF;
  if (status == SQLITE_FULL) {
    const std::string folder = options_.path.has_parent_path() ? options_.path.parent_path().string() : ".";
    error.message += format_text("; free space on the disk of {}, then {}", folder, options_.start_command);
    error.next_command = "df -h " + folder;
  } else if (status == SQLITE_IOERR) {
    error.message += "; the disk failed, so read back what it kept: " + options_.start_command;
    error.next_command = options_.start_command;
    failed_ = error.message;
  }
  return error;
}

}  // namespace loom
