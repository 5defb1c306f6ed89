// Questions: rows made from state, and as many of them as one message carries.
#include <algorithm>

#include "controller/control/controller.hpp"
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
std::size_t bytes_of(const CircuitReport& row) { return 128 + row.state.size(); }
std::size_t bytes_of(const JobReport& row) {
  return 128 + row.name.size() + row.workload.size() + row.reason.size() + 5 * row.nodes.size();
}
std::size_t bytes_of(const CommitReport& row) { return 512 + row.reason.size(); }
std::size_t bytes_of(const StandingAlarm& row) {
  return 128 + row.alarm.evidence.size() + row.alarm.next_command.size() + row.acknowledged_by.size();
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

StatusReport Controller::status(Instant now) const {
  StatusReport report;
  report.term = term_;
  report.revision = confirmed();
  report.fabric = options_.fabric->name;
  report.nodes = static_cast<std::uint32_t>(sessions_.size());
  for (const AgentSession& session : sessions_) {
    switch (session.state()) {
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
  report.jobs = static_cast<std::uint32_t>(intent_.jobs.size());
  report.circuits = confirmed_ == nullptr ? 0 : static_cast<std::uint32_t>(confirmed_->plan.circuits.size());
  if (confirmed_ != nullptr) {
    report.certificate = named(confirmed_->plan.certificate, *options_.fabric);
  }
  report.lasers_off = intent_.lasers_off;
  report.malformed = malformed_;
  report.alarms = alarms_.open_count();
  report.drift = drift_counts(now);
  if (probation_) {
    report.awaiting_confirm = probation_->revision;
    report.confirm_left = std::max(Duration{}, probation_->deadline - now);
  }
  if (commit_ != nullptr) {
    report.stage = commit_->stage();
    report.under_way = commit_->revision();
    report.stage_done = commit_->done();
    report.stage_total = commit_->total();
  } else if (planning_.has_value()) {
    report.stage = CommitStage::planning;
    report.under_way = *planning_;
  }
  return report;
}

/// OCP's words, from what the transmitter was last seen to do; a laser that plays timeslots is pending between them.
std::string Controller::state_of(const Circuit& circuit, bool plays_timeslots) const {
  const auto device = options_.fabric->device_of_element[circuit.transmitter.value];
  if (!sessions_[circuit.source.value].is_present() || !device.has_value() || !observations_[device->value].has_value()) {
    return "UNKNOWN";
  }
  const auto* laser = std::get_if<LaserObservation>(&observations_[device->value]->reading);
  const bool is_lit = laser != nullptr && laser->emitting && laser->frequency == centre_of(circuit.slot);
  return is_lit ? "CONNECTED" : plays_timeslots ? "PENDING_CONNECTION" : "FAILED";
}

std::vector<CircuitReport> Controller::circuit_rows(const Query& query) const {
  std::vector<CircuitReport> rows;
  if (confirmed_ == nullptr || confirmed_->intent.lasers_off) {
    return rows;
  }
  for (const JobSchedule& job : confirmed_->schedule.jobs) {
    const auto entry = jobs_.find(job.job);
    const std::uint32_t stage = entry == jobs_.end() ? 0 : entry->second.stage;
    if (stage >= job.stages.size()) {
      continue;
    }
    for (std::uint32_t slot = 0; slot < job.stages[stage].timeslots.size(); ++slot) {
      for (const Circuit& circuit : job.stages[stage].timeslots[slot].circuits) {
        if (!query.id.has_value() || *query.id == circuit.id.value) {
          rows.push_back({circuit, slot, state_of(circuit, job.stages[stage].timeslots.size() > 1)});
        }
      }
    }
  }
  return rows;
}

std::vector<NodeReport> Controller::node_rows(const Query& query, Instant now) const {
  std::vector<std::vector<JobId>> jobs(sessions_.size());
  for (const Job& job : intent_.jobs) {
    for (const NodeId node : job.nodes) {
      jobs[node.value].push_back(job.id);
    }
  }
  std::vector<NodeReport> rows;
  for (const Node& node : options_.fabric->nodes) {
    if (!is_wanted(query, node.id.value)) {
      continue;
    }
    const AgentSession& session = sessions_[node.id.value];
    const bool was_heard = session.state() != AgentSessionState::absent;
    rows.push_back({node.id, node.name, std::string(to_string(session.state())), session.applied,
                    was_heard ? now - session.last_heard() : Duration{-1}, session.lasers_latched_off,
                    static_cast<std::uint32_t>(options_.fabric->devices_of_agent[node.id.value].size()),
                    contains(intent_.drained, node.id), in_maintenance(node.id), std::move(jobs[node.id.value])});
  }
  return rows;
}

/// Of the confirmed revision; null: it has none.
const JobSchedule* Controller::schedule_of(JobId job) const {
  if (confirmed_ == nullptr) {
    return nullptr;
  }
  const auto& jobs = confirmed_->schedule.jobs;
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const JobSchedule& each) { return each.job == job; });
  return found == jobs.end() ? nullptr : &*found;
}

std::vector<JobReport> Controller::job_rows(const Query& query) const {
  std::vector<JobReport> rows;
  for (const auto& [id, entry] : jobs_) {
    if (!is_wanted(query, id.value)) {
      continue;
    }
    const bool is_pinned = std::any_of(intent_.pinned.begin(), intent_.pinned.end(),
                                       [job = id](const JobSchedule& schedule) { return schedule.job == job; });
    const auto job =
        std::find_if(intent_.jobs.begin(), intent_.jobs.end(), [id = id](const Job& each) { return each.id == id; });
    const bool is_placed = job != intent_.jobs.end() && !job->nodes.empty();  // in rank order; what has ended, ascending
    JobReport row{id,
                  entry.name,
                  entry.workload,
                  entry.state,
                  entry.reason,
                  entry.stage,
                  entry.stages,
                  is_placed ? job->nodes : entry.nodes,
                  entry.revision,
                  static_cast<std::uint32_t>(entry.cycles_done.size()),
                  entry.underflows,
                  is_pinned};
    row.note = entry.note;
    row.attended = now_ < entry.attended_until;
    row.quiesce = quiesce_of(entry);
    if (is_placed) {
      describe_demand_of(*job, row);
    }
    if (const JobSchedule* schedule = schedule_of(id)) {
      row.forwarded_pairs = static_cast<std::uint32_t>(schedule->routes.size());
      for (const HostRoute& route : schedule->routes) {
        row.hops_most = std::max(row.hops_most, static_cast<std::uint32_t>(route.through.size() + 1));
      }
      row.waiting_circuits = schedule->waiting;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

ReplyRows Controller::all_rows(const Query& query, Instant now) const {
  switch (query.noun) {
    case Noun::status:
      return status(now);
    case Noun::nodes:
      return node_rows(query, now);
    case Noun::devices:
      return device_rows(query, now);
    case Noun::circuits:
      return circuit_rows(query);
    case Noun::jobs:
      return job_rows(query);
    case Noun::history: {
      std::vector<CommitReport> rows;
      std::copy_if(history_.begin(), history_.end(), std::back_inserter(rows),
                   [&](const CommitReport& report) { return is_wanted(query, report.revision.value); });
      return rows;
    }
    case Noun::alarms: {
      std::vector<StandingAlarm> rows;
      std::copy_if(alarms_.rows().begin(), alarms_.rows().end(), std::back_inserter(rows),
                   [&](const StandingAlarm& row) { return is_wanted(query, row.id.value); });
      return rows;
    }
    case Noun::explanation:
      break;  // explain()
  }
  return std::monostate{};
}

OperatorReply Controller::answer(const Query& query, Instant now) const {
  if (query.noun == Noun::explanation) {
    return explain(query);
  }
  OperatorReply answered;
  answered.rows = all_rows(query, now);
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
