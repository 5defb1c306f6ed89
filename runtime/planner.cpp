// SPDX-License-Identifier: Apache-2.0
// One queue, one thread.
#include "runtime/planner.hpp"

#include <malloc.h>

#include <chrono>
#include <exception>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Nothing was ordered for so long: the next order may be far away, and what the last one set off is likely over. [K]
constexpr std::chrono::seconds kRest{10};
/// What looks whether it shall stop has looked by then. [K]
constexpr std::chrono::milliseconds kHearing{500};

}  // namespace

PlanDeadline::PlanDeadline(Duration limit, std::atomic<bool>& stop, std::function<void()> unheard)
    : unheard_(std::move(unheard)) {
  if (limit != kForever) {
    thread_ = std::jthread([this, limit, &stop] { watch(limit, stop); });
  }
}

PlanDeadline::~PlanDeadline() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  ended_.notify_one();
}

void PlanDeadline::watch(Duration limit, std::atomic<bool>& stop) {
  std::unique_lock lock(mutex_);
  const auto is_ended = [this] { return is_ended_; };
  if (ended_.wait_for(lock, limit, is_ended)) {
    return;
  }
  is_over_ = true;
  stop = true;
  if (unheard_ && !ended_.wait_for(lock, kHearing, is_ended)) {
    unheard_();
  }
}

Planner::Planner(Post post, MakePlan make_plan, RowBytes row_bytes)
    : post_(std::move(post)),
      make_plan_(std::move(make_plan)),
      row_bytes_(std::move(row_bytes)),
      thread_([this] { serve(); }) {}

Planner::~Planner() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    stop_ = true;
    queue_.clear();
  }
  arrived_.notify_one();
  thread_.join();
}

PlanWorker Planner::worker() {
  return [this](std::shared_ptr<const PlanRequest> request, std::function<void(PlanOutcome)> done) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back({std::move(request), std::move(done)});
    }
    arrived_.notify_one();
  };
}

void Planner::serve() {
  while (true) {
    QueuedPlan queued;
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [this] { return is_ending_ || !queue_.empty(); };
      if (!arrived_.wait_for(lock, kRest, has_work)) {
        malloc_trim(0);  // a plan of a large fabric needs a hundred megabytes, of which the allocator gives none back by itself
        arrived_.wait(lock, has_work);
      }
      if (is_ending_) {
        return;
      }
      stop_ = false;
      queued = std::move(queue_.front());
      queue_.pop_front();
    }
    post_([done = std::move(queued.done), outcome = carry_out(*queued.request)] { done(outcome); });
  }
}

PlanOutcome Planner::carry_out(const PlanRequest& request) {
  PlanOutcome outcome;
  outcome.revision = request.revision;
  PlanRequest stoppable = request;
  stoppable.budget.stop.requested = &stop_;
  const auto begin = std::chrono::steady_clock::now();
  const PlanDeadline deadline(request.budget.deadline, stop_);
  try {
    outcome.result = make_plan_(stoppable);
    outcome.row_bytes = outcome.result ? row_bytes_(*outcome.result) : 0;
  } catch (const std::exception& error) {  // a library's; ours do not throw
    outcome.result = fail(ErrorCode::internal, format_text("planning failed in a library: {}", error.what()));
  }
  if (deadline.is_over()) {  // whatever came of it may come of when it was stopped
    outcome = stopped_by_deadline(request);
  }
  outcome.elapsed = std::chrono::steady_clock::now() - begin;
  return outcome;
}

}  // namespace loom
