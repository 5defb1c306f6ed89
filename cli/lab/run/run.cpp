// SPDX-License-Identifier: Apache-2.0
// The main job: a scenario's run with real processes, and what became of its jobs: accounted for, predicted and replayed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>

#include "cli/lab/run/operator.hpp"
#include "cli/lab/run/report.hpp"
#include "cli/lab/session.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/arena/arena.hpp"
#include "controller/predict/predict.hpp"
#include "controller/predict/replay.hpp"
#include "controller/schedule/job_alone.hpp"
#include "controller/workload/load_graph.hpp"
#include "controller/workload/models/zoo.hpp"
#include "runtime/clock.hpp"
#include "sim_backend/simulation.hpp"

namespace loom::cli {
namespace {

/// What became of the grants that were asked for since `begin`.
Result<std::vector<GrantTimes>> grants_since(const LabRecord& lab, Instant begin) {
  std::vector<GrantTimes> all;
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    auto part = read_grant_log(lab.files.grant_log(process));
    if (!part) {
      return std::unexpected(part.error());
    }
    std::copy_if(part->begin(), part->end(), std::back_inserter(all),
                 [&](const GrantTimes& times) { return times.asked >= begin; });
  }
  return all;
}

/// Whether two nodes are hosted by two of the lab's agent processes.
IsAcross across_processes(const Scenario& scenario) {
  return [&scenario](NodeId a, NodeId b) { return process_of_node(scenario, a) != process_of_node(scenario, b); };
}

/// When the replayed iteration begins: a ring when its last circuit is lit; timeslots when their first light comes.
Instant replay_start(const LightTimeline& light, Instant begin, TransferOrder order) {
  const bool waits_for_all = order != TransferOrder::merged;
  Instant start = waits_for_all ? begin : kNever;
  for (const LitWindow& window : light) {
    start = waits_for_all ? std::max(start, window.begin) : std::min(start, std::max(begin, window.begin));
  }
  return start;
}

/// The same job on electrical fabrics, as `loom predict` and `loom arena` play it.
Result<std::vector<Prediction>> play_beside(const LabRecord& lab, const TaskGraph& graph) {
  const Fabric& fabric = *lab.scenario.fabric;
  const BitRate rate = fabric.nodes.empty() ? gigabits(100) : node_rate_of(fabric);
  const auto compute = compute_alone(graph);
  if (!compute) {
    return std::unexpected(compute.error());
  }
  std::vector<Prediction> beside;
  for (const char* name : {"ideal-switch", "fat-tree"}) {
    auto entry = make_entry(name, graph, rate, {});
    const auto row = entry ? play(*entry, *compute) : Result<ArenaRow>(std::unexpected(entry.error()));
    if (!row) {
      return std::unexpected(row.error());
    }
    beside.push_back(prediction_of(*row, graph, rate));
  }
  return beside;
}

/// The model of an entry's job: of its workload, or, where that is a trace without one, of what was submitted.
Result<TaskGraph> graph_of_entry(const JobSubmission& submission, const JobSpec& spec) {
  WorkloadSettings settings{spec.node_count, {submission.settings.begin(), submission.settings.end()}, all_option_keys()};
  take_options(settings.values, all_option_keys());
  auto graph = load_task_graph(submission.workload, settings);
  return graph && graph->nodes == spec.node_count ? std::move(graph) : graph_of(spec);
}

/// Windows between the job's nodes while it lived; what was open at its end stays open.
LightTimeline light_of_job(const LightTimeline& light, const JobHistory& job_history, std::vector<NodeId> nodes) {
  std::ranges::sort(nodes);
  const auto is_ours = [&](NodeId node) { return std::ranges::binary_search(nodes, node); };
  LightTimeline own = light;
  std::erase_if(own, [&](const LitWindow& window) {
    return window.end <= job_history.from || window.begin >= job_history.until || !is_ours(window.source) ||
           !is_ours(window.destination);
  });
  for (LitWindow& window : own) {
    window.end = window.end >= job_history.until ? kNever : window.end;
  }
  return own;
}

/// The commits that moved the job, and those that came to nothing while it waited for one.
std::vector<CommitReport> commits_of(const LabHistory& history, const JobHistory& job_history) {
  std::vector<CommitReport> rows;
  const std::vector<PlanPhase> phases = plan_phases(history.run().plans(), job_history.job, job_history.until);
  for (const auto& [revision, row] : history.commits()) {
    const bool moved = std::ranges::any_of(
        phases, [&](const PlanPhase& phase) { return phase.moving != nullptr && phase.moving->revision == revision; });
    const bool failed = row.outcome != CommitOutcome::committed;
    const Instant ended = row.started + row.total;
    if ((moved || failed) && ended > job_history.from && row.started < job_history.until) {
      rows.push_back(row);
    }
  }
  return rows;
}

class OutcomeMaker {
 public:
  OutcomeMaker(const LabRecord& lab, LabOperator& lab_operator) : lab_(lab), operator_(lab_operator) {}

  /// The tables of an entry's job; none where it never had light.
  Result<std::optional<JobOutcome>> make(std::size_t number) const {
    const OperatorScript::Entry& entry = operator_.script().entries()[number];
    const auto job_history = history_of(operator_.script(), number, operator_.end());
    const JobReport* row = job_history ? operator_.row_of(job_history->job) : nullptr;
    if (row == nullptr || row->nodes.empty() ||  // it was never placed, or its light never came
        operator_.history().run().schedule(job_history->job, job_history->until) == nullptr) {
      return std::nullopt;
    }
    JobOutcome outcome;
    outcome.job = job_history->job;
    outcome.begin = job_history->from;
    outcome.row = *row;
    outcome.commits = commits_of(operator_.history(), *job_history);
    outcome.light = light_of_job(operator_.history().light(), *job_history, row->nodes);
    outcome.transmit = entry.scripted.submission.transmit;
    outcome.node_rate = node_rate_of(*lab_.scenario.fabric);
    JobSpec spec = entry.scripted.spec;
    spec.placement = row->nodes;
    spec.node_count = static_cast<std::uint32_t>(row->nodes.size());
    LOOM_TRY(predict_and_replay(spec, *job_history, outcome));
    const auto graph = graph_of_entry(entry.scripted.submission, spec);
    auto beside = graph ? play_beside(lab_, *graph) : Result<std::vector<Prediction>>(std::unexpected(graph.error()));
    if (!beside) {
      return std::unexpected(beside.error());
    }
    outcome.beside = std::move(*beside);
    return outcome;
  }

 private:
  /// A job whose light did not carry an iteration is not replayed; its account says why.
  Result<void> predict_and_replay(const JobSpec& spec, const JobHistory& job_history, JobOutcome& outcome) const {
    const JobSchedule& schedule = *operator_.history().run().schedule(job_history.job, job_history.until);
    const auto scheduler = all_architectures().find_scheduler(lab_.scenario.algorithm);
    if (!scheduler) {
      return std::unexpected(scheduler.error());
    }
    const ScheduleTimings timings = timings_on(*lab_.scenario.fabric, lab_.scenario.controller, **scheduler);
    auto predicted = predict_schedule(spec, schedule, timings);
    if (!predicted) {
      return std::unexpected(predicted.error());
    }
    outcome.predicted = std::move(*predicted);
    if (spec.transmit == Transmit::grants) {
      auto grants = grants_since(lab_, operator_.history().of_host(job_history.from));
      if (!grants) {
        return std::unexpected(grants.error());
      }
      outcome.control = control_times_of(*grants, rate_of(*lab_.scenario.fabric), across_processes(lab_.scenario));
    }
    const TransferOrder order = order_of(schedule);
    const TransferOrder start = spec.transmit == Transmit::grants ? TransferOrder::merged : order;
    auto replayed =
        replay(spec, outcome.light,
               {replay_start(outcome.light, job_history.from, start), timings.latency, order, &schedule, timings.forward});
    if (replayed) {
      outcome.replayed = std::move(*replayed);
    }
    return {};
  }

  const LabRecord& lab_;
  LabOperator& operator_;
};

LabFootprint footprint_of(const LabRecord& lab) {
  LabFootprint footprint;
  footprint.join = lab.join_time;
  footprint.controller_bytes = resident_bytes(lab.controller_pid);
  for (const int pid : lab.agent_pids) {
    footprint.agent_bytes.push_back(resident_bytes(pid));
  }
  return footprint;
}

}  // namespace

int run_jobs(LabRecord& lab, const Globals& globals) {
  const auto end_with = [&](const Error& error, const std::string& next = {}) {
    return lab.is_interrupted() ? static_cast<int>(kInterrupted) : give_up(error, next);
  };
  auto jobs = script_of(lab.scenario);
  if (!jobs) {
    return end_with(jobs.error());
  }
  const Instant zero = monotonic_now();
  if (const auto told = lab.files.write_start(zero); !told) {
    return end_with(told.error());
  }
  LabOperator lab_operator(lab, std::move(*jobs), zero);
  if (const auto ran = lab_operator.run(); !ran) {
    return end_with(ran.error(), "loom status");
  }
  LabReport report;
  const OutcomeMaker maker(lab, lab_operator);
  for (std::size_t i = 0; i < lab_operator.script().entries().size(); ++i) {
    auto outcome = maker.make(i);
    if (!outcome) {
      return end_with(outcome.error(), "loom alarm list");
    }
    report.outcomes.push_back(std::move(*outcome));
  }
  report.account =
      run_account(lab_operator.history().run(), {lab.scenario, lab_operator.script(), lab_operator.history().light(),
                                                 lab_operator.end(), [&](JobId job) { return lab_operator.word_of(job); }});
  report.safety = lab_operator.history().judge();
  report.footprint = footprint_of(lab);
  if (globals.json) {
    print(json_of(report));
  } else {
    std::fputs(text_of(report).c_str(), stdout);
  }
  return report.is_as_expected() ? kDone : kFailed;
}

}  // namespace loom::cli
