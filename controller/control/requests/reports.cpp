// SPDX-License-Identifier: Apache-2.0
// Rows made from state, cut to the page that was asked for.
#include "controller/control/requests/reports.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/control/requests/iteration_text.hpp"
#include "controller/control/requests/report_page.hpp"
#include "controller/plan/explain.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

template <class Rows>
bool contains(const Rows& sorted, NodeId node) {
  return std::binary_search(sorted.begin(), sorted.end(), node);
}

}  // namespace

StatusReport Reports::status() const {
  const Intent& intent = from_.desired.intent();
  StatusReport report;
  report.term = from_.facts.header.term;
  report.revision = from_.confirmed.revision();
  report.fabric = from_.facts.fabric->name;
  report.nodes = static_cast<std::uint32_t>(from_.sessions.size());
  for (const Node& node : from_.facts.fabric->nodes) {
    switch (from_.sessions[node.id].state()) {
      case AgentSessionState::live:
        ++report.live;
        break;
      case AgentSessionState::suspect:
        ++report.suspect;
        break;
      default:
        ++report.dead;
        break;
    }
  }
  report.jobs = static_cast<std::uint32_t>(intent.jobs.size());
  if (from_.confirmed.exists()) {
    report.circuits = static_cast<std::uint32_t>(from_.confirmed.plan().circuits.size());
    report.certificate = named(from_.confirmed.plan().certificate, *from_.facts.fabric);
  }
  report.lasers_off = intent.lasers_off;
  report.malformed = from_.refusals.dishonest();
  report.refusals = from_.refusals.counts();
  report.keyring_digest = from_.facts.keyring_digest;
  report.alarms = from_.alarms.open_count();
  report.drift = from_.reconciler.counts();
  if (const auto& probation = from_.desired.probation()) {
    report.awaiting_confirm = probation->revision;
    report.confirm_left = std::max(Duration{}, probation->deadline - from_.facts.now);
  }
  if (const FabricCommit* commit = from_.commits.under_way()) {
    report.stage = commit->stage();
    report.under_way = commit->revision();
    report.stage_done = commit->done();
    report.stage_total = commit->total();
  } else if (const auto planning = from_.commits.planning()) {
    report.stage = CommitState::planning;
    report.under_way = *planning;
  }
  return report;
}

/// Circuits first, then what plans do without.
ReportPage<CircuitReport> Reports::circuit_rows(const Query& query) const {
  if (!from_.confirmed.exists() || from_.confirmed.intent().lasers_off) {
    return {};
  }
  Page<CircuitReport> page(query);
  std::vector<std::pair<Circuit, std::uint32_t>> wanted;  // as many as a page can hold at most; measured together
  std::uint32_t total = 0;
  const auto& jobs = from_.confirmed.present()->schedule.jobs;
  for (const JobSchedule& job : jobs) {
    const std::uint32_t stage = from_.jobs.stage_of(job.job);
    for (std::uint32_t slot = 0; stage < job.stages.size() && slot < job.stages[stage].timeslots.size(); ++slot) {
      for (const Circuit& circuit : job.stages[stage].timeslots[slot].circuits) {
        if (is_wanted(query, circuit.id.value) && total++ >= query.offset && wanted.size() <= kPageBytes / kCircuitBytes) {
          wanted.emplace_back(circuit, slot);
        }
      }
    }
  }
  const std::uint32_t first = std::min(total, query.offset);
  std::vector<CircuitReport> measured = from_.light.reports_of(wanted);
  for (std::uint32_t i = 0; i < total; ++i) {
    page.add(query.id.value_or(0), [&] { return std::move(measured[i - first]); });
  }
  for (const LeftOut& each : from_.confirmed.present()->left_out) {
    const bool is_named = !query.id.has_value() && each.in_part &&
                          std::any_of(jobs.begin(), jobs.end(), [&](const JobSchedule& job) { return job.job == each.job; });
    for (std::size_t i = 0; is_named && i < each.circuits.size(); ++i) {
      page.add(0, [&] { return report_of(each, each.circuits[i]); });
    }
  }
  return page.take();
}

/// What is confirmed, whether or not lasers are off for the moment.
ReportPage<SchedulePart> Reports::schedule_rows(const Query& query) const {
  if (!from_.confirmed.exists()) {
    return {};
  }
  Page<SchedulePart> page(query);
  for (const JobSchedule& job : from_.confirmed.present()->schedule.jobs) {
    if (is_wanted(query, job.job.value)) {
      for (const ScheduleCut& cut : cuts_of(job)) {
        page.add(job.job.value, [&] { return part_of(job, cut); });
      }
    }
  }
  return page.take();
}

ReportPage<NodeReport> Reports::node_rows(const Query& query) const {
  const Intent& intent = from_.desired.intent();
  std::vector<std::vector<JobId>> jobs(from_.sessions.size());
  for (const Job& job : intent.jobs) {
    for (const NodeId node : job.nodes) {
      jobs[node.value].push_back(job.id);
    }
  }
  Page<NodeReport> page(query);
  for (const Node& node : from_.facts.fabric->nodes) {
    page.add(node.id.value, [&] {
      const AgentSession& session = from_.sessions[node.id];
      const bool was_received = session.state() != AgentSessionState::absent;
      return NodeReport{node.id,
                        node.name,
                        std::string(to_string(session.state())),
                        session.applied,
                        was_received ? from_.facts.now - session.last_received() : Duration{-1},
                        session.is_latched_off(),
                        static_cast<std::uint32_t>(from_.facts.fabric->devices_of_agent[node.id.value].size()),
                        contains(intent.drained, node.id),
                        contains(intent.maintenance, node.id),
                        std::move(jobs[node.id.value]),
                        session.own_latch.cause,
                        session.turned_away};
    });
  }
  return page.take();
}

/// One plan's are the same however often they are asked for.
const std::vector<std::uint32_t>& Reports::lit_ways_of_confirmed() const {
  if (lit_ways_of_ != from_.confirmed.present()) {
    lit_ways_of_ = from_.confirmed.present();
    lit_ways_ = lit_ways(*from_.facts.fabric, from_.confirmed.plan());
  }
  return lit_ways_;
}

DeviceReport Reports::device_row(const Device& device) const {
  Observation never;
  never.device = device.id;
  const Observation* seen = from_.sessions.observed(device.id);
  const DevicePlan* plan = from_.confirmed.exists() ? from_.confirmed.desired_of(*from_.facts.fabric, device.id) : nullptr;
  const DeviceOverride* override = from_.desired.override_of(device.id);
  DeviceReport row{device.id,
                   device.name,
                   device.role,
                   device.agent,
                   seen == nullptr ? never : *seen,
                   from_.reconciler.drift_of(device.id),
                   plan == nullptr ? std::nullopt : std::optional(plan->timeline.front().setpoint),
                   override != nullptr && !override->is_adopted(),
                   override != nullptr && override->is_adopted()};
  row.unusable = from_.unusable.why(device.id);
  row.model = device.model;
  row.calibration = calibration_age(device.id);
  row.received = received_at(device);
  if (device.role == DeviceRole::circuit_switch && from_.confirmed.exists()) {
    row.lit_ways = lit_ways_of_confirmed()[device.id.value];
  }
  return row;
}

ReportPage<DeviceReport> Reports::device_rows(const Query& query) const {
  Page<DeviceReport> page(query);
  const std::vector<DeviceId> proven = from_.light.proven_lasers();
  for (const Device& device : from_.facts.fabric->devices) {
    page.add(device.id.value, [&] {
      DeviceReport row = device_row(device);
      const bool is_proven = std::binary_search(proven.begin(), proven.end(), device.id);
      row.observation.proof = is_proven ? Proof::monitor : row.observation.proof;
      return row;
    });
  }
  return page.take();
}

JobReport Reports::job_row(JobId id, const JobRecord& record) const {
  const Job* job = from_.desired.job(id);
  JobFacts facts = from_.jobs.facts_of(id);
  JobReport row;
  row.job = id;
  row.name = std::move(facts.name);
  row.workload = std::move(facts.workload);
  row.state = to_string(record.state);
  row.reason = record.reason;
  const std::string held_by = record.state == JobState::committing ? from_.commits.waits_for() : std::string{};
  if (!held_by.empty()) {
    row.state = to_string(JobState::waiting);
    row.reason = held_by;
  }
  row.stage = facts.stage;
  row.stages = record.stages;
  row.nodes = std::move(facts.nodes);
  row.revision = record.revision;
  row.cycles_done = static_cast<std::uint32_t>(record.cycles_done.size());
  const std::uint64_t dark = record.underflows + record.played.missed + record.played.last.missed;
  row.underflows = static_cast<std::uint32_t>(std::min<std::uint64_t>(dark, ~std::uint32_t{}));
  row.iterations = record.played.iterations();
  row.replayed = record.played.replayed + record.played.last.replayed;
  row.iteration_p50 = record.played.last.p50;
  row.iteration_p99 = record.played.last.p99;
  row.ledger = record.played.last.ledger;
  row.slowest = slowest_text(record.played.last, *from_.facts.fabric);
  row.awaited = record.state == JobState::ended ? std::string{} : awaited_text(record.played.last, *from_.facts.fabric);
  row.pinned = from_.desired.is_pinned(id);
  row.note = record.note;
  row.attended = from_.facts.now < record.attended_until;
  row.quiesce = from_.commits.quiesce_of(id);
  if (job != nullptr && !job->nodes.empty()) {
    from_.demand.describe(*job, row);
  }
  if (const JobSchedule* schedule = from_.confirmed.schedule_of(id)) {
    row.iteration_predicted = is_repeated_by_nodes(*schedule) ? record.iteration_predicted : Duration{};
    const ForwardedPairs forwarded = schedule->forwarding.pairs();
    row.forwarded_pairs = static_cast<std::uint32_t>(forwarded.count);
    row.hops_most = forwarded.hops_most;
    row.waiting_circuits = schedule->waiting;
  }
  return row;
}

ReportPage<JobReport> Reports::job_rows(const Query& query) const {
  Page<JobReport> page(query);
  for (const auto& [id, record] : from_.jobs.records()) {
    page.add(id.value, [&, job = id, &of = record] { return job_row(job, of); });
  }
  return page.take();
}

ReportPage<CommitReport> Reports::history_rows(const Query& query) const {
  Page<CommitReport> page(query);
  for (const CommitReport& report : from_.commits.history()) {
    page.add(report.revision.value, [&] { return report; });
  }
  return page.take();
}

ReportPage<StandingAlarm> Reports::alarm_rows(const Query& query) const {
  Page<StandingAlarm> page(query);
  for (const StandingAlarm& standing : from_.alarms.rows()) {
    page.add(standing.id.value, [&] {
      StandingAlarm row = standing;
      row.nodes.resize(std::min(row.nodes.size(), limits::kNodesPerAlarm));
      row.first_seen_wall = from_.facts.wall(row.first_seen);
      row.last_seen_wall = from_.facts.wall(row.last_seen);
      return row;
    });
  }
  return page.take();
}

ReportPage<AuditRecord> Reports::audit_rows(const Query& query) const {
  Page<AuditRecord> page(query);
  for (const AuditRecord& record : from_.journal.state().audit) {
    page.add(record.number, [&] { return record; });
  }
  return page.take();
}

OperatorReply Reports::answer(const Query& query) const {
  OperatorReply answered;
  const auto keep = [&](auto page) {
    answered.rows = std::move(page.rows);
    answered.total_rows = page.total;
  };
  switch (query.noun) {
    case Noun::status:
      answered.rows = status();
      break;
    case Noun::nodes:
      keep(node_rows(query));
      break;
    case Noun::devices:
      keep(device_rows(query));
      break;
    case Noun::circuits:
      keep(circuit_rows(query));
      break;
    case Noun::jobs:
      keep(job_rows(query));
      break;
    case Noun::history:
      keep(history_rows(query));
      break;
    case Noun::alarms:
      keep(alarm_rows(query));
      break;
    case Noun::audit:
      keep(audit_rows(query));
      break;
    case Noun::schedules:
      keep(schedule_rows(query));
      break;
    case Noun::calibrations:
      keep(calibration_rows(query));
      break;
    case Noun::rings:
      keep(ring_rows(query));
      break;
    case Noun::receivers:
      keep(receiver_rows(query));
      break;
    case Noun::ways:
      keep(way_rows(query));
      break;
    case Noun::explanation:
      return explain(query);
  }
  return answered;
}

}  // namespace loom
