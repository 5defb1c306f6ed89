// Rows, their chain, and what is said when a row is not what was written.
#include "runtime/journal_file.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/sqlite_statement.hpp"

namespace loom {
namespace {

constexpr int kSchemaVersion = 1;
constexpr const char* kSchema = R"(
  CREATE TABLE journal (stream TEXT NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL, crc INTEGER NOT NULL,
                        chain BLOB NOT NULL, PRIMARY KEY (stream, number)) STRICT, WITHOUT ROWID;
  CREATE TABLE head (stream TEXT PRIMARY KEY, count INTEGER NOT NULL, chain BLOB NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE moved_aside (moved INTEGER PRIMARY KEY, stream TEXT, number INTEGER, bytes BLOB, crc INTEGER, chain BLOB) STRICT;
  PRAGMA user_version = 1;
)";

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class Array>
std::string_view view_of(const Array& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One process a file. Released by the kernel with the process.
Result<int> take_lock(const std::filesystem::path& path) {
  const std::string name = path.string() + ".lock";
  const int lock = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (lock < 0) {
    return fail(ErrorCode::storage, "journal " + path.string() + " cannot be locked: " + std::strerror(errno));
  }
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return fail(ErrorCode::conflict, "journal " + path.string() + " is in use by another process (it holds " + name + ")");
  }
  return lock;
}

/// The lock file remembers that there was a journal, so that one that was cut to nothing does not pass for a new one.
bool was_there_before(int lock) { return lseek(lock, 0, SEEK_END) > 0; }

Result<void> remember(int lock, const std::filesystem::path& path) {
  constexpr std::string_view kNote = "delete this file only together with its journal\n";
  if (pwrite(lock, kNote.data(), kNote.size(), 0) != static_cast<ssize_t>(kNote.size()) || fsync(lock) != 0) {
    return fail(ErrorCode::storage, "journal " + path.string() + ": its lock file cannot be written: " + std::strerror(errno));
  }
  return {};
}

int user_version(sqlite3* database) {
  SqliteStatement statement(database, "PRAGMA user_version");
  return statement.step() == SQLITE_ROW ? static_cast<int>(statement.number(0)) : -1;
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

std::unexpected<Error> JournalFile::broken(std::string_view what) {
  return fail(ErrorCode::storage,
              "journal " + options_.path.string() + ": " + std::string{what} + ": " + sqlite3_errmsg(database_.get()));
}

Result<void> JournalFile::run(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return broken("cannot run '" + std::string{sql, std::min<std::size_t>(std::strlen(sql), 40)} + "'");
  }
  return {};
}

Result<JournalFile> JournalFile::open(JournalOptions options) {
  if (sodium_init() < 0) {
    return fail(ErrorCode::internal, "libsodium cannot be initialised");
  }
  const Result<int> lock = take_lock(options.path);
  if (!lock) {
    return std::unexpected(lock.error());
  }
  sqlite3* opened = nullptr;
  const int status =
      sqlite3_open_v2(options.path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  JournalFile file(std::move(options), Database{opened}, *lock);
  if (status != SQLITE_OK) {
    return file.broken("cannot be opened");
  }
  sqlite3_busy_timeout(opened, 1000);  // a reader that looks at it while we start
  LOOM_TRY(file.run("PRAGMA journal_mode = WAL"));
  LOOM_TRY(file.run("PRAGMA synchronous = FULL"));
  const int version = user_version(opened);
  if (version == 0) {
    LOOM_TRY(file.begin());
  } else if (version != kSchemaVersion) {
    return fail(ErrorCode::wrong_version, "journal " + file.options_.path.string() + " has schema " + std::to_string(version) +
                                              "; this program reads " + std::to_string(kSchemaVersion));
  }
  return file;
}

/// An empty file becomes a journal, unless it was one.
Result<void> JournalFile::begin() {
  if (was_there_before(lock_)) {
    return fail(ErrorCode::storage, "journal " + options_.path.string() +
                                        " has been emptied: bring it back from a backup, or delete it and " +
                                        options_.path.string() + ".lock to begin anew");
  }
  LOOM_TRY(run("BEGIN IMMEDIATE"));
  LOOM_TRY(run(kSchema));
  LOOM_TRY(run("COMMIT"));
  return remember(lock_, options_.path);
}

// --- reading -------------------------------------------------------------------------------------------------------------

JournalFile::Hash JournalFile::next_chain(const Hash& previous, std::string_view stream, std::uint64_t number,
                                          std::string_view bytes) {
  std::array<unsigned char, 8> place{};
  for (std::size_t index = 0; index < place.size(); ++index) {
    place[index] = static_cast<unsigned char>(number >> (8 * index));
  }
  crypto_generichash_state state;
  Hash chain{};
  crypto_generichash_init(&state, nullptr, 0, chain.size());
  for (const std::string_view part : {view_of(previous), stream, view_of(place), bytes}) {
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  }
  crypto_generichash_final(&state, chain.data(), chain.size());
  return chain;
}

Result<JournalFile::Contents> JournalFile::load(std::string_view stream) {
  Head head;
  Result<Contents> contents = verify(stream, head);
  if (!contents) {
    return contents;
  }
  if (!contents->damage.empty()) {
    contents->damage = "journal " + options_.path.string() + ", stream '" + std::string{stream} + "': " + contents->damage +
                       "; the " + std::to_string(head.count) + " rows before it are sound";
    if (options_.restore) {
      LOOM_TRY(move_aside(stream, head));
      LOOM_TRY(witness_.record(stream, {head.count, head.chain}));
      contents->damage += "; the rest was moved aside, into table moved_aside";
    } else {
      contents->damage += "; it takes no new rows until it is restored: " + options_.restore_command;
      head.damage = contents->damage;
    }
  }
  heads_.insert_or_assign(std::string{stream}, std::move(head));
  return contents;
}

/// Walks the chain. `head` ends at the last row that is sound.
Result<JournalFile::Contents> JournalFile::verify(std::string_view stream, Head& head) {
  Contents contents;
  SqliteStatement rows(database_.get(), "SELECT number, bytes, crc, chain FROM journal WHERE stream = ? ORDER BY number");
  rows.text(1, stream);
  int status = rows.step();
  for (; status == SQLITE_ROW; status = rows.step()) {
    const std::uint64_t number = head.count + 1;
    const std::string_view bytes = rows.blob(1);
    const Hash chain = next_chain(head.chain, stream, number, bytes);
    const std::string row = "row " + std::to_string(number);
    if (rows.number(0) != number) {
      contents.damage = row + " is missing";
    } else if (rows.number(2) != crc_of(bytes)) {
      contents.damage = row + " fails its checksum";
    } else if (rows.blob(3) != view_of(chain)) {
      contents.damage = row + " does not continue the row before it";
    }
    if (!contents.damage.empty()) {
      return contents;
    }
    contents.rows.emplace_back(bytes);
    head.count = number;
    head.chain = chain;
  }
  if (status != SQLITE_DONE) {
    contents.damage = "row " + std::to_string(head.count + 1) + " cannot be read (" + sqlite3_errmsg(database_.get()) + ")";
    return contents;
  }
  Result<std::string> damage = compare_with_recorded_head(stream, head);
  if (!damage) {
    return std::unexpected(std::move(damage).error());
  }
  contents.damage = damage->empty() ? compare_with_witness(stream, head) : std::move(*damage);
  return contents;
}

/// What had been answered as durable before this life. The witness may lag behind (power cuts), so more rows are no fault.
std::string JournalFile::compare_with_witness(std::string_view stream, const Head& head) const {
  const auto witnessed = witness_.head_of(stream);
  if (!witnessed || witnessed->count < head.count) {
    return {};
  }
  if (witnessed->count > head.count) {
    return "row " + std::to_string(head.count + 1) + " of " + std::to_string(witnessed->count) +
           " was durable and is gone (the write-ahead log, " + options_.path.string() + "-wal, is damaged or was removed)";
  }
  return witnessed->chain == head.chain ? std::string{}
                                        : "row " + std::to_string(head.count) + " is not the one that was written";
}

/// A chain that is sound but shorter (or longer) than what was recorded with its last row.
Result<std::string> JournalFile::compare_with_recorded_head(std::string_view stream, const Head& head) {
  SqliteStatement recorded(database_.get(), "SELECT count, chain FROM head WHERE stream = ?");
  recorded.text(1, stream);
  const int status = recorded.step();
  if (status == SQLITE_DONE) {
    return head.count == 0 ? std::string{} : "its recorded length is missing after row " + std::to_string(head.count);
  }
  if (status != SQLITE_ROW) {
    return broken("its recorded length cannot be read");
  }
  const std::uint64_t count = recorded.number(0);
  if (count > head.count) {
    return "row " + std::to_string(head.count + 1) + " of " + std::to_string(count) + " is missing";
  }
  if (count != head.count || recorded.blob(1) != view_of(head.chain)) {
    return "its recorded length of " + std::to_string(count) + " does not agree with row " + std::to_string(head.count);
  }
  return std::string{};
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

Result<JournalFile::Head*> JournalFile::head_of(std::string_view stream) {
  if (!heads_.contains(stream)) {
    if (const Result<Contents> contents = load(stream); !contents) {
      return std::unexpected(contents.error());
    }
  }
  return &heads_.find(stream)->second;
}

Result<void> JournalFile::insert(const Row& row, Head& head) {
  const std::uint64_t number = head.count + 1;
  const Hash chain = next_chain(head.chain, row.stream, number, row.bytes);
  SqliteStatement insert_row(database_.get(), "INSERT INTO journal (stream, number, bytes, crc, chain) VALUES (?, ?, ?, ?, ?)");
  insert_row.text(1, row.stream).number(2, number).blob(3, row.bytes).number(4, crc_of(row.bytes)).blob(5, view_of(chain));
  if (insert_row.step() != SQLITE_DONE) {
    return broken("row " + std::to_string(number) + " of '" + std::string{row.stream} + "' cannot be written");
  }
  head.count = number;
  head.chain = chain;
  return {};
}

Result<void> JournalFile::record_head(std::string_view stream, const Head& head) {
  SqliteStatement record(database_.get(), "INSERT OR REPLACE INTO head (stream, count, chain) VALUES (?, ?, ?)");
  record.text(1, stream).number(2, head.count).blob(3, view_of(head.chain));
  return record.step() == SQLITE_DONE ? Result<void>{} : Result<void>{broken("a stream's length cannot be written")};
}

/// Inside a transaction. `heads`: how the streams end if it commits.
Result<void> JournalFile::insert_all(std::span<const Row> rows, std::map<std::string, Head, std::less<>>& heads) {
  for (const Row& row : rows) {
    if (row.bytes.size() > limits::kFrameBytes) {
      return fail(ErrorCode::out_of_range, "a journal row of " + std::to_string(row.bytes.size()) +
                                               " bytes exceeds kFrameBytes = " + std::to_string(limits::kFrameBytes));
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
      return fail(ErrorCode::storage, head->second.damage);
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
    return fail(ErrorCode::storage, failed_);
  }
  for (const Row& row : rows) {  // verified outside the transaction: restoring has one of its own
    if (const Result<Head*> known = head_of(row.stream); !known) {
      return std::unexpected(known.error());
    }
  }
  std::map<std::string, Head, std::less<>> heads;
  Result<void> done = run("BEGIN IMMEDIATE");
  if (done) {
    done = insert_all(rows, heads);
  }
  if (done) {
    done = run("COMMIT");
  }
  if (done) {
    for (auto& [stream, head] : heads) {
      if (const auto witnessed = witness_.record(stream, {head.count, head.chain}); !witnessed) {
        log_warning(witnessed.error().message + "; rows are durable, but a damaged write-ahead log may pass unnoticed");
      }
      heads_.insert_or_assign(stream, std::move(head));
    }
    return done;
  }
  if ((sqlite3_errcode(database_.get()) & 0xFF) == SQLITE_IOERR) {
    failed_ =
        done.error().message + "; the disk failed, restart to read back what it kept";  // a failed fsync may have lost pages
  }
  if (sqlite3_get_autocommit(database_.get()) == 0) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return done;
}

}  // namespace loom
