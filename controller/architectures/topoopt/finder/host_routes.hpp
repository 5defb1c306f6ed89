// SPDX-License-Identifier: Apache-2.0
// Ways through a direct-connect topology in which servers forward for each other (docs/systems/topoopt.md#topology-finder, step
// 4): shortest ones with ties by seed, as in the authors' code, and the k shortest without loops, as in the paper. Counts hops,
// never bytes. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loom {

/// `count` parallel links, one way.
struct DirectLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t count = 0;
  auto operator<=>(const DirectLink&) const = default;
};

/// Who can be reached in one hop; parallel links count once.
class Neighbours {
 public:
  Neighbours() = default;
  /// `links` ascending.
  Neighbours(std::uint32_t nodes, std::span<const DirectLink> links);
  std::uint32_t nodes() const { return first_.empty() ? 0 : static_cast<std::uint32_t>(first_.size() - 1); }
  std::span<const std::uint32_t> of(std::uint32_t node) const {
    return std::span{to_}.subspan(first_[node], first_[node + 1] - first_[node]);
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> to_;
};

/// One shortest way from each of some sources to every node: a tree a source.
class RouteTrees {
 public:
  RouteTrees() = default;
  /// `sources` ascending, each once. Among equally short ways `seed` picks. O(sources x links), 4 bytes a source and node.
  RouteTrees(const Neighbours& neighbours, std::span<const std::uint32_t> sources, std::uint64_t seed);
  bool has(std::uint32_t source) const { return source < row_.size() && row_[source] != kNoRow; }
  /// Both ends included; empty where there is no way. Precondition: has(source).
  std::vector<std::uint32_t> path(std::uint32_t source, std::uint32_t destination) const;

 private:
  static constexpr std::uint32_t kNoRow = ~0U;
  std::uint32_t nodes_ = 0;
  std::vector<std::uint32_t> row_;  ///< by source
  std::vector<std::uint32_t> parent_;
};

/// At most `count` ways without loops, shortest first, equal ones in the order of their nodes; both ends included. Empty where
/// there is no way, or the ends are one. Source: Yen, Management Science 17 (1971) 712. O(count x hops x links).
std::vector<std::vector<std::uint32_t>> k_shortest_paths(const Neighbours& neighbours, std::uint32_t source,
                                                         std::uint32_t destination, std::uint32_t count);

}  // namespace loom
