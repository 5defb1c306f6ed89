// Names and meanings of the controller's metrics.
#include "controller/control/controller_metrics.hpp"

#include <cstddef>
#include <string>

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

void CommitMeter::follow(const std::deque<CommitReport>& history) {
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

void CommitMeter::observe(const CommitReport& report) const {
  if (report.outcome == CommitOutcome::refused) {
    return;  // no agent was asked
  }
  const std::pair<std::string_view, Duration> stages[] = {
      {"prepare", report.prepare}, {"arm", report.arm},         {"wait", report.wait},  {"darken", report.darken},
      {"move", report.move},       {"relight", report.relight}, {"total", report.total}};
  for (const auto& [stage, duration] : stages) {
    if (observers_.stage && report.outcome == CommitOutcome::committed) {
      observers_.stage(stage, duration);
    }
  }
  if (observers_.plan) {
    observers_.plan(report.plan);
  }
  if (observers_.fire_skew && report.lateness.count > 0) {
    observers_.fire_skew(report.lateness.max - report.lateness.min);
  }
  if (observers_.dark && report.dark.count > 0) {
    observers_.dark(report.dark.max);
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
}

}  // namespace loom
