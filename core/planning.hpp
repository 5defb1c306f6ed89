// The order that a planning worker carries out, and its answer. A step machine never plans: it emits a PlanRequest as an
// effect, and hears a PlanOutcome as an event. Both are immutable and journalled by value, so replay agrees.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
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

/// What one iteration of a job takes over the light that it has, asked beside a plan.
struct Weighing {
  JobId job;
  JobSchedule present;
  Duration stage_change{};  ///< from one stage's light to the next one's, at worst
};

/// Predictions of the demand that was planned for; none: why not.
struct Weighed {
  std::optional<Duration> present{};
  std::optional<Duration> planned{};
  std::string why_not_present{};
  std::string why_not_planned{};
};

/// Light that was observed, or that an agent which is away was last told to emit, and that the base does not have.
struct ObservedLight {
  DeviceId laser;
  LaserSetpoint light;
  /// A commit can prove it dark: its agent is there. Else it is where it is until somebody proves otherwise.
  bool may_darken = false;
  bool operator==(const ObservedLight&) const = default;
};

struct PlanRequest {
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const Plan> base;  ///< what is confirmed now, or what was found before the first plan; null = a dark fabric
  Intent intent;                     ///< jobs in it without nodes are to be placed
  Revision revision;
  CircuitId next_circuit;  ///< first free circuit id
  std::string algorithm = "oddl";
  Budget budget;
  std::string reason;
  std::optional<Weighing> weigh{};
  std::vector<ObservedLight> observed{};  ///< ascending laser; occupied until it is proven dark
};

struct PlanResult {
  Plan plan;
  Schedule schedule;
  Intent intent;  ///< as asked, with every job placed
  CircuitId next_circuit;
  std::optional<Weighed> weighed{};  ///< where it was asked for
};

struct PlanOutcome {
  Revision revision;
  Result<std::shared_ptr<const PlanResult>> result = fail(ErrorCode::internal, "no plan was made");
  Duration elapsed{};  ///< measured by the host; never used to decide
};

}  // namespace loom
