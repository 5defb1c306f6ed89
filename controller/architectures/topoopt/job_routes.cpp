// SPDX-License-Identifier: Apache-2.0
// Walks every pair that moves bytes.
#include "controller/architectures/topoopt/job_routes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "core/forwarding/forwarding_builder.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Ends = std::pair<std::uint32_t, std::uint32_t>;
using RankPath = std::vector<std::uint32_t>;  ///< both ends included

class Walk {
 public:
  /// `topology`: null, only its links are known.
  Walk(const FinderDemand& demand, std::vector<DirectLink> links, const DirectTopology* topology, std::uint64_t seed)
      : demand_(demand), links_(std::move(links)), topology_(topology), sent_(demand.nodes) {
    if (topology == nullptr || !topology->pairs.empty()) {
      find_trees(seed);
    }
  }

  void run() {
    for (const ReduceDemand& group : demand_.reduces) {
      if (group.members.size() >= 2 && group.bytes > 0) {
        add_group(group);
      }
    }
    for (const PairDemand& pair : demand_.pairs) {
      if (pair.bytes > 0) {
        go({pair.source, pair.destination}, 8 * static_cast<double>(pair.bytes));
      }
    }
  }

  /// Pairs with servers between, ascending.
  const std::map<Ends, RankPath>& forwarded() const { return forwarded_; }
  double busiest() const {
    double most = 0;
    for (const auto& [ends, bits] : carried_) {
      most = std::max(most, bits / count_of(ends));
    }
    return most;
  }
  double sent() const { return *std::max_element(sent_.begin(), sent_.end()); }

 private:
  /// Shortest ways over all links; the topology's own trees know only the sources of pairs.
  void find_trees(std::uint64_t seed) {
    std::vector<std::uint32_t> sources;
    for (std::uint32_t node = 0; node < demand_.nodes; ++node) {
      const auto sends = [&](const ReduceDemand& group) {
        return std::find(group.members.begin(), group.members.end(), node) != group.members.end();
      };
      const bool is_known = topology_ != nullptr && topology_->pair_trees.has(node);
      if (topology_ == nullptr || (!is_known && std::any_of(demand_.reduces.begin(), demand_.reduces.end(), sends))) {
        sources.push_back(node);
      }
    }
    trees_ = RouteTrees(Neighbours(demand_.nodes, links_), sources, seed);
  }

  RankPath shortest(Ends ends) const {
    const auto [source, destination] = ends;
    if (count_of(ends) > 0) {
      return {source, destination};
    }
    return trees_.has(source) ? trees_.path(source, destination) : topology_->paths(source, destination).front();
  }

  std::uint32_t count_of(Ends ends) const {
    const auto link = std::lower_bound(links_.begin(), links_.end(), DirectLink{ends.first, ends.second, 0});
    return link != links_.end() && link->from == ends.first && link->to == ends.second ? link->count : 0;
  }

  void add_group(const ReduceDemand& group) {
    const auto size = static_cast<std::uint32_t>(group.members.size());
    const double bits = 8 * static_cast<double>(group.bytes) * 2 * (size - 1) / size;
    if (topology_ == nullptr && add_lit_rings(group, bits)) {
      return;
    }
    if (topology_ == nullptr || stride_of_group(demand_.nodes, group.members) == 0) {
      for (std::uint32_t i = 0; i < size; ++i) {
        go({group.members[i], group.members[(i + 1) % size]}, bits);
      }
      return;
    }
    const std::span<const RingPath> rings = topology_->rings_of(size);
    for (const RingPath& ring : rings) {
      for (const std::uint32_t member : group.members) {
        RankPath path{member};
        for (const std::uint32_t jump : ring.jumps) {
          path.push_back((path.back() + jump) % demand_.nodes);
        }
        take(std::move(path), bits / static_cast<double>(rings.size()));
      }
    }
  }

  /// Whether there are such.
  bool add_lit_rings(const ReduceDemand& group, double bits) {
    const auto is_lit = [&](std::uint32_t from, std::uint32_t to) { return has_link(links_, from, to); };
    const std::vector<std::uint32_t> strides = ring_strides_over(group.members, is_lit);
    const std::size_t size = group.members.size();
    for (const std::uint32_t stride : strides) {
      for (std::size_t i = 0; i < size; ++i) {
        take({group.members[i], group.members[(i + stride) % size]}, bits / static_cast<double>(strides.size()));
      }
    }
    return !strides.empty();
  }

  void go(Ends ends, double bits) {
    const auto known = forwarded_.find(ends);
    take(known == forwarded_.end() ? shortest(ends) : known->second, bits);
  }

  void take(RankPath path, double bits) {
    if (path.size() < 2) {
      return;  // not joined
    }
    const Ends ends{path.front(), path.back()};
    if (path.size() > 2 && count_of(ends) > 0) {
      path = {ends.first, ends.second};
    }
    sent_[ends.first] += bits;
    for (std::size_t hop = 0; hop + 1 < path.size(); ++hop) {
      carried_[{path[hop], path[hop + 1]}] += bits;
    }
    if (path.size() > 2) {
      forwarded_.try_emplace(ends, std::move(path));
    }
  }

  const FinderDemand& demand_;
  std::vector<DirectLink> links_;
  const DirectTopology* topology_;
  RouteTrees trees_;
  std::map<Ends, RankPath> forwarded_;
  std::map<Ends, double> carried_;
  std::vector<double> sent_;
};

}  // namespace

namespace {

Result<JobRoutes> routes_of(Walk walk, const std::vector<NodeId>& nodes) {
  walk.run();
  if (walk.forwarded().size() > limits::kRoutesPerJob) {
    return fail(ErrorCode::out_of_range,
                format_text("topoopt: {} pairs of servers need forwarding; the limit is {} (kRoutesPerJob)",
                            walk.forwarded().size(), limits::kRoutesPerJob));
  }
  std::vector<std::uint32_t> rows(nodes.size());
  std::iota(rows.begin(), rows.end(), 0U);
  ForwardingBuilder table(ForwardingMode::cut_through, nodes, std::move(rows));
  for (const auto& [ends, path] : walk.forwarded()) {
    table.add(ends.first, ends.second, std::span(path).subspan(1, path.size() - 2));
  }
  JobRoutes routes;
  routes.forwarded = table.take();
  routes.busiest_bits = walk.busiest();
  routes.sent_bits = walk.sent();
  return routes;
}

}  // namespace

bool has_link(const std::vector<DirectLink>& links, std::uint32_t from, std::uint32_t to) {
  const auto link = std::lower_bound(links.begin(), links.end(), DirectLink{from, to, 0});
  return link != links.end() && link->from == from && link->to == to;
}

Result<JobRoutes> routes_of_job(const FinderDemand& demand, const DirectTopology& topology, const std::vector<NodeId>& nodes,
                                std::uint64_t seed) {
  return routes_of(Walk(demand, topology.links(), &topology, seed), nodes);
}

Result<JobRoutes> routes_over(const FinderDemand& demand, const std::vector<DirectLink>& links,
                              const std::vector<NodeId>& nodes, std::uint64_t seed) {
  return routes_of(Walk(demand, links, nullptr, seed), nodes);
}

}  // namespace loom
