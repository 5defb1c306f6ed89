// SPDX-License-Identifier: Apache-2.0
// Tables of jumps: one of n entries serves all pairs, because every node sees the same network.
#include "controller/predict/networks/direct_connect.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kFar = 0xffffffff;

/// Fewest jumps to every offset.
std::vector<std::uint32_t> jump_counts(std::uint32_t nodes, std::span<const std::uint32_t> jumps) {
  std::vector<std::uint32_t> count(nodes, kFar);
  std::vector<std::uint32_t> queue{0};
  count[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t jump : jumps) {
      const std::uint32_t to = (queue[i] + jump) % nodes;
      if (count[to] == kFar) {
        count[to] = count[queue[i]] + 1;
        queue.push_back(to);
      }
    }
  }
  return count;
}

/// Up to `ways` shortest lists of jumps to `offset`, written behind each other.
class JumpLists {
 public:
  JumpLists(std::uint32_t nodes, std::span<const std::uint32_t> jumps) : nodes_(nodes), jumps_(jumps) {
    counts_ = jump_counts(nodes, jumps);
  }

  bool reaches_all() const { return std::find(counts_.begin(), counts_.end(), kFar) == counts_.end(); }
  std::uint32_t longest() const { return *std::max_element(counts_.begin(), counts_.end()); }

  void append(OffsetRoutes& routes, std::uint32_t offset, std::uint32_t ways) {
    const std::size_t before = routes.first_hop.size();
    list_.clear();
    walk(routes, offset, before + ways);
    const std::size_t found = routes.first_hop.size() - before;
    routes.shares.insert(routes.shares.end(), found, 1.0 / static_cast<double>(found));
  }

 private:
  void walk(OffsetRoutes& routes, std::uint32_t left, std::size_t end) {
    if (left == 0) {
      routes.hops.insert(routes.hops.end(), list_.begin(), list_.end());
      routes.first_hop.push_back(static_cast<std::uint32_t>(routes.hops.size()));
      return;
    }
    for (std::uint32_t jump = 0; jump < jumps_.size() && routes.first_hop.size() < end; ++jump) {
      const std::uint32_t rest = (left + nodes_ - jumps_[jump]) % nodes_;
      if (counts_[rest] + 1 == counts_[left]) {
        list_.push_back(jump);
        walk(routes, rest, end);
        list_.pop_back();
      }
    }
  }

  std::uint32_t nodes_;
  std::span<const std::uint32_t> jumps_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> list_;
};

OffsetRoutes empty_routes() {
  OffsetRoutes routes;
  routes.first_path = {0};
  routes.first_hop = {0};
  return routes;
}

/// Links of all nodes: jump j of node i is link i x jumps + j, `times` rates each.
void add_jump_links(Network& network, const NetworkTerms& terms, std::span<const std::uint32_t> jumps,
                    std::span<const double> rates) {
  for (std::uint32_t node = 0; node < terms.nodes; ++node) {
    for (std::size_t j = 0; j < jumps.size(); ++j) {
      network.links.push_back(
          {node, (node + jumps[j]) % terms.nodes, rates[j], static_cast<double>(terms.link_latency.count())});
    }
  }
}

}  // namespace

Result<Network> make_direct_connect(const NetworkTerms& terms, const std::vector<NodePair>& directed,
                                    const GraphRouting& routing) {
  auto network = begin_network("direct-connect", terms);
  if (!network) {
    return network;
  }
  LOOM_TRY(connect(*network, directed, terms, routing));
  network->assumptions.push_back(
      format_text("direct-connect: {} way(s) a pair in equal shares; nodes pass traffic on at line rate", routing.ways));
  return network;
}

Result<Network> make_jump_rings(const NetworkTerms& terms, const JumpRings& rings) {
  auto network = begin_network("jump-rings", terms);
  if (!network) {
    return network;
  }
  OffsetRoutes routes = empty_routes();
  std::vector<double> rates;
  const auto add = [&](std::uint32_t jump) {
    const auto known = std::find(routes.jumps.begin(), routes.jumps.end(), jump);
    if (known == routes.jumps.end()) {
      routes.jumps.push_back(jump);
      rates.push_back(bytes_per_ns(terms));
    } else {
      rates[static_cast<std::size_t>(known - routes.jumps.begin())] += bytes_per_ns(terms);
    }
  };
  for (const std::uint32_t jump : rings.jumps) {
    if (jump == 0 || jump >= terms.nodes) {
      return fail(ErrorCode::invalid_argument,
                  format_text("network 'jump-rings': a jump of {} among {} nodes: outside 1 .. nodes-1", jump, terms.nodes));
    }
    add(jump);
    if (rings.both_directions) {
      add(terms.nodes - jump);
    }
  }
  JumpLists lists{terms.nodes, routes.jumps};
  if (!lists.reaches_all() || rings.ways == 0) {
    return fail(ErrorCode::invalid_argument,
                "network 'jump-rings': these jumps do not lead from every node to every other, or no way was asked for");
  }
  if (lists.longest() > limits::kHopsPerPath) {
    // Far pairs are left unconnected: a neighbour's ring needs none of them.
    network->assumptions.push_back(
        format_text("jump-rings: pairs more than {} jumps apart (kHopsPerPath) are not connected", limits::kHopsPerPath));
  }
  const std::vector<std::uint32_t> counts = jump_counts(terms.nodes, routes.jumps);
  routes.first_path.push_back(0);  // offset 0
  for (std::uint32_t offset = 1; offset < terms.nodes; ++offset) {
    if (counts[offset] <= limits::kHopsPerPath) {
      lists.append(routes, offset, rings.ways);
    }
    routes.first_path.push_back(static_cast<std::uint32_t>(routes.shares.size()));
  }
  add_jump_links(*network, terms, routes.jumps, rates);
  network->routes = std::move(routes);
  network->assumptions.push_back(
      format_text("jump-rings: fewest jumps, {} way(s) a pair; nodes pass traffic on at line rate", rings.ways));
  LOOM_TRY(check(*network));
  return network;
}

Result<Network> make_ring(const NetworkTerms& terms) {
  auto network = make_jump_rings(terms, {.jumps = {1}});
  if (network) {
    network->name = "ring";
  }
  return network;
}

Result<Network> make_mesh(const NetworkTerms& terms, bool is_balanced) {
  constexpr std::uint32_t kBalancedMax = 1024;
  auto network = begin_network(is_balanced ? "balanced-mesh" : "mesh", terms);
  if (!network) {
    return network;
  }
  if (terms.nodes < 2 || terms.nodes > kBalancedMax) {
    return fail(ErrorCode::out_of_range,
                format_text("network '{}': {} nodes: outside 2 .. {}", network->name, terms.nodes, kBalancedMax));
  }
  OffsetRoutes routes = empty_routes();
  routes.first_path.push_back(0);
  const std::uint32_t others = terms.nodes - 1;
  for (std::uint32_t jump = 1; jump < terms.nodes; ++jump) {
    routes.jumps.push_back(jump);
  }
  for (std::uint32_t offset = 1; offset < terms.nodes; ++offset) {
    for (std::uint32_t first = 1; first < terms.nodes && is_balanced; ++first) {
      if (first != offset) {
        routes.hops.insert(routes.hops.end(), {first - 1, (offset + terms.nodes - first) % terms.nodes - 1});
        routes.first_hop.push_back(static_cast<std::uint32_t>(routes.hops.size()));
      }
    }
    routes.hops.push_back(offset - 1);
    routes.first_hop.push_back(static_cast<std::uint32_t>(routes.hops.size()));
    routes.shares.resize(routes.first_hop.size() - 1, is_balanced ? 1.0 / others : 1.0);
    routes.first_path.push_back(static_cast<std::uint32_t>(routes.shares.size()));
  }
  const std::vector<double> rates(routes.jumps.size(), bytes_per_ns(terms) / others);
  add_jump_links(*network, terms, routes.jumps, rates);
  network->routes = std::move(routes);
  LOOM_TRY(check(*network));
  return network;
}

}  // namespace loom
