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

/// Asks a plan to stop when its time is up.
class PlanDeadline {
 public:
  /// `stop` is set when `limit` has passed before this ends; kForever: never. It must live as long. `unheard`: called half a
  /// second later, on a thread of its own, if this has not ended by then.
  PlanDeadline(Duration limit, std::atomic<bool>& stop, std::function<void()> unheard = {});
  ~PlanDeadline();
  PlanDeadline(const PlanDeadline&) = delete;
  PlanDeadline& operator=(const PlanDeadline&) = delete;

  bool is_over() const { return is_over_; }

 private:
  void watch(Duration limit, std::atomic<bool>& stop);

  std::function<void()> unheard_;
  std::atomic<bool> is_over_{false};
  bool is_ended_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::jthread thread_;  ///< last: it uses everything above
};

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
  bool is_ending_ = false;         ///< guarded by mutex_, like the setting of stop_
  std::atomic<bool> stop_{false};  ///< the plan under way shall stop
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<QueuedPlan> queue_;
  std::thread thread_;  ///< last: it uses everything above
};

}  // namespace loom
