// SPDX-License-Identifier: Apache-2.0
// Terms that all networks share.
#include "controller/predict/networks/network_terms.hpp"

#include <cstdio>

#include "core/text/format_text.hpp"

namespace loom {

double bytes_per_ns(const NetworkTerms& terms) {
  return static_cast<double>(terms.rate.bits_per_second) / 8e9 * terms.efficiency;
}

Result<Network> begin_network(std::string_view name, const NetworkTerms& terms) {
  const std::string at = format_text("network '{}': ", name);
  if (terms.nodes == 0 || terms.nodes > limits::kNodes) {
    return fail(ErrorCode::out_of_range, format_text("{}{} nodes: outside 1 .. {} (kNodes)", at, terms.nodes, limits::kNodes));
  }
  if (terms.rate.bits_per_second <= 0) {
    return fail(ErrorCode::invalid_argument, format_text("{}bandwidth {} bit/s: nothing would ever arrive; give a rate above 0",
                                                         at, terms.rate.bits_per_second));
  }
  if (terms.rate.bits_per_second > limits::kBitPerSecond) {
    return fail(ErrorCode::out_of_range, format_text("{}bandwidth {} bit/s: more than {} (kBitPerSecond)", at,
                                                     terms.rate.bits_per_second, limits::kBitPerSecond));
  }
  if (!(terms.efficiency > 0 && terms.efficiency <= 1)) {
    return fail(ErrorCode::out_of_range, format_text("{}efficiency {}: outside 0 .. 1", at, std::to_string(terms.efficiency)));
  }
  for (const Duration duration : {terms.link_latency, terms.step_latency, terms.forward}) {
    if (duration < Duration{} || duration.count() > limits::kDurationNs) {
      return fail(ErrorCode::out_of_range, format_text("{}a latency of {} ns: outside 0 .. {} (kDurationNs)", at,
                                                       duration.count(), limits::kDurationNs));
    }
  }
  if (!(terms.packets.payload >= 0) || !(terms.packets.header >= 0)) {
    return fail(ErrorCode::out_of_range, at + "packets of a negative payload or header");
  }
  Network network;
  network.name = name;
  network.end_points = terms.nodes;
  network.vertices = terms.nodes;
  network.step_latency_ns = static_cast<double>(terms.step_latency.count());
  network.forward_ns = static_cast<double>(terms.forward.count());
  network.packets = terms.packets;
  if (terms.efficiency < 1) {
    network.penalties.push_back({"efficiency of the rate", terms.efficiency, "given"});
  }
  if (terms.step_latency > Duration{}) {
    network.penalties.push_back({"latency of a step, ns", network.step_latency_ns, "given"});
  }
  if (terms.forward > Duration{}) {
    network.penalties.push_back({"forwarding at a node, ns", network.forward_ns, "given"});
  }
  if (terms.packets.payload > 0) {
    network.penalties.push_back({format_text("bytes of header in {}", static_cast<std::int64_t>(terms.packets.payload)),
                                 terms.packets.header, "given; transfers are whole packets"});
  }
  return network;
}

}  // namespace loom
