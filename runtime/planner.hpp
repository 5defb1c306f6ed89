// SPDX-License-Identifier: Apache-2.0
// Planner: carries out planning orders on a thread of its own, one after the other, so that a slow solve never makes the
// controller look dead. The answer comes back on the loop's thread. How long it took is measured, never used to decide.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/post.hpp"
#include "runtime/seams.hpp"

namespace loom {

class Planner {
 public:
  using MakePlan = std::function<Result<std::shared_ptr<const PlanResult>>(const PlanRequest& request)>;
  /// How long the journal's row of a plan is.
  using RowBytes = std::function<std::size_t(const std::shared_ptr<const PlanResult>& plan)>;

  /// `row_bytes` is asked on the planner's thread, where nobody waits for it.
  Planner(Post post, MakePlan make_plan, RowBytes row_bytes);
  /// Asks the plan under way to stop, waits for it, and forgets the others.
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// The seam's function; good for as long as the planner lives.
  PlanWorker worker();

 private:
  struct QueuedPlan {
    std::shared_ptr<const PlanRequest> request;
    std::function<void(PlanOutcome)> done;
  };
  void serve();
  PlanOutcome carry_out(const PlanRequest& request);

  Post post_;
  MakePlan make_plan_;
  RowBytes row_bytes_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<QueuedPlan> queue_;
  std::thread thread_;  ///< last: it uses everything above
};

}  // namespace loom
