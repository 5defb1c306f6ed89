// Live demand: what agents report of their nodes' traffic becomes, for a job that asked for it, a plan on trial; and, where
// that is worth its dark time, an intent like an operator's. docs/live_demand.md is its story.
#include <algorithm>
#include <array>
#include <cstdio>

#include "controller/control/controller.hpp"
#include "controller/plan/estimate.hpp"

namespace loom {
namespace {

/// How often demand is looked at: nothing follows it faster than within a second.
constexpr Duration kLook = std::chrono::milliseconds{200};

/// By which an alarm about a job is told from one about another: nodes have one job.
std::optional<NodeId> first_node(const std::vector<NodeId>& nodes) {
  const auto least = std::min_element(nodes.begin(), nodes.end());
  return least == nodes.end() ? std::nullopt : std::optional(*least);
}

std::string number(std::uint64_t value) { return std::to_string(value); }

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

/// Only light that stands, or that has been played to its end, is changed by anybody but its operator.
bool is_at_rest(const JobEntry& entry) { return entry.state == "played" || (entry.state == "lit" && entry.stages <= 1); }

}  // namespace

void Controller::on_traffic(NodeId node, const TrafficReport& report, Instant now) {
  NodeTraffic& known = traffic_[node];
  if (known.heard != Instant{} && report.number <= known.report.number) {
    return;  // a network overtook or doubled it
  }
  known = {report, now};
}

Duration Controller::dark_time() const { return dark_time_of(*options_.fabric, options_.timings); }

/// One job's reading and judgement; what is to be followed is put on trial, one job at a time.
void Controller::adapt_now(Instant now, EffectSink& sink) {
  if (now < adapt_at_) {
    return;
  }
  adapt_at_ = now + kLook;
  std::erase_if(watches_, [&](const auto& each) {
    const bool is_over = std::none_of(intent_.jobs.begin(), intent_.jobs.end(),
                                      [&](const Job& job) { return job.id == each.first && job.spec.adapt; });
    if (is_over && each.second.is_restless()) {
      alarms_.clear(AlarmCode::demand_unsteady, first_node(jobs_[each.first].nodes));
    }
    return is_over;
  });
  for (const Job& job : intent_.jobs) {
    if (job.spec.adapt && !job.nodes.empty()) {
      adapt_job(job, now, sink);
    }
  }
}

void Controller::adapt_job(const Job& job, Instant now, EffectSink& sink) {
  DemandWatch& watch = watches_.try_emplace(job.id, options_.adapt).first->second;
  settle_move(job, watch, now);
  const DemandReading reading = read_demand(job, traffic_, now, options_.adapt);
  const bool was_restless = watch.is_restless();
  const bool is_due = watch.judge(
      now, reading, {"job " + number(job.id.value), static_cast<std::uint32_t>(job.nodes.size()), &job.demand(), dark_time()});
  if (watch.is_restless_news()) {
    raise({AlarmCode::demand_unsteady, first_node(job.nodes), {}, watch.says(), "loom job show " + number(job.id.value)}, sink);
  } else if (was_restless && !watch.is_restless()) {
    alarms_.clear(AlarmCode::demand_unsteady, first_node(job.nodes));
  }
  const auto entry = jobs_.find(job.id);
  const bool is_free = is_idle() && trials_.empty() && entry != jobs_.end() && is_at_rest(entry->second);
  if (!is_due || !is_free) {
    return;
  }
  const bool is_pinned = std::any_of(intent_.pinned.begin(), intent_.pinned.end(),
                                     [&](const JobSchedule& schedule) { return schedule.job == job.id; });
  if (is_pinned || schedule_of(job.id) == nullptr) {
    watch.kept(now, is_pinned ? "its schedule is an operator's; kept" : "its schedule is not known; kept");
    return;
  }
  try_demand(job, watch, sink);
}

/// As `job change`, in the background: nothing of it is intent before it has been planned, verified and weighed.
void Controller::try_demand(const Job& job, DemandWatch& watch, EffectSink& sink) {
  Trial trial;
  trial.adapts = job.id;
  trial.reason = "job " + number(job.id.value) + " (" + job.spec.name + ") follows its measured demand";
  trial.ways = {[id = job.id, measured = watch.measured()](const Intent& intent) -> Result<Intent> {
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
  try_out(std::move(trial), sink);
}

/// Followed only where it is predicted better than what the job has now by the margin.
void Controller::follow_demand(const Trial& trial, const PlanResult& tried, Instant now, EffectSink& sink) {
  const auto found = watches_.find(*trial.adapts);
  if (found == watches_.end()) {
    return;  // the job has ended
  }
  DemandWatch& watch = found->second;
  const Weighed& weighed = *tried.weighed;
  if (!weighed.planned) {
    return watch.kept(now, "a plan for it cannot be predicted (" + weighed.why_not_planned + "); kept");
  }
  const double margin = options_.adapt.margin;
  if (weighed.present && seconds_of(*weighed.planned) > seconds_of(*weighed.present) * (1 - margin)) {
    return watch.kept(now, "an iteration takes " + in_seconds(*weighed.present) + " over the present light and " +
                               in_seconds(*weighed.planned) + " over a new plan, less than " + in_percent(margin) +
                               " better; kept");
  }
  if (!is_idle() || trial.before != intent_) {
    watch.cancel();  // something else came first: judged again
    return;
  }
  intent_ = tried.intent;
  follow_jobs(trial.before);
  watch.begin("followed by revision " + number(next_revision_.value) + ": an iteration takes " + in_seconds(*weighed.planned) +
              " over it, " +
              (weighed.present ? in_seconds(*weighed.present) + " over the light before"
                               : "over the light before it cannot be played (" + weighed.why_not_present + ")"));
  append(intent_record(), IntentAct{}, sink);
  want_plan(trial.reason, now, sink);
}

/// What was begun has come to rest: in light, or as it was.
void Controller::settle_move(const Job& job, DemandWatch& watch, Instant now) {
  const auto entry = jobs_.find(job.id);
  const bool is_over = watch.is_moving() && is_idle() && trials_.empty() && entry != jobs_.end() && is_at_rest(entry->second);
  if (!is_over) {
    return;
  }
  const auto ranks = static_cast<std::uint32_t>(job.nodes.size());
  if (demand_distance(job.demand(), watch.tried(), ranks) <= options_.adapt.tolerance) {
    watch.moved(now, watch.says());
  } else {
    watch.kept(now, "the revision for it did not reach light (loom schedule history); kept");
  }
}

void Controller::describe_demand_of(const Job& job, JobReport& row) const {
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
