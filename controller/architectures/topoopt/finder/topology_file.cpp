// SPDX-License-Identifier: Apache-2.0
// Links once each, the higher number first, as public files list them.
#include "controller/architectures/topoopt/finder/topology_file.hpp"

#include <algorithm>
#include <string>

#include "core/text/format_text.hpp"

namespace loom {

Result<TopooptNetwork> network_of(const DirectTopology& topology, BitRate link_rate) {
  TopooptNetwork network;
  network.link_rate = link_rate;
  const std::vector<DirectLink> links = topology.links();
  for (const DirectLink& link : links) {
    if (!std::binary_search(links.begin(), links.end(), DirectLink{link.to, link.from, link.count})) {
      return fail(ErrorCode::unsupported,
                  format_text("the link from server {} to {} goes one way; TopoOpt's files know duplex links only", link.from,
                              link.to));
    }
    if (link.from > link.to) {
      network.links.push_back({link.from, link.to, link.count});
    }
  }
  for (const RingPath& ring : topology.rings) {
    network.rings.push_back({ring.group_size, {ring.jumps.begin(), ring.jumps.end()}});
  }
  return network;
}

std::vector<TopooptRoute> routes_of(const DirectTopology& topology) {
  std::vector<TopooptRoute> routes;
  for (std::uint32_t from = 0; from < topology.nodes; ++from) {
    for (std::uint32_t to = 0; to < topology.nodes; ++to) {
      if (from != to) {
        routes.push_back({from, to, topology.paths(from, to)});
      }
    }
  }
  return routes;
}

}  // namespace loom
