// SPDX-License-Identifier: Apache-2.0
// LightLogFile: ground truth of the simulated devices on disk, in the order of its happening; written a few times a second and
// at the end, by a thread of its own: light waits for no disk. Loop's thread only.
#pragma once

#include <functional>
#include <string>

#include "runtime/append_lane.hpp"
#include "runtime/loop.hpp"
#include "sim_backend/judge/light_log.hpp"

namespace loom {

class LightLogFile {
 public:
  /// What an earlier incarnation of the process wrote stays true; a line that it was killed in goes.
  LightLogFile(AsioLoop& loop, const std::string& path);
  ~LightLogFile();
  LightLogFile(const LightLogFile&) = delete;
  LightLogFile& operator=(const LightLogFile&) = delete;

  void add(const OpticalChange& change) { append_line(text_, change); }

 private:
  std::function<void()> mark() const;
  void write_now_and_then();

  AsioLoop& loop_;
  std::string path_;
  AppendLane lane_;
  std::string text_;
};

}  // namespace loom
