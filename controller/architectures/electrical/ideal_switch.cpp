// SPDX-License-Identifier: Apache-2.0
// A star: a node's up link carries the path's latency, the link down adds none.
#include "controller/architectures/electrical/ideal_switch.hpp"

#include "core/text/format_text.hpp"

namespace loom {

Result<Network> make_ideal_switch(const NetworkTerms& terms, std::uint32_t links_on_path) {
  auto network = begin_network("ideal-switch", terms);
  if (!network) {
    return network;
  }
  const double rate = bytes_per_ns(terms);
  const double latency = static_cast<double>(terms.link_latency.count()) * links_on_path;
  network->vertices = terms.nodes + 1;
  network->links.resize(2 * std::size_t{terms.nodes});
  for (std::uint32_t node = 0; node < terms.nodes; ++node) {
    network->links[node] = {node, terms.nodes, rate, latency};
    network->links[terms.nodes + node] = {terms.nodes, node, rate, 0};
  }
  network->is_uniform = true;
  network->assumptions.emplace_back(
      format_text("ideal-switch: no contention inside; a path has the latency of {} link(s)", links_on_path));
  LOOM_TRY(check(*network));
  return network;
}

Result<Network> make_uneven_switch(const NetworkTerms& terms, std::span<const BitRate> rates) {
  auto network = make_ideal_switch(terms);
  if (!network) {
    return network;
  }
  if (rates.size() != terms.nodes) {
    return fail(ErrorCode::invalid_argument,
                format_text("network 'ideal-switch': {} rates for {} nodes; give one a node", rates.size(), terms.nodes));
  }
  for (std::uint32_t node = 0; node < terms.nodes; ++node) {
    NetworkTerms own = terms;
    own.rate = rates[node];
    network->links[node].bytes_per_ns = network->links[terms.nodes + node].bytes_per_ns = bytes_per_ns(own);
  }
  network->is_uniform = false;
  LOOM_TRY(check(*network));
  return network;
}

}  // namespace loom
