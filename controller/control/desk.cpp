// The operators' desk: orders become intent (durable before they are answered), questions are answered from state.
#include <algorithm>

#include "controller/control/controller.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

OperatorReply refusal(RequestId request, ErrorCode code, std::string message) {
  OperatorReply reply;
  reply.request = request;
  reply.outcome.error = Error{code, std::move(message)};
  return reply;
}

}  // namespace

void Controller::reply(Peer to, OperatorReply reply, EffectSink& sink) {
  sink.emit(
      Send{to, Envelope{kWireVersion, "controller", Role::controller, term_, NodeId{}, clock_, confirmed(), std::move(reply)}});
}

void Controller::on_operator(Peer from, const OperatorRequest& request, Role role, Instant now, EffectSink& sink) {
  const auto* query = std::get_if<Query>(&request.ask);
  if (query == nullptr && role != Role::operator_ && role != Role::admin) {
    reply(from,
          refusal(request.request, ErrorCode::refused,
                  "your key is a " + std::string(to_string(role)) + "'s; this needs an operator's or an admin's"),
          sink);
    return;
  }
  if (query != nullptr) {
    OperatorReply answered = answer(*query, now);
    answered.request = request.request;
    reply(from, std::move(answered), sink);
  } else if (const auto* order = std::get_if<SubmitJob>(&request.ask)) {
    submit(from, request.request, *order, now, sink);
  } else if (const auto* end = std::get_if<CancelJob>(&request.ask)) {
    cancel(from, request.request, *end, now, sink);
  } else {
    order_lasers(from, request.request, std::get<OrderLasers>(request.ask).on, now, sink);
  }
}

void Controller::submit(Peer from, RequestId request, const SubmitJob& order, Instant now, EffectSink& sink) {
  const std::size_t nodes = options_.fabric->nodes.size();
  if (order.spec.node_count == 0 || order.spec.node_count > nodes) {
    return reply(from,
                 refusal(request, ErrorCode::infeasible,
                         "job " + order.spec.name + " asks for " + std::to_string(order.spec.node_count) + " nodes; fabric " +
                             options_.fabric->name + " has 1.." + std::to_string(nodes)),
                 sink);
  }
  if (intent_.jobs.size() >= limits::kJobs) {
    return reply(
        from,
        refusal(request, ErrorCode::out_of_range,
                std::to_string(intent_.jobs.size()) + " jobs are running, the limit is " + std::to_string(limits::kJobs)),
        sink);
  }
  Job job;
  job.id = next_job_;
  job.spec = order.spec;
  if (order.dry_run) {
    Intent intent = intent_;
    intent.jobs.push_back(std::move(job));
    return dry_run(from, request, std::move(intent), sink);
  }
  next_job_.value += 1;
  JobEntry& entry = jobs_[job.id];
  entry.job = job.id;
  entry.name = job.spec.name;
  entry.workload = job.spec.workload;
  OperatorReply answered;
  answered.request = request;
  answered.job = job.id;
  const std::string reason = "job " + std::to_string(job.id.value) + " (" + job.spec.name + ") submitted";
  intent_.jobs.push_back(std::move(job));
  append(IntentRecord{intent_, laser_order_, next_job_}, ReplyAct{from, std::move(answered)}, sink);
  want_plan(reason, now, sink);
}

void Controller::cancel(Peer from, RequestId request, const CancelJob& order, Instant now, EffectSink& sink) {
  const auto it = std::find_if(intent_.jobs.begin(), intent_.jobs.end(), [&](const Job& job) { return job.id == order.job; });
  if (it == intent_.jobs.end()) {
    const auto known = jobs_.find(order.job);
    return reply(from,
                 refusal(request, ErrorCode::not_found,
                         "job " + std::to_string(order.job.value) +
                             (known == jobs_.end() ? " was never submitted" : " is " + known->second.state)),
                 sink);
  }
  if (order.dry_run) {
    Intent intent = intent_;
    std::erase_if(intent.jobs, [&](const Job& job) { return job.id == order.job; });
    return dry_run(from, request, std::move(intent), sink);
  }
  intent_.jobs.erase(it);
  jobs_[order.job].state = "ended";
  OperatorReply answered;
  answered.request = request;
  answered.job = order.job;
  append(IntentRecord{intent_, laser_order_, next_job_}, ReplyAct{from, std::move(answered)}, sink);
  want_plan("job " + std::to_string(order.job.value) + " cancelled", now, sink);
}

void Controller::order_lasers(Peer from, RequestId request, bool on, Instant now, EffectSink& sink) {
  intent_.lasers_off = !on;
  laser_order_ = std::max(laser_order_ + 1, term_.value << 20);  // above what an earlier life ordered and did not make durable
  OperatorReply answered;
  answered.request = request;
  if (!on) {
    // Darkness does not wait for the disk; only light does.
    for (const Node& node : options_.fabric->nodes) {
      if (sessions_[node.id.value].is_present()) {
        say(node.id, SetLasers{false, laser_order_}, sink);
      }
    }
  }
  append(IntentRecord{intent_, laser_order_, next_job_}, ReplyAct{from, std::move(answered)}, sink);
  if (!on && commit_ != nullptr) {
    commit_->fail_with("lasers off was ordered");
    after_commit_moved(now, sink);
  }
  want_plan(on ? "lasers rearmed" : "lasers off", now, sink);
}

/// Dry runs are numbered from above, so that no revision is spent on them.
void Controller::dry_run(Peer from, RequestId request, Intent intent, EffectSink& sink) {
  auto order = std::make_shared<PlanRequest>();
  order->fabric = options_.fabric;
  order->base = confirmed_ == nullptr ? nullptr : std::shared_ptr<const Plan>(confirmed_, &confirmed_->plan);
  order->intent = std::move(intent);
  order->revision = Revision{~0ULL - ++dry_runs_made_};
  order->next_circuit = next_circuit_;
  order->algorithm = options_.algorithm;
  order->reason = "dry run";
  dry_runs_.push_back({order->revision, from, request});
  sink.emit(MakePlan{std::move(order)});
}

void Controller::finish_dry_run(const PlanOutcome& outcome, EffectSink& sink) {
  const auto it =
      std::find_if(dry_runs_.begin(), dry_runs_.end(), [&](const DryRun& run) { return run.revision == outcome.revision; });
  if (it == dry_runs_.end()) {
    return;
  }
  OperatorReply answered;
  answered.request = it->request;
  if (outcome.result) {
    const Plan& plan = (*outcome.result)->plan;
    CommitReport report;
    report.base = plan.base;
    report.agents = static_cast<std::uint32_t>(plan.changed.size());
    report.circuits = static_cast<std::uint32_t>(plan.circuits.size());
    report.touched = static_cast<std::uint32_t>(plan.touched.size());
    report.switches_moved = static_cast<std::uint32_t>(plan.moved_switches.size());
    report.reason = "dry run";
    report.plan = outcome.elapsed;
    answered.rows = std::vector<CommitReport>{report};
  } else {
    answered.outcome.error = outcome.result.error();
  }
  reply(it->from, std::move(answered), sink);
  dry_runs_.erase(it);
}

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
  report.lasers_off = intent_.lasers_off;
  report.malformed = malformed_;
  report.alarms = static_cast<std::uint32_t>(alarms_.size());
  report.drift = drift_counts(now);
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
  if (confirmed_ == nullptr) {
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

OperatorReply Controller::answer(const Query& query, Instant now) const {
  OperatorReply answered;
  const auto wanted = [&](std::uint64_t id) { return !query.id.has_value() || *query.id == id; };
  switch (query.noun) {
    case Noun::status:
      answered.rows = status(now);
      return answered;
    case Noun::nodes: {
      std::vector<NodeReport> rows;
      for (const Node& node : options_.fabric->nodes) {
        if (wanted(node.id.value)) {
          const AgentSession& session = sessions_[node.id.value];
          const bool was_heard = session.state() != AgentSessionState::absent;
          rows.push_back({node.id, node.name, std::string(to_string(session.state())), session.applied,
                          was_heard ? now - session.last_heard() : Duration{-1}, session.lasers_latched_off,
                          static_cast<std::uint32_t>(options_.fabric->devices_of_agent[node.id.value].size())});
        }
      }
      answered.rows = std::move(rows);
      break;
    }
    case Noun::devices:
      answered.rows = device_rows(query, now);
      break;
    case Noun::circuits:
      answered.rows = circuit_rows(query);
      break;
    case Noun::jobs: {
      std::vector<JobReport> rows;
      for (const auto& [id, entry] : jobs_) {
        if (wanted(id.value)) {
          rows.push_back({id, entry.name, entry.workload, entry.state, entry.reason, entry.stage, entry.stages, entry.nodes,
                          entry.revision, static_cast<std::uint32_t>(entry.cycles_done.size()), entry.underflows});
        }
      }
      answered.rows = std::move(rows);
      break;
    }
    case Noun::history: {
      std::vector<CommitReport> rows;
      std::copy_if(history_.begin(), history_.end(), std::back_inserter(rows),
                   [&](const CommitReport& report) { return wanted(report.revision.value); });
      answered.rows = std::move(rows);
      break;
    }
    case Noun::alarms:
      answered.rows = std::vector<Alarm>(alarms_.begin(), alarms_.end());
      break;
  }
  return answered;
}

}  // namespace loom
