// SPDX-License-Identifier: Apache-2.0
// What every builder of a network is told: how many nodes, their rate, and the latencies and efficiencies that apply whatever
// the topology.
#pragma once

#include <string_view>

#include "controller/predict/engine/network.hpp"

namespace loom {

struct NetworkTerms {
  std::uint32_t nodes = 0;
  BitRate rate{};           ///< star, tree: of a node's port; direct connections: of one link
  Duration link_latency{};  ///< of one link
  Duration step_latency{};  ///< before every transfer
  Duration forward{};       ///< at each end point that passes a transfer on
  double efficiency = 1;    ///< of the rate, 0 < e <= 1: what switches reach of it
  PacketTerms packets{};
};

/// An empty network with its penalties listed. Errors: invalid_argument (rate 0), out_of_range (no nodes, kNodes, a rate
/// beyond kBitPerSecond, an efficiency outside 0 .. 1, negative latencies).
Result<Network> begin_network(std::string_view name, const NetworkTerms& terms);

/// Bytes per nanosecond of one link at these terms.
double bytes_per_ns(const NetworkTerms& terms);

}  // namespace loom
