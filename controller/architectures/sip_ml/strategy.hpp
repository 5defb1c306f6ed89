// SPDX-License-Identifier: Apache-2.0
// SiP-ML's strategy search (docs/systems/sipml.md#strategy-search): how many data-parallel groups of how many model-parallel
// GPUs reach accuracy first. Each candidate is partitioned and placed; its iteration is the group's time plus the closed form
// for the gradients (#traffic there). What it plays is one group; how groups lie on a fabric is placement.hpp's business. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "controller/architectures/sip_ml/profile.hpp"
#include "controller/predict/engine/network.hpp"
#include "controller/workload/task_graph.hpp"

namespace loom {

/// Of a GPU, docs/systems/sipml.md#constants.
inline constexpr Bytes kSipMlNodeMemory{100'000'000'000};

/// A row of the time-to-accuracy table.
struct AccuracyPoint {
  std::uint32_t global_batch = 0;
  double iterations = 0;
};

struct SipStrategyOptions {
  std::uint32_t gpus = 1024;
  Duration quantum = std::chrono::microseconds{1};  ///< of the partitioner
  SipPlacementOptions placement;                    ///< its `gpus` is set by the search
  BitRate rate{};                                   ///< of a GPU, each direction
  std::optional<BitRate> gradient_rate_most;        ///< electrical baselines: 200 or 400 Gb/s between groups
  Duration latency{};                               ///< of a transfer
  Bytes weights{};                                  ///< for the gradients; 0: the profile's parameters
};

/// 2 x weights x 8 / bandwidth, as the authors add it for the data-parallel all-reduce: the whole model's bytes over one GPU's
/// rate, shards or not.
Duration gradient_time(Bytes weights, BitRate rate, std::optional<BitRate> most);

/// One group's iteration by list scheduling: shards in their order, each GPU's transfers one after another at `rate`.
Duration estimate_group(std::span<const Shard> shards, const SipPlacement& placement, BitRate rate, Duration latency);

/// The group's iteration as a task graph of one worker a GPU, each transfer on its own, for the engine to play.
/// Errors: as TaskGraphBuilder::build().
Result<TaskGraph> graph_of_group(std::span<const Shard> shards, const SipPlacement& placement,
                                 std::span<const Operation> operations);

/// `data` such groups side by side, GPU i of group k worker and node k x gpus + i, and behind their compute the all-reduces of
/// what each GPU keeps, among the groups: the closed form (gradient_time) moves the whole model instead. Errors: as above.
Result<TaskGraph> graph_of_groups(std::span<const Shard> shards, const SipPlacement& placement,
                                  std::span<const Operation> operations, std::uint32_t data);

/// T_MP: the group played on `network`. Errors: as graph_of_group and Predictor.
Result<Duration> play_group(std::span<const Shard> shards, const SipPlacement& placement, std::span<const Operation> operations,
                            const Network& network);

struct SipCandidate {
  std::uint32_t data = 0;   ///< dp
  std::uint32_t model = 0;  ///< mp = gpus / dp
  std::uint32_t global_batch = 0;
  Duration group{};      ///< T_MP, estimated
  Duration gradients{};  ///< 0 with one group
  double seconds_to_accuracy = 0;
  std::optional<Error> rejected;  ///< why it does not take part: memory, or a batch that no profile has
  Duration iteration() const { return group + gradients; }
};

struct SipSearch {
  std::vector<SipCandidate> candidates;  ///< in the order of the table, then of dp
  std::size_t best = 0;
};

/// The whole job of a candidate, partitioned and placed as the search did, as a task graph. Errors: those of the partitioner,
/// the placement and graph_of_groups.
Result<TaskGraph> graph_of_candidate(const SipProfile& profile, const SipCandidate& candidate,
                                     const SipStrategyOptions& options);

/// Every divisor of `gpus` as dp (the authors' GPUs are a power of two, and so are its divisors), for every row of the table;
/// the least seconds to accuracy wins, of equal ones the first. Errors: invalid_argument (no table, no rate, no GPUs),
/// out_of_range, infeasible (all were rejected; the first reason).
Result<SipSearch> search_strategy(const SipProfile& profile, std::span<const AccuracyPoint> table,
                                  const SipStrategyOptions& options);

}  // namespace loom
