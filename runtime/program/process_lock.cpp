// SPDX-License-Identifier: Apache-2.0
// flock(), which waits for nobody.
#include "runtime/program/process_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "core/text/format_text.hpp"

namespace loom {

Result<UniqueDescriptor> take_process_lock(const std::string& file, std::string_view what) {
  UniqueDescriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.is_open()) {
    return fail(ErrorCode::storage, format_text("{} cannot be locked: {}", what, std::strerror(errno)));
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::conflict, format_text("{} is in use by another process (it holds {})", what, file));
  }
  return lock;
}

}  // namespace loom
