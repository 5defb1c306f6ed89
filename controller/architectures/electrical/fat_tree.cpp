// SPDX-License-Identifier: Apache-2.0
// Al-Fares et al. (SIGCOMM 2008): k/2 nodes an edge switch, k/2 edge and aggregation switches a pod, k pods, (k/2)^2 cores.
#include "controller/architectures/electrical/fat_tree.hpp"

#include <cstdio>

#include "controller/workload/models/compute_time.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kRadixMax = 128;

Result<std::uint32_t> radix_for(const NetworkTerms& terms, const FatTreeShape& shape) {
  std::uint32_t radix = shape.radix == 0 ? 2 : shape.radix;
  while (shape.radix == 0 && radix * radix * radix / 4 < terms.nodes && radix < kRadixMax) {
    radix += 2;
  }
  if (radix % 2 != 0 || radix < 2 || radix > kRadixMax || radix * radix * radix / 4 < terms.nodes) {
    return fail(ErrorCode::invalid_argument,
                format_text("network 'fat-tree': switches of {} ports do not join {} nodes; give an even number up to {}",
                            radix, terms.nodes, kRadixMax));
  }
  return radix;
}

void add_links(Network& network, const TreeRoutes& tree, double rate, double latency, double above) {
  const std::uint32_t edges = tree.pods * tree.edges_per_pod;
  const std::uint32_t first_edge = tree.nodes;
  const std::uint32_t first_aggregation = first_edge + edges;
  const std::uint32_t first_core = first_aggregation + tree.pods * tree.uplinks;
  network.vertices = first_core + tree.uplinks * tree.uplinks;
  const auto add_both_ways = [&](auto&& ends, std::uint32_t count, double at_rate) {
    for (const bool is_up : {true, false}) {
      for (std::uint32_t i = 0; i < count; ++i) {
        const auto [low, high] = ends(i);
        network.links.push_back({is_up ? low : high, is_up ? high : low, at_rate, latency});
      }
    }
  };
  using Ends = std::pair<std::uint32_t, std::uint32_t>;
  add_both_ways([&](std::uint32_t i) { return Ends{i, first_edge + i / tree.nodes_per_edge}; }, tree.nodes, rate);
  add_both_ways(
      [&](std::uint32_t i) {
        const std::uint32_t edge = i / tree.uplinks;
        return Ends{first_edge + edge, first_aggregation + edge / tree.edges_per_pod * tree.uplinks + i % tree.uplinks};
      },
      edges * tree.uplinks, above);
  add_both_ways(
      [&](std::uint32_t i) {
        const std::uint32_t aggregation = i / tree.uplinks;
        return Ends{first_aggregation + aggregation, first_core + aggregation % tree.uplinks * tree.uplinks + i % tree.uplinks};
      },
      tree.pods * tree.uplinks * tree.uplinks, above);
}

}  // namespace

Result<Network> make_fat_tree(const NetworkTerms& terms, const FatTreeShape& shape) {
  auto network = begin_network("fat-tree", terms);
  if (!network) {
    return network;
  }
  if (!(shape.oversubscription >= 1 && shape.oversubscription <= 1000)) {
    return fail(ErrorCode::out_of_range, format_text("network 'fat-tree': oversubscription {}: outside 1 .. 1000",
                                                     std::to_string(shape.oversubscription)));
  }
  if (!(shape.cost_ratio > 0 && shape.cost_ratio <= 1)) {
    return fail(ErrorCode::out_of_range,
                format_text("network 'fat-tree': cost ratio {}: outside 0 .. 1", std::to_string(shape.cost_ratio)));
  }
  const auto radix = radix_for(terms, shape);
  if (!radix) {
    return std::unexpected(radix.error());
  }
  const std::uint32_t half = *radix / 2;
  const std::uint32_t edges = (terms.nodes + half - 1) / half;
  const TreeRoutes tree{terms.nodes,        half, half, half, (edges + half - 1) / half, shape.seed, shape.sprayed,
                        shape.segment_bytes};
  const double rate = bytes_per_ns(terms) * shape.cost_ratio;
  add_links(*network, tree, rate, static_cast<double>(terms.link_latency.count()), rate / shape.oversubscription);
  network->routes = tree;
  const bool is_anew = segment_bytes(*network) > 0;
  network->assumptions.push_back(format_text("fat-tree: three tiers of {}-port switches, {} pods; {}", *radix, tree.pods,
                                             shape.sprayed ? "transfers sprayed over all equal ways"
                                             : is_anew
                                                 ? format_text("each message hashed anew, and every {} MB of it (seed {})",
                                                               printed("%g", shape.segment_bytes / 1e6), shape.seed)
                                                 : format_text("each flow hashed to one way (seed {})", shape.seed)));
  if (!shape.sprayed) {
    network->penalties.push_back({"ECMP collisions, seed", static_cast<double>(shape.seed), "hash of seed, ends and flow"});
  }
  if (shape.oversubscription > 1) {
    network->penalties.push_back({"oversubscription above the edge", shape.oversubscription, "given"});
  }
  if (shape.cost_ratio < 1) {
    network->penalties.push_back({"rate at equal cost", shape.cost_ratio, "given"});
  }
  LOOM_TRY(check(*network));
  return network;
}

}  // namespace loom
