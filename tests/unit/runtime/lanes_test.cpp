// SPDX-License-Identifier: Apache-2.0
// Lanes with a bus that a test holds in its hand: what happens when it is full, missing or simulated.
#include "runtime/lanes.hpp"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <semaphore>
#include <vector>

namespace loom {
namespace {

/// Collects posted tasks; take() waits for the next one.
class HandPost {
 public:
  Post post() {
    return [this](std::function<void()> task) {
      {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
      }
      arrived_.notify_one();
    };
  }
  void run_next() {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return !tasks_.empty(); });
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> tasks_;
};

class SimulatedRegisters : public RegisterSeam {
 public:
  void submit(BusId bus, const Transaction&, Done) override { buses.push_back(bus); }
  std::vector<BusId> buses;
};

}  // namespace

TEST_CASE("gives_buses_without_a_lane_to_the_simulation") {
  HandPost loop;
  SimulatedRegisters simulated;
  BusLanes lanes(loop.post(), &simulated);
  lanes.add(BusId{1}, [](const Transaction&) { return BusReply{BusStatus::ok, 0, {1}, {}}; });
  std::vector<std::uint16_t> words;
  lanes.submit(BusId{2}, {}, [](BusReply) {});
  lanes.submit(BusId{1}, {}, [&words](BusReply reply) { words = reply.words; });
  loop.run_next();
  CHECK(simulated.buses == std::vector<BusId>{BusId{2}});
  CHECK(words == std::vector<std::uint16_t>{1});
}

TEST_CASE("a_bus_that_nobody_serves_is_lost") {
  HandPost loop;
  BusLanes lanes(loop.post(), nullptr);
  BusStatus status = BusStatus::ok;
  lanes.submit(BusId{2}, {}, [&status](BusReply reply) { status = reply.status; });
  CHECK(status == BusStatus::ok);  // never from inside submit
  loop.run_next();
  CHECK(status == BusStatus::lost);
}

TEST_CASE("a_full_lane_says_not_now_and_counts_it") {
  HandPost loop;
  std::binary_semaphore on_the_bus{0};
  std::binary_semaphore go_on{0};
  BusLanes lanes(loop.post(), nullptr, {.queue_max = 2});
  lanes.add(BusId{1}, [&](const Transaction&) {
    on_the_bus.release();
    go_on.acquire();
    return BusReply{};
  });
  std::vector<BusStatus> answered;
  const auto keep = [&answered](BusReply reply) { answered.push_back(reply.status); };
  lanes.submit(BusId{1}, {}, keep);
  on_the_bus.acquire();  // the first is under way; two wait, the fourth is one too many
  lanes.submit(BusId{1}, {}, keep);
  lanes.submit(BusId{1}, {}, keep);
  lanes.submit(BusId{1}, {}, keep);
  loop.run_next();
  CHECK(answered == std::vector<BusStatus>{BusStatus::nack});
  for (int i = 0; i < 3; ++i) {
    go_on.release();
    loop.run_next();
    if (i < 2) {
      on_the_bus.acquire();
    }
  }
  CHECK(answered == std::vector<BusStatus>{BusStatus::nack, BusStatus::ok, BusStatus::ok, BusStatus::ok});
  const BusLaneCounters counters = lanes.counters(BusId{1});
  CHECK(counters.executed == 3);
  CHECK(counters.overruns == 1);
  CHECK(counters.waiting_max == 2);
}

TEST_CASE("drops_what_waits_when_the_lanes_end") {
  HandPost loop;
  std::binary_semaphore on_the_bus{0};
  std::binary_semaphore go_on{0};
  int executed = 0;
  {
    BusLanes lanes(loop.post(), nullptr);
    lanes.add(BusId{1}, [&](const Transaction&) {
      ++executed;
      on_the_bus.release();
      go_on.acquire();
      return BusReply{};
    });
    lanes.submit(BusId{1}, {}, [](BusReply) {});
    on_the_bus.acquire();
    lanes.submit(BusId{1}, {}, [](BusReply) {});
    go_on.release();  // one permit: a second transaction would hang here
    go_on.release();
  }
  CHECK(executed <= 2);
}

}  // namespace loom
