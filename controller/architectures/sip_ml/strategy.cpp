// Candidates one by one.
#include "controller/architectures/sip_ml/strategy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

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
  if (options.gpus > limits::kNodes || !std::has_single_bit(options.gpus)) {
    return fail(ErrorCode::invalid_argument, format_text("strategy search: {} GPUs; it needs a power of two up to {} (kNodes)",
                                                         options.gpus, limits::kNodes));
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

Result<Duration> group_time(const SipProfile& profile, const SipCandidate& candidate, const SipStrategyOptions& options) {
  if (candidate.global_batch % candidate.data != 0) {
    return fail(ErrorCode::invalid_argument,
                format_text("a batch of {} for {} groups", candidate.global_batch, candidate.data));
  }
  const auto operations = operations_at(profile, candidate.global_batch / candidate.data);
  if (!operations) {
    return std::unexpected(operations.error());
  }
  const auto shards = partition_operations(*operations, candidate.model, options.quantum);
  if (!shards) {
    return std::unexpected(shards.error());
  }
  SipPlacementOptions placing = options.placement;
  placing.gpus = candidate.model;
  const auto placement = place_shards(*shards, *operations, placing);
  if (!placement) {
    return std::unexpected(placement.error());
  }
  return estimate_group(*shards, *placement, options.rate, options.latency);
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

Result<TaskGraph> graph_of_group(std::span<const Shard> shards, const SipPlacement& placement,
                                 std::span<const Operation> operations) {
  const auto gpus = static_cast<std::uint32_t>(placement.memory.size());
  TaskGraphBuilder builder("sip-ml group", gpus);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
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
      before.push_back(builder.communicate(operations[shards[input].operation].name, builder.family(ends, 2),
                                           CollectiveKind::point_to_point, shards[input].output, choice, 0));
      builder.edge(task[input], before.back());
    }
    const std::uint32_t worker[]{here};
    task.push_back(builder.compute(operations[shards[i].operation].name, builder.family(worker, 1),
                                   placement.end[i] - placement.start[i]));
    for (const std::uint32_t each : before) {
      builder.edge(each, task.back());
    }
  }
  return std::move(builder).build();
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
    for (std::uint32_t data = 1; data <= options.gpus; data *= 2) {
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
