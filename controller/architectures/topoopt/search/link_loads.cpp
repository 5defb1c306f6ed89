// SPDX-License-Identifier: Apache-2.0
// Ways through a topology, as loads on its links.
#include <algorithm>
#include <map>

#include "controller/architectures/topoopt/network.hpp"
#include "controller/architectures/topoopt/search/strategy_clock.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Adds `share` of what goes from `source` to `destination` to every link on the way; its longest latency, or < 0: no way.
double add_way(const Network& network, std::uint32_t source, std::uint32_t destination, double share,
               std::map<std::uint32_t, double>& loads) {
  double latency = -1;
  for_each_path(network, source, destination, 0, [&](std::span<const std::uint32_t> path, double of_path) {
    latency = std::max(latency, path_latency_ns(network, path));
    for (const std::uint32_t link : path) {
      loads[link] += share * of_path / network.links[link].bytes_per_ns;
    }
  });
  return latency;
}

std::unexpected<Error> no_way(std::uint32_t source, std::uint32_t destination) {
  return fail(ErrorCode::unreachable, format_text("no way from node {} to node {} in this topology", source, destination));
}

}  // namespace

Result<LinkLoads> LinkLoads::make(const DirectTopology& topology, const Network& network) {
  LinkLoads made;
  made.nodes_ = topology.nodes;
  made.links_ = static_cast<std::uint32_t>(network.links.size());
  LOOM_TRY(made.add_pairs(network));
  made.first_group_.resize(made.nodes_ + 1);
  for (std::uint32_t parts = 2; parts <= made.nodes_; ++parts) {
    if (made.nodes_ % parts == 0) {
      made.first_group_[parts] = static_cast<std::uint32_t>(made.groups_.size());
      for (std::uint32_t first = 0; first < made.nodes_ / parts; ++first) {
        LOOM_TRY(made.add_group(topology, network, {parts, first}));
      }
    }
  }
  return made;
}

Result<void> LinkLoads::add_pairs(const Network& network) {
  std::map<std::uint32_t, double> loads;
  for (std::uint32_t source = 0; source < nodes_; ++source) {
    for (std::uint32_t destination = 0; destination < nodes_; ++destination) {
      Way way{static_cast<std::uint32_t>(loads_.size()), 0, 0};
      if (source != destination) {
        loads.clear();
        way.latency_ns = add_way(network, source, destination, 1, loads) + network.step_latency_ns;
        if (loads.empty()) {
          return no_way(source, destination);
        }
        for (const auto& [link, ns_per_byte] : loads) {
          loads_.push_back({link, ns_per_byte});
        }
      }
      way.last = static_cast<std::uint32_t>(loads_.size());
      pairs_.push_back(way);
    }
  }
  return {};
}

Result<void> LinkLoads::add_group(const DirectTopology& topology, const Network& network, const OpPlacement& at) {
  const std::uint32_t between = nodes_ / at.parts;
  std::vector<std::uint32_t> strides = ring_strides(topology, at.parts, between);
  if (strides.empty()) {
    strides.push_back(1);
  }
  // A ring all-reduce sends 2 (g - 1) / g of its share over every step of the ring, in 2 (g - 1) rounds.
  const double rounds = 2.0 * (at.parts - 1);
  const double share = rounds / at.parts / static_cast<double>(strides.size());
  std::map<std::uint32_t, double> loads;
  Way way{static_cast<std::uint32_t>(loads_.size()), 0, 0};
  for (const std::uint32_t stride : strides) {
    for (std::uint32_t part = 0; part < at.parts; ++part) {
      const std::uint32_t source = at.first + part * between;
      const std::uint32_t destination = at.first + (part + stride) % at.parts * between;
      const double latency = add_way(network, source, destination, share, loads);
      if (latency < 0) {
        return no_way(source, destination);
      }
      way.latency_ns = std::max(way.latency_ns, rounds * (latency + network.step_latency_ns));
    }
  }
  for (const auto& [link, ns_per_byte] : loads) {
    loads_.push_back({link, ns_per_byte});
  }
  way.last = static_cast<std::uint32_t>(loads_.size());
  groups_.push_back(way);
  return {};
}

const LinkLoads::Way& LinkLoads::group(const OpPlacement& at) const { return groups_[first_group_[at.parts] + at.first]; }

}  // namespace loom
