// SPDX-License-Identifier: Apache-2.0
// Maximum-weight matching in a general graph, exact (Edmonds), with its proof. The only door to LEMON (ADR 0014): LEMON 1.3.1
// needs C++17, so this header keeps to it and names no type of core. Pure; the same input gives the same matching.
#pragma once

#include <cstdint>
#include <vector>

namespace loom {

struct MatchingEdge {
  std::uint32_t u = 0;
  std::uint32_t v = 0;
  std::int64_t weight = 0;
};

inline constexpr std::uint32_t kUnmatched = ~0U;

struct GeneralMatching {
  std::vector<std::uint32_t> mate;  ///< by node; kUnmatched where there is none
  /// Dual values by node, times four: an edge that was not given, of weight w between u and v, cannot improve the matching
  /// where value[u] + value[v] >= 4 w.
  std::vector<std::int64_t> value;
};

/// Preconditions: u != v, both below `nodes`; 0 <= weight <= 2^50. O(n m log n).
GeneralMatching max_weight_matching(std::uint32_t nodes, const std::vector<MatchingEdge>& edges);

}  // namespace loom
