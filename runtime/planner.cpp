// One queue, one thread.
#include "runtime/planner.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace loom {

Planner::Planner(Post post, MakePlan make_plan)
    : post_(std::move(post)), make_plan_(std::move(make_plan)), thread_([this] { serve(); }) {}

Planner::~Planner() {
  stop_ = true;
  {
    const std::lock_guard lock(mutex_);
    orders_.clear();
  }
  arrived_.notify_one();
  thread_.join();
}

PlanWorker Planner::worker() {
  return [this](std::shared_ptr<const PlanRequest> request, std::function<void(PlanOutcome)> done) {
    {
      const std::lock_guard lock(mutex_);
      orders_.push_back({std::move(request), std::move(done)});
    }
    arrived_.notify_one();
  };
}

void Planner::serve() {
  while (true) {
    Order order;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return stop_ || !orders_.empty(); });
      if (stop_) {
        return;
      }
      order = std::move(orders_.front());
      orders_.pop_front();
    }
    post_([done = std::move(order.done), outcome = carry_out(*order.request)] { done(outcome); });
  }
}

PlanOutcome Planner::carry_out(const PlanRequest& request) {
  PlanOutcome outcome;
  outcome.revision = request.revision;
  PlanRequest stoppable = request;
  stoppable.budget.stop.requested = &stop_;
  const auto begin = std::chrono::steady_clock::now();
  try {
    outcome.result = make_plan_(stoppable);
  } catch (const std::exception& error) {  // a library's; ours do not throw
    outcome.result = fail(ErrorCode::internal, std::string("planning failed in a library: ") + error.what());
  }
  outcome.elapsed = std::chrono::steady_clock::now() - begin;
  return outcome;
}

}  // namespace loom
