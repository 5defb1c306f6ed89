// SPDX-License-Identifier: Apache-2.0
// A shim in front of the default VFS: files are the default's with another table of methods.
#include "tests/unit/runtime/watched_vfs.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace loom::test {
namespace {

namespace fs = std::filesystem;

struct Watch {
  sqlite3_vfs* below = nullptr;
  sqlite3_vfs shim{};
  std::mutex mutex;
  std::map<std::string, std::string> synced;  ///< path -> contents as of its last sync
  std::function<void()> look;
  int syncs = 0;
  int write_status = SQLITE_OK;
};

Watch& watch() {
  static Watch one;
  return one;
}

/// The default's file lies behind it.
struct WatchedFile {
  sqlite3_file base;
  sqlite3_io_methods methods;
  const char* path;  ///< SQLite keeps it while the file is open

  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

WatchedFile& watched(sqlite3_file* file) { return *reinterpret_cast<WatchedFile*>(file); }

void look() {
  if (watch().look) {
    watch().look();
  }
}

int close_file(sqlite3_file* file) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xClose(below);
}
int read_file(sqlite3_file* file, void* to, int count, sqlite3_int64 at) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xRead(below, to, count, at);
}
int write_file(sqlite3_file* file, const void* from, int count, sqlite3_int64 at) {
  look();
  if (watch().write_status != SQLITE_OK) {
    return watch().write_status;
  }
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xWrite(below, from, count, at);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  look();
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xTruncate(below, size);
}
int sync_file(sqlite3_file* file, int flags) {
  look();
  sqlite3_file* below = watched(file).below();
  const int done = below->pMethods->xSync(below, flags);
  const std::lock_guard lock(watch().mutex);
  ++watch().syncs;
  if (watched(file).path != nullptr) {
    std::ifstream in(watched(file).path, std::ios::binary);
    watch().synced[watched(file).path] = {std::istreambuf_iterator<char>(in), {}};
  }
  return done;
}
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xFileSize(below, size);
}
int lock_file(sqlite3_file* file, int level) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xLock(below, level);
}
int unlock_file(sqlite3_file* file, int level) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xUnlock(below, level);
}
int check_lock(sqlite3_file* file, int* result) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xCheckReservedLock(below, result);
}
int control_file(sqlite3_file* file, int operation, void* argument) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xFileControl(below, operation, argument);
}
int sector_size(sqlite3_file* file) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xSectorSize(below);
}
int characteristics(sqlite3_file* file) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xDeviceCharacteristics(below);
}
int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** at) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xShmMap(below, region, size, extend, at);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xShmLock(below, offset, count, flags);
}
void barrier_shared(sqlite3_file* file) {
  sqlite3_file* below = watched(file).below();
  below->pMethods->xShmBarrier(below);
}
int unmap_shared(sqlite3_file* file, int remove) {
  sqlite3_file* below = watched(file).below();
  return below->pMethods->xShmUnmap(below, remove);
}

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* below_vfs = watch().below;
  WatchedFile& it = watched(file);
  it.base.pMethods = nullptr;
  it.path = path;
  const int done = below_vfs->xOpen(below_vfs, path, it.below(), flags, out_flags);
  if (it.below()->pMethods == nullptr) {
    return done;
  }
  it.methods = {2,           close_file,     read_file,    write_file,   truncate_file, sync_file,       size_of_file,
                lock_file,   unlock_file,    check_lock,   control_file, sector_size,   characteristics, map_shared,
                lock_shared, barrier_shared, unmap_shared, nullptr,      nullptr};
  it.base.pMethods = &it.methods;
  return done;
}

int delete_file(sqlite3_vfs*, const char* path, int sync) {
  look();
  const std::lock_guard lock(watch().mutex);
  watch().synced.erase(path);
  return watch().below->xDelete(watch().below, path, sync);
}
int access_file(sqlite3_vfs*, const char* path, int flags, int* result) {
  return watch().below->xAccess(watch().below, path, flags, result);
}
int full_path(sqlite3_vfs*, const char* path, int size, char* out) {
  return watch().below->xFullPathname(watch().below, path, size, out);
}

}  // namespace

WatchedVfs::WatchedVfs() {
  sqlite3_initialize();
  Watch& it = watch();
  it.below = sqlite3_vfs_find(nullptr);
  it.synced.clear();
  it.syncs = 0;
  it.shim = *it.below;  // time, chance and libraries are the default's
  it.shim.zName = "watched";
  it.shim.pNext = nullptr;
  it.shim.szOsFile = static_cast<int>(sizeof(WatchedFile)) + it.below->szOsFile;
  it.shim.xOpen = open_file;
  it.shim.xDelete = delete_file;
  it.shim.xAccess = access_file;
  it.shim.xFullPathname = full_path;
  sqlite3_vfs_register(&it.shim, 1);
}

WatchedVfs::~WatchedVfs() {
  watch().look = nullptr;
  watch().write_status = SQLITE_OK;
  sqlite3_vfs_unregister(&watch().shim);
  sqlite3_vfs_register(watch().below, 1);
}

int WatchedVfs::syncs() const { return watch().syncs; }

void WatchedVfs::on_change(std::function<void()> look) { watch().look = std::move(look); }

void WatchedVfs::fail_writes(int status) { watch().write_status = status; }

void WatchedVfs::cut_power(const fs::path& from, const fs::path& to) const {
  const std::lock_guard lock(watch().mutex);
  for (const auto& [path, contents] : watch().synced) {
    if (fs::path(path).parent_path() == from) {
      std::ofstream(to / fs::path(path).filename(), std::ios::binary | std::ios::trunc) << contents;
    }
  }
}

}  // namespace loom::test
