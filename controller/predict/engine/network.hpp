// SPDX-License-Identifier: Apache-2.0
// A network as the predictor sees it: end points, directed links with a rate and a latency each, and the ways between two end
// points. A value, never changed while a prediction runs; builders are in controller/predict/networks/, one a file. What is
// charged beyond the bare links is listed by name, with its source.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/limits.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// Vertices: end points 0 .. end_points-1, switches behind them.
struct NetworkLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bytes_per_ns = 0;  ///< 0: dark, nothing gets through
  double latency_ns = 0;
};

/// Something that makes the network slower than its links, and where the figure comes from.
struct Penalty {
  std::string name;
  double value = 0;
  std::string source;
};

/// Fluid bytes to bytes on the wire: whole packets of `payload` bytes, `header` more in each. payload 0: no packets.
struct PacketTerms {
  double payload = 0;
  double header = 0;
  double on_wire(double bytes) const { return payload > 0 ? std::ceil(bytes / payload) * (payload + header) : bytes; }
};

/// One switch in the middle: link s from node s into it, link end_points + d out of it to node d.
struct StarRoutes {};

/// Three tiers, alike in every pod. Links in this order: node up, node down (nodes each), edge to aggregation, back
/// (edges x uplinks each), aggregation to core, back (pods x uplinks x uplinks each). A flow takes one of the equal ways, by
/// hash of seed, source, destination and key; sprayed: all of them in equal shares.
struct TreeRoutes {
  std::uint32_t nodes = 0;
  std::uint32_t nodes_per_edge = 1;
  std::uint32_t edges_per_pod = 1;
  std::uint32_t uplinks = 1;  ///< of an edge switch, = aggregation switches of a pod = uplinks of each of them
  std::uint32_t pods = 1;
  std::uint64_t seed = 1;
  bool sprayed = false;
  /// Hashed anew for every message and every so many bytes of it, one segment after the other; 0: one way a flow for ever.
  double segment_bytes = 0;
};

/// Written-out paths, rows of sources with ascending destinations.
struct PairRoutes {
  std::vector<std::uint32_t> first_destination;  ///< end_points + 1
  std::vector<std::uint32_t> destinations;
  std::vector<std::uint32_t> first_path;  ///< destinations + 1
  std::vector<double> shares;             ///< a path each; those of a pair add up to 1
  std::vector<std::uint32_t> first_hop;   ///< paths + 1
  std::vector<std::uint32_t> hops;        ///< links
};

/// Alike at every node: what leads i to i + t (mod n) is a list of jumps; jump j of node i is link i x jumps + j.
struct OffsetRoutes {
  std::vector<std::uint32_t> jumps;       ///< distance, 1 .. n-1; a parallel link is a jump of its own
  std::vector<std::uint32_t> first_path;  ///< n + 1, by offset
  std::vector<double> shares;
  std::vector<std::uint32_t> first_hop;  ///< paths + 1
  std::vector<std::uint32_t> hops;       ///< indices into jumps
};

using NetworkRoutes = std::variant<StarRoutes, TreeRoutes, PairRoutes, OffsetRoutes>;

struct Network {
  std::string name;
  std::uint32_t end_points = 0;
  std::uint32_t vertices = 0;
  std::vector<NetworkLink> links;
  NetworkRoutes routes;
  double step_latency_ns = 0;  ///< before every transfer: software, doorbell, protocol
  double forward_ns = 0;       ///< at every end point that a path passes through
  PacketTerms packets;
  bool is_uniform = false;      ///< a star whose links are all alike: symmetric collectives have closed forms
  bool waits_for_path = false;  ///< a pair without a path waits for the next topology instead of failing
  std::vector<Penalty> penalties;
  std::vector<std::string> assumptions;
};

/// Errors: invalid_argument (a link of no rate unless `waits_for_path`, a link or path that leads nowhere, shares that do not
/// add up to 1), out_of_range (kNodes, kElements links, kHopsPerPath). Each names the link or the pair.
Result<void> check(const Network& network);

/// Latency of a path, end points that forward included.
double path_latency_ns(const Network& network, std::span<const std::uint32_t> path);
/// End points that `path` passes through.
std::uint32_t forwards_of(const Network& network, std::span<const std::uint32_t> path);

namespace network_paths {

inline std::uint64_t mixed(std::uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// A message's key in a tree that hashes it anew: of 64, so that routes stay few.
inline std::uint64_t segment_key(std::uint64_t lane, std::uint32_t round, std::uint32_t segment) {
  constexpr std::uint64_t kKeys = 64;
  return lane * kKeys + mixed(mixed(round) + segment) % kKeys;
}

/// The links of a tree from source to destination by way (aggregation, core); their number.
std::uint32_t along_tree(const TreeRoutes& tree, std::uint32_t source, std::uint32_t destination, std::uint32_t aggregation,
                         std::uint32_t core, std::array<std::uint32_t, 6>& links);
/// How many equal ways: 1 below one edge switch, `uplinks` in a pod, its square beyond.
std::uint32_t ways_in_tree(const TreeRoutes& tree, std::uint32_t source, std::uint32_t destination);

template <class Each>
void each_in_tree(const TreeRoutes& tree, std::uint32_t source, std::uint32_t destination, std::uint64_t key,
                  const Each& each) {
  std::array<std::uint32_t, 6> links{};
  const std::uint32_t ways = ways_in_tree(tree, source, destination);
  if (tree.sprayed) {
    for (std::uint32_t way = 0; way < ways; ++way) {
      const std::uint32_t count = along_tree(tree, source, destination, way % tree.uplinks, way / tree.uplinks, links);
      each(std::span<const std::uint32_t>{links.data(), count}, 1.0 / ways);
    }
    return;
  }
  const std::uint64_t hash = mixed(mixed(mixed(tree.seed) ^ (std::uint64_t{source} << 32 | destination)) ^ key);
  const auto way = static_cast<std::uint32_t>(hash % ways);
  const std::uint32_t count = along_tree(tree, source, destination, way % tree.uplinks, way / tree.uplinks, links);
  each(std::span<const std::uint32_t>{links.data(), count}, 1.0);
}

/// Index of `destination` in its source's row, or the row's end.
std::uint32_t row_entry(const PairRoutes& routes, std::uint32_t source, std::uint32_t destination);

}  // namespace network_paths

/// Bytes after which a flow takes a way anew; 0: never (TreeRoutes::segment_bytes).
inline double segment_bytes(const Network& network) {
  const auto* tree = std::get_if<TreeRoutes>(&network.routes);
  return tree == nullptr || tree->sprayed ? 0 : tree->segment_bytes;
}

/// Calls `each(span of links, share)` for every path that a flow with this key takes; none: not connected. source !=
/// destination.
template <class Each>
void for_each_path(const Network& network, std::uint32_t source, std::uint32_t destination, std::uint64_t key,
                   const Each& each) {
  if (std::holds_alternative<StarRoutes>(network.routes)) {
    const std::array<std::uint32_t, 2> links{source, network.end_points + destination};
    each(std::span<const std::uint32_t>{links}, 1.0);
  } else if (const auto* tree = std::get_if<TreeRoutes>(&network.routes)) {
    network_paths::each_in_tree(*tree, source, destination, key, each);
  } else if (const auto* pairs = std::get_if<PairRoutes>(&network.routes)) {
    const std::uint32_t entry = network_paths::row_entry(*pairs, source, destination);
    if (entry == pairs->first_destination[source + 1]) {
      return;
    }
    for (std::uint32_t path = pairs->first_path[entry]; path < pairs->first_path[entry + 1]; ++path) {
      const std::uint32_t first = pairs->first_hop[path];
      each(std::span{pairs->hops}.subspan(first, pairs->first_hop[path + 1] - first), pairs->shares[path]);
    }
  } else if (const auto* offsets = std::get_if<OffsetRoutes>(&network.routes)) {
    const std::uint32_t nodes = network.end_points;
    const std::uint32_t offset = (destination + nodes - source) % nodes;
    const auto jumps = static_cast<std::uint32_t>(offsets->jumps.size());
    std::array<std::uint32_t, limits::kHopsPerPath> links{};
    for (std::uint32_t path = offsets->first_path[offset]; path < offsets->first_path[offset + 1]; ++path) {
      std::uint32_t at = source;
      std::uint32_t count = 0;
      for (std::uint32_t hop = offsets->first_hop[path]; hop < offsets->first_hop[path + 1]; ++hop) {
        links[count++] = at * jumps + offsets->hops[hop];
        at = (at + offsets->jumps[offsets->hops[hop]]) % nodes;
      }
      each(std::span<const std::uint32_t>{links.data(), count}, offsets->shares[path]);
    }
  }
}

}  // namespace loom
