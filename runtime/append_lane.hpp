// SPDX-License-Identifier: Apache-2.0
// Append lane: a log on disk whose writer never waits for the disk.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace loom {

/// One file and a thread that appends to it, so that a disk that is busy delays no loop. Whoever writes gathers its text while
/// the lane is busy: at most one text waits for the disk, whatever the disk does.
class AppendLane {
 public:
  /// Opens the file for appending, new if it is not there. What cannot be written is said once, as a warning.
  explicit AppendLane(std::string path);
  /// Waits for the disk: what was taken is written.
  ~AppendLane();
  AppendLane(const AppendLane&) = delete;
  AppendLane& operator=(const AppendLane&) = delete;

  /// Takes `text`, which is empty then, and calls `written` in the lane's thread when the kernel has it. False: the text before
  /// it is not written yet, and nothing was taken.
  bool try_append(std::string& text, std::function<void()> written = {});
  /// Waits for the text before it, if need be.
  void append(std::string& text, std::function<void()> written = {});

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace loom
