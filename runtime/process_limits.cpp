// SPDX-License-Identifier: Apache-2.0
// setrlimit, getrandom.
#include "runtime/process_limits.hpp"

#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

namespace loom {

void raise_file_limit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
  }
}

void keep_files_private() { (void)umask(0077); }

void close_to_others(const std::filesystem::path& file) {
  struct stat status{};
  constexpr mode_t kOthers = 0077;
  if (lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & kOthers) != 0) {
    (void)chmod(file.c_str(), status.st_mode & 0700);
  }
}

std::uint64_t fresh_boot_id() {
  std::uint64_t id = 0;
  if (getrandom(&id, sizeof id, 0) != sizeof id) {
    id = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) ^
         static_cast<std::uint64_t>(getpid());
  }
  return id >> 16U;  // room for a node's number to be added
}

}  // namespace loom
