// SPDX-License-Identifier: Apache-2.0
// What of a new topology is lit already, and where the rest would best lie: grants for Koenig's colouring to start from. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/architectures/topoopt/interfaces.hpp"
#include "controller/schedule/permutations.hpp"

namespace loom {

class KeptLinks {
 public:
  /// Links of `topology` that are among `held` (ascending, a matching on each interface) stay on their interface.
  KeptLinks(const DirectTopology& topology, std::uint32_t degree, const std::vector<PlacedLink>& held);

  /// Each jump gets the interface on which most of its links are lit, or one that no other jump has; its other links go
  /// there wherever both ends are free.
  void place_jumps(const std::vector<std::uint32_t>& jumps);

  const std::vector<SwitchPair>& pairs() const { return pairs_; }
  const std::vector<std::uint32_t>& counts() const { return counts_; }
  const std::vector<SwitchGrant>& grants() const { return grants_; }

 private:
  std::size_t pair_of(std::uint32_t from, std::uint32_t to) const;
  bool is_free(std::uint32_t from, std::uint32_t to, std::uint32_t on) const;
  void grant(std::size_t pair, std::uint32_t on);
  std::vector<std::uint32_t> interfaces_of(const std::vector<std::uint32_t>& jumps) const;

  std::uint32_t nodes_;
  std::uint32_t degree_;
  std::vector<SwitchPair> pairs_;  ///< ascending
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> granted_;  ///< of counts_
  std::vector<SwitchGrant> grants_;
  std::vector<bool> sends_;     ///< [node x degree + interface]
  std::vector<bool> receives_;  ///< the same
};

}  // namespace loom
