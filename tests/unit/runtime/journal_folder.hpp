// SPDX-License-Identifier: Apache-2.0
// What tests of journals share: a folder of their own, writing and reading a journal in it, and a store's loop turned by hand.
#pragma once

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/journal/journal_file.hpp"
#include "runtime/post.hpp"

namespace loom::test {

using Rows = std::vector<std::string>;

/// A directory of its own for each test, gone with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "loom-journal-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path journal() const { return path_ / "journal.sqlite"; }

 private:
  std::filesystem::path path_;
};

inline JournalFile open_journal(const Folder& folder, bool restore = false) {
  auto file = JournalFile::open({.path = folder.journal(), .restore = restore});
  REQUIRE(file.has_value());
  return std::move(*file);
}

inline void write(const Folder& folder, const Rows& rows, std::string_view stream = "controller") {
  JournalFile file = open_journal(folder);
  for (const std::string& row : rows) {
    const JournalFile::Row one{stream, row};
    REQUIRE(file.append({&one, 1}).has_value());
  }
}

/// What a load takes, and what it says of the rest.
struct Contents {
  Rows rows;
  std::string damage;
  std::uint64_t first = 0;  ///< number of the first row
};

template <class Journal>
inline Contents contents_of(Journal&& load) {
  Contents contents;
  const auto loaded = load([&](std::uint64_t number, std::string_view row) -> Result<void> {
    contents.rows.emplace_back(row);
    contents.first = contents.first == 0 ? number : contents.first;
    return {};
  });
  REQUIRE(loaded.has_value());
  CHECK(loaded->rows == contents.rows.size());
  contents.damage = loaded->damage;
  return contents;
}

inline Contents load(JournalFile& file, std::string_view stream = "controller") {
  return contents_of([&](const StorageSeam::TakeRow& take) { return file.load(stream, take); });
}

inline Contents read(const Folder& folder, std::string_view stream = "controller") {
  JournalFile file = open_journal(folder);
  return load(file, stream);
}

inline void tamper(const Folder& folder, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(folder.journal().c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_changes(database) > 0);
  sqlite3_close(database);
}

constexpr auto kAddition = StorageSeam::RowKind::addition;

inline Contents load(StorageSeam& stream) {
  return contents_of([&](const StorageSeam::TakeRow& take) { return stream.load(take); });
}

/// A loop that a test turns by hand: wait_for(n) runs tasks until n have run.
class HandLoop {
 public:
  Post post() {
    return [this](std::function<void()> task) {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      arrived_.notify_one();
    };
  }
  void run(std::size_t count) {
    for (; count > 0; --count) {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return !tasks_.empty(); });
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> tasks_;
};

}  // namespace loom::test
