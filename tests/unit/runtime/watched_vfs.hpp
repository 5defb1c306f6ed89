// SPDX-License-Identifier: Apache-2.0
// WatchedVfs: SQLite's default file system with an eye on every write and sync. It keeps what a power cut would leave of each
// file (its contents as of its last sync; whether an unsynced write survives is the disk's choice, so here none does), and
// calls back before every change, so that a test can look at the files as a killed process would leave them there.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <functional>
#include <string>

namespace loom::test {

class WatchedVfs {
 public:
  /// From here to its end every database that is opened without a name of a VFS goes through it. One at a time.
  WatchedVfs();
  ~WatchedVfs();
  WatchedVfs(const WatchedVfs&) = delete;
  WatchedVfs& operator=(const WatchedVfs&) = delete;

  int syncs() const;
  /// Before each write, truncation and sync of any file.
  void on_change(std::function<void()> look);
  /// From now on every write answers this status of SQLite's (SQLITE_FULL, SQLITE_IOERR_WRITE); SQLITE_OK mends it.
  void fail_writes(int status);
  /// Copies of the folder's files as a power cut would leave them now: what was never synced is not there.
  void cut_power(const std::filesystem::path& from, const std::filesystem::path& to) const;
};

}  // namespace loom::test
