// SPDX-License-Identifier: Apache-2.0
// Looked at every so often, tried when it is steady, followed when its plan is predicted better by a margin.
#include "controller/control/jobs/demand_follower.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "core/fabric/dark_time.hpp"
#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// How often demand is looked at: nothing follows it faster than within a second.
constexpr Duration kLook = std::chrono::milliseconds{200};

/// By which an alarm about a job is told from one about another: nodes have one job.
std::optional<NodeId> first_node(const std::vector<NodeId>& nodes) {
  const auto least = std::min_element(nodes.begin(), nodes.end());
  return least == nodes.end() ? std::nullopt : std::optional(*least);
}

std::string in_seconds(Duration duration) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.4g s", seconds_of(duration));
  return text.data();
}

std::string in_percent(double part) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.3g %%", 100 * part);
  return text.data();
}

}  // namespace

DemandFollower::DemandFollower(const DemandFollowerParts& parts, const AdaptPolicy& policy)
    : facts_(parts.facts),
      desired_(parts.desired),
      confirmed_(parts.confirmed),
      journal_(parts.journal),
      alarms_(parts.alarms),
      jobs_(parts.jobs),
      numbers_(parts.numbers),
      commits_(parts.commits),
      tentative_(parts.tentative),
      policy_(policy) {}

void DemandFollower::keep(NodeId node, const TrafficReport& report) {
  NodeTraffic& known = traffic_[node];
  const bool is_lately = known.received != Instant{} && facts_.now - known.received < Duration{limits::kOvertakenNs};
  if (is_lately && report.number <= known.report.number) {
    return;  // a network overtook or doubled it; one that comes later shows that the higher number was none of this agent's
  }
  known = {report, facts_.now};
}

Duration DemandFollower::dark_time() const { return dark_time_of(*facts_.fabric, facts_.timings); }

/// Only light that stands, or whose iteration begins, is changed by anybody but its operator.
bool DemandFollower::is_at_rest(JobId job) const {
  const JobRecord* record = jobs_.find(job);
  return commits_.is_idle() && tentative_.is_empty() && record != nullptr && is_in_light(record->state) &&
         jobs_.stage_of(job) == 0;
}

void DemandFollower::look(EffectSink& sink) {
  if (facts_.now < look_at_) {
    return;
  }
  look_at_ = facts_.now + kLook;
  std::erase_if(watches_, [&](const auto& each) {
    const Job* job = desired_.job(each.first);
    const bool is_over = job == nullptr || !job->spec.adapt;
    if (is_over && each.second.is_restless()) {
      alarms_.clear(AlarmCode::demand_unsteady, first_node(jobs_.facts_of(each.first).nodes));
    }
    return is_over;
  });
  for (const Job& job : desired_.intent().jobs) {
    if (job.spec.adapt && !job.nodes.empty()) {
      look_at(job, sink);
    }
  }
}

void DemandFollower::look_at(const Job& job, EffectSink& sink) {
  DemandWatch& watch = watches_.try_emplace(job.id, policy_).first->second;
  settle(job, watch);
  const DemandReading reading = read_demand(job, traffic_, facts_.now, policy_);
  const bool was_restless = watch.is_restless();
  const bool is_due = watch.judge(
      facts_.now, reading,
      {format_text("job {}", job.id.value), static_cast<std::uint32_t>(job.nodes.size()), &job.demand(), dark_time()});
  if (watch.is_restless_news()) {
    alarms_.raise(
        {AlarmCode::demand_unsteady, first_node(job.nodes), {}, watch.says(), format_text("loom job show {}", job.id.value)},
        facts_.now, sink);
  } else if (was_restless && !watch.is_restless()) {
    alarms_.clear(AlarmCode::demand_unsteady, first_node(job.nodes));
  }
  if (!is_due || !is_at_rest(job.id)) {
    return;
  }
  const bool is_pinned = desired_.is_pinned(job.id);
  if (is_pinned || confirmed_.schedule_of(job.id) == nullptr) {
    watch.kept(facts_.now, is_pinned ? "its schedule is an operator's; kept" : "its schedule is not known; kept");
    return;
  }
  begin(job, watch, sink);
}

/// As `job change`, in the background: nothing of it is intent before it has been planned, verified and weighed.
void DemandFollower::begin(const Job& job, DemandWatch& watch, EffectSink& sink) {
  TentativePlan plan;
  plan.purpose = DemandChange{job.id};
  plan.reason = format_text("job {} ({}) follows its measured demand", job.id.value, job.spec.name);
  plan.compare = ComparisonRequest{job.id, *confirmed_.schedule_of(job.id), dark_time()};
  plan.candidates = {[id = job.id, measured = watch.measured()](const Intent& intent) -> Result<Intent> {
    Intent with = intent;
    const auto found = std::find_if(with.jobs.begin(), with.jobs.end(), [id](const Job& each) { return each.id == id; });
    if (found == with.jobs.end()) {
      return fail(ErrorCode::not_found, "the job has ended");
    }
    const bool is_as_declared = found->spec.collectives == measured;
    found->measured = is_as_declared ? std::vector<Collective>{} : measured;
    found->stage = 0;
    return with;
  }};
  watch.begin("a plan for the measured demand is on trial");
  if (const auto refused = tentative_.begin(std::move(plan), numbers_.next_circuit(), sink)) {
    on_tried(*refused, sink);
  }
}

/// Followed only where it is predicted better than what the job has now by the margin.
void DemandFollower::on_tried(const TentativeOutcome& outcome, EffectSink& sink) {
  const auto found = watches_.find(std::get<DemandChange>(outcome.plan.purpose).job);
  if (found == watches_.end()) {
    return;  // the job has ended
  }
  DemandWatch& watch = found->second;
  if (!outcome.result) {
    return watch.kept(facts_.now, format_text("there is no plan for it ({}); kept", outcome.result.error().message));
  }
  const PlanResult& tried = **outcome.result;
  const Comparison& compared = *tried.compared;
  if (!compared.planned) {
    return watch.kept(facts_.now, format_text("a plan for it cannot be predicted ({}); kept", compared.why_not_planned));
  }
  if (compared.present && seconds_of(*compared.planned) > seconds_of(*compared.present) * (1 - policy_.margin)) {
    return watch.kept(
        facts_.now,
        format_text("an iteration takes {} over the present light and {} over a new plan, less than {} better; kept",
                    in_seconds(*compared.present), in_seconds(*compared.planned), in_percent(policy_.margin)));
  }
  if (!commits_.is_idle() || outcome.plan.before != desired_.intent()) {
    return watch.cancel();  // something else came first: judged again
  }
  desired_.replace(tried.intent);
  jobs_.follow(outcome.plan.before, numbers_.next());
  watch.begin(format_text(
      "followed by revision {}: an iteration takes {} over it, {}", numbers_.next().value, in_seconds(*compared.planned),
      compared.present ? in_seconds(*compared.present) + " over the light before"
                       : format_text("over the light before it cannot be played ({})", compared.why_not_present)));
  journal_.append(desired_.record(), PlanAct{}, sink);
  commits_.want_plan(outcome.plan.reason, sink);
}

/// What was begun has come to rest: in light, or as it was.
void DemandFollower::settle(const Job& job, DemandWatch& watch) {
  if (!watch.is_moving() || !is_at_rest(job.id)) {
    return;
  }
  const auto ranks = static_cast<std::uint32_t>(job.nodes.size());
  if (demand_distance(job.demand(), watch.tried(), ranks) <= policy_.tolerance) {
    watch.moved(facts_.now, watch.says());
  } else {
    watch.kept(facts_.now, "the revision for it did not reach light (loom schedule history); kept");
  }
}

void DemandFollower::describe(const Job& job, JobReport& row) const {
  const auto ranks = static_cast<std::uint32_t>(job.nodes.size());
  row.adapts = job.spec.adapt;
  row.declared = describe_demand(job.spec.collectives, ranks);
  row.made_for = job.measured.empty() ? "declared" : "measured";
  const auto watch = watches_.find(job.id);
  if (watch != watches_.end()) {
    row.measured = watch->second.measured().empty() ? std::string() : describe_demand(watch->second.measured(), ranks);
    row.decision = watch->second.says();
  }
}

}  // namespace loom
