// SPDX-License-Identifier: Apache-2.0
// The planner's thread: what a deadline stops, and that it stops nothing else.
#include "runtime/planner.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace loom {
namespace {

using std::chrono::milliseconds;

/// A planner whose plans take until they are stopped, or, of an even revision, no time.
struct Bench {
  std::mutex mutex;
  std::condition_variable came;
  std::vector<PlanOutcome> outcomes;
  Planner planner{[](std::function<void()> task) { task(); },
                  [](const PlanRequest& request) -> Result<std::shared_ptr<const PlanResult>> {
                    while (request.revision.value % 2 == 1 && !request.budget.stop.stop_requested()) {
                      std::this_thread::sleep_for(milliseconds{1});
                    }
                    return std::make_shared<const PlanResult>();
                  },
                  [](const auto&) { return std::size_t{77}; }};

  void order(std::uint64_t revision, Duration deadline) {
    auto request = std::make_shared<PlanRequest>();
    request->revision = {revision};
    request->budget.deadline = deadline;
    planner.worker()(std::move(request), [this](PlanOutcome outcome) {
      const std::lock_guard lock(mutex);
      outcomes.push_back(std::move(outcome));
      came.notify_one();
    });
  }

  std::vector<PlanOutcome> await(std::size_t count) {
    std::unique_lock lock(mutex);
    REQUIRE(came.wait_for(lock, std::chrono::seconds{20}, [&] { return outcomes.size() == count; }));
    return outcomes;
  }
};

TEST_CASE("a plan whose deadline has passed is refused in one sentence whatever it came to, and the next one has its own") {
  Bench bench;
  bench.order(1, milliseconds{20});
  bench.order(2, milliseconds{60'000});
  bench.order(3, milliseconds{20});
  bench.order(4, kForever);
  const auto outcomes = bench.await(4);
  for (const PlanOutcome& outcome : outcomes) {
    INFO(outcome.revision.value);
    const bool is_slow = outcome.revision.value % 2 == 1;
    CHECK(outcome.is_stopped == is_slow);
    CHECK(outcome.result.has_value() != is_slow);
    CHECK(outcome.row_bytes == (is_slow ? 0 : 77));
    if (is_slow) {
      CHECK(outcome.elapsed >= milliseconds{20});
      CHECK(outcome.result.error().code == ErrorCode::timed_out);
    }
  }
  CHECK(outcomes[0].result.error().message == "the plan of revision 1 took longer than plan_deadline, 20 ms");
  PlanRequest request;
  request.revision = {1};
  request.budget.deadline = milliseconds{20};
  CHECK(stopped_by_deadline(request).result.error().message == outcomes[0].result.error().message);  // as a replay has it
}

TEST_CASE("a planner that ends stops the plan under way, which needs no deadline for that") {
  std::atomic<bool> has_begun{false};
  std::atomic<bool> was_stopped{false};
  std::atomic<int> answers{0};
  {
    Planner planner([](std::function<void()> task) { task(); },
                    [&](const PlanRequest& request) -> Result<std::shared_ptr<const PlanResult>> {
                      has_begun = true;
                      while (!request.budget.stop.stop_requested()) {
                        std::this_thread::sleep_for(milliseconds{1});
                      }
                      was_stopped = true;
                      return std::make_shared<const PlanResult>();
                    },
                    [](const auto&) { return std::size_t{}; });
    const auto request = std::make_shared<const PlanRequest>();  // its deadline: never
    for (int i = 0; i < 3; ++i) {
      planner.worker()(request, [&](const PlanOutcome&) { ++answers; });
    }
    while (!has_begun) {
      std::this_thread::sleep_for(milliseconds{1});
    }
  }
  CHECK(was_stopped);
  CHECK(answers <= 1);  // the others are forgotten
}

}  // namespace
}  // namespace loom
