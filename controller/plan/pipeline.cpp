// SPDX-License-Identifier: Apache-2.0
// The stages of planning in their order.
#include "controller/plan/pipeline.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "controller/plan/admission.hpp"
#include "controller/plan/by_hand.hpp"
#include "controller/plan/compare_light.hpp"
#include "controller/plan/light/light_scope.hpp"
#include "controller/plan/lower/lower.hpp"
#include "controller/plan/make_before_break.hpp"
#include "controller/plan/reconcile/adoption.hpp"
#include "controller/plan/unusable.hpp"
#include "controller/plan/verify/verify.hpp"
#include "controller/schedule/architecture.hpp"
#include "controller/schedule/estimate.hpp"
#include "controller/schedule/placement.hpp"
#include "controller/workload/settings.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string describe(const std::vector<PlanViolation>& violations) {
  std::string text;
  std::string_view rule;
  for (const PlanViolation& violation : violations) {
    if (violation.rule != rule) {
      text += format_text("{}{}: {}", text.empty() ? "" : "; ", violation.rule, violation.evidence);
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

/// But for light that the intent wants there: an operator set it, or it was adopted.
std::vector<ObservedLight> unwanted(const std::vector<ObservedLight>& observed, const Intent& intent) {
  std::vector<ObservedLight> rest;
  std::copy_if(observed.begin(), observed.end(), std::back_inserter(rest), [&](const ObservedLight& light) {
    return std::none_of(intent.overrides.begin(), intent.overrides.end(),
                        [&](const DeviceOverride& each) { return each.device == light.laser && emits(each.setpoint); });
  });
  return rest;
}

bool may_darken_any(const std::vector<ObservedLight>& observed) {
  return std::any_of(observed.begin(), observed.end(), [](const ObservedLight& light) { return light.may_darken; });
}

/// The base as it is for a commit: light that nobody can take away is none of its own, and stays (see LowerRequest::occupied).
/// `taken_away`: the rest of it shines, and goes dark with what changes.
Plan base_beside(const Fabric& fabric, const Plan* base, const std::vector<ObservedLight>& observed, bool taken_away) {
  const std::vector<const Observation*> nothing(fabric.devices.size(), nullptr);
  Plan plan = base != nullptr ? *base : plan_as_found(fabric, nothing);
  for (const ObservedLight& each : observed) {
    for (DevicePlan& device : plan.nodes.edit(fabric.device(each.laser).agent.value).devices) {
      if (device.device != each.laser) {
        continue;
      }
      if (!each.may_darken) {
        device.timeline = {{Duration{}, Duration{}, kForever, darkened(Setpoint{each.light})}};
      } else if (taken_away) {
        device.timeline = {{Duration{}, Duration{}, kForever, each.light}};
      }
    }
  }
  return plan;
}

/// Whoever reads the refusal learns what may be in the way.
Error beside_light(const Fabric& fabric, const std::vector<ObservedLight>& occupied, Error error) {
  constexpr std::size_t kNamed = 3;
  for (std::size_t i = 0; i < std::min(occupied.size(), kNamed); ++i) {
    error.message += (i == 0 ? "; beside light that is there and that nobody can take away now: " : ", ") +
                     fabric.device(occupied[i].laser).name;
  }
  error.message += occupied.size() > kNamed ? ", ..." : "";
  return error;
}

/// What a job asks of its architecture is something that it has.
Result<void> check_job(const Job& job, const Architecture& architecture, const Architectures& known) {
  const std::string name = format_text("job {} ({})", job.id.value, job.spec.name);
  if (job.spec.transmit == Transmit::grants && !architecture.leaves_light_to_grants) {
    std::string can;
    for (const Architecture* each : known.all()) {
      can += each->leaves_light_to_grants ? (can.empty() ? "" : " or ") + std::string(each->name) : "";
    }
    return fail(ErrorCode::unsupported,
                format_text("{}: transmit grants needs the scheduler {}, this lab plans with {}; nearest: transmit slots", name,
                            can, architecture.name));
  }
  std::vector<std::string_view> keys;
  for (const JobOption& option : architecture.options) {
    keys.push_back(option.key);
  }
  if (const auto lawful = check_keys(job.spec.options, format_text("the scheduler {}", architecture.name), keys); !lawful) {
    return fail(lawful.error().code, format_text("{}: {}", name, lawful.error().message));
  }
  if (architecture.check_options != nullptr) {
    if (const auto lawful = architecture.check_options(job.spec); !lawful) {
      return fail(lawful.error().code, format_text("{}: {}", name, lawful.error().message));
    }
  }
  return {};
}

/// How many ways in which jobs may stand in their stages beside each other are looked at when one comes.
constexpr std::size_t kStandingsTried = 16;

/// By job of the schedule: the stages that jobs may stand in together, without those that they are to stand in now. Where there
/// are too many, each job goes through its own while the others stay.
std::vector<std::vector<std::uint32_t>> other_standings(const std::vector<std::uint32_t>& now, const Schedule& schedule) {
  std::vector<std::vector<std::uint32_t>> standings;
  std::size_t all = 1;
  for (const JobSchedule& job : schedule.jobs) {
    all = std::min(all * std::max<std::size_t>(job.stages.size(), 1), kStandingsTried + 2);
  }
  if (all <= kStandingsTried + 1) {
    std::vector<std::uint32_t> standing(now.size(), 0);
    for (std::size_t tried = 0; tried < all; ++tried) {
      if (standing != now) {
        standings.push_back(standing);
      }
      for (std::size_t i = 0; i < standing.size() && ++standing[i] >= schedule.jobs[i].stages.size(); ++i) {
        standing[i] = 0;
      }
    }
    return standings;
  }
  for (std::size_t i = 0; i < now.size(); ++i) {
    for (std::uint32_t stage = 0; stage < schedule.jobs[i].stages.size() && standings.size() < kStandingsTried; ++stage) {
      if (stage != now[i]) {
        standings.push_back(now);
        standings.back()[i] = stage;
      }
    }
  }
  return standings;
}

/// One attempt after the other at a request; what they share is found once.
class Pipeline {
 public:
  Pipeline(const PlanRequest& request, PlanMemory& memory, Scheduler& scheduler, const Architecture* own)
      : request_(request),
        memory_(memory),
        fabric_(*request.fabric),
        scheduler_(scheduler),
        own_(own),
        base_(request.base.get()) {
    if (base_ != nullptr && !(found_ = found_beside(*base_, request.intent)).empty()) {
      base_ = &there_.emplace(as_found(fabric_, *base_, found_));
    }
    unusable_.emplace(fabric_, base_, request.unusable, request.fire_skew);
  }

  Result<std::shared_ptr<const PlanResult>> attempt(const Intent& wanted, std::uint32_t place_tried) const {
    auto intent = place(fabric_, own_, wanted, {request_.unusable, place_tried, &request_.intent});
    if (!intent) {
      return std::unexpected(std::move(intent).error());
    }
    Demand demand = estimate(*intent, base_, request_.darkened.get());
    LOOM_TRY(check_stop("its demand was known"));
    const Demand pinned = take_pinned(demand, *intent);
    auto schedule = scheduler_(fabric_, demand, *intent, request_.budget);
    if (!schedule) {
      return std::unexpected(std::move(schedule).error());
    }
    LOOM_TRY(add_pinned(*schedule, *intent, pinned, own_));
    std::vector<LeftOut> left_out = unusable_->leave_out(*intent, *schedule);
    auto result = judged(*intent, *std::move(schedule));
    if (!result) {
      return std::unexpected(std::move(result).error());
    }
    LOOM_TRY(check_what_follows(wanted, *intent, result->schedule));
    result->intent = *std::move(intent);
    if (auto first = before_it_breaks(*result)) {
      result = *std::move(first);
    }
    result->left_out = std::move(left_out);
    result->predicted = predict_laid(fabric_, *result);
    if (request_.compare) {
      result->compared = compare(fabric_, *request_.compare, *result);
    }
    return std::make_shared<const PlanResult>(*std::move(result));
  }

 private:
  /// Who comes has light beside every stage that others go on to, and when lasers are on again. Else a job that runs would lose
  /// its next stage to who came after it. What would fail without who comes as well is none of its doing.
  Result<void> check_what_follows(const Intent& wanted, const Intent& placed, const Schedule& schedule) const {
    const auto comes = [&](JobId id) {
      const auto job = std::ranges::find(wanted.jobs, id, &Job::id);
      return job != wanted.jobs.end() && job->nodes.empty();
    };
    if (std::ranges::none_of(schedule.jobs, comes, &JobSchedule::job)) {
      return {};
    }
    std::vector<std::uint32_t> now;
    for (const JobSchedule& each : schedule.jobs) {
      now.push_back(std::ranges::find(placed.jobs, each.job, &Job::id)->stage);
    }
    auto standings = other_standings(now, schedule);
    if (placed.lasers_off) {
      standings.insert(standings.begin(), now);
    }
    if (standings.empty()) {
      return {};
    }
    PlanMemory memory = memory_.for_trials();
    const Pipeline trial(request_, memory, scheduler_, own_);
    Intent lit = placed;
    lit.lasers_off = false;
    for (const std::vector<std::uint32_t>& standing : standings) {
      for (std::size_t i = 0; i < standing.size(); ++i) {
        std::ranges::find(lit.jobs, schedule.jobs[i].job, &Job::id)->stage = standing[i];
      }
      auto fits = trial.judged(lit, schedule);
      if (!fits && !(request_.budget.stop.stop_requested()) && trial.fits_without(comes, lit, schedule)) {
        return fail(fits.error().code, beside_stages(standing, now, schedule) + fits.error().message);
      }
      LOOM_TRY(check_stop("the stages that follow were looked at"));
    }
    return {};
  }

  template <class Comes>
  bool fits_without(const Comes& comes, Intent intent, Schedule schedule) const {
    std::erase_if(intent.jobs, [&](const Job& job) { return comes(job.id); });
    std::erase_if(schedule.jobs, [&](const JobSchedule& job) { return comes(job.job); });
    return judged(intent, std::move(schedule)).has_value();
  }

  /// "with job 1 in stage 2: "
  static std::string beside_stages(const std::vector<std::uint32_t>& standing, const std::vector<std::uint32_t>& now,
                                   const Schedule& schedule) {
    std::string text;
    for (std::size_t i = 0; i < standing.size(); ++i) {
      if (standing[i] != now[i]) {
        text +=
            format_text("{}job {} in stage {}", text.empty() ? "with " : " and ", schedule.jobs[i].job.value, standing[i] + 1);
      }
    }
    return text.empty() ? "when lasers are on: " : text + ": ";
  }

  struct Judged {
    Lowered lowered;
    Verdict verdict;
  };

  Result<void> check_stop(std::string_view since) const {
    return request_.budget.stop.stop_requested()
               ? Result<void>{fail(ErrorCode::timed_out, format_text("planning was stopped when {}", since))}
               : Result<void>{};
  }

  /// The schedule as setpoints, with what operators set and what was found beside it.
  Result<Lowered> set_all(const LowerRequest& order) const {
    auto lowered = memory_.lower(order);
    if (!lowered) {
      return lowered;
    }
    LOOM_TRY(apply_overrides(fabric_, order.intent, order.base, lowered->plan));
    for (const DeviceOverride& each : found_) {
      take_part(fabric_.device(each.device).agent, lowered->plan);  // it receives what its device shall be from now on
    }
    LOOM_TRY(check_maintenance(fabric_, order.intent, lowered->plan));
    unusable_->leave_alone(lowered->plan);
    return lowered;
  }

  /// A plan that verify has nothing against.
  Result<Judged> lower_and_verify(LowerRequest& order) const {
    LOOM_TRY(check_stop("its circuits were scheduled"));
    auto lowered = set_all(order);
    if (!lowered) {
      return std::unexpected(std::move(lowered).error());
    }
    LOOM_TRY(check_stop("its setpoints were known"));
    const auto judge = [&] { return memory_.examine(lowered->plan, order.base, order.intent, order.occupied); };
    Verdict verdict = judge();
    if (!verdict.disturbed.empty()) {  // goes dark in good order, and counts as touched
      order.darken = verdict.disturbed;
      lowered = set_all(order);
      if (!lowered) {
        return std::unexpected(std::move(lowered).error());
      }
      verdict = judge();
    }
    LOOM_TRY(check_fire_skew(fabric_, lowered->plan, request_.fire_skew));
    if (!verdict.violations.empty()) {
      return fail(ErrorCode::unverified,
                  format_text("plan of revision {} is refused: {}", request_.revision.value, describe(verdict.violations)));
    }
    return Judged{*std::move(lowered), std::move(verdict)};
  }

  /// Beside the light that was observed where there is room; else what of it can be darkened goes dark first.
  Result<Judged> beside_observed(LowerRequest order) const {
    const std::vector<ObservedLight> observed = unwanted(request_.observed, order.intent);
    if (observed.empty()) {
      return lower_and_verify(order);
    }
    order.occupied = observed;
    Plan beside = base_beside(fabric_, base_, observed, false);
    order.base = &beside;
    auto judged = lower_and_verify(order);
    if (!judged && may_darken_any(observed)) {
      beside = base_beside(fabric_, base_, observed, true);
      order.darken.clear();
      std::erase_if(order.occupied, [](const ObservedLight& light) { return light.may_darken; });
      judged = lower_and_verify(order);
    }
    return judged ? std::move(judged) : std::unexpected(beside_light(fabric_, order.occupied, std::move(judged).error()));
  }

  /// Everything but the intent.
  Result<PlanResult> judged(const Intent& intent, Schedule schedule) const {
    LowerRequest order{fabric_, schedule, intent, base_, request_.revision, request_.next_circuit};
    order.ways = memory_.ways();
    order.fire_skew = request_.fire_skew;
    order.stop = request_.budget.stop;
    order.frozen = unusable_->frozen();
    order.lost = unusable_->lost();
    order.others = unusable_->occupied();
    order.lingering = unusable_->lingering(intent, schedule);
    auto made = beside_observed(std::move(order));
    if (!made) {
      return std::unexpected(std::move(made).error());
    }
    made->lowered.plan.certificate.light = made->verdict.light;
    name_circuits(schedule, intent, made->lowered.ids);
    PlanResult result;
    result.plan = std::move(made->lowered.plan);
    result.schedule = std::move(schedule);
    result.next_circuit = made->lowered.next_circuit;
    return result;
  }

  /// The plan before `target` in which what it replaces is lit beside it. Nothing: nothing is; or not all that should stays
  /// lit, or nobody knows where some light is.
  std::optional<PlanResult> before_it_breaks(const PlanResult& target) const {
    if (!request_.make_before_break || base_ == nullptr || !unusable_->empty() || !request_.observed.empty()) {
      return std::nullopt;
    }
    auto bridge = bridge_between(fabric_, *base_, target);
    if (!bridge) {
      return std::nullopt;
    }
    auto first = judged(target.intent, std::move(bridge->schedule));
    if (!first) {
      return std::nullopt;
    }
    const auto has = [](const PlanResult& result, CircuitId id) {
      return std::ranges::binary_search(result.plan.circuits, id, {}, &Circuit::id);
    };
    const auto stays = [&](const Circuit& circuit) { return !has(target, circuit.id) || has(*first, circuit.id); };
    if (!std::ranges::all_of(bridge->held, [&](CircuitId id) { return has(*first, id); }) ||
        !std::ranges::all_of(base_->circuits, stays)) {
      return std::nullopt;
    }
    first->intent = target.intent;
    return *std::move(first);
  }

  const PlanRequest& request_;
  PlanMemory& memory_;
  const Fabric& fabric_;
  Scheduler& scheduler_;
  const Architecture* own_;  ///< the fabric's; null: of a kind that nobody knows
  const Plan* base_;
  std::vector<DeviceOverride> found_;
  std::optional<Plan> there_;  ///< what was adopted is there already: against it nothing has to move, and nothing goes dark
  std::optional<UnusableDevices> unusable_;
};

}  // namespace

Result<std::shared_ptr<const PlanResult>> make_plan(const Architectures& known, const PlanRequest& request,
                                                    PlanMemory& memory) {
  if (!request.fabric) {
    return fail(ErrorCode::invalid_argument, format_text("plan request of revision {}: no fabric", request.revision.value));
  }
  const std::string& own = request.fabric->architecture;
  auto architecture = known.find_scheduler(request.algorithm.empty() ? own : request.algorithm);
  if (!architecture) {
    return std::unexpected(std::move(architecture).error());
  }
  for (const Job& job : request.intent.jobs) {
    LOOM_TRY(check_job(job, **architecture, known));
  }
  memory.learn(request.fabric);
  const Pipeline pipeline(request, memory, *(*architecture)->schedule, known.find(own));
  return admit(request, [&](const Intent& intent, std::uint32_t place_tried) { return pipeline.attempt(intent, place_tried); });
}

Result<std::shared_ptr<const PlanResult>> make_plan(const Architectures& known, const PlanRequest& request) {
  PlanMemory memory = PlanMemory::of_one_plan();
  return make_plan(known, request, memory);
}

}  // namespace loom
