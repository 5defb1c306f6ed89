// setrlimit, getrandom.
#include "runtime/process_limits.hpp"

#include <sys/random.h>
#include <sys/resource.h>
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

std::uint64_t fresh_boot_id() {
  std::uint64_t id = 0;
  if (getrandom(&id, sizeof id, 0) != sizeof id) {
    id = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) ^
         static_cast<std::uint64_t>(getpid());
  }
  return id >> 16U;  // room for a node's number to be added
}

}  // namespace loom
