// Requests about jobs.
#include <algorithm>
#include <utility>

#include "controller/control/requests/operator_requests.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

void OperatorRequests::handle(const Requester& requester, const SubmitJob& request, EffectSink& sink) {
  const std::size_t nodes = facts_.fabric->nodes.size();
  if (request.spec.node_count == 0 || request.spec.node_count > nodes) {
    return refuse(requester,
                  {ErrorCode::infeasible,
                   "job " + request.spec.name + " asks for " + number(request.spec.node_count) + " nodes; fabric " +
                       facts_.fabric->name + " has 1.." + number(nodes),
                   "loom job submit " + request.spec.workload + " --nodes " + number(nodes)},
                  sink);
  }
  if (desired_.intent().jobs.size() >= limits::kJobs) {
    return refuse(
        requester,
        {ErrorCode::out_of_range,
         number(desired_.intent().jobs.size()) + " jobs are running, the limit is " + number(limits::kJobs), "loom job list"},
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
  const std::string reason = "job " + number(job.id.value) + " (" + job.spec.name + ") submitted";
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
                   "job " + number(request.job.value) +
                       (known == nullptr ? " was never submitted" : " is " + std::string(to_string(known->state))),
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
  commits_.want_plan("job " + number(request.job.value) + " cancelled", sink, requester.principal);
}

void OperatorRequests::handle(const Requester& requester, const ChangeJob& request, EffectSink& sink) {
  const auto is_it = [id = request.job](const Job& job) { return job.id == id; };
  const Job* known = desired_.job(request.job);
  if (known == nullptr) {
    return refuse(requester, {ErrorCode::not_found, "job " + number(request.job.value) + " does not run", "loom job list"},
                  sink);
  }
  if (request.spec.node_count != known->nodes.size()) {
    return refuse(
        requester,
        {ErrorCode::infeasible,
         "job " + number(request.job.value) + " runs on " + number(known->nodes.size()) + " nodes, the change is for " +
             number(request.spec.node_count) + "; a job keeps its nodes; nearest: " + number(known->nodes.size()) + " nodes",
         "loom job cancel " + number(request.job.value) + "  (then submit it anew)"},
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
                                  "job " + number(request.job.value) + " (" + known->spec.name + ") changed", request.dry_run);
  std::get<OperatorChange>(plan.purpose).job = request.job;
  changes_.begin(std::move(plan), sink);
}

void OperatorRequests::handle(const Requester& requester, const ResizeJob& request, EffectSink& sink) {
  const Job* known = desired_.job(request.job);
  if (known == nullptr) {
    return refuse(requester, {ErrorCode::not_found, "job " + number(request.job.value) + " is not running", "loom job list"},
                  sink);
  }
  const std::size_t nodes = facts_.fabric->nodes.size();
  const std::string command = "loom job resize " + number(request.job.value) + " --nodes ";
  if (request.nodes == 0 || request.nodes > nodes) {
    return refuse(requester,
                  {ErrorCode::infeasible,
                   "job " + number(request.job.value) + " asks for " + number(request.nodes) + " nodes; fabric " +
                       facts_.fabric->name + " has 1.." + number(nodes),
                   command + number(nodes)},
                  sink);
  }
  if (!known->spec.placement.empty()) {
    return refuse(requester,
                  {ErrorCode::conflict,
                   "job " + number(request.job.value) + " names its " + number(known->spec.placement.size()) +
                       " nodes itself; only a job that the controller places can be resized",
                   "loom job cancel " + number(request.job.value)},
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
                 "job " + number(request.job.value) + " resized to " + number(request.nodes) + " nodes", request.dry_run);
  std::get<OperatorChange>(plan.purpose).job = request.job;
  changes_.begin(std::move(plan), sink);
}

/// Launchers that stand by a job: they are told before its light goes dark, may make it quiet first, and see when it is back.
void OperatorRequests::handle(const Requester& requester, const AttendJob& request, EffectSink& sink) {
  if (jobs_.find(request.job) == nullptr) {
    return refuse(requester, {ErrorCode::not_found, "job " + number(request.job.value) + " does not exist", "loom job list"},
                  sink);
  }
  if (request.quiet_for > numbers_.next()) {  // kept for good: it would be quiet for whatever comes
    return refuse(
        requester,
        {ErrorCode::out_of_range,
         "quiet for revision " + number(request.quiet_for.value) + ", the next one is " + number(numbers_.next().value),
         "loom job show " + number(request.job.value)},
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
