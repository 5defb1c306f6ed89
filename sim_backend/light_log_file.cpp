// SPDX-License-Identifier: Apache-2.0
// Twenty times a second, and at the end.
#include "sim_backend/light_log_file.hpp"

#include <chrono>

#include "runtime/process_limits.hpp"

namespace loom {
namespace {

const std::string& continued(const std::string& path) {
  drop_partial_line(path);
  close_to_others(path);
  return path;
}

}  // namespace

LightLogFile::LightLogFile(AsioLoop& loop, const std::string& path) : loop_(loop), path_(path), lane_(continued(path)) {
  write_now_and_then();
}

LightLogFile::~LightLogFile() { lane_.append(text_, mark()); }

/// Once the text is written the log is whole up to now.
std::function<void()> LightLogFile::mark() const {
  return [path = path_, now = loop_.now()] { write_light_log_whole(path, now); };
}

void LightLogFile::write_now_and_then() {
  lane_.try_append(text_, mark());
  loop_.call_at(loop_.now() + std::chrono::milliseconds{50}, Precision::ordinary, [this] { write_now_and_then(); });
}

}  // namespace loom
