// SPDX-License-Identifier: Apache-2.0
// Read, write, prove, name: in that order.
#include "runtime/journal/journal_copy.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "core/text/format_text.hpp"
#include "runtime/journal/journal_chain.hpp"

namespace loom {
namespace {

constexpr int kPatienceMs = 5'000;  ///< for a journal that its owner is just opening

struct Closer {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, Closer>;

Result<Database> open_database(const std::filesystem::path& path, int flags) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(opened);
  if (status != SQLITE_OK) {
    return journal_error(database.get(), "journal " + path.string(), "cannot be opened");
  }
  sqlite3_busy_timeout(database.get(), kPatienceMs);
  return database;
}

/// Empty and nobody else's to read, before anything is in it.
Result<void> make_draft(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // of a copy that was interrupted
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    return fail(ErrorCode::storage, format_text("{} cannot be written: {}", path.string(), std::strerror(errno)));
  }
  ::close(file);
  return {};
}

/// All pages under one read transaction. A journal in one file: the copy needs no write-ahead log beside it.
Result<void> copy_pages(sqlite3* from, const std::string& from_name, sqlite3* to, const std::string& to_name) {
  sqlite3_backup* backup = sqlite3_backup_init(to, "main", from, "main");
  if (backup == nullptr) {
    return journal_error(to, to_name, "cannot be written");
  }
  const int status = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (status != SQLITE_DONE) {
    return journal_error(to, "the copy of " + from_name, sqlite3_errstr(status));
  }
  if (sqlite3_exec(to, "PRAGMA journal_mode = DELETE", nullptr, nullptr, nullptr) != SQLITE_OK) {
    return journal_error(to, to_name, "cannot be finished");
  }
  return {};
}

Result<std::vector<CopiedStream>> prove(sqlite3* database, const std::string& where, const TakeCopiedRow& take) {
  if (const int schema = journal_schema_of(database); schema != kJournalSchema) {
    return fail(ErrorCode::wrong_version,
                format_text("{} has schema {}; this program reads {}", where, schema, kJournalSchema));
  }
  const auto names = journal_streams(database, where);
  if (!names) {
    return std::unexpected(names.error());
  }
  std::vector<CopiedStream> streams;
  for (const std::string& name : *names) {
    JournalHead head;
    const auto damage = walk_journal(database, where, name, head,
                                     [&](std::uint64_t number, std::string_view row) { return take(name, number, row); });
    if (!damage) {
      return std::unexpected(damage.error());
    }
    if (!damage->empty()) {
      return fail(ErrorCode::storage, format_text("{}, stream '{}': {}; a damaged journal is not copied", where, name, *damage),
                  "loom alarm list");
    }
    streams.push_back({name, head.count - head.base, head.count});
  }
  return streams;
}

/// On the disk under its name, whatever happens next.
Result<void> name_draft(const std::filesystem::path& draft, const std::filesystem::path& to) {
  const int file = ::open(draft.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = file >= 0 && fsync(file) == 0;
  if (file >= 0) {
    ::close(file);
  }
  if (!synced || std::rename(draft.c_str(), to.c_str()) != 0) {
    return fail(ErrorCode::storage, format_text("{} cannot be written: {}", to.string(), std::strerror(errno)));
  }
  const std::filesystem::path folder = to.has_parent_path() ? to.parent_path() : std::filesystem::path(".");
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    fsync(directory);
    ::close(directory);
  }
  return {};
}

Result<JournalCopy> make_copy(const std::filesystem::path& from, const std::filesystem::path& draft,
                              const TakeCopiedRow& take) {
  LOOM_TRY(make_draft(draft));
  auto source = open_database(from, SQLITE_OPEN_READONLY);
  if (!source) {
    return std::unexpected(source.error());
  }
  auto target = open_database(draft, SQLITE_OPEN_READWRITE);
  if (!target) {
    return std::unexpected(target.error());
  }
  LOOM_TRY(copy_pages(source->get(), "journal " + from.string(), target->get(), draft.string()));
  auto streams = prove(target->get(), "journal " + from.string(), take);
  if (!streams) {
    return std::unexpected(streams.error());
  }
  JournalCopy copy;
  copy.streams = std::move(*streams);
  return copy;
}

}  // namespace

std::uint64_t JournalCopy::rows() const {
  std::uint64_t sum = 0;
  for (const CopiedStream& stream : streams) {
    sum += stream.rows;
  }
  return sum;
}

Result<JournalCopy> copy_journal(const std::filesystem::path& from, const std::filesystem::path& to,
                                 const TakeCopiedRow& take) {
  std::error_code error;
  if (!std::filesystem::exists(from, error)) {
    return fail(ErrorCode::not_found, "there is no journal " + from.string());
  }
  const std::filesystem::path draft = to.string() + kCopyDraft;
  auto copy = make_copy(from, draft, take);
  if (copy) {
    copy->bytes = std::filesystem::file_size(draft, error);
    if (const auto named = name_draft(draft, to); !named) {
      copy = std::unexpected(named.error());
    }
  }
  if (!copy) {
    std::filesystem::remove(draft, error);
  }
  return copy;
}

}  // namespace loom
