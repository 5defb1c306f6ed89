// SPDX-License-Identifier: Apache-2.0
// What a Predictor makes once of a graph and a network: rounds of every collective, links of every group.
#include <algorithm>

#include "controller/predict/engine/predictor.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kPlayedByRank = 2;        ///< ranks of a collective whose rounds are few: exact among fluids
constexpr std::uint64_t kPairsListed = 1u << 16;  ///< beyond, a collective counts as using every link

/// Pairs that talk in some round, each once.
std::vector<std::pair<std::uint32_t, std::uint32_t>> talkers(const RoundPlan& plan, std::uint32_t lane) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const RoundPlan::Run& run : plan.lanes[lane].runs) {
    for (std::uint32_t rank = 0; rank < plan.size; ++rank) {
      for_each_sent(plan, run, rank, [&](std::uint32_t destination, double) { found.emplace_back(rank, destination); });
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool is_each_once(std::span<const std::uint32_t> links) {
  std::vector<bool> seen(links.empty() ? 0 : *std::max_element(links.begin(), links.end()) + std::size_t{1}, false);
  for (const std::uint32_t link : links) {
    if (seen[link]) {
      return false;
    }
    seen[link] = true;
  }
  return true;
}

std::uint64_t transfers_of(const RoundPlan& plan) {
  std::uint64_t sum = 0;
  for (const RoundPlan::Lane& lane : plan.lanes) {
    for (const RoundPlan::Run& run : lane.runs) {
      sum += run.pattern == RoundPattern::all_pairs ? std::uint64_t{plan.size} * plan.size
             : run.pattern == RoundPattern::pairs   ? run.pairs.size()
                                                    : plan.size;
    }
  }
  return sum;
}

}  // namespace

Result<Predictor> Predictor::make(const TaskGraph& graph, const Network& network, const PlayOptions& options) {
  auto index = index_of(graph);
  if (!index) {
    return std::unexpected(index.error());
  }
  LOOM_TRY(loom::check(network));
  if (network.end_points < graph.nodes) {
    return fail(ErrorCode::invalid_argument, format_text("task graph '{}' has {} nodes, network '{}' only {}", graph.workload,
                                                         graph.nodes, network.name, network.end_points));
  }
  Predictor made;
  made.graph_ = &graph;
  made.network_ = &network;
  made.options_ = options;
  made.index_ = std::make_unique<GraphIndex>(std::move(*index));
  made.plan_of_task_.resize(graph.tasks.size());
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    made.durations_.push_back(graph.tasks[task].duration);
    made.bytes_.push_back(graph.tasks[task].bytes);
    if (graph.tasks[task].kind == TaskKind::communicate) {
      LOOM_TRY(made.plan_task(task));
    }
  }
  made.runs_.resize(made.index_->first_run.back());
  made.add_nodes();
  made.add_footprints();
  return made;
}

Result<void> Predictor::plan_task(std::uint32_t task) {
  const Task& of = graph_->tasks[task];
  const std::uint32_t size = graph_->families[of.family].size;
  const std::uint32_t splits = graph_->splits_of_task.empty() ? 0 : graph_->splits_of_task[task];
  const PlanKey key{of.collective, of.choice, size, bytes_[task].count, splits};
  const auto known = plan_keys_.find(key);
  if (known != plan_keys_.end()) {
    plan_of_task_[task] = known->second;
    return {};
  }
  const auto rounds = rounds_of(of.collective, graph_->choices[of.choice], size, bytes_[task],
                                splits == 0 ? std::span<const Bytes>{} : std::span<const Bytes>{graph_->splits[splits - 1]});
  if (!rounds) {
    return fail(rounds.error().code, format_text("task '{}': {}", graph_->names[of.name], rounds.error().message));
  }
  auto plan = plan_of(*rounds);
  if (!plan) {
    return fail(plan.error().code, format_text("task '{}': {}", graph_->names[of.name], plan.error().message));
  }
  plan_of_task_[task] = static_cast<std::uint32_t>(plans_.size());
  plan_keys_.emplace(key, plan_of_task_[task]);
  plans_.push_back(std::move(*plan));
  return {};
}

Result<void> Predictor::set_duration(std::uint32_t task, Duration duration) {
  if (task >= graph_->tasks.size()) {
    return fail(ErrorCode::not_found, format_text("no task {} of {}", task, graph_->tasks.size()));
  }
  if (graph_->tasks[task].kind != TaskKind::compute || duration < Duration{}) {
    return fail(ErrorCode::invalid_argument,
                format_text("task '{}' does not compute, or the duration is below 0", graph_->names[graph_->tasks[task].name]));
  }
  if (durations_[task] != duration) {
    durations_[task] = duration;
    changed_.push_back(task);
  }
  return {};
}

Result<void> Predictor::set_bytes(std::uint32_t task, Bytes bytes) {
  if (task >= graph_->tasks.size()) {
    return fail(ErrorCode::not_found, format_text("no task {} of {}", task, graph_->tasks.size()));
  }
  if (graph_->tasks[task].kind != TaskKind::communicate) {
    return fail(ErrorCode::invalid_argument,
                format_text("task '{}' does not communicate", graph_->names[graph_->tasks[task].name]));
  }
  const Bytes before = std::exchange(bytes_[task], bytes);
  if (auto planned = plan_task(task); !planned) {
    bytes_[task] = before;
    return planned;
  }
  if (bytes != before) {
    changed_.push_back(task);
  }
  return {};
}

void Predictor::add_nodes() {
  node_of_part_.reserve(index_->first_part.back());
  for (const Task& task : graph_->tasks) {
    const GroupFamily& family = graph_->families[task.family];
    for (std::uint32_t i = 0; i < family.size * family.count; ++i) {
      const std::uint32_t member = graph_->members[family.first + i];
      node_of_part_.push_back(task.kind == TaskKind::compute ? graph_->node_of_worker[member] : member);
    }
  }
}

void Predictor::add_footprints() {
  using Key = std::tuple<std::uint32_t, std::uint32_t, CollectiveKind, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, std::uint32_t> known;  // family, group, kind, choice, splits; fluids of what is spelled out: plan + 1
  const bool is_fluid = options_.rounds == RoundOrder::fluid;
  std::map<std::vector<std::uint32_t>, std::uint32_t> sets;
  footprint_of_run_.resize(runs_.size());
  task_of_run_.resize(runs_.size());
  for (std::uint32_t task = 0; task < graph_->tasks.size(); ++task) {
    const Task& of = graph_->tasks[task];
    const std::uint32_t splits = graph_->splits_of_task.empty() ? 0 : graph_->splits_of_task[task];
    const std::uint32_t first = index_->first_run[task];
    if (of.kind != TaskKind::communicate) {
      continue;  // no runs
    }
    const RoundPlan& plan = plans_[plan_of_task_[task]];
    const std::uint32_t shape = is_fluid && plan.is_spelled() ? plan_of_task_[task] + 1 : 0;
    for (std::uint32_t group = 0; first + group < index_->first_run[task + 1]; ++group) {
      task_of_run_[first + group] = task;
      const auto [entry, is_new] = known.try_emplace({of.family, group, of.collective, of.choice, splits, shape},
                                                     static_cast<std::uint32_t>(footprints_.size()));
      if (is_new) {
        footprints_.push_back(is_fluid ? Footprint{} : footprint_of(task, group));
        Footprint& made = footprints_.back();
        if (is_fluid && plan.size > kPlayedByRank) {
          made.fluids = fluid_runs(*network_, plan, graph_->group(graph_->families[of.family], group), ways_)
                            .value_or(std::vector<FluidRun>{});
        }
        made.set = sets.try_emplace(made.links, static_cast<std::uint32_t>(sets.size())).first->second;
      }
      footprint_of_run_[first + group] = entry->second;
    }
  }
}

Predictor::Footprint Predictor::footprint_of(std::uint32_t task, std::uint32_t group) const {
  Footprint footprint;
  const RoundPlan& plan = plans_[plan_of_task_[task]];
  const auto nodes = graph_->group(graph_->families[graph_->tasks[task].family], group);
  if (network_->is_uniform) {
    footprint.links.assign(nodes.begin(), nodes.end());
    for (const std::uint32_t node : nodes) {
      footprint.links.push_back(network_->end_points + node);
    }
  } else if (transfers_of(plan) > kPairsListed || segment_bytes(*network_) > 0) {
    footprint.links.resize(network_->links.size());
    for (std::uint32_t link = 0; link < footprint.links.size(); ++link) {
      footprint.links[link] = link;
    }
  } else {
    for (std::uint32_t lane = 0; lane < plan.lanes.size(); ++lane) {
      for (const auto& [source, destination] : talkers(plan, lane)) {
        for_each_path(*network_, nodes[source], nodes[destination], lane, [&](std::span<const std::uint32_t> path, double) {
          footprint.links.insert(footprint.links.end(), path.begin(), path.end());
        });
      }
    }
  }
  if (!std::is_sorted(footprint.links.begin(), footprint.links.end())) {
    std::sort(footprint.links.begin(), footprint.links.end());
  }
  footprint.links.erase(std::unique(footprint.links.begin(), footprint.links.end()), footprint.links.end());
  note_rings(footprint, plan, nodes);
  return footprint;
}

void Predictor::note_rings(Footprint& footprint, const RoundPlan& plan, std::span<const std::uint32_t> nodes) const {
  footprint.is_private_rings = !plan.lanes.empty() && segment_bytes(*network_) == 0;
  for (const RoundPlan::Lane& lane : plan.lanes) {
    // Nobody may end before everybody has begun, or who ends first would be known too late.
    footprint.is_private_rings = footprint.is_private_rings && lane.is_ring && lane.rounds + 1 >= plan.size;
  }
  footprint.first_link = {0};
  for (std::uint32_t lane = 0; lane < plan.lanes.size() && footprint.is_private_rings; ++lane) {
    const std::uint32_t step = plan.lanes[lane].runs.front().parameter % plan.size;
    const std::size_t first = footprint.order.size();
    footprint.place.resize(first + plan.size, kNoSlot);
    std::uint32_t rank = 0;
    for (std::uint32_t i = 0; i < plan.size; ++i, rank = (rank + step) % plan.size) {
      const std::uint32_t destination = (rank + step) % plan.size;
      std::uint32_t paths = 0;
      double rate = std::numeric_limits<double>::infinity();
      double latency = network_->step_latency_ns;
      for_each_path(*network_, nodes[rank], nodes[destination], lane, [&](std::span<const std::uint32_t> path, double) {
        ++paths;
        latency += path_latency_ns(*network_, path);
        for (const std::uint32_t link : path) {
          rate = std::min(rate, network_->links[link].bytes_per_ns);
          footprint.way_links.push_back(link);
        }
      });
      footprint.is_private_rings = footprint.is_private_rings && paths == 1 && footprint.place[first + rank] == kNoSlot;
      footprint.place[first + rank] = static_cast<std::uint32_t>(footprint.order.size());
      footprint.order.push_back(rank);
      footprint.bytes_per_ns.push_back(rate);
      footprint.latency_ns.push_back(latency);
      footprint.first_link.push_back(static_cast<std::uint32_t>(footprint.way_links.size()));
    }
  }
  footprint.is_private_rings = footprint.is_private_rings && is_each_once(footprint.way_links);
  footprint.is_even = !footprint.order.empty();
  for (std::size_t i = 0; i < footprint.order.size(); ++i) {
    footprint.is_even = footprint.is_even && footprint.bytes_per_ns[i] == footprint.bytes_per_ns.front() &&
                        footprint.latency_ns[i] == footprint.latency_ns.front();
  }
}

std::vector<double> Predictor::carried() const {
  std::vector<double> sum = medium_.carried(end_);
  sum.resize(std::max(sum.size(), network_->links.size()), 0);
  for (std::size_t link = 0; link < replayed_bytes_.size(); ++link) {
    sum[link] += replayed_bytes_[link];
  }
  for (std::uint32_t run = 0; run < runs_.size(); ++run) {
    if (!runs_[run].was_computed) {
      continue;
    }
    const RoundPlan& plan = plan_of_run(run);
    const auto nodes = nodes_of_run(run);
    for (std::uint32_t lane = 0; lane < plan.lanes.size(); ++lane) {
      for (const RoundPlan::Run& rounds : plan.lanes[lane].runs) {
        for (std::uint32_t rank = 0; rank < plan.size; ++rank) {
          for_each_sent(plan, rounds, rank, [&](std::uint32_t destination, double bytes) {
            for_each_path(*network_, nodes[rank], nodes[destination], lane,
                          [&](std::span<const std::uint32_t> path, double share) {
                            for (const std::uint32_t link : path) {
                              sum[link] += rounds.repeats * share * network_->packets.on_wire(bytes);
                            }
                          });
          });
        }
      }
    }
  }
  return sum;
}

}  // namespace loom
