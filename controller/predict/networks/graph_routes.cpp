// SPDX-License-Identifier: Apache-2.0
// Iterative deepening: paths in order of length, cut short where the destination is further than the hops left.
#include "controller/predict/networks/graph_routes.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kFar = 0xffffffff;

/// Out links (or in links) of every vertex.
struct Adjacency {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> links;
  std::span<const std::uint32_t> of(std::uint32_t vertex) const {
    return std::span{links}.subspan(first[vertex], first[vertex + 1] - first[vertex]);
  }
};

Adjacency adjacency(const Network& network, bool by_source) {
  Adjacency made;
  made.first.assign(network.vertices + 1, 0);
  const auto end_of = [&](const NetworkLink& link) { return by_source ? link.from : link.to; };
  for (const NetworkLink& link : network.links) {
    ++made.first[end_of(link) + 1];
  }
  for (std::uint32_t vertex = 0; vertex < network.vertices; ++vertex) {
    made.first[vertex + 1] += made.first[vertex];
  }
  made.links.resize(network.links.size());
  std::vector<std::uint32_t> next(made.first.begin(), made.first.end() - 1);
  for (std::uint32_t link = 0; link < network.links.size(); ++link) {
    made.links[next[end_of(network.links[link])]++] = link;
  }
  return made;
}

class PathFinder {
 public:
  PathFinder(const Network& network, const GraphRouting& routing)
      : network_(network),
        routing_(routing),
        out_(adjacency(network, true)),
        in_(adjacency(network, false)),
        visited_(network.vertices, false) {}

  /// Distances to `destination` from everywhere.
  void set_destination(std::uint32_t destination) {
    destination_ = destination;
    distance_.assign(network_.vertices, kFar);
    distance_[destination] = 0;
    queue_.assign(1, destination);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      for (const std::uint32_t link : in_.of(queue_[i])) {
        const std::uint32_t from = network_.links[link].from;
        if (distance_[from] == kFar) {
          distance_[from] = distance_[queue_[i]] + 1;
          queue_.push_back(from);
        }
      }
    }
  }

  const std::vector<std::vector<std::uint32_t>>& paths_from(std::uint32_t source) {
    found_.clear();
    const std::uint32_t shortest = distance_[source];
    if (shortest == kFar || shortest > routing_.hops_max) {
      return found_;
    }
    source_ = source;
    if (routing_.ways == 1) {
      descend(source);
      return found_;
    }
    for (std::uint32_t hops = shortest; hops <= std::min(shortest + routing_.longer, routing_.hops_max); ++hops) {
      path_.clear();
      extend(source, hops);
    }
    return found_;
  }

 private:
  /// The first shortest path that extend() finds: every hop that comes nearer leads on.
  void descend(std::uint32_t source) {
    path_.clear();
    for (std::uint32_t at = source; at != destination_;) {
      const auto links = out_.of(at);
      std::size_t i = turn_of(at) % links.size();
      while (distance_[network_.links[links[i]].to] >= distance_[at]) {
        i = i + 1 == links.size() ? 0 : i + 1;
      }
      path_.push_back(links[i]);
      at = network_.links[links[i]].to;
    }
    found_.push_back(path_);
  }

  std::uint64_t turn_of(std::uint32_t at) const {
    return network_paths::mixed(routing_.seed ^ (std::uint64_t{source_} << 32 | destination_) ^ (std::uint64_t{at} << 20));
  }

  void extend(std::uint32_t at, std::uint32_t hops_left) {
    if (at == destination_) {
      if (hops_left == 0) {
        found_.push_back(path_);
      }
      return;
    }
    if (distance_[at] > hops_left) {
      return;
    }
    visited_[at] = true;
    const auto links = out_.of(at);
    const std::uint64_t turn = turn_of(at);
    for (std::size_t i = 0; i < links.size() && found_.size() < routing_.ways; ++i) {
      const std::uint32_t link = links[(i + turn) % links.size()];
      const std::uint32_t to = network_.links[link].to;
      if (!visited_[to] && distance_[to] < hops_left) {
        path_.push_back(link);
        extend(to, hops_left - 1);
        path_.pop_back();
      }
    }
    visited_[at] = false;
  }

  const Network& network_;
  const GraphRouting& routing_;
  Adjacency out_;
  Adjacency in_;
  std::vector<std::uint32_t> distance_;
  std::vector<std::uint32_t> queue_;
  std::vector<bool> visited_;
  std::vector<std::uint32_t> path_;
  std::vector<std::vector<std::uint32_t>> found_;
  std::uint32_t source_ = 0;
  std::uint32_t destination_ = 0;
};

struct FoundPaths {
  NodePair pair;
  std::vector<std::vector<std::uint32_t>> paths;
};

PairRoutes laid_out(std::uint32_t nodes, std::vector<FoundPaths> found) {
  std::sort(found.begin(), found.end(), [](const FoundPaths& a, const FoundPaths& b) { return a.pair < b.pair; });
  PairRoutes routes;
  routes.first_destination.assign(nodes + 1, 0);
  routes.first_path = {0};
  routes.first_hop = {0};
  for (const FoundPaths& each : found) {
    ++routes.first_destination[each.pair.first + 1];
    routes.destinations.push_back(each.pair.second);
    for (const auto& path : each.paths) {
      routes.shares.push_back(1.0 / static_cast<double>(each.paths.size()));
      routes.hops.insert(routes.hops.end(), path.begin(), path.end());
      routes.first_hop.push_back(static_cast<std::uint32_t>(routes.hops.size()));
    }
    routes.first_path.push_back(static_cast<std::uint32_t>(routes.shares.size()));
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    routes.first_destination[node + 1] += routes.first_destination[node];
  }
  return routes;
}

Result<PairRoutes> routes_of(const Network& network, const GraphRouting& routing) {
  std::vector<NodePair> wanted = routing.pairs;  // by destination, which is how distances are found
  const auto by_destination = [](const NodePair& a, const NodePair& b) {
    return std::pair{a.second, a.first} < std::pair{b.second, b.first};
  };
  std::sort(wanted.begin(), wanted.end(), by_destination);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  PathFinder finder{network, routing};
  std::vector<FoundPaths> found;
  std::size_t paths = 0;
  const auto take = [&](std::uint32_t source, std::uint32_t destination) {
    const auto& some = finder.paths_from(source);
    if (source != destination && !some.empty()) {
      found.push_back({{source, destination}, some});
      paths += some.size();
    }
    return paths <= limits::kElements;
  };
  bool fits = true;
  if (routing.pairs.empty()) {
    for (std::uint32_t destination = 0; destination < network.end_points && fits; ++destination) {
      finder.set_destination(destination);
      for (std::uint32_t source = 0; source < network.end_points && fits; ++source) {
        fits = take(source, destination);
      }
    }
  } else {
    for (std::size_t i = 0; i < wanted.size() && fits; ++i) {
      if (i == 0 || wanted[i].second != wanted[i - 1].second) {
        finder.set_destination(wanted[i].second);
      }
      fits = take(wanted[i].first, wanted[i].second);
    }
  }
  if (!fits) {
    return fail(ErrorCode::out_of_range,
                format_text("network '{}': more than {} paths (kElements); ask for fewer ways or name the pairs", network.name,
                            limits::kElements));
  }
  return laid_out(network.end_points, std::move(found));
}

}  // namespace

Result<void> connect(Network& network, std::vector<NodePair> directed, const NetworkTerms& terms, const GraphRouting& routing) {
  const std::string at = format_text("network '{}': ", network.name);
  std::sort(directed.begin(), directed.end());
  for (const auto& [from, to] : directed) {
    if (from >= network.vertices || to >= network.vertices || from == to) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}a link from {} to {} among {} vertices", at, from, to, network.vertices));
    }
    const bool is_parallel = !network.links.empty() && network.links.back().from == from && network.links.back().to == to;
    if (is_parallel) {
      network.links.back().bytes_per_ns += bytes_per_ns(terms);
    } else {
      network.links.push_back({from, to, bytes_per_ns(terms), static_cast<double>(terms.link_latency.count())});
    }
  }
  for (const auto& [from, to] : routing.pairs) {
    if (from >= network.end_points || to >= network.end_points) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}a wanted pair {} to {} among {} nodes", at, from, to, network.end_points));
    }
  }
  if (routing.ways == 0 || routing.hops_max > limits::kHopsPerPath) {
    return fail(ErrorCode::out_of_range,
                format_text("{}0 ways, or more than {} hops (kHopsPerPath)", at, limits::kHopsPerPath));
  }
  auto routes = routes_of(network, routing);
  if (!routes) {
    return std::unexpected(routes.error());
  }
  network.routes = std::move(*routes);
  return check(network);
}

Result<Network> make_circuits(std::string_view name, const NetworkTerms& terms, std::vector<NodePair> circuits) {
  auto network = begin_network(name, terms);
  if (!network) {
    return network;
  }
  network->waits_for_path = true;
  if (circuits.empty()) {
    network->routes = PairRoutes{std::vector<std::uint32_t>(terms.nodes + 1, 0), {}, {0}, {}, {0}, {}};
    return network;
  }
  const GraphRouting routing{.hops_max = 1, .pairs = circuits};
  LOOM_TRY(connect(*network, std::move(circuits), terms, routing));
  return network;
}

}  // namespace loom
