// Rows made from state, cut to the page that was asked for.
#include "controller/control/reports.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/plan/explain.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

/// Of the 4 MB that a message may have (limits::kMessageBytes), so that estimates may be a little wrong.
constexpr std::size_t kPageBytes = limits::kMessageBytes / 2;

std::size_t bytes_of(const Observation& seen) {
  std::size_t bytes = 64 + seen.fault.size();
  if (const auto* wss = std::get_if<WssObservation>(&seen.reading)) {
    bytes += 32 * wss->routes.size();
  } else if (const auto* ocs = std::get_if<OcsObservation>(&seen.reading)) {
    bytes += 16 * ocs->connects.size();
  } else if (const auto* heater = std::get_if<HeaterObservation>(&seen.reading)) {
    bytes += 8 * heater->millivolts.size();
  }
  return bytes;
}

std::size_t bytes_of(const NodeReport& row) { return 96 + row.name.size() + 10 * row.jobs.size(); }
std::size_t bytes_of(const DeviceReport& row) { return 96 + row.name.size() + 2 * bytes_of(row.observation); }
std::size_t bytes_of(const CircuitReport& row) { return 144 + row.state.size() + row.why.size(); }
std::size_t bytes_of(const JobReport& row) {
  return 128 + row.name.size() + row.workload.size() + row.reason.size() + 5 * row.nodes.size();
}
std::size_t bytes_of(const CommitReport& row) { return 512 + row.reason.size() + row.ordered_by.size(); }
std::size_t bytes_of(const StandingAlarm& row) {
  return 160 + row.alarm.evidence.size() + row.alarm.next_command.size() + row.acknowledged_by.size() + 5 * row.nodes.size();
}

std::size_t bytes_of(const AuditRecord& row) {
  return 128 + row.principal.size() + row.asked.size() + (row.outcome.error ? row.outcome.error->message.size() : 0);
}

/// Keeps the rows from `offset` on that were asked for and fit; at least one, so that every page goes on.
template <class Row>
void cut_page(std::vector<Row>& rows, const Query& query) {
  const std::size_t begin = std::min<std::size_t>(query.offset, rows.size());
  const std::size_t most = query.limit == 0 ? rows.size() : query.limit;
  std::size_t end = begin;
  std::size_t bytes = 0;
  while (end < rows.size() && end - begin < most && (end == begin || bytes + bytes_of(rows[end]) <= kPageBytes)) {
    bytes += bytes_of(rows[end++]);
  }
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(end), rows.end());
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(begin));
}

bool is_wanted(const Query& query, std::uint64_t id) { return !query.id.has_value() || *query.id == id; }

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
  report.malformed = from_.sessions.malformed();
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
    report.stage = CommitStage::planning;
    report.under_way = *planning;
  }
  return report;
}

std::vector<CircuitReport> Reports::circuit_rows(const Query& query) const {
  std::vector<CircuitReport> rows;
  if (!from_.confirmed.exists() || from_.confirmed.intent().lasers_off) {
    return rows;
  }
  std::vector<std::pair<Circuit, std::uint32_t>> wanted;
  for (const JobSchedule& job : from_.confirmed.present()->schedule.jobs) {
    const std::uint32_t stage = from_.jobs.stage_of(job.job);
    for (std::uint32_t slot = 0; stage < job.stages.size() && slot < job.stages[stage].timeslots.size(); ++slot) {
      for (const Circuit& circuit : job.stages[stage].timeslots[slot].circuits) {
        if (is_wanted(query, circuit.id.value)) {
          wanted.emplace_back(circuit, slot);
        }
      }
    }
    if (!query.id.has_value()) {
      const auto left_out = from_.light.left_out_of(job.job);
      rows.insert(rows.end(), left_out.begin(), left_out.end());
    }
  }
  std::vector<CircuitReport> measured = from_.light.reports_of(wanted);
  measured.insert(measured.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  return measured;
}

std::vector<NodeReport> Reports::node_rows(const Query& query) const {
  const Intent& intent = from_.desired.intent();
  std::vector<std::vector<JobId>> jobs(from_.sessions.size());
  for (const Job& job : intent.jobs) {
    for (const NodeId node : job.nodes) {
      jobs[node.value].push_back(job.id);
    }
  }
  std::vector<NodeReport> rows;
  for (const Node& node : from_.facts.fabric->nodes) {
    if (!is_wanted(query, node.id.value)) {
      continue;
    }
    const AgentSession& session = from_.sessions[node.id];
    const bool was_heard = session.state() != AgentSessionState::absent;
    rows.push_back({node.id, node.name, std::string(to_string(session.state())), session.applied,
                    was_heard ? from_.facts.now - session.last_heard() : Duration{-1}, session.lasers_latched_off,
                    static_cast<std::uint32_t>(from_.facts.fabric->devices_of_agent[node.id.value].size()),
                    contains(intent.drained, node.id), contains(intent.maintenance, node.id), std::move(jobs[node.id.value]),
                    session.own_latch.cause});
  }
  return rows;
}

std::vector<DeviceReport> Reports::device_rows(const Query& query) const {
  const Fabric& fabric = *from_.facts.fabric;
  std::vector<DeviceReport> rows;
  for (const Device& device : fabric.devices) {
    if (!is_wanted(query, device.id.value)) {
      continue;
    }
    Observation never;
    never.device = device.id;
    const Observation* seen = from_.sessions.observed(device.id);
    const DevicePlan* plan = from_.confirmed.exists() ? from_.confirmed.desired_of(fabric, device.id) : nullptr;
    const DeviceOverride* override = from_.desired.override_of(device.id);
    rows.push_back({device.id, device.name, device.kind, device.agent, seen == nullptr ? never : *seen,
                    from_.reconciler.drift_of(device.id),
                    plan == nullptr ? std::nullopt : std::optional(plan->timeline.front().setpoint),
                    override != nullptr && !override->is_adopted(), override != nullptr && override->is_adopted()});
    rows.back().unusable = from_.unusable.why(device.id);
  }
  if (from_.confirmed.exists()) {
    const std::vector<std::uint32_t> lit = lit_ways(fabric, from_.confirmed.plan());
    for (DeviceReport& row : rows) {
      row.lit_ways = lit[row.device.value];
    }
  }
  return rows;
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
  row.underflows = record.underflows;
  row.pinned = from_.desired.is_pinned(id);
  row.note = record.note;
  row.attended = from_.facts.now < record.attended_until;
  row.quiesce = from_.commits.quiesce_of(id);
  if (job != nullptr && !job->nodes.empty()) {
    from_.demand.describe(*job, row);
  }
  if (const JobSchedule* schedule = from_.confirmed.schedule_of(id)) {
    row.forwarded_pairs = static_cast<std::uint32_t>(schedule->routes.size());
    for (const HostRoute& route : schedule->routes) {
      row.hops_most = std::max(row.hops_most, static_cast<std::uint32_t>(route.through.size() + 1));
    }
    row.waiting_circuits = schedule->waiting;
  }
  return row;
}

std::vector<JobReport> Reports::job_rows(const Query& query) const {
  std::vector<JobReport> rows;
  for (const auto& [id, record] : from_.jobs.records()) {
    if (is_wanted(query, id.value)) {
      rows.push_back(job_row(id, record));
    }
  }
  return rows;
}

ReplyRows Reports::all_rows(const Query& query) const {
  switch (query.noun) {
    case Noun::status:
      return status();
    case Noun::nodes:
      return node_rows(query);
    case Noun::devices:
      return device_rows(query);
    case Noun::circuits:
      return circuit_rows(query);
    case Noun::jobs:
      return job_rows(query);
    case Noun::history: {
      std::vector<CommitReport> rows;
      const auto& history = from_.commits.history();
      std::copy_if(history.begin(), history.end(), std::back_inserter(rows),
                   [&](const CommitReport& report) { return is_wanted(query, report.revision.value); });
      return rows;
    }
    case Noun::alarms: {
      std::vector<StandingAlarm> rows;
      const auto& alarms = from_.alarms.rows();
      std::copy_if(alarms.begin(), alarms.end(), std::back_inserter(rows),
                   [&](const StandingAlarm& row) { return is_wanted(query, row.id.value); });
      for (StandingAlarm& row : rows) {
        row.nodes.resize(std::min(row.nodes.size(), limits::kNodesPerAlarm));
        row.first_seen_wall = from_.facts.wall(row.first_seen);
        row.last_seen_wall = from_.facts.wall(row.last_seen);
      }
      return rows;
    }
    case Noun::audit:
      return std::vector<AuditRecord>{};
    case Noun::explanation:
      break;  // explain()
  }
  return std::monostate{};
}

OperatorReply Reports::answer(const Query& query) const {
  if (query.noun == Noun::explanation) {
    return explain(query);
  }
  OperatorReply answered;
  answered.rows = all_rows(query);
  std::visit(
      [&]<class Rows>(Rows& rows) {
        if constexpr (requires { rows.size(); }) {
          answered.total_rows = static_cast<std::uint32_t>(rows.size());
          cut_page(rows, query);
        }
      },
      answered.rows);
  return answered;
}

}  // namespace loom
