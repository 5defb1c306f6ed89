// SPDX-License-Identifier: Apache-2.0
// SiP-ML's op partitioner and degree-aware placement (docs/systems/sipml.md#partition-and-placement): operators of one
// model-parallel group cut into shards, and each shard put on a GPU of a ring so that transfers stay short. Estimates start
// times to place by; predicts nothing. Which physical nodes the ring is made of is placement.hpp's business. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// An operator of the model, profiled on one GPU.
struct Operation {
  std::string name;
  Duration compute{};
  Bytes output{};                     ///< what each consumer gets
  Bytes parameters{};                 ///< what it keeps
  bool is_memory = false;             ///< holds or moves data (variable, read, concat) and computes nothing
  std::vector<std::uint32_t> inputs;  ///< operators before it in the list
};

struct Shard {
  std::uint32_t operation = 0;
  std::uint32_t index = 0;  ///< among the operator's shards
  Duration compute{};
  Bytes output{};
  Bytes parameters{};
  bool is_memory = false;
  std::vector<std::uint32_t> inputs;  ///< shards before it in the list
};

/// Cuts each operator into min(2^floor(log2(compute / quantum)), gpus) shards, at least one; a memory operator into as many as
/// its first consumer, or without one as its first input. All shards of an operator are
/// alike: time and bytes in equal parts, rounded up to a nanosecond or a byte. A shard
/// takes its input from the shards that lie where it lies in the whole: with r times as many inputs, shards i r .. i r + r - 1;
/// never from all. In the order of operators, then of shards. Errors: invalid_argument (no GPU, no quantum, an input that does
/// not come before its operator), out_of_range (limits; negative or absurd times and bytes), each naming the operator.
Result<std::vector<Shard>> partition_operations(std::span<const Operation> operations, std::uint32_t gpus, Duration quantum);

enum class PlacementReach : std::uint8_t {
  /// The authors' rule. It bounds the way from the predecessors only while these lie within `hops_most` of each other, and
  /// falls
  /// back on GPU 0 when memory is full.
  as_in_code,
  /// Any GPU within `hops_most` of every predecessor, the shorter way round; refused where there is none.
  held,
};

struct SipPlacementOptions {
  std::uint32_t gpus = 0;                        ///< on the ring, in its order
  std::uint32_t hops_most = 16;                  ///< d_max; 16 on SiP-Ring, the number of OCSs on SiP-OCS
  Bytes memory{100'000'000'000};                 ///< of a GPU: parameters and outputs
  Duration step = std::chrono::microseconds{1};  ///< of the authors' simulation: how long a memory operator takes
  Duration least_compute{};
  Duration launch{};  ///< added to every shard that computes
  PlacementReach reach = PlacementReach::as_in_code;
};

/// Between two GPUs in one iteration.
struct SipTransfer {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  Bytes bytes{};
  bool operator==(const SipTransfer&) const = default;
};

struct SipPlacement {
  std::vector<std::uint32_t> gpu;  ///< by shard
  std::vector<Duration> start;
  std::vector<Duration> end;
  std::vector<Bytes> memory;           ///< by GPU, what is taken
  std::vector<SipTransfer> transfers;  ///< ascending, none from a GPU to itself
  std::uint32_t longest_hops = 0;      ///< of any transfer, the shorter way round
};

/// Places shards in their order: of the GPUs in reach of all predecessors that have memory left, the one that is free first;
/// of equal ones the first in the range. Errors: infeasible (no memory, or, with PlacementReach::held, no GPU in reach; the
/// shard and the limit are named), invalid_argument (no GPU, an input that does not come before its shard), out_of_range.
/// Source: docs/systems/sipml.md#partition-and-placement. What the lines there leave open: the range runs clockwise, and its
/// length is counted clockwise.
Result<SipPlacement> place_shards(std::span<const Shard> shards, std::span<const Operation> operations,
                                  const SipPlacementOptions& options);

}  // namespace loom
