// SPDX-License-Identifier: Apache-2.0
// A lane is a bounded queue and a thread.
#include "runtime/lanes.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "runtime/clock.hpp"

namespace loom {

class BusLanes::Lane {
 public:
  Lane(Post post, BusLaneOptions options, BusExecute execute)
      : post_(std::move(post)),
        options_(options),
        execute_(std::move(execute)),
        thread_([this](std::stop_token stop) { work(stop); }) {}

  /// False: the queue is full, and nothing was taken.
  bool push(const Transaction& transaction, const Done& done) {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() >= options_.queue_max) {
        ++counters_.overruns;
        return false;
      }
      waiting_.push_back({transaction, done});
      counters_.waiting_max = std::max(counters_.waiting_max, waiting_.size());
    }
    arrived_.notify_one();
    return true;
  }

  BusLaneCounters counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }

 private:
  struct Order {
    Transaction transaction;
    Done done;
  };

  void work(const std::stop_token& stop) {
    while (true) {
      Order order;
      {
        std::unique_lock lock(mutex_);
        if (!arrived_.wait(lock, stop, [this] { return !waiting_.empty(); }) || stop.stop_requested()) {
          return;
        }
        order = std::move(waiting_.front());
        waiting_.pop_front();
      }
      execute(std::move(order));
    }
  }

  void execute(Order order) {
    const Instant begun = monotonic_now();
    BusReply reply = execute_(order.transaction);
    const Duration took = monotonic_now() - begun;
    {
      const std::lock_guard lock(mutex_);
      ++counters_.executed;
      counters_.late += order.transaction.deadline > Duration{0} && took > order.transaction.deadline ? 1U : 0U;
      counters_.longest = std::max(counters_.longest, took);
    }
    post_([done = std::move(order.done), reply = std::move(reply)]() mutable { done(std::move(reply)); });
  }

  Post post_;
  BusLaneOptions options_;
  BusExecute execute_;
  mutable std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<Order> waiting_;
  BusLaneCounters counters_;
  std::jthread thread_;  ///< last: it uses all of the above
};

BusLanes::BusLanes(Post post, RegisterSeam* simulated, BusLaneOptions options)
    : post_(std::move(post)), simulated_(simulated), options_(options) {}

BusLanes::~BusLanes() = default;

void BusLanes::add(BusId bus, BusExecute execute) {
  LOOM_ASSERT(!lanes_.contains(bus));
  lanes_.emplace(bus, std::make_unique<Lane>(post_, options_, std::move(execute)));
}

void BusLanes::submit(BusId bus, const Transaction& transaction, Done done) {
  const auto lane = lanes_.find(bus);
  if (lane == lanes_.end() && simulated_ != nullptr) {
    simulated_->submit(bus, transaction, std::move(done));
    return;
  }
  if (lane != lanes_.end() && lane->second->push(transaction, done)) {
    return;
  }
  const BusStatus status = lane == lanes_.end() ? BusStatus::lost : BusStatus::nack;
  post_([done = std::move(done), status] { done({status, 0, {}, {}}); });
}

BusLaneCounters BusLanes::counters(BusId bus) const {
  const auto lane = lanes_.find(bus);
  return lane == lanes_.end() ? BusLaneCounters{} : lane->second->counters();
}

}  // namespace loom
