// SPDX-License-Identifier: Apache-2.0
// Circuits as one-hop links.
#include "controller/predict/networks/matchings.hpp"

#include "core/text/format_text.hpp"

namespace loom {
namespace {

Result<std::vector<NodePair>> circuits_of(const NetworkTerms& terms, std::span<const Matching> switches) {
  std::vector<NodePair> circuits;
  for (std::size_t q = 0; q < switches.size(); ++q) {
    const std::string at = format_text("network 'matchings': switch {}", q);
    if (switches[q].size() != terms.nodes) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{} has {} ports for {} nodes", at, switches[q].size(), terms.nodes));
    }
    std::vector<bool> taken(terms.nodes, false);
    for (std::uint32_t source = 0; source < terms.nodes; ++source) {
      const std::uint32_t destination = switches[q][source];
      if (destination == kIdlePort || destination == source) {
        continue;
      }
      if (destination >= terms.nodes || taken[destination]) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{} joins node {} to {}, which is not there or is joined already", at, source, destination));
      }
      taken[destination] = true;
      circuits.emplace_back(source, destination);
    }
  }
  return circuits;
}

Result<Network> joined(const NetworkTerms& terms, std::span<const Matching> switches, GraphRouting routing, bool is_forwarded) {
  auto network = begin_network("matchings", terms);
  if (!network) {
    return network;
  }
  auto circuits = circuits_of(terms, switches);
  if (!circuits) {
    return std::unexpected(circuits.error());
  }
  network->waits_for_path = true;
  if (!is_forwarded) {
    routing = {.ways = 1, .hops_max = 1, .pairs = *circuits};
  }
  if (is_forwarded || !circuits->empty()) {
    LOOM_TRY(connect(*network, std::move(*circuits), terms, routing));
  } else {
    network->routes = PairRoutes{std::vector<std::uint32_t>(terms.nodes + 1, 0), {}, {0}, {}, {0}, {}};
  }
  network->assumptions.push_back(format_text("matchings: {} switch(es), {}", switches.size(),
                                             is_forwarded ? "nodes pass traffic on" : "traffic on direct circuits only"));
  return network;
}

}  // namespace

Result<Network> make_matchings(const NetworkTerms& terms, std::span<const Matching> switches) {
  return joined(terms, switches, {}, false);
}

Result<Network> make_forwarded_matchings(const NetworkTerms& terms, std::span<const Matching> switches,
                                         const GraphRouting& routing) {
  return joined(terms, switches, routing, true);
}

std::vector<Matching> rotor_cycle(std::uint32_t nodes) {
  std::vector<Matching> cycle(nodes < 2 ? 0 : nodes - 1, Matching(nodes));
  for (std::uint32_t slot = 0; slot < cycle.size(); ++slot) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      cycle[slot][node] = (node + slot + 1) % nodes;
    }
  }
  return cycle;
}

}  // namespace loom
