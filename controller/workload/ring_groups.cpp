// SPDX-License-Identifier: Apache-2.0
// First fit: a ring joins the first group that has it already or has all of its ranks free.
#include "controller/workload/ring_groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "controller/workload/import/flows.hpp"

namespace loom {
namespace {

/// What one collective needs of its ring.
struct RingNeed {
  double seconds_at_1_bps = 0;
  double filling_seconds_at_1_bps = 0;
  std::uint64_t rounds = 0;
};

/// Multiple of S = buffer bytes that each rank of a ring of n sends.
double ring_volume(CollectiveKind kind, double n) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return (n - 1) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return 1;
    case CollectiveKind::all_to_all:
    case CollectiveKind::barrier:
    case CollectiveKind::point_to_point:
      break;
  }
  return 0;
}

RingNeed need_of(const Collective& collective, const CollectivePlan& plan) {
  const double bits = 8 * static_cast<double>(collective.bytes.count) * static_cast<double>(collective.count);
  RingNeed need{ring_volume(collective.kind, plan.size) * bits, 0, 2ULL * (plan.size - 1) * collective.count};
  if (plan.movement == Movement::chain) {
    need.filling_seconds_at_1_bps = (plan.size - 2.0) / plan.pieces * bits;
  }
  return need;
}

std::vector<RankPair> ring_of(const std::vector<std::uint32_t>& members) {
  std::vector<RankPair> edges;
  for (std::size_t i = 0; i < members.size(); ++i) {
    edges.push_back({members[i], members[(i + 1) % members.size()]});
  }
  return edges;
}

/// A group that grows: what each of its rings needs, by its lowest rank, which is in no other.
struct Growing {
  RingGroup group;
  std::map<std::uint32_t, RingNeed> rings;

  bool has(const std::vector<RankPair>& ring) const {
    return group.edges == ring ||
           std::ranges::all_of(ring, [&](RankPair edge) { return std::ranges::find(group.edges, edge) != group.edges.end(); });
  }
  bool has_room(const std::vector<RankPair>& ring) const {
    return std::ranges::all_of(ring, [&](RankPair edge) {
      return std::ranges::none_of(
          group.edges, [&](RankPair other) { return other.source == edge.source || other.destination == edge.destination; });
    });
  }

  void add(const std::vector<RankPair>& ring, const RingNeed& more, std::uint32_t index) {
    if (!has(ring)) {
      group.edges.insert(group.edges.end(), ring.begin(), ring.end());
      group.bits.resize(group.edges.size());
    }
    auto at = std::ranges::find(group.edges, ring.front());  // rings are closed: the next edge is mostly the next one here too
    for (const RankPair edge : ring) {
      at = at != group.edges.end() && *at == edge ? at : std::ranges::find(group.edges, edge);
      group.bits[static_cast<std::size_t>(at - group.edges.begin())] += more.seconds_at_1_bps;
      ++at;
    }
    RingNeed& need = rings[std::ranges::min(ring, {}, &RankPair::source).source];
    need.seconds_at_1_bps += more.seconds_at_1_bps;
    need.filling_seconds_at_1_bps += more.filling_seconds_at_1_bps;
    need.rounds += more.rounds;
    group.seconds_at_1_bps = std::max(group.seconds_at_1_bps, need.seconds_at_1_bps);
    group.filling_seconds_at_1_bps = std::max(group.filling_seconds_at_1_bps, need.filling_seconds_at_1_bps);
    group.rounds = std::max(group.rounds, need.rounds);
    group.collectives.push_back(index);
  }
};

}  // namespace

std::vector<RingGroup> ring_groups_of(std::span<const Collective> collectives, std::uint32_t node_count) {
  std::vector<Growing> growing;
  for (std::uint32_t index = 0; index < collectives.size(); ++index) {
    const Collective& collective = collectives[index];
    const CollectivePlan plan = plan_of(collective, node_count);
    const bool is_along_ring = plan.movement == Movement::ring || plan.movement == Movement::chain;
    if (!is_along_ring || collective.kind == CollectiveKind::barrier || collective.bytes.count * collective.count == 0) {
      continue;
    }
    const std::vector<RankPair> ring = ring_of(ranks_of(collective, node_count));
    auto fits = std::ranges::find_if(growing, [&](const Growing& each) { return each.has(ring) || each.has_room(ring); });
    (fits == growing.end() ? growing.emplace_back() : *fits).add(ring, need_of(collective, plan), index);
  }
  std::vector<RingGroup> groups;
  for (Growing& each : growing) {
    groups.push_back(std::move(each.group));
  }
  return groups;
}

}  // namespace loom
