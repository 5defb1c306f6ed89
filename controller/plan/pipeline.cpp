// The stages of planning in their order.
#include "controller/plan/pipeline.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "controller/plan/adoption.hpp"
#include "controller/plan/by_hand.hpp"
#include "controller/plan/estimate.hpp"
#include "controller/plan/lower.hpp"
#include "controller/plan/verify.hpp"
#include "controller/schedule/placement.hpp"
#include "controller/schedule/registry.hpp"

namespace loom {
namespace {

std::string describe(const std::vector<PlanViolation>& violations) {
  std::string text;
  std::string_view rule;
  for (const PlanViolation& violation : violations) {
    if (violation.rule != rule) {
      text += (text.empty() ? "" : "; ") + violation.rule + ": " + violation.evidence;
      rule = violation.rule;
    }
  }
  return text;
}

/// Gives the desired stages' circuits the ids that lowering chose.
void name_circuits(Schedule& schedule, const Intent& intent, const std::vector<CircuitId>& ids) {
  std::size_t next = 0;
  for (JobSchedule& scheduled : schedule.jobs) {
    const auto job = std::find_if(intent.jobs.begin(), intent.jobs.end(),
                                  [&](const Job& candidate) { return candidate.id == scheduled.job; });
    for (Timeslot& timeslot : scheduled.stages[job->stage].timeslots) {
      for (Circuit& circuit : timeslot.circuits) {
        circuit.id = ids[next++];
      }
    }
  }
}

void take_part(NodeId node, Plan& plan) {
  const auto place = std::lower_bound(plan.changed.begin(), plan.changed.end(), node);
  if (place == plan.changed.end() || *place != node) {
    plan.changed.insert(place, node);
  }
}

/// Only a scheduler whose stages are maps (a wavelength leads to one place, whoever is lit) can leave the rest to grants.
Result<void> check_transmit(const PlanRequest& request) {
  for (const Job& job : request.intent.jobs) {
    if (job.spec.transmit == Transmit::grants && request.algorithm != "oddl") {
      return fail(ErrorCode::unsupported, "job " + std::to_string(job.id.value) + " (" + job.spec.name +
                                              "): transmit grants needs the scheduler oddl, this lab plans with " +
                                              request.algorithm + "; nearest: transmit slots");
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const PlanResult>> make_plan(const PlanRequest& request) {
  if (!request.fabric) {
    return fail(ErrorCode::invalid_argument,
                "plan request of revision " + std::to_string(request.revision.value) + ": no fabric");
  }
  const Fabric& fabric = *request.fabric;
  const Plan* base = request.base.get();
  std::vector<DeviceOverride> found;
  std::optional<Plan> there;  // what was adopted is there already: against it nothing has to move, and nothing goes dark
  if (base != nullptr && !(found = found_beside(*base, request.intent)).empty()) {
    base = &there.emplace(as_found(fabric, *base, found));
  }
  auto intent = place(fabric, request.intent);
  if (!intent) {
    return std::unexpected(std::move(intent).error());
  }
  auto scheduler = find_scheduler(request.algorithm);
  if (!scheduler) {
    return std::unexpected(std::move(scheduler).error());
  }
  LOOM_TRY(check_transmit(request));
  Demand demand = estimate(*intent, base);
  leave_out_pinned(demand, *intent);
  auto schedule = (**scheduler)(fabric, demand, *intent, request.budget);
  if (!schedule) {
    return std::unexpected(std::move(schedule).error());
  }
  add_pinned(*schedule, *intent);
  auto lowered = lower({fabric, *schedule, *intent, base, request.revision, request.next_circuit});
  if (!lowered) {
    return std::unexpected(std::move(lowered).error());
  }
  LOOM_TRY(apply_overrides(fabric, *intent, base, lowered->plan));
  for (const DeviceOverride& each : found) {
    take_part(fabric.device(each.device).agent, lowered->plan);  // its agent hears what its device shall be from now on
  }
  LOOM_TRY(check_maintenance(fabric, *intent, lowered->plan));
  if (const auto violations = verify(fabric, lowered->plan, base, *intent); !violations.empty()) {
    return fail(ErrorCode::unverified,
                "plan of revision " + std::to_string(request.revision.value) + " is refused: " + describe(violations));
  }
  name_circuits(*schedule, *intent, lowered->ids);
  auto result = std::make_shared<PlanResult>();
  result->plan = std::move(lowered->plan);
  result->schedule = *std::move(schedule);
  result->intent = *std::move(intent);
  result->next_circuit = lowered->next_circuit;
  return result;
}

}  // namespace loom
