// SPDX-License-Identifier: Apache-2.0
// Requests about jobs.
#include <algorithm>
#include <utility>

#include "controller/control/requests/operator_requests.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

void OperatorRequests::handle(const Requester& requester, const SubmitJob& request, EffectSink& sink) {
  const std::size_t nodes = facts_.fabric->nodes.size();
  if (request.spec.node_count == 0 || request.spec.node_count > nodes) {
    return refuse(requester,
                  {ErrorCode::infeasible,
                   format_text("job {} asks for {} nodes; fabric {} has 1..{}", request.spec.name, request.spec.node_count,
                               facts_.fabric->name, nodes),
                   format_text("loom job submit {} --nodes {}", request.spec.workload, nodes)},
                  sink);
  }
  if (desired_.intent().jobs.size() >= limits::kJobs) {
    return refuse(
        requester,
        {ErrorCode::out_of_range,
         format_text("{} jobs are running, the limit is {}", desired_.intent().jobs.size(), limits::kJobs), "loom job list"},
        sink);
  }
  Job job;
  job.id = desired_.next_job();
  job.spec = request.spec;
  if (request.dry_run) {
    TentativePlan plan = change_for(requester, {[job](const Intent& intent) -> Result<Intent> {
                                      Intent with = intent;
                                      with.jobs.push_back(job);
                                      return with;
                                    }},
                                    "job submitted", true);
    return changes_.begin(std::move(plan), sink);
  }
  IntentRecord with = desired_.record();
  with.intent.jobs.push_back(job);
  if (auto refusal = journal_.refusal_of(with)) {
    return refuse(requester, *std::move(refusal), sink);
  }
  jobs_.add(job.id);
  OperatorReply answered;
  answered.job = job.id;
  answered.revision = numbers_.next();
  const std::string reason = format_text("job {} ({}) submitted", job.id.value, job.spec.name);
  desired_.add_job(std::move(job));
  changes_.answer_when_durable({requester, std::move(answered), true}, sink);
  commits_.want_plan(reason, sink, requester.principal);
}

void OperatorRequests::handle(const Requester& requester, const CancelJob& request, EffectSink& sink) {
  const auto is_it = [id = request.job](const Job& job) { return job.id == id; };
  const Job* job = desired_.job(request.job);
  if (job == nullptr) {
    const JobRecord* known = jobs_.find(request.job);
    return refuse(requester,
                  {ErrorCode::not_found,
                   format_text("job {}{}", request.job.value,
                               known == nullptr ? " was never submitted" : format_text(" is {}", to_string(known->state))),
                   "loom job list"},
                  sink);
  }
  if (request.dry_run) {
    TentativePlan plan = change_for(requester, {[is_it](const Intent& intent) -> Result<Intent> {
                                      Intent without = intent;
                                      std::erase_if(without.jobs, is_it);
                                      return without;
                                    }},
                                    "job cancelled", true);
    return changes_.begin(std::move(plan), sink);
  }
  jobs_.end(*job);
  desired_.remove_job(request.job);
  desired_.unpin(request.job);
  OperatorReply answered;
  answered.job = request.job;
  answered.revision = numbers_.next();
  changes_.answer_when_durable({requester, std::move(answered)}, sink);
  commits_.want_plan(format_text("job {} cancelled", request.job.value), sink, requester.principal);
}

void OperatorRequests::handle(const Requester& requester, const ChangeJob& request, EffectSink& sink) {
  const auto is_it = [id = request.job](const Job& job) { return job.id == id; };
  const Job* known = desired_.job(request.job);
  if (known == nullptr) {
    return refuse(requester, {ErrorCode::not_found, format_text("job {} does not run", request.job.value), "loom job list"},
                  sink);
  }
  if (request.spec.node_count != known->nodes.size()) {
    return refuse(requester,
                  {ErrorCode::infeasible,
                   format_text("job {} runs on {} nodes, the change is for {}; a job keeps its nodes; nearest: {} nodes",
                               request.job.value, known->nodes.size(), request.spec.node_count, known->nodes.size()),
                   format_text("loom job cancel {}  (then submit it anew)", request.job.value)},
                  sink);
  }
  TentativePlan plan = change_for(requester, {[is_it, spec = request.spec](const Intent& intent) -> Result<Intent> {
                                    Intent with = intent;
                                    const auto job = std::find_if(with.jobs.begin(), with.jobs.end(), is_it);
                                    if (job == with.jobs.end()) {
                                      return fail(ErrorCode::not_found, "the job has ended", "loom job list");
                                    }
                                    JobSpec& changed = job->spec;
                                    changed.workload = spec.workload;
                                    changed.collectives = spec.collectives;
                                    changed.compute = spec.compute;
                                    changed.assumptions = spec.assumptions;
                                    job->measured.clear();
                                    job->stage = 0;
                                    return with;
                                  }},
                                  format_text("job {} ({}) changed", request.job.value, known->spec.name), request.dry_run);
  std::get<OperatorChange>(plan.purpose).job = request.job;
  changes_.begin(std::move(plan), sink);
}

void OperatorRequests::handle(const Requester& requester, const ResizeJob& request, EffectSink& sink) {
  const Job* known = desired_.job(request.job);
  if (known == nullptr) {
    return refuse(requester, {ErrorCode::not_found, format_text("job {} is not running", request.job.value), "loom job list"},
                  sink);
  }
  const std::size_t nodes = facts_.fabric->nodes.size();
  const std::string command = format_text("loom job resize {} --nodes ", request.job.value);
  if (request.nodes == 0 || request.nodes > nodes) {
    return refuse(requester,
                  {ErrorCode::infeasible,
                   format_text("job {} asks for {} nodes; fabric {} has 1..{}", request.job.value, request.nodes,
                               facts_.fabric->name, nodes),
                   command + number(nodes)},
                  sink);
  }
  if (!known->spec.placement.empty()) {
    return refuse(requester,
                  {ErrorCode::conflict,
                   format_text("job {} names its {} nodes itself; only a job that the controller places can be resized",
                               request.job.value, known->spec.placement.size()),
                   format_text("loom job cancel {}", request.job.value)},
                  sink);
  }
  TentativePlan plan =
      change_for(requester, {[request](const Intent& intent) -> Result<Intent> {
                   Intent resized = intent;
                   for (Job& job : resized.jobs) {
                     if (job.id == request.job) {
                       job.spec.node_count = request.nodes;
                       job.measured.clear();
                       job.stage = 0;
                     }
                   }
                   std::erase_if(resized.pinned, [&](const JobSchedule& schedule) { return schedule.job == request.job; });
                   return resized;
                 }},
                 format_text("job {} resized to {} nodes", request.job.value, request.nodes), request.dry_run);
  std::get<OperatorChange>(plan.purpose).job = request.job;
  changes_.begin(std::move(plan), sink);
}

/// Nothing to plan: what the job's light is made for now stays until its demand is judged.
void OperatorRequests::handle(const Requester& requester, const AdaptJob& request, EffectSink& sink) {
  if (desired_.job(request.job) == nullptr) {
    return refuse(requester, {ErrorCode::not_found, format_text("job {} does not run", request.job.value), "loom job list"},
                  sink);
  }
  Intent with = desired_.intent();
  for (Job& job : with.jobs) {
    if (job.id == request.job) {
      job.spec.adapt = request.on;
    }
  }
  desired_.replace(std::move(with));
  OperatorReply answered;
  answered.job = request.job;
  changes_.answer_when_durable({requester, std::move(answered)}, sink);
}

/// Launchers that stand by a job: they are told before its light goes dark, may make it quiet first, and see when it is back.
void OperatorRequests::handle(const Requester& requester, const AttendJob& request, EffectSink& sink) {
  if (jobs_.find(request.job) == nullptr) {
    return refuse(requester, {ErrorCode::not_found, format_text("job {} does not exist", request.job.value), "loom job list"},
                  sink);
  }
  if (request.quiet_for > numbers_.next()) {  // kept for good: it would be quiet for whatever comes
    return refuse(requester,
                  {ErrorCode::out_of_range,
                   format_text("quiet for revision {}, the next one is {}", request.quiet_for.value, numbers_.next().value),
                   format_text("loom job show {}", request.job.value)},
                  sink);
  }
  jobs_.attend(request.job, facts_.now + facts_.timings.attend_lease, request.quiet_for, requester.principal);
  OperatorReply answered;
  answered.job = request.job;
  answered.rows = reports_.job_rows(Query{Noun::jobs, request.job.value}).rows;
  answers_.answer(requester, std::move(answered), sink);
  commits_.begin_if_ready(sink);
}

}  // namespace loom
