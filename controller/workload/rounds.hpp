// SPDX-License-Identifier: Apache-2.0
// Collectives to rounds: the transfers of an algorithm, symbolic. A 1024-rank ring is one run of 2046 equal rounds, and
// nobody spells its transfers out before somebody asks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "controller/workload/task_graph.hpp"

namespace loom {

/// Which of n ranks sends to which in a round. Ranks are indices within the group.
enum class RoundPattern : std::uint8_t {
  shift,      ///< i to (i + parameter) mod n
  exchange,   ///< i to i xor parameter, both ways; ranks whose partner is beyond n idle
  all_pairs,  ///< i to every j != i
  pairs,      ///< RoundRun::pairs
};

struct RoundTransfer {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  double bytes = 0;
};

/// `repeats` rounds of one pattern, `bytes` a transfer (fractions of a byte are lawful).
struct RoundRun {
  RoundPattern pattern = RoundPattern::shift;
  std::uint32_t parameter = 1;
  std::uint32_t repeats = 1;
  double bytes = 0;
  std::uint32_t lane = 0;            ///< lanes run at once and share nothing but links (rings of a multi-ring)
  std::vector<RoundTransfer> pairs;  ///< pattern pairs only; their bytes count, not RoundRun::bytes
};

/// Within a lane, runs in order. A rank's transfers of a round leave when everything that it received in the round before has
/// arrived (and, where it received nothing, when its own of the round before has left). It has finished when it has received
/// and sent all; a collective, when all ranks have.
struct CollectiveRounds {
  std::uint32_t size = 0;
  std::vector<RoundRun> runs;
};

/// The algorithm that carries `kind` under `choice`: automatic is ring for all-reduce, all-gather, reduce-scatter and barrier,
/// tree for broadcast and reduce, direct for all-to-all and point-to-point.
CollectiveAlgorithm algorithm_of(CollectiveKind kind, const CollectiveChoice& choice);

/// Whether `size` ranks can carry `kind` so. Errors: invalid_argument (a group of none, point-to-point of others than two, an
/// algorithm that does not carry this kind, a stride not prime to `size`, a local size that does not divide it).
Result<void> check_choice(CollectiveKind kind, const CollectiveChoice& choice, std::uint32_t size);

/// `splits`: uneven all-to-all, row-major size x size, empty = even. Errors: invalid_argument (an algorithm that does not carry
/// this kind, by names; a stride not prime to `size`; a local size that does not divide `size`; splits of the wrong shape),
/// out_of_range.
Result<CollectiveRounds> rounds_of(CollectiveKind kind, const CollectiveChoice& choice, std::uint32_t size, Bytes bytes,
                                   std::span<const Bytes> splits = {});

/// Calls `each(source, destination, bytes)` for every transfer of one round of `run` among `size` ranks.
template <class Each>
void for_each_transfer(const RoundRun& run, std::uint32_t size, const Each& each) {
  switch (run.pattern) {
    case RoundPattern::shift:
      for (std::uint32_t i = 0; i < size; ++i) {
        each(i, (i + run.parameter) % size, run.bytes);
      }
      return;
    case RoundPattern::exchange:
      for (std::uint32_t i = 0; i < size; ++i) {
        if ((i ^ run.parameter) < size) {
          each(i, i ^ run.parameter, run.bytes);
        }
      }
      return;
    case RoundPattern::all_pairs:
      for (std::uint32_t i = 0; i < size; ++i) {
        for (std::uint32_t j = 0; j < size; ++j) {
          if (i != j) {
            each(i, j, run.bytes);
          }
        }
      }
      return;
    case RoundPattern::pairs:
      for (const RoundTransfer& pair : run.pairs) {
        each(pair.source, pair.destination, pair.bytes);
      }
      return;
  }
}

}  // namespace loom
