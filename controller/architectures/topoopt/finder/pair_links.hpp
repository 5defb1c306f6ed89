// SPDX-License-Identifier: Apache-2.0
// The model-parallel sub-topology (docs/systems/topoopt.md#topology-finder, step 3): round after round a matching of the
// heaviest demand, each matched pair one more link both ways, and what a pair has already counts its demand down. Never sees
// rings. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "core/result.hpp"

namespace loom {

struct PairDemand {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::int64_t bytes = 0;
};

/// `count` duplex links; u < v.
struct PairLinks {
  std::uint32_t u = 0;
  std::uint32_t v = 0;
  std::uint32_t count = 0;
  auto operator<=>(const PairLinks&) const = default;
};

/// What a pair's demand counts for once it has m links.
enum class LinkDiscount : std::uint8_t {
  harmonic,  ///< demand / (m + 1): the authors' code
  halving,   ///< demand / 2^m: the paper
};

enum class MatchingMethod : std::uint8_t {
  exact,   ///< of maximum weight (Edmonds)
  greedy,  ///< the heaviest pair first; at least half the weight of the best, in practice nearly all of it
};

struct PairLinkOptions {
  std::uint32_t rounds = 0;  ///< links a node
  LinkDiscount discount = LinkDiscount::harmonic;
  MatchingMethod method = MatchingMethod::exact;
};

/// Links after all rounds, ascending. The demand of a pair is what it moves both ways. Every round is a perfect matching (of
/// all nodes but one, where their number is odd), as the code's is: who is left without a demanded partner is joined with
/// the next such node, ascending. Demands repeat freely and are added up.
/// Errors: invalid_argument (a node that is not there, a node's demand on itself), out_of_range (negative bytes, or more than
/// limits::kTrafficBytes).
Result<std::vector<PairLinks>> match_pairs(std::uint32_t nodes, const std::vector<PairDemand>& demand,
                                           const PairLinkOptions& options);

/// One round by itself: the partner of each node, kUnmatched for the odd one out, and the demand that is matched.
struct PairRound {
  std::vector<std::uint32_t> partner;
  double weight = 0;
};

/// As match_pairs; each round on its own, in order, and with what weight.
Result<std::vector<PairRound>> match_rounds(std::uint32_t nodes, const std::vector<PairDemand>& demand,
                                            const PairLinkOptions& options);

}  // namespace loom
