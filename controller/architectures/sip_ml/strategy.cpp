// SPDX-License-Identifier: Apache-2.0
// Candidates one by one.
#include "controller/architectures/sip_ml/strategy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "controller/predict/engine/predictor.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

Duration wire_time(Bytes bytes, BitRate rate) {
  return Duration{std::llround(8e9 * static_cast<double>(bytes.count) / static_cast<double>(rate.bits_per_second))};
}

Result<void> check_options(std::span<const AccuracyPoint> table, const SipStrategyOptions& options) {
  if (table.empty()) {
    return fail(ErrorCode::invalid_argument, "strategy search: no rows of batch size and iterations");
  }
  if (options.gpus == 0 || options.gpus > limits::kNodes) {
    return fail(ErrorCode::invalid_argument,
                format_text("strategy search: {} GPUs; it needs 1 .. {} (kNodes)", options.gpus, limits::kNodes));
  }
  for (const BitRate rate : {options.rate, options.gradient_rate_most.value_or(options.rate)}) {
    if (rate.bits_per_second <= 0 || rate.bits_per_second > limits::kBitPerSecond) {
      return fail(ErrorCode::invalid_argument,
                  format_text("strategy search: a rate of {} b/s; it needs 1 .. {} (kBitPerSecond)", rate.bits_per_second,
                              limits::kBitPerSecond));
    }
  }
  return {};
}

/// Partitioned and placed for one group of a candidate.
struct Group {
  std::vector<Operation> operations;
  std::vector<Shard> shards;
  SipPlacement placement;
};

Result<Group> group_of(const SipProfile& profile, const SipCandidate& candidate, const SipStrategyOptions& options) {
  if (candidate.global_batch % candidate.data != 0) {
    return fail(ErrorCode::invalid_argument,
                format_text("a batch of {} for {} groups", candidate.global_batch, candidate.data));
  }
  auto operations = operations_at(profile, candidate.global_batch / candidate.data);
  if (!operations) {
    return std::unexpected(std::move(operations).error());
  }
  auto shards = partition_operations(*operations, candidate.model, options.quantum);
  if (!shards) {
    return std::unexpected(std::move(shards).error());
  }
  SipPlacementOptions placing = options.placement;
  placing.gpus = candidate.model;
  auto placement = place_shards(*shards, *operations, placing);
  if (!placement) {
    return std::unexpected(std::move(placement).error());
  }
  return Group{*std::move(operations), *std::move(shards), *std::move(placement)};
}

Result<Duration> group_time(const SipProfile& profile, const SipCandidate& candidate, const SipStrategyOptions& options) {
  const auto group = group_of(profile, candidate, options);
  return group ? Result<Duration>{estimate_group(group->shards, group->placement, options.rate, options.latency)}
               : std::unexpected(group.error());
}

/// The ends of a transfer in every group, or a GPU's workers.
std::vector<std::uint32_t> in_every_group(std::span<const std::uint32_t> members, std::uint32_t data, std::uint32_t gpus) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t group = 0; group < data; ++group) {
    for (const std::uint32_t member : members) {
      all.push_back(group * gpus + member);
    }
  }
  return all;
}

/// All-reduces of what each GPU of a group keeps, GPUs that keep as much together: node group x gpus + i among the groups.
void add_gradients(TaskGraphBuilder& builder, const SipPlacement& placement, std::span<const Shard> shards,
                   const std::vector<std::uint32_t>& task, std::uint32_t data) {
  const auto gpus = static_cast<std::uint32_t>(placement.memory.size());
  std::vector<std::int64_t> kept(gpus);
  std::vector<std::vector<std::uint32_t>> tasks(gpus);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    kept[placement.gpu[i]] += shards[i].parameters.count;
    tasks[placement.gpu[i]].push_back(task[i]);
  }
  std::map<std::int64_t, std::vector<std::uint32_t>> alike;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    alike[kept[gpu]].push_back(gpu);
  }
  alike.erase(0);
  const std::uint32_t choice = builder.choice({});
  for (const auto& [bytes, members] : alike) {
    std::vector<std::uint32_t> ranks;
    for (const std::uint32_t gpu : members) {
      for (std::uint32_t group = 0; group < data; ++group) {
        ranks.push_back(group * gpus + gpu);
      }
    }
    const std::uint32_t reduce =
        builder.communicate("gradients", builder.family(ranks, data), CollectiveKind::all_reduce, Bytes{bytes}, choice, 0);
    for (const std::uint32_t gpu : members) {
      for (const std::uint32_t before : tasks[gpu]) {
        builder.edge(before, reduce);
      }
    }
  }
}

}  // namespace

Duration gradient_time(Bytes weights, BitRate rate, std::optional<BitRate> most) {
  const std::int64_t bits = most ? std::min(rate.bits_per_second, most->bits_per_second) : rate.bits_per_second;
  return wire_time(Bytes{2 * weights.count}, {bits});
}

Duration estimate_group(std::span<const Shard> shards, const SipPlacement& placement, BitRate rate, Duration latency) {
  std::vector<Duration> gpu_free(placement.memory.size());
  std::vector<Duration> port_free(placement.memory.size());
  std::vector<Duration> end;
  Duration last{};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    Duration ready{};
    for (const std::uint32_t input : shards[i].inputs) {
      Duration there = end[input];
      if (const std::uint32_t from = placement.gpu[input]; from != placement.gpu[i] && shards[input].output.count > 0) {
        port_free[from] = std::max(port_free[from], end[input]) + wire_time(shards[input].output, rate);
        there = port_free[from] + latency;
      }
      ready = std::max(ready, there);
    }
    Duration& free = gpu_free[placement.gpu[i]];
    free = std::max(ready, free) + (placement.end[i] - placement.start[i]);
    end.push_back(free);
    last = std::max(last, free);
  }
  return last;
}

Result<TaskGraph> graph_of_groups(std::span<const Shard> shards, const SipPlacement& placement,
                                  std::span<const Operation> operations, std::uint32_t data) {
  const auto gpus = static_cast<std::uint32_t>(placement.memory.size());
  TaskGraphBuilder builder("sip-ml group", gpus * data);
  for (std::uint32_t gpu = 0; gpu < gpus * data; ++gpu) {
    builder.graph().node_of_worker.push_back(gpu);
  }
  const std::uint32_t choice = builder.choice({});
  std::vector<std::uint32_t> task;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::uint32_t here = placement.gpu[i];
    std::vector<std::uint32_t> before;
    for (const std::uint32_t input : shards[i].inputs) {
      const std::uint32_t from = placement.gpu[input];
      if (from == here || shards[input].output.count == 0) {
        before.push_back(task[input]);
        continue;
      }
      const std::uint32_t ends[]{from, here};
      before.push_back(builder.communicate(operations[shards[input].operation].name,
                                           builder.family(in_every_group(ends, data, gpus), 2), CollectiveKind::point_to_point,
                                           shards[input].output, choice, 0));
      builder.edge(task[input], before.back());
    }
    const std::uint32_t worker[]{here};
    task.push_back(builder.compute(operations[shards[i].operation].name, builder.family(in_every_group(worker, data, gpus), 1),
                                   placement.end[i] - placement.start[i]));
    for (const std::uint32_t each : before) {
      builder.edge(each, task.back());
    }
  }
  if (data > 1) {
    add_gradients(builder, placement, shards, task, data);
  }
  return std::move(builder).build();
}

Result<TaskGraph> graph_of_group(std::span<const Shard> shards, const SipPlacement& placement,
                                 std::span<const Operation> operations) {
  return graph_of_groups(shards, placement, operations, 1);
}

Result<TaskGraph> graph_of_candidate(const SipProfile& profile, const SipCandidate& candidate,
                                     const SipStrategyOptions& options) {
  const auto group = group_of(profile, candidate, options);
  if (!group) {
    return std::unexpected(group.error());
  }
  auto graph = graph_of_groups(group->shards, group->placement, group->operations, candidate.data);
  if (graph) {
    graph->workload = profile.name;
  }
  return graph;
}

Result<Duration> play_group(std::span<const Shard> shards, const SipPlacement& placement, std::span<const Operation> operations,
                            const Network& network) {
  const auto graph = graph_of_group(shards, placement, operations);
  if (!graph) {
    return std::unexpected(graph.error());
  }
  auto predictor = Predictor::make(*graph, network, {});
  if (!predictor) {
    return std::unexpected(predictor.error());
  }
  const auto nanoseconds = predictor->run();
  if (!nanoseconds) {
    return std::unexpected(nanoseconds.error());
  }
  return Duration{std::llround(*nanoseconds)};
}

Result<SipSearch> search_strategy(const SipProfile& profile, std::span<const AccuracyPoint> table,
                                  const SipStrategyOptions& options) {
  LOOM_TRY(check_options(table, options));
  Bytes weights = options.weights;
  for (std::size_t i = 0; options.weights.count == 0 && i < profile.operations.size(); ++i) {
    weights.count += profile.operations[i].parameters.count;
  }
  SipSearch search;
  std::optional<std::size_t> best;
  for (const AccuracyPoint& point : table) {
    for (std::uint32_t data = 1; data <= options.gpus; ++data) {
      if (options.gpus % data != 0) {
        continue;
      }
      SipCandidate candidate{data, options.gpus / data, point.global_batch, {}, {}, 0, {}};
      auto group = group_time(profile, candidate, options);
      if (group) {
        candidate.group = *group;
        candidate.gradients = data > 1 ? gradient_time(weights, options.rate, options.gradient_rate_most) : Duration{};
        candidate.seconds_to_accuracy = static_cast<double>(candidate.iteration().count()) * 1e-9 * point.iterations;
        if (!best || candidate.seconds_to_accuracy < search.candidates[*best].seconds_to_accuracy) {
          best = search.candidates.size();
        }
      } else {
        candidate.rejected = std::move(group).error();
      }
      search.candidates.push_back(std::move(candidate));
    }
  }
  if (!best) {
    return fail(ErrorCode::infeasible, format_text("strategy search: none of {} candidates takes part; the first: {}",
                                                   search.candidates.size(), search.candidates.front().rejected->message));
  }
  search.best = *best;
  return search;
}

}  // namespace loom
