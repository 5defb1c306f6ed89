// SPDX-License-Identifier: Apache-2.0
// The order that a planning worker carries out, and its answer. A step machine never plans: it emits a PlanRequest as an
// effect, and hears a PlanOutcome as an event. Both are immutable and journalled by value, so replay agrees.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"
#include "core/time.hpp"

namespace loom {

/// Set from outside when the time is up; only runtime/ makes one from a clock.
struct Stop {
  const std::atomic<bool>* requested = nullptr;
  bool stop_requested() const { return requested != nullptr && requested->load(std::memory_order_relaxed); }
};

struct Budget {
  std::uint64_t steps = ~0ULL;
  Stop stop;
  bool wants_account = false;    ///< sentences and loads of Schedule::account
  Duration deadline = kForever;  ///< by the clock of whoever carries it out; one that has no clock takes its time
};

/// What one iteration of a job takes over the light that it has, asked beside a plan.
struct ComparisonRequest {
  JobId job;
  JobSchedule present;
  Duration stage_change{};  ///< from one stage's light to the next one's, at worst
};

/// Predictions of the demand that was planned for; none: why not.
struct Comparison {
  std::optional<Duration> present{};
  std::optional<Duration> planned{};
  std::string why_not_present{};
  std::string why_not_planned{};
};

/// A device that follows no order at present: its driver gave up, or a commit failed at it. Observed, not intended.
struct UnusableDevice {
  DeviceId device;
  /// As far as anybody knows it still is what the base plan says, so light that passes it unchanged may stay. False: a commit
  /// left it somewhere, or it was read to be otherwise, and no light may rely on it.
  bool holds = true;
  /// Of a laser: where it may emit all the same, beside what the base says of one that holds. Nobody else may have such light
  /// where its own can come.
  std::vector<FrequencySlot> may_emit{};
  std::string why{};  ///< one sentence, for who waits for it
  /// Not empty: a circuit switch that follows orders, and of which only the ports of these connections are somebody else's.
  std::vector<CrossConnect> occupied{};
  bool operator==(const UnusableDevice&) const = default;
};

/// A circuit of a job's present stage that the plan does without.
struct LeftCircuit {
  Circuit circuit;  ///< it has no id
  std::uint32_t timeslot = 0;
  bool operator==(const LeftCircuit&) const = default;
};

/// A job that the plan does without.
struct LeftOut {
  JobId job;
  Error why;
  /// Only those circuits that need what is unusable; the others of the job are planned.
  bool in_part = false;
  /// What it waits for, ascending; empty: nothing that comes back by itself, it was simply not to be had.
  std::vector<DeviceId> devices{};
  std::vector<LeftCircuit> circuits{};  ///< in part: those
  bool operator==(const LeftOut&) const = default;
};

/// Light that was observed, or that an agent which is away was last told to emit, and that the base does not have.
struct ObservedLight {
  DeviceId laser;
  TransmitterSetpoint light;
  /// A commit can prove it dark: its agent is there. Else it is where it is until somebody proves otherwise.
  bool may_darken = false;
  bool operator==(const ObservedLight&) const = default;
};

struct PlanRequest {
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const Plan> base;  ///< what is confirmed now, or what was found before the first plan; null = a dark fabric
  /// Where the base has the lasers off: the light that jobs had, or were to have. Null: they are on.
  std::shared_ptr<const std::vector<Circuit>> darkened{};
  Intent intent;  ///< jobs in it without nodes are to be placed
  Revision revision;
  CircuitId next_circuit;   ///< first free circuit id
  std::string algorithm{};  ///< of the scheduler; empty: the fabric's architecture
  Budget budget;
  std::string reason;
  std::optional<ComparisonRequest> compare{};
  std::vector<UnusableDevice> unusable{};  ///< ascending device
  /// Ascending: jobs without light of the stage that they are to have. One of them that cannot be planned is left out, so that
  /// the others go on. What is not named here is planned, or nothing is.
  std::vector<JobId> may_leave_out{};
  std::vector<ObservedLight> observed{};  ///< ascending laser; occupied until it is proven dark
  /// How late agents have fired, as they measured it (p99.9): guards of grants are no shorter.
  Duration fire_skew{};
  /// Standing light between two nodes may stay until the light that replaces it stands, where both have room beside each other:
  /// then the result is a plan that is not yet what the intent asks for (JobSchedule::waiting), and is followed by one that is.
  bool make_before_break = false;
};

/// One iteration of a job that its nodes repeat, every device at its worst.
struct PredictedIteration {
  JobId job;
  Duration iteration{};
};

struct PlanResult {
  Plan plan;
  Schedule schedule;
  Intent intent;  ///< as asked, with every job that is planned in its place
  CircuitId next_circuit;
  std::optional<Comparison> compared{};  ///< where it was asked for
  std::vector<LeftOut> left_out{};       ///< ascending job
  /// Of the jobs whose repeated light this plan lays; 0 where no prediction can be made, or training processes pace the job.
  std::vector<PredictedIteration> predicted{};
  /// The plan has nothing of this job.
  bool is_without(JobId job) const {
    for (const LeftOut& each : left_out) {
      if (each.job == job) {
        return !each.in_part;
      }
    }
    return false;
  }
};

struct PlanOutcome {
  Revision revision;
  Result<std::shared_ptr<const PlanResult>> result = fail(ErrorCode::internal, "no plan was made");
  Duration elapsed{};         ///< measured by the host; never used to decide
  std::size_t row_bytes = 0;  ///< of the journal's row that would carry the plan; 0: nobody counted
  /// By Budget::deadline: the result is stopped_by_deadline(), whatever a replay that has no clock would make of it.
  bool is_stopped = false;
};

/// What came of a plan whose deadline passed while it was made, wherever it was stopped, and where that is replayed. Error:
/// timed_out, naming revision and deadline.
inline PlanOutcome stopped_by_deadline(const PlanRequest& request) {
  PlanOutcome outcome;
  outcome.revision = request.revision;
  outcome.is_stopped = true;
  outcome.result = fail(ErrorCode::timed_out,
                        "the plan of revision " + std::to_string(request.revision.value) + " took longer than plan_deadline, " +
                            std::to_string(request.budget.deadline / std::chrono::milliseconds{1}) + " ms");
  return outcome;
}

}  // namespace loom
