// SPDX-License-Identifier: Apache-2.0
// Between jobs and task graphs. A job knows one clock of compute for all nodes; a graph knows tasks and what waits for what.
#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "controller/workload/import/flows.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint8_t kJobStream = 1;
/// Repetitions of one collective that fault_of (flows.hpp) lets pass.
constexpr std::uint32_t kCountMax = 65'536;

/// Where a collective stands on the job's clock of compute: after all that were issued before it.
struct Stand {
  Duration ready{};
  Duration needed{};
};

std::vector<Stand> stands_of(const JobSpec& job) {
  std::vector<Stand> stands;
  Duration issued{0};
  for (const Collective& collective : job.collectives) {
    issued = std::max(issued, std::clamp(collective.ready, Duration{0}, job.compute));
    stands.push_back({issued, std::min(std::max(collective.needed, issued), job.compute)});
  }
  return stands;
}

Result<void> check_job(const JobSpec& job) {
  if (job.compute.count() < 0 || job.compute.count() > limits::kDurationNs) {
    return fail(ErrorCode::out_of_range, format_text("{}: computes for {} ns; it needs 0 .. {} (kDurationNs)", job.name,
                                                     job.compute.count(), limits::kDurationNs));
  }
  std::uint64_t tasks = 0;
  for (const Collective& collective : job.collectives) {
    tasks += collective.count;
    if (const std::string fault = fault_of(collective, job.node_count); !fault.empty()) {
      return fail(ErrorCode::invalid_argument, format_text("{}: {}", job.name, fault));
    }
  }
  if (tasks > limits::kTasksPerGraph / 2) {
    return fail(ErrorCode::out_of_range, format_text("{}: {} collectives, repetitions counted; at most {} (kTasksPerGraph / 2)",
                                                     job.name, tasks, limits::kTasksPerGraph / 2));
  }
  return {};
}

/// When tasks run if every transfer takes no time: the clock on which a job says ready and needed.
struct ComputeClock {
  std::vector<Duration> start;
  std::vector<Duration> finish;
  Duration end{0};
};

ComputeClock clock_of(const TaskGraph& graph) {
  const auto tasks = static_cast<std::uint32_t>(graph.tasks.size());
  std::vector<std::uint32_t> waits(tasks, 0);
  for (const std::uint32_t after : graph.successors) {
    ++waits[after];
  }
  ComputeClock clock{std::vector<Duration>(tasks), std::vector<Duration>(tasks), Duration{0}};
  std::vector<Duration> free(graph.node_of_worker.size(), Duration{0});
  using Able = std::pair<Duration, std::uint32_t>;
  std::priority_queue<Able, std::vector<Able>, std::greater<>> able;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    if (waits[task] == 0) {
      able.push({Duration{0}, task});
    }
  }
  while (!able.empty()) {
    auto [at, index] = able.top();
    able.pop();
    const Task& task = graph.tasks[index];
    Duration finish = at;
    if (task.kind == TaskKind::compute) {
      const GroupFamily& of = graph.families[task.family];
      const auto workers = std::span{graph.members}.subspan(of.first, std::size_t{of.size} * of.count);
      for (const std::uint32_t worker : workers) {
        at = std::max(at, free[worker]);
      }
      finish = at + task.duration;
      for (const std::uint32_t worker : workers) {
        free[worker] = finish;
      }
    }
    clock.start[index] = at;
    clock.finish[index] = finish;
    clock.end = std::max(clock.end, finish);
    for (const std::uint32_t after : graph.successors_of(index)) {
      clock.start[after] = std::max(clock.start[after], finish);  // ready so far
      if (--waits[after] == 0) {
        able.push({clock.start[after], after});
      }
    }
  }
  return clock;
}

/// The first compute that waits for each collective, directly or through other collectives; kForever: none does.
std::vector<Duration> needed_of(const TaskGraph& graph, const ComputeClock& clock) {
  std::vector<Duration> needed(graph.tasks.size(), kForever);
  for (auto task = static_cast<std::uint32_t>(graph.tasks.size()); task-- > 0;) {
    for (const std::uint32_t after : graph.successors_of(task)) {
      const bool computes = graph.tasks[after].kind == TaskKind::compute;
      needed[task] = std::min(needed[task], computes ? clock.start[after] : needed[after]);
    }
  }
  return needed;
}

/// What counts as a repetition. close: issued together, or both in the way of compute; any: whenever issued.
enum class Repetition : std::uint8_t { close, any };

bool repeats(const Collective& last, const Collective& later, Repetition repetition) {
  const bool in_the_way = last.needed == last.ready && later.needed == later.ready;
  const bool together = last.ready == later.ready && last.needed == later.needed;
  return last.kind == later.kind && last.bytes == later.bytes && last.splits == later.splits && last.count < kCountMax &&
         (together || in_the_way || repetition == Repetition::any);
}

std::vector<std::uint32_t> ranks_in(const TaskGraph& graph, const GroupFamily& of, std::uint32_t group) {
  const auto members = graph.group(of, group);
  bool all = members.size() == graph.nodes;
  for (std::uint32_t i = 0; all && i < members.size(); ++i) {
    all = members[i] == i;
  }
  return all ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>(members.begin(), members.end());
}

/// Every group's collectives, in the order of `issued`. Errors: out_of_range (kCollectivesPerJob).
Result<std::vector<Collective>> collectives_of(const TaskGraph& graph, const ComputeClock& clock,
                                               const std::vector<std::uint32_t>& issued, Repetition repetition) {
  const std::vector<Duration> needed = needed_of(graph, clock);
  std::vector<Collective> collectives;
  std::vector<std::vector<std::size_t>> latest(graph.families.size());  // of each group: its last collective, + 1
  for (const std::uint32_t index : issued) {
    const Task& task = graph.tasks[index];
    const GroupFamily& of = graph.families[task.family];
    Collective collective{.kind = task.collective, .bytes = task.bytes, .ready = clock.finish[index], .needed = needed[index]};
    if (!graph.splits_of_task.empty() && graph.splits_of_task[index] > 0) {
      collective.splits = graph.splits[graph.splits_of_task[index] - 1];
    }
    latest[task.family].resize(of.count, 0);
    for (std::uint32_t group = 0; group < of.count; ++group) {
      std::size_t& last = latest[task.family][group];
      if (last > 0 && repeats(collectives[last - 1], collective, repetition)) {
        ++collectives[last - 1].count;
        continue;
      }
      if (collectives.size() == limits::kCollectivesPerJob) {
        return fail(ErrorCode::out_of_range, format_text("{}: more collectives than {} (kCollectivesPerJob)", graph.workload,
                                                         limits::kCollectivesPerJob));
      }
      collectives.push_back(collective);
      collectives.back().ranks = ranks_in(graph, of, group);
      last = collectives.size();
    }
  }
  return collectives;
}

/// A job says which collectives there are, not how; light is scheduled for rings, and between pairs.
Result<void> check_can_be_lit(const TaskGraph& graph) {
  for (const Task& task : graph.tasks) {
    const bool is_reduced = task.collective == CollectiveKind::all_reduce || task.collective == CollectiveKind::all_gather ||
                            task.collective == CollectiveKind::reduce_scatter;
    if (task.kind != TaskKind::communicate || !is_reduced) {
      continue;
    }
    const CollectiveChoice& choice = graph.choices[task.choice];
    const bool is_ring = choice.algorithm == CollectiveAlgorithm::automatic || choice.algorithm == CollectiveAlgorithm::ring ||
                         choice.algorithm == CollectiveAlgorithm::bidirectional_ring;
    if (!is_ring || !choice.strides.empty()) {
      return fail(ErrorCode::unsupported,
                  format_text("{}: {} by {}{}: light is scheduled for rings whose order the scheduler chooses; other ways are "
                              "played on fabrics that are only compared (loom predict --fabric ideal-switch); nearest: "
                              "collective=automatic, no strides",
                              graph.workload, graph.names[task.name], to_string(choice.algorithm),
                              choice.strides.empty() ? "" : " of given strides"));
    }
  }
  return {};
}

}  // namespace

Result<TaskGraph> graph_of(const JobSpec& job) {
  LOOM_TRY(check_job(job));
  const std::vector<Stand> stands = stands_of(job);
  std::vector<Duration> cuts{Duration{0}, job.compute};
  for (const Stand& stand : stands) {
    cuts.push_back(stand.ready);
    cuts.push_back(stand.needed);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  TaskGraphBuilder build{job.workload, job.node_count};
  build.graph().node_of_worker = ranks_of({}, job.node_count);
  build.graph().dependence = Dependence::whole;  // a job's clock of compute is one for all nodes
  build.graph().assumptions = job.assumptions;
  const std::uint32_t workers = job.node_count == 0 ? 0 : build.family(build.graph().node_of_worker, 1);
  const std::uint32_t choice = build.choice({});
  std::vector<std::uint32_t> segments;                           // segment i lasts from cuts[i] to cuts[i + 1]
  std::vector<std::vector<std::uint32_t>> awaited(cuts.size());  // by the segment that waits
  const auto compute_until = [&](Duration until) {
    while (segments.size() + 1 < cuts.size() && cuts[segments.size() + 1] <= until) {
      const std::size_t i = segments.size();
      segments.push_back(build.compute("compute", workers, cuts[i + 1] - cuts[i]));
      if (i > 0) {
        build.edge(segments[i - 1], segments[i]);
      }
      for (const std::uint32_t task : awaited[i]) {
        build.edge(task, segments[i]);
      }
    }
  };
  for (std::size_t i = 0; i < stands.size(); ++i) {
    const Collective& collective = job.collectives[i];
    compute_until(stands[i].ready);
    const std::uint32_t family =
        build.family(ranks_of(collective, job.node_count),
                     collective.ranks.empty() ? job.node_count : static_cast<std::uint32_t>(collective.ranks.size()));
    for (std::uint32_t count = 0; count < collective.count; ++count) {
      const std::uint32_t task =
          build.communicate(to_string(collective.kind), family, collective.kind, collective.bytes, choice, kJobStream);
      if (!collective.splits.empty()) {
        build.split(task, collective.splits);
      }
      if (!segments.empty()) {
        build.edge(segments.back(), task);
      }
      if (stands[i].needed < job.compute) {
        const auto at = std::lower_bound(cuts.begin(), cuts.end(), stands[i].needed) - cuts.begin();
        awaited[static_cast<std::size_t>(at)].push_back(task);
      }
    }
  }
  compute_until(job.compute);
  return std::move(build).build();
}

Result<JobSpec> job_of(const TaskGraph& graph) {
  LOOM_TRY(check(graph));
  LOOM_TRY(check_can_be_lit(graph));
  const ComputeClock clock = clock_of(graph);
  std::vector<std::uint32_t> issued;
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    if (graph.tasks[task].kind == TaskKind::communicate) {
      issued.push_back(task);
    }
  }
  std::stable_sort(issued.begin(), issued.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return clock.finish[a] < clock.finish[b]; });
  auto collectives = collectives_of(graph, clock, issued, Repetition::close);
  std::vector<std::string> assumptions = graph.assumptions;
  if (!collectives) {
    collectives = collectives_of(graph, clock, issued, Repetition::any);
    assumptions.push_back(
        format_text("equal collectives of a group that follow each other are counted together, as if all were issued with the "
                    "first: there are more than {} of them (kCollectivesPerJob)",
                    limits::kCollectivesPerJob));
  }
  if (!collectives) {
    return std::unexpected(collectives.error());
  }
  JobSpec job;
  job.name = graph.workload;
  job.workload = graph.workload;
  job.node_count = graph.nodes;
  job.compute = clock.end;
  job.assumptions = std::move(assumptions);
  job.collectives = std::move(*collectives);
  return job;
}

}  // namespace loom
