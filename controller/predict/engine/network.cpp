// SPDX-License-Identifier: Apache-2.0
// Checks of a network, and the arithmetic of its paths.
#include "controller/predict/engine/network.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string named(const Network& network) { return format_text("network '{}': ", network.name); }

Result<void> check_link(const Network& network, std::size_t index) {
  const NetworkLink& link = network.links[index];
  const auto refuse = [&](ErrorCode code, const std::string& what) {
    return fail(code, format_text("{}link {}{}", named(network), index, what));
  };
  if (link.from >= network.vertices || link.to >= network.vertices) {
    return refuse(ErrorCode::invalid_argument,
                  format_text(" leads from {} to {}: there are {} vertices", link.from, link.to, network.vertices));
  }
  if (!(link.bytes_per_ns > 0) && !network.waits_for_path) {
    return refuse(ErrorCode::invalid_argument, " has a rate of 0: nothing would ever arrive");
  }
  if (!std::isfinite(link.bytes_per_ns) || !(link.latency_ns >= 0) ||
      link.latency_ns > static_cast<double>(limits::kDurationNs)) {
    return refuse(ErrorCode::out_of_range, " has a rate or latency that is no number in range");
  }
  return {};
}

Result<void> check_way(const Network& network, std::uint32_t source, std::uint32_t destination) {
  double shares = 0;
  std::uint32_t paths = 0;
  std::string fault;
  for_each_path(network, source, destination, 0, [&](std::span<const std::uint32_t> path, double share) {
    ++paths;
    shares += share;
    std::uint32_t at = source;
    for (const std::uint32_t link : path) {
      if (link >= network.links.size() || network.links[link].from != at) {
        fault = format_text("a path is broken at vertex {}", at);
        return;
      }
      at = network.links[link].to;
    }
    if (at != destination) {
      fault = format_text("a path ends at vertex {}", at);
    }
  });
  if (fault.empty() && paths > 0 && std::abs(shares - 1) > 1e-9) {
    fault = format_text("the shares of its paths add up to {}, not to 1", std::to_string(shares));
  }
  if (!fault.empty()) {
    return fail(ErrorCode::invalid_argument, format_text("{}from {} to {}: {}", named(network), source, destination, fault));
  }
  return {};
}

Result<void> check_tables(const Network& network) {
  const auto too_long = [&](const std::vector<std::uint32_t>& first_hop) {
    for (std::size_t i = 1; i < first_hop.size(); ++i) {
      if (first_hop[i] - first_hop[i - 1] > limits::kHopsPerPath) {
        return true;
      }
    }
    return false;
  };
  const auto* pairs = std::get_if<PairRoutes>(&network.routes);
  const auto* offsets = std::get_if<OffsetRoutes>(&network.routes);
  if ((pairs != nullptr && too_long(pairs->first_hop)) || (offsets != nullptr && too_long(offsets->first_hop))) {
    return fail(ErrorCode::out_of_range,
                format_text("{}a path of more than {} hops (kHopsPerPath)", named(network), limits::kHopsPerPath));
  }
  if (pairs != nullptr) {
    for (std::uint32_t source = 0; source < network.end_points; ++source) {
      for (std::uint32_t entry = pairs->first_destination[source]; entry < pairs->first_destination[source + 1]; ++entry) {
        LOOM_TRY(check_way(network, source, pairs->destinations[entry]));
      }
    }
  } else {  // alike everywhere: one source tells
    for (std::uint32_t destination = 1; destination < network.end_points; ++destination) {
      LOOM_TRY(check_way(network, 0, destination));
    }
  }
  return {};
}

}  // namespace

Result<void> check(const Network& network) {
  if (network.end_points == 0 || network.end_points > limits::kNodes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}{} end points: outside 1 .. {} (kNodes)", named(network), network.end_points, limits::kNodes));
  }
  if (network.links.size() > limits::kElements) {
    return fail(ErrorCode::out_of_range,
                format_text("{}{} links: more than {} (kElements)", named(network), network.links.size(), limits::kElements));
  }
  for (std::size_t i = 0; i < network.links.size(); ++i) {
    LOOM_TRY(check_link(network, i));
  }
  return check_tables(network);
}

std::uint32_t forwards_of(const Network& network, std::span<const std::uint32_t> path) {
  std::uint32_t forwards = 0;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    forwards += network.links[path[i]].to < network.end_points ? 1 : 0;
  }
  return forwards;
}

double path_latency_ns(const Network& network, std::span<const std::uint32_t> path) {
  double latency = network.forward_ns * forwards_of(network, path);
  for (const std::uint32_t link : path) {
    latency += network.links[link].latency_ns;
  }
  return latency;
}

namespace network_paths {

std::uint32_t ways_in_tree(const TreeRoutes& tree, std::uint32_t source, std::uint32_t destination) {
  const std::uint32_t edge_from = source / tree.nodes_per_edge;
  const std::uint32_t edge_to = destination / tree.nodes_per_edge;
  if (edge_from == edge_to) {
    return 1;
  }
  return edge_from / tree.edges_per_pod == edge_to / tree.edges_per_pod ? tree.uplinks : tree.uplinks * tree.uplinks;
}

std::uint32_t along_tree(const TreeRoutes& tree, std::uint32_t source, std::uint32_t destination, std::uint32_t aggregation,
                         std::uint32_t core, std::array<std::uint32_t, 6>& links) {
  const std::uint32_t edge_from = source / tree.nodes_per_edge;
  const std::uint32_t edge_to = destination / tree.nodes_per_edge;
  const std::uint32_t pod_from = edge_from / tree.edges_per_pod;
  const std::uint32_t pod_to = edge_to / tree.edges_per_pod;
  const std::uint32_t edge_up = 2 * tree.nodes;
  const std::uint32_t edge_links = tree.pods * tree.edges_per_pod * tree.uplinks;
  const std::uint32_t core_up = edge_up + 2 * edge_links;
  const std::uint32_t core_links = tree.pods * tree.uplinks * tree.uplinks;
  std::uint32_t count = 0;
  links[count++] = source;
  if (edge_from != edge_to) {
    links[count++] = edge_up + edge_from * tree.uplinks + aggregation;
    if (pod_from != pod_to) {
      links[count++] = core_up + (pod_from * tree.uplinks + aggregation) * tree.uplinks + core;
      links[count++] = core_up + core_links + (pod_to * tree.uplinks + aggregation) * tree.uplinks + core;
    }
    links[count++] = edge_up + edge_links + edge_to * tree.uplinks + aggregation;
  }
  links[count++] = tree.nodes + destination;
  return count;
}

std::uint32_t row_entry(const PairRoutes& routes, std::uint32_t source, std::uint32_t destination) {
  const auto row = routes.destinations.begin();
  const auto end = row + routes.first_destination[source + 1];
  const auto found = std::lower_bound(row + routes.first_destination[source], end, destination);
  return static_cast<std::uint32_t>((found != end && *found == destination ? found : end) - row);
}

}  // namespace network_paths
}  // namespace loom
