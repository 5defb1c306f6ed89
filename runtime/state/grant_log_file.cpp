// SPDX-License-Identifier: Apache-2.0
// Twenty times a second, and at the end.
#include "runtime/state/grant_log_file.hpp"

#include <chrono>
#include <fstream>
#include <utility>

#include "runtime/process_limits.hpp"
#include "runtime/state/grant_log.hpp"

namespace loom {
namespace {

const std::string& begun(const std::string& path) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).flush();
  close_to_others(path);
  return path;
}

}  // namespace

GrantLogFile::GrantLogFile(AsioLoop& loop, const std::string& path, std::vector<Agent*> agents)
    : loop_(loop), lane_(begun(path)), agents_(std::move(agents)) {
  write_now_and_then();
}

GrantLogFile::~GrantLogFile() {
  gather();
  lane_.append(text_);
}

void GrantLogFile::gather() {
  for (Agent* agent : agents_) {
    for (const GrantTimes& times : agent->take_grant_times()) {
      append_line(text_, times);
    }
  }
}

void GrantLogFile::write_now_and_then() {
  gather();
  lane_.try_append(text_);
  loop_.call_at(loop_.now() + std::chrono::milliseconds{50}, Precision::ordinary, [this] { write_now_and_then(); });
}

}  // namespace loom
