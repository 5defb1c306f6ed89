// SPDX-License-Identifier: Apache-2.0
// Numbered from above, so that no revision is spent on them.
#include "controller/control/jobs/tentative_plans.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// A tentative plan's number is nobody's business: "plan of revision 18446744073709551609 is refused".
Error without_number(const PlanOutcome& outcome) {
  Error error = outcome.result.error();
  const std::string number = format_text(" of revision {}", outcome.revision.value);
  if (const auto at = error.message.find(number); at != std::string::npos) {
    error.message.erase(at, number.size());
  }
  return error;
}

/// What waits already goes on waiting. Whoever is on the way into light will be there when this change is planned.
std::vector<JobId> jobs_that_may_wait(const Intent& intent, const Jobs& jobs) {
  std::vector<JobId> ids = unlit_jobs(intent, jobs);
  std::erase_if(ids, [&](JobId id) {
    const JobRecord* record = jobs.find(id);
    const auto job = std::ranges::find(intent.jobs, id, &Job::id);
    return record != nullptr && record->state == JobState::committing && job != intent.jobs.end() && !job->nodes.empty();
  });
  return ids;
}

}  // namespace

bool TentativePlans::has_adoption() const {
  return std::any_of(plans_.begin(), plans_.end(),
                     [](const TentativePlan& plan) { return std::holds_alternative<AdoptionChange>(plan.purpose); });
}

std::size_t TentativePlans::requested() const {
  const auto planned = std::count_if(plans_.begin(), plans_.end(), [](const TentativePlan& plan) {
    return std::holds_alternative<OperatorChange>(plan.purpose);
  });
  return static_cast<std::size_t>(planned) + waiting_.size();
}

std::size_t TentativePlans::requested_by(const std::string& principal, bool only_asks) const {
  const auto is_its = [&](const TentativePlan& plan) {
    const auto* change = std::get_if<OperatorChange>(&plan.purpose);
    return change != nullptr && change->only_asks == only_asks && change->requester.principal == principal;
  };
  return static_cast<std::size_t>(std::count_if(plans_.begin(), plans_.end(), is_its) +
                                  std::count_if(waiting_.begin(), waiting_.end(), is_its));
}

bool TentativePlans::has_question() const {
  return std::any_of(plans_.begin(), plans_.end(), [](const TentativePlan& plan) {
    const auto* change = std::get_if<OperatorChange>(&plan.purpose);
    return change != nullptr && change->only_asks;
  });
}

std::optional<TentativePlan> TentativePlans::take_waiting() {
  if (waiting_.empty() || has_question()) {
    return std::nullopt;
  }
  TentativePlan next = std::move(waiting_.front());
  waiting_.pop_front();
  return next;
}

std::optional<TentativeOutcome> TentativePlans::begin(TentativePlan plan, CircuitId next_circuit, EffectSink& sink) {
  Result<Intent> asked = fail(ErrorCode::internal, "a change without a candidate");
  while (plan.candidate < plan.candidates.size() && !(asked = plan.candidates[plan.candidate](desired_.intent()))) {
    plan.first_refusal = plan.first_refusal ? plan.first_refusal : std::optional(asked.error());
    ++plan.candidate;
  }
  if (!asked) {
    Error why = plan.first_refusal.value_or(asked.error());
    return TentativeOutcome{std::move(plan), std::unexpected(std::move(why)), {}};
  }
  plan.before = desired_.intent();
  plan.number = Revision{~0ULL - ++made_};
  auto request = std::make_shared<PlanRequest>();
  request->fabric = facts_.fabric;
  found_.add_to(*request);
  request->intent = *std::move(asked);
  request->revision = plan.number;
  request->next_circuit = next_circuit;
  request->algorithm = facts_.algorithm;
  request->budget.steps = facts_.timings.plan_steps;
  request->budget.deadline = facts_.timings.plan_deadline;
  request->reason = "trial of: " + plan.reason;
  request->compare = plan.compare;
  request->unusable = unusable_.devices();
  request->may_leave_out = jobs_that_may_wait(desired_.intent(), jobs_);  // but what this change is about is planned
  if (const auto* change = std::get_if<OperatorChange>(&plan.purpose)) {
    std::erase(request->may_leave_out, change->job);
  }
  plans_.push_back(std::move(plan));
  sink.emit(MakePlan{std::move(request)});
  return std::nullopt;
}

std::vector<Requester> TentativePlans::withdraw(const std::string& principal) {
  std::vector<Requester> requesters;
  std::erase_if(plans_, [&](const TentativePlan& plan) {
    const auto* change = std::get_if<OperatorChange>(&plan.purpose);
    const bool is_its = change != nullptr && change->requester.principal == principal;
    if (is_its) {
      requesters.push_back(change->requester);
    }
    return is_its;
  });
  return requesters;
}

std::optional<Error> TentativePlans::costs_light(const PlanResult& made) const {
  const auto is_known = [this](const LeftOut& each) {
    const auto* present = confirmed_.present().get();
    return present != nullptr && std::any_of(present->left_out.begin(), present->left_out.end(),
                                             [&](const LeftOut& before) { return before.job == each.job; });
  };
  const auto is_lit = [this](JobId id) {
    return confirmed_.exists() &&
           std::ranges::find(confirmed_.plan().circuits, id, &Circuit::job) != confirmed_.plan().circuits.end();
  };
  const auto found = std::find_if(made.left_out.begin(), made.left_out.end(),
                                  [&](const LeftOut& each) { return !is_known(each) && (each.in_part || is_lit(each.job)); });
  return found == made.left_out.end() ? std::nullopt : std::optional(found->why);
}

std::optional<TentativeOutcome> TentativePlans::on_planned(const PlanOutcome& outcome, CircuitId next_circuit,
                                                           EffectSink& sink) {
  const auto it =
      std::find_if(plans_.begin(), plans_.end(), [&](const TentativePlan& each) { return each.number == outcome.revision; });
  if (it == plans_.end()) {
    return std::nullopt;
  }
  TentativePlan plan = std::move(*it);
  plans_.erase(it);
  const std::optional<Error> cost = outcome.result ? costs_light(**outcome.result) : std::nullopt;
  if (outcome.result && !cost) {
    return TentativeOutcome{std::move(plan), *outcome.result, outcome.elapsed};
  }
  plan.first_refusal = plan.first_refusal ? plan.first_refusal : cost ? cost : std::optional(without_number(outcome));
  ++plan.candidate;
  return begin(std::move(plan), next_circuit, sink);
}

}  // namespace loom
