// SPDX-License-Identifier: Apache-2.0
// Maps of wavelengths to groups that stand still for a whole all-to-all, nodes passing on what one hop does not reach
// (docs/systems/oddl.md#two-time-scales): ring, latin, or an operator's own. Over the job's own groups, counted 0.. in the
// order of the fabric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/architectures/oddl/options.hpp"
#include "controller/architectures/oddl/planes.hpp"
#include "controller/schedule/traffic.hpp"
#include "core/demand.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"

namespace loom {

/// Where a job's ranks sit: place = its group among the job's groups.
struct RankGrid {
  static constexpr std::int32_t kNobody = -1;
  std::uint32_t places = 0;
  std::uint32_t ports = 0;
  std::vector<std::uint32_t> place_of;  ///< by rank
  std::vector<std::uint32_t> port_of;   ///< by rank
  std::vector<std::int32_t> rank_at;    ///< [place x port]
  std::vector<NodeId> nodes{};          ///< by rank

  std::int32_t rank(std::uint32_t place, std::uint32_t port) const { return rank_at[place * ports + port]; }
};

RankGrid grid_of(const OddlShape& shape, const std::vector<NodeId>& nodes);

/// [place x port] -> place.
using PlaceMap = std::vector<std::uint32_t>;

/// Errors: invalid_argument (custom: size, a place that is not there), conflict (two groups lead one wavelength to one group).
Result<PlaceMap> place_map(MapChoice choice, const std::vector<std::uint32_t>& custom, const RankGrid& grid,
                           const std::string& job);

/// Who relays over a map, rows being places. Every pair with bytes gets light of its own or one relay, the least loaded that
/// there is. Errors: infeasible, naming the first pair that neither reaches.
Result<ForwardingTable> forwarding_over(const PlaceMap& map, const RankGrid& grid, const PairTraffic& traffic,
                                        const std::string& job);

/// Behind routers a rank has one partner in each other group: what goes to another of its nodes is handed to the neighbour
/// whose partner that is. Nobody forwards if nothing needs it. Errors: infeasible, naming the pair without such a neighbour.
Result<ForwardingTable> forwarding_by_partners(const OddlShape& shape, const RankGrid& grid, const PairTraffic& traffic,
                                               const std::string& job);

/// What goes from rank to rank in one hop, whoever it is for.
PairTraffic hops_over(const ForwardingTable& forwarding, const PairTraffic& traffic);

/// Destinations of the rank that has the most.
std::uint32_t fan_out_of(const RankGrid& grid, const PairTraffic& traffic);

/// What each rank sends to each port in the two passes of store and forward, one relay a pair.
struct RelayLoads {
  std::vector<std::int64_t> first;   ///< [rank x port] its own: direct, and to relays
  std::vector<std::int64_t> second;  ///< [rank x port] of others
};

RelayLoads loads_over(const ForwardingTable& forwarding, const RankGrid& grid, const PairTraffic& traffic);

}  // namespace loom
