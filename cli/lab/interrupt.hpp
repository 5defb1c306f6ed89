// SPDX-License-Identifier: Apache-2.0
// Ctrl-C of a command that has started processes. SIGINT, SIGTERM and SIGHUP are taken by a thread that waits for nothing else,
// so no handler runs in the middle of anything: the command's own loops see a flag and end what they started. If they are busy
// and do not look, the thread ends it; a second signal ends it at once.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

#include "cli/lab/folder.hpp"

namespace loom::cli {

class Interrupt {
 public:
  /// `end_all`: ends everything that was started; true: at once. Called on the watching thread, after which the program exits
  /// with 130. Signals that were ignored (nohup) stay so, but for SIGINT. Construct it before other threads begin.
  explicit Interrupt(std::function<void(bool at_once)> end_all);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Any thread.
  bool is_raised() const { return raised_; }
  /// The caller ends everything itself from here on; the watching thread only waits for a second signal.
  void take_over() { is_taken_over_ = true; }

 private:
  void watch();

  std::function<void(bool)> end_all_;
  std::atomic<bool> raised_ = false;
  std::atomic<bool> is_taken_over_ = false;
  Descriptor signals_;
  Descriptor end_;
  sigset_t before_{};
  std::thread thread_;
};

}  // namespace loom::cli
