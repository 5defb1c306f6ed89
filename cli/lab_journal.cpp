// Copy, verify, decode. SQLite copies pages of one instant, whatever the controller writes meanwhile.
#include "cli/lab_journal.hpp"

#include <sqlite3.h>

#include <filesystem>
#include <memory>

#include "proto/codec.hpp"
#include "runtime/journal_file.hpp"

namespace loom::cli {
namespace fs = std::filesystem;
namespace {

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)>;

Result<Database> open_database(const std::string& path, int flags) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
  Database database(opened, &sqlite3_close_v2);
  if (status != SQLITE_OK) {
    return fail(ErrorCode::storage, "journal " + path + " cannot be opened: " + sqlite3_errmsg(opened));
  }
  sqlite3_busy_timeout(opened, 1'000);
  return database;
}

Result<void> copy_journal(const std::string& from, const std::string& to) {
  auto source = open_database(from, SQLITE_OPEN_READONLY);
  auto target = open_database(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!source || !target) {
    return std::unexpected(!source ? source.error() : target.error());
  }
  sqlite3_backup* copy = sqlite3_backup_init(target->get(), "main", source->get(), "main");
  const int status = copy == nullptr ? SQLITE_ERROR : sqlite3_backup_step(copy, -1);
  sqlite3_backup_finish(copy);
  if (status != SQLITE_DONE) {
    return fail(ErrorCode::storage, "journal " + from + " cannot be copied: " + sqlite3_errmsg(target->get()));
  }
  return {};
}

Result<std::vector<Record>> records_of(const fs::path& path) {
  auto file = JournalFile::open({.path = path});
  auto contents = file ? file->load("controller") : Result<JournalFile::Contents>(std::unexpected(file.error()));
  if (!contents) {
    return std::unexpected(contents.error());
  }
  std::vector<Record> records;
  for (const std::string& row : contents->rows) {
    auto record = decode_record(row);
    if (!record) {
      return std::unexpected(record.error());
    }
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace

Result<std::vector<Record>> read_journal(const LabFiles& files) {
  const fs::path folder = fs::path(files.folder()) / "journal-copy";
  std::error_code problem;
  fs::remove_all(folder, problem);
  fs::create_directories(folder, problem);
  const fs::path copy = folder / "controller.db";
  const auto copied = copy_journal(files.controller_journal(), copy.string());
  auto records = copied ? records_of(copy) : Result<std::vector<Record>>(std::unexpected(copied.error()));
  fs::remove_all(folder, problem);
  return records;
}

}  // namespace loom::cli
