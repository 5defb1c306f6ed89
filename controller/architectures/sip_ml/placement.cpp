// SPDX-License-Identifier: Apache-2.0
// Cutting by powers of two; placing by list scheduling within reach.
#include "controller/architectures/sip_ml/placement.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

Result<void> check_operations(std::span<const Operation> operations) {
  if (operations.size() > limits::kTasksPerGraph) {
    return fail(ErrorCode::out_of_range,
                format_text("{} operators; at most {} (kTasksPerGraph)", operations.size(), limits::kTasksPerGraph));
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    const std::string who = format_text("operator {} '{}'", i, operation.name.substr(0, 128));
    if (operation.compute.count() < 0 || operation.compute.count() > limits::kDurationNs) {
      return fail(ErrorCode::out_of_range, format_text("{} computes {} ns; it needs 0 .. {} (kDurationNs)", who,
                                                       operation.compute.count(), limits::kDurationNs));
    }
    for (const Bytes bytes : {operation.output, operation.parameters}) {
      if (bytes.count < 0 || bytes.count > limits::kCollectiveBytes) {
        return fail(ErrorCode::out_of_range, format_text("{} has {} bytes; it needs 0 .. {} (kCollectiveBytes)", who,
                                                         bytes.count, limits::kCollectiveBytes));
      }
    }
    for (const std::uint32_t input : operation.inputs) {
      if (input >= i) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{} takes input from operator {}, which does not come before it", who, input));
      }
    }
  }
  return {};
}

/// Rounded up. Were one shard a nanosecond longer than its siblings, its GPU would be free later than theirs: placement would
/// permute GPUs from then on and move activations round the ring for a remainder that no model has.
std::int64_t equal_part(std::int64_t whole, std::uint32_t count) { return (whole + count - 1) / count; }

std::vector<std::uint32_t> shard_counts(std::span<const Operation> operations, std::uint32_t gpus, Duration quantum) {
  constexpr std::uint32_t kOpen = 0;
  std::vector<std::uint32_t> counts(operations.size(), kOpen);
  std::vector<std::uint32_t> first_consumer(operations.size(), ~0U);
  for (std::size_t i = operations.size(); i-- > 0;) {
    for (const std::uint32_t input : operations[i].inputs) {
      first_consumer[input] = static_cast<std::uint32_t>(i);
    }
  }
  for (std::size_t i = operations.size(); i-- > 0;) {
    if (!operations[i].is_memory) {
      const auto quanta = static_cast<std::uint64_t>(operations[i].compute / quantum);
      counts[i] = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(std::bit_floor(quanta), 1, gpus));
    } else if (first_consumer[i] != ~0U) {
      counts[i] = counts[first_consumer[i]];  // still open behind a memory operator that nobody consumes
    }
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (counts[i] == kOpen) {
      counts[i] = operations[i].inputs.empty() ? 1 : counts[operations[i].inputs.front()];
    }
  }
  return counts;
}

/// GPUs one after another round the ring.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

class Placer {
 public:
  Placer(std::span<const Shard> shards, std::span<const Operation> operations, const SipPlacementOptions& options)
      : shards_(shards), operations_(operations), options_(options), free_at_(options.gpus) {
    result_.memory.resize(options.gpus);
  }

  Result<SipPlacement> place() {
    for (std::uint32_t i = 0; i < shards_.size(); ++i) {
      LOOM_TRY(put(i));
    }
    for (const auto& [ends, bytes] : transfers_) {
      result_.transfers.push_back({ends.first, ends.second, {bytes}});
      result_.longest_hops = std::max(result_.longest_hops, hops(ends.first, ends.second));
    }
    return std::move(result_);
  }

 private:
  std::string named(std::uint32_t shard) const {
    const std::uint32_t operation = shards_[shard].operation;
    const std::string name =
        operation < operations_.size() ? format_text(" '{}'", operations_[operation].name.substr(0, 128)) : "";
    return format_text("shard {} of operator {}{}", shards_[shard].index, operation, name);
  }

  std::uint32_t clockwise(std::uint32_t from, std::uint32_t to) const {
    return to >= from ? to - from : to + options_.gpus - from;
  }
  std::uint32_t hops(std::uint32_t a, std::uint32_t b) const { return std::min(clockwise(a, b), clockwise(b, a)); }

  /// The authors' range: from the last predecessor on the shorter arc to d_max behind the first.
  Range range_of(const Shard& shard) const {
    if (shard.inputs.empty() || options_.hops_most >= options_.gpus) {
      return {0, options_.gpus};
    }
    std::uint32_t low = options_.gpus;
    std::uint32_t high = 0;
    for (const std::uint32_t input : shard.inputs) {
      low = std::min(low, result_.gpu[input]);
      high = std::max(high, result_.gpu[input]);
    }
    const bool wraps = high - low > low + options_.gpus - high;
    const std::uint32_t start = wraps ? high : low;
    const std::uint32_t end = wraps ? low : high;
    const std::uint32_t length = clockwise(end, (start + options_.hops_most) % options_.gpus);
    return {end, length > options_.hops_most ? 1 : length + 1};
  }

  bool is_in_reach(const Shard& shard, std::uint32_t gpu) const {
    return std::all_of(shard.inputs.begin(), shard.inputs.end(),
                       [&](std::uint32_t input) { return hops(result_.gpu[input], gpu) <= options_.hops_most; });
  }

  bool has_room(std::uint32_t gpu, std::int64_t bytes) const {
    return result_.memory[gpu].count + bytes <= options_.memory.count;
  }

  Result<std::uint32_t> choose(std::uint32_t i, std::int64_t bytes) const {
    const Shard& shard = shards_[i];
    const bool holds = options_.reach == PlacementReach::held;
    const Range range = holds ? Range{0, options_.gpus} : range_of(shard);
    std::uint32_t best = ~0U;
    bool reached = false;
    for (std::uint32_t k = 0; k < range.count; ++k) {
      const std::uint32_t gpu = (range.first + k) % options_.gpus;
      if (holds && !is_in_reach(shard, gpu)) {
        continue;
      }
      reached = true;
      if (has_room(gpu, bytes) && (best == ~0U || free_at_[gpu] < free_at_[best])) {
        best = gpu;
      }
    }
    if (!reached) {
      return fail(ErrorCode::infeasible, format_text("{}: no GPU of {} is within {} hops of all its inputs", named(i),
                                                     options_.gpus, options_.hops_most));
    }
    if (best == ~0U && !holds && has_room(0, bytes)) {
      return 0;
    }
    if (best == ~0U) {
      return fail(ErrorCode::infeasible, format_text("{} needs {} bytes; no GPU in its range has them free of {}", named(i),
                                                     bytes, options_.memory.count));
    }
    return best;
  }

  Result<void> put(std::uint32_t i) {
    const Shard& shard = shards_[i];
    Duration ready{};
    for (const std::uint32_t input : shard.inputs) {
      if (input >= i) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{} takes input from shard {}, which does not come before it", named(i), input));
      }
      ready = std::max(ready, result_.end[input]);
    }
    const std::int64_t bytes = shard.parameters.count + shard.output.count;
    const auto gpu = choose(i, bytes);
    if (!gpu) {
      return std::unexpected(gpu.error());
    }
    result_.memory[*gpu] = result_.memory[*gpu] + Bytes{bytes};
    const Duration lasts = shard.is_memory ? options_.step : std::max(shard.compute, options_.least_compute) + options_.launch;
    result_.gpu.push_back(*gpu);
    result_.start.push_back(std::max(ready, free_at_[*gpu]));
    result_.end.push_back(result_.start.back() + lasts);
    free_at_[*gpu] = result_.end.back();
    if (free_at_[*gpu].count() > limits::kDurationNs) {
      return fail(ErrorCode::out_of_range, format_text("{} ends {} ns after the start; the limit is {} (kDurationNs)", named(i),
                                                       free_at_[*gpu].count(), limits::kDurationNs));
    }
    for (const std::uint32_t input : shard.inputs) {
      if (result_.gpu[input] != *gpu) {
        transfers_[{result_.gpu[input], *gpu}] += shards_[input].output.count;
      }
    }
    return {};
  }

  std::span<const Shard> shards_;
  std::span<const Operation> operations_;
  SipPlacementOptions options_;
  std::vector<Duration> free_at_;  ///< by GPU
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> transfers_;
  SipPlacement result_;
};

}  // namespace

Result<std::vector<Shard>> partition_operations(std::span<const Operation> operations, std::uint32_t gpus, Duration quantum) {
  if (gpus == 0 || gpus > limits::kNodes || quantum.count() <= 0) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} GPUs and a quantum of {} ns; it needs 1 .. {} (kNodes) and more than 0", gpus, quantum.count(),
                            limits::kNodes));
  }
  LOOM_TRY(check_operations(operations));
  const std::vector<std::uint32_t> counts = shard_counts(operations, gpus, quantum);
  std::vector<std::uint32_t> first;
  std::vector<Shard> shards;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& whole = operations[i];
    const std::uint32_t count = counts[i];
    first.push_back(static_cast<std::uint32_t>(shards.size()));
    if (shards.size() + count > limits::kTasksPerGraph) {
      return fail(ErrorCode::out_of_range, format_text("operator {} '{}' makes it more than {} shards (kTasksPerGraph)", i,
                                                       whole.name.substr(0, 128), limits::kTasksPerGraph));
    }
    for (std::uint32_t k = 0; k < count; ++k) {
      Shard shard{i,
                  k,
                  Duration{equal_part(whole.compute.count(), count)},
                  {equal_part(whole.output.count, count)},
                  {equal_part(whole.parameters.count, count)},
                  whole.is_memory,
                  {}};
      for (const std::uint32_t input : whole.inputs) {
        // Where the k-th of `count` parts lies among the input's; counts that do not divide meet where they overlap.
        const std::uint64_t of_input = counts[input];
        const auto from = static_cast<std::uint32_t>(k * of_input / count);
        const auto to = static_cast<std::uint32_t>(((k + 1) * of_input + count - 1) / count);
        for (std::uint32_t j = from; j < to; ++j) {
          shard.inputs.push_back(first[input] + j);
        }
      }
      shards.push_back(std::move(shard));
    }
  }
  return shards;
}

Result<SipPlacement> place_shards(std::span<const Shard> shards, std::span<const Operation> operations,
                                  const SipPlacementOptions& options) {
  if (options.gpus == 0 || options.gpus > limits::kNodes) {
    return fail(ErrorCode::invalid_argument, format_text("{} GPUs; it needs 1 .. {} (kNodes)", options.gpus, limits::kNodes));
  }
  for (const Duration each : {options.step, options.least_compute, options.launch}) {
    if (each.count() < 0 || each.count() > limits::kDurationNs) {
      return fail(ErrorCode::out_of_range,
                  format_text("a step, least compute or launch of {} ns; it needs 0 .. {} (kDurationNs)", each.count(),
                              limits::kDurationNs));
    }
  }
  return Placer(shards, operations, options).place();
}

}  // namespace loom
