// The order that a planning worker carries out, and its answer. A step machine never plans: it emits a PlanRequest as an
// effect, and hears a PlanOutcome as an event. Both are immutable and journalled by value, so replay agrees.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "core/demand.hpp"
#include "core/fabric.hpp"
#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"

namespace loom {

/// Set from outside when the time is up; only runtime/ makes one from a clock.
struct Stop {
  const std::atomic<bool>* requested = nullptr;
  bool stop_requested() const { return requested != nullptr && requested->load(std::memory_order_relaxed); }
};

struct Budget {
  std::uint64_t steps = ~0ULL;
  Stop stop;
};

struct PlanRequest {
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const Plan> base;  ///< what is confirmed now; null = a dark fabric
  Intent intent;                     ///< jobs in it without nodes are to be placed
  Revision revision;
  CircuitId next_circuit;  ///< first free circuit id
  std::string algorithm = "oddl";
  Budget budget;
  std::string reason;
};

struct PlanResult {
  Plan plan;
  Schedule schedule;
  Intent intent;  ///< as asked, with every job placed
  CircuitId next_circuit;
};

struct PlanOutcome {
  Revision revision;
  Result<std::shared_ptr<const PlanResult>> result = fail(ErrorCode::internal, "no plan was made");
  Duration elapsed{};  ///< measured by the host; never used to decide
};

}  // namespace loom
