// SPDX-License-Identifier: Apache-2.0
// Rows, their chain, and what is said when a row is not what was written.
#include "runtime/journal/journal_chain.hpp"

#include <sodium.h>
#include <sqlite3.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "core/text/format_text.hpp"
#include "runtime/journal/sqlite_statement.hpp"

namespace loom {
namespace {

/// Damage, or empty. `row`: a place of the statement that walks the stream.
std::string fault_of(const SqliteStatement& row, std::uint64_t number, const JournalHash& chain) {
  if (row.number(0) != number) {
    return " is missing";
  }
  if (row.number(2) != journal_crc(row.blob(1))) {
    return " fails its checksum";
  }
  return row.blob(3) == view_of(chain) ? std::string{} : " does not continue the row before it";
}

struct RecordedHead {
  bool is_there = false;
  JournalHead head;
};

void copy_hash(std::string_view bytes, JournalHash& hash) {
  std::copy_n(bytes.begin(), std::min(bytes.size(), hash.size()), hash.begin());
}

Result<RecordedHead> recorded_head(sqlite3* database, std::string_view where, std::string_view stream) {
  SqliteStatement recorded(database, "SELECT count, chain, base, base_chain FROM head WHERE stream = ?");
  recorded.text(1, stream);
  const int status = recorded.step();
  if (status == SQLITE_DONE) {
    return RecordedHead{};
  }
  if (status != SQLITE_ROW) {
    return journal_error(database, where, "its recorded length cannot be read");
  }
  RecordedHead found{true, {recorded.number(2), {}, recorded.number(0), {}}};
  copy_hash(recorded.blob(1), found.head.chain);
  copy_hash(recorded.blob(3), found.head.base_chain);
  return found;
}

/// A chain that is sound but shorter (or longer) than what was recorded with its last row.
std::string compare(const RecordedHead& recorded, const JournalHead& head) {
  if (!recorded.is_there) {
    return head.count == 0 ? std::string{} : format_text("its recorded length is missing after row {}", head.count);
  }
  if (recorded.head.count > head.count) {
    return format_text("row {} of {} is missing", head.count + 1, recorded.head.count);
  }
  if (recorded.head.count != head.count || recorded.head.chain != head.chain) {
    return format_text("its recorded length of {} does not agree with row {}", recorded.head.count, head.count);
  }
  return {};
}

}  // namespace

std::uint32_t journal_crc(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

JournalHash next_journal_chain(const JournalHash& previous, std::string_view stream, std::uint64_t number,
                               std::string_view bytes) {
  std::array<unsigned char, 8> place{};
  for (std::size_t index = 0; index < place.size(); ++index) {
    place[index] = static_cast<unsigned char>(number >> (8 * index));
  }
  crypto_generichash_state state;
  JournalHash chain{};
  crypto_generichash_init(&state, nullptr, 0, chain.size());
  for (const std::string_view part : {view_of(previous), stream, view_of(place), bytes}) {
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  }
  crypto_generichash_final(&state, chain.data(), chain.size());
  return chain;
}

Result<std::string> walk_journal(sqlite3* database, std::string_view where, std::string_view stream, JournalHead& head,
                                 const StorageSeam::TakeRow& take) {
  const Result<RecordedHead> recorded = recorded_head(database, where, stream);
  if (!recorded) {
    return std::unexpected(recorded.error());
  }
  head = {recorded->head.base, recorded->head.base_chain, recorded->head.base, recorded->head.base_chain};
  SqliteStatement rows(database, "SELECT number, bytes, crc, chain FROM journal WHERE stream = ? ORDER BY number");
  rows.text(1, stream);
  int status = rows.step();
  for (; status == SQLITE_ROW; status = rows.step()) {
    const std::uint64_t number = head.count + 1;
    const std::string row = format_text("row {}", number);
    const JournalHash chain = next_journal_chain(head.chain, stream, number, rows.blob(1));
    if (std::string fault = fault_of(rows, number, chain); !fault.empty()) {
      return row + fault;
    }
    if (const Result<void> taken = take(number, rows.blob(1)); !taken) {
      return format_text("{} cannot be used: {}", row, taken.error().message);
    }
    head.count = number;
    head.chain = chain;
  }
  if (status != SQLITE_DONE) {
    return format_text("row {} cannot be read ({})", head.count + 1, sqlite3_errmsg(database));
  }
  return compare(*recorded, head);
}

Result<std::vector<std::string>> journal_streams(sqlite3* database, std::string_view where) {
  SqliteStatement rows(database, "SELECT stream FROM head UNION SELECT DISTINCT stream FROM journal ORDER BY 1");
  std::vector<std::string> streams;
  int status = rows.step();
  for (; status == SQLITE_ROW; status = rows.step()) {
    streams.emplace_back(rows.blob(0));
  }
  if (status != SQLITE_DONE) {
    return journal_error(database, where, "its streams cannot be read");
  }
  return streams;
}

int journal_schema_of(sqlite3* database) {
  SqliteStatement statement(database, "PRAGMA user_version");
  return statement.step() == SQLITE_ROW ? static_cast<int>(statement.number(0)) : -1;
}

std::unexpected<Error> journal_error(sqlite3* database, std::string_view where, std::string_view what) {
  std::string message = format_text("{}: {}: {}", where, what, sqlite3_errmsg(database));
  const int status = sqlite3_errcode(database) & 0xFF;  // of these two SQLite keeps the errno
  if (const int cause = sqlite3_system_errno(database); cause != 0 && (status == SQLITE_IOERR || status == SQLITE_CANTOPEN)) {
    message += format_text(" ({})", std::strerror(cause));
  }
  return fail(ErrorCode::storage, std::move(message));
}

}  // namespace loom
