// SPDX-License-Identifier: Apache-2.0
// DeadlineWatch: a command that shall take no longer than its user said. It asks the work under way to stop when the time is
// up, and ends the program where that is not heard: nothing has been written then.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/time.hpp"

namespace loom::cli {

class DeadlineWatch {
 public:
  /// From now on. `limit`: none, it never ends. `option`: for the sentence, as it was given ("--deadline 2s").
  DeadlineWatch(std::optional<Duration> limit, std::string option);
  ~DeadlineWatch() { conclude(); }
  DeadlineWatch(const DeadlineWatch&) = delete;
  DeadlineWatch& operator=(const DeadlineWatch&) = delete;

  /// Set when the time is up; whoever looks at it and stops can say more than this does.
  const std::atomic<bool>& stop() const { return stop_; }
  /// The work is done, or has stopped: the program is not ended any more. True: it was in time.
  bool conclude();
  /// "took longer than --deadline 2s".
  std::string sentence() const;

 private:
  void watch(Duration limit);

  std::string option_;
  std::atomic<bool> stop_{false};
  bool is_ended_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::thread thread_;  ///< last: it uses everything above
};

}  // namespace loom::cli
