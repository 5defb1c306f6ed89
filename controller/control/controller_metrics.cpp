// SPDX-License-Identifier: Apache-2.0
// Names and meanings of the controller's metrics.
#include "controller/control/controller_metrics.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "controller/plan/plan_summary.hpp"

namespace loom {
namespace {

void add_agents(MetricList& list, const StatusReport& status) {
  constexpr const char* kName = "lightloom_agents";
  constexpr const char* kHelp = "Agents of the fabric by what the controller last heard of them.";
  list.gauge(kName, kHelp, status.live, {{"state", "live"}});
  list.gauge(kName, kHelp, status.suspect, {{"state", "suspect"}});
  list.gauge(kName, kHelp, status.dead, {{"state", "dead"}});
}

void add_drift(MetricList& list, const DriftCounts& drift) {
  constexpr const char* kName = "lightloom_drift_devices";
  constexpr const char* kHelp = "Devices whose last reading differs from what is desired, by how.";
  list.gauge(kName, kHelp, drift.missing, {{"class", "missing"}});
  list.gauge(kName, kHelp, drift.foreign, {{"class", "foreign"}});
  list.gauge(kName, kHelp, drift.detuned, {{"class", "detuned"}});
  list.gauge(kName, kHelp, drift.dim, {{"class", "dim"}});
  list.gauge(kName, kHelp, drift.stale, {{"class", "stale"}});
}

constexpr CommitOutcome kEnds[] = {CommitOutcome::committed, CommitOutcome::returned, CommitOutcome::abandoned,
                                   CommitOutcome::refused};

}  // namespace

void add_metrics(MetricList& list, const StatusReport& status) {
  list.gauge("lightloom_controller_term", "Fencing term of this controller.", static_cast<double>(status.term.value));
  list.gauge("lightloom_confirmed_revision", "Revision of the plan that was confirmed last.",
             static_cast<double>(status.revision.value));
  list.gauge("lightloom_nodes", "Nodes of the fabric.", status.nodes);
  add_agents(list, status);
  list.gauge("lightloom_jobs", "Jobs that have not ended.", status.jobs);
  list.gauge("lightloom_circuits", "Circuits of the confirmed revision.", status.circuits);
  list.gauge("lightloom_lasers_off", "1: an operator's order keeps all lasers dark.", status.lasers_off ? 1 : 0);
  add_drift(list, status.drift);
  list.gauge("lightloom_alarms_unacknowledged", "Alarms that stand and that nobody has acknowledged.", status.alarms);
  for (std::size_t kind = 0; kind < kRefusalKinds; ++kind) {
    list.counter("lightloom_refusals_total", "What came in and was not followed, by why.", status.refusals[kind],
                 {{"kind", std::string(to_string(static_cast<RefusalKind>(kind)))}});
  }
}

void add_metrics(MetricList& list, const Jobs& jobs, const Intent& wanted, Instant now) {
  for (const Job& job : wanted.jobs) {
    const JobRecord* record = jobs.find(job.id);
    if (record == nullptr) {
      continue;  // not yet taken in
    }
    list.seconds("lightloom_dark_time_seconds_total",
                 "Time for which a job was wanted and had no light of its stage, as far as the controller knows.",
                 record->dark.until(now), {{"job", std::to_string(job.id.value)}});
  }
}

void add_schedule_gap(MetricList& list, const PlanResult* confirmed) {
  const Schedule* schedule = confirmed == nullptr ? nullptr : &confirmed->schedule;
  if (const auto gap = schedule == nullptr ? std::nullopt : gap_of(schedule->objective, schedule->bound)) {
    list.gauge("lightloom_schedule_gap_ratio",
               "Confirmed schedule: its seconds on the wire over those that no schedule is better than, less 1.", *gap,
               {{"algorithm", schedule->algorithm}});
  }
}

void CommitMeter::follow(const Event& event, const std::deque<CommitReport>& history) {
  if (const auto* planned = std::get_if<Planned>(&event)) {
    plans_.add(planned->outcome.elapsed);
  }
  const auto seen = [](const CommitReport& report) { return Seen{report.revision, report.started, report.outcome}; };
  std::size_t first = history.size();
  while (first > 0 && (!last_ || seen(history[first - 1]) != *last_)) {
    --first;
  }
  for (std::size_t i = first; i < history.size(); ++i) {
    ++ended_[history[i].outcome];
    resent_ += history[i].resent;
    observe(history[i]);
  }
  if (!history.empty()) {
    last_ = seen(history.back());
  }
}

void CommitMeter::observe(const CommitReport& report) {
  if (report.outcome == CommitOutcome::committed) {
    stages_.prepare.add(report.prepare);
    stages_.arm.add(report.arm);
    stages_.wait.add(report.wait);
    stages_.darken.add(report.darken);
    stages_.move.add(report.move);
    stages_.relight.add(report.relight);
    stages_.total.add(report.total);
  }
  if (report.lateness.count > 0) {
    fire_skew_.add(report.lateness.max - report.lateness.min);
  }
  if (report.dark.count > 0) {
    dark_.add(report.dark.max);
  }
}

void CommitMeter::add_metrics(MetricList& list) const {
  for (const CommitOutcome outcome : kEnds) {
    const auto ended = ended_.find(outcome);
    list.counter("lightloom_commit_total", "Commits that ended, by how.", ended == ended_.end() ? 0 : ended->second,
                 {{"outcome", std::string(to_string(outcome))}});
  }
  list.counter("lightloom_commit_messages_resent_total",
               "Messages of commits that were repeated because no answer came in time.", resent_);
  const std::pair<const char*, const DurationHistogram&> stages[] = {
      {"prepare", stages_.prepare}, {"arm", stages_.arm},         {"wait", stages_.wait},  {"darken", stages_.darken},
      {"move", stages_.move},       {"relight", stages_.relight}, {"total", stages_.total}};
  for (const auto& [stage, durations] : stages) {
    list.histogram("lightloom_commit_duration_seconds", "Committed revisions: time of each stage.", durations,
                   {{"stage", stage}});
  }
  list.histogram("lightloom_schedule_compute_seconds",
                 "Worker time to schedule, lower and verify a plan, whatever became of it.", plans_,
                 {{"algorithm", algorithm_}});
  list.histogram("lightloom_fire_skew_seconds", "A commit's firing: lateness of its latest agent less that of its earliest.",
                 fire_skew_);
  list.histogram("lightloom_commit_dark_seconds", "Longest that one device of a commit was dark, blanked to light proven.",
                 dark_);
}

}  // namespace loom
