// SPDX-License-Identifier: Apache-2.0
// One prepared statement of SQLite, for runtime/journal_file only. Parameters and columns by position, from 1 and from 0.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace loom {

class SqliteStatement {
 public:
  SqliteStatement(sqlite3* database, const char* sql) {
    sqlite3_stmt* statement = nullptr;
    prepared_ = sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
    statement_.reset(statement);
  }
  SqliteStatement& text(int index, std::string_view value) {
    sqlite3_bind_text(statement_.get(), index, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
    return *this;
  }
  SqliteStatement& number(int index, std::uint64_t value) {
    sqlite3_bind_int64(statement_.get(), index, static_cast<std::int64_t>(value));
    return *this;
  }
  SqliteStatement& blob(int index, std::string_view value) {
    sqlite3_bind_blob64(statement_.get(), index, value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC);
    return *this;
  }
  /// SQLITE_ROW, SQLITE_DONE or an error code.
  int step() { return prepared_ == SQLITE_OK ? sqlite3_step(statement_.get()) : prepared_; }
  std::uint64_t number(int column) const { return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column)); }
  /// Valid until the next step().
  std::string_view blob(int column) const {
    const void* bytes = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return bytes == nullptr ? std::string_view{}
                            : std::string_view{static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
  }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  int prepared_ = SQLITE_OK;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

}  // namespace loom
