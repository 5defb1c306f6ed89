// SPDX-License-Identifier: Apache-2.0
// One judge, under one lock, asked by the thread that reads and by the loop that looks.
#include "runtime/contact_watch.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "runtime/clock.hpp"

namespace loom {

class ContactWatch::Core : public std::enable_shared_from_this<ContactWatch::Core> {
 public:
  Core(ContactTimings timings, ContactPort port, TimeSeam& time, Post post, Changed changed)
      : timings_(timings),
        port_(std::move(port)),
        time_(time),
        post_(std::move(post)),
        changed_(std::move(changed)),
        judge_(timings, monotonic_now()) {}

  void start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    look();
  }
  void stop() {
    thread_.request_stop();
    if (thread_.joinable()) {
      thread_.join();
    }
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }

 private:
  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Instant begun = monotonic_now();
      const Result<bool> closed = port_.read(timings_.lost / 2);
      {
        const std::lock_guard lock(mutex_);
        report(closed ? judge_.read(begun, *closed) : judge_.failed(monotonic_now(), closed.error().message));
      }
      if (!port_.wait || !port_.wait(timings_.poll)) {
        std::unique_lock lock(mutex_);
        stopped_.wait_for(lock, stop, timings_.poll, [] { return false; });
      }
    }
  }

  /// Posted under the lock: what the loop finds and what the thread finds arrive in the order in which they were believed.
  void report(std::optional<ContactChange> change) {
    if (!change || is_over_) {
      return;
    }
    post_([weak = weak_from_this(), change = *std::move(change)] {
      if (const auto self = weak.lock()) {
        self->changed_(change);
      }
    });
  }

  void look() {
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) {
        return;
      }
      report(judge_.look(monotonic_now()));
    }
    time_.call_at(time_.now() + timings_.lost / 4, Precision::ordinary, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->look();
      }
    });
  }

  ContactTimings timings_;
  ContactPort port_;
  TimeSeam& time_;
  Post post_;
  Changed changed_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  ContactJudge judge_;
  bool is_over_ = false;
  std::jthread thread_;  ///< last: it uses all of the above
};

ContactWatch::ContactWatch(ContactTimings timings, ContactPort port, TimeSeam& time, Post post, Changed changed)
    : core_(std::make_shared<Core>(timings, std::move(port), time, std::move(post), std::move(changed))) {
  core_->start();
}

ContactWatch::~ContactWatch() { core_->stop(); }

}  // namespace loom
