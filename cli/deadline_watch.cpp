// SPDX-License-Identifier: Apache-2.0
// One thread that waits twice.
#include "cli/deadline_watch.hpp"

#include <cstdlib>
#include <utility>

#include "cli/options.hpp"
#include "cli/render/term.hpp"

namespace loom::cli {
namespace {

/// What looks whether it shall stop has looked by then.
constexpr std::chrono::milliseconds kHearing{500};

}  // namespace

DeadlineWatch::DeadlineWatch(std::optional<Duration> limit, std::string option) : option_(std::move(option)) {
  if (limit) {
    thread_ = std::thread([this, limit] { watch(*limit); });
  }
}

bool DeadlineWatch::conclude() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  ended_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
  return !stop_;
}

std::string DeadlineWatch::sentence() const { return "took longer than " + option_; }

void DeadlineWatch::watch(Duration limit) {
  std::unique_lock lock(mutex_);
  const auto is_ended = [this] { return is_ended_; };
  if (ended_.wait_for(lock, limit, is_ended)) {
    return;
  }
  stop_ = true;
  if (!ended_.wait_for(lock, kHearing, is_ended)) {
    complain(ErrorCode::timed_out, sentence() + "; nothing was written");
    std::_Exit(kTimedOut);
  }
}

}  // namespace loom::cli
