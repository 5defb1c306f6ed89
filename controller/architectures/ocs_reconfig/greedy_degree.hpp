// The topologies that TopoOpt's baselines choose while a job runs (docs/systems/topoopt.md#reconfigured-baselines):
// OCS-reconfig, whose servers forward, and SiP-ML as TopoOpt's authors ran it, circuits only. Greedy, link by link, from the
// bytes that are left. Pure.
#pragma once

#include "controller/predict/engine/reconfiguration.hpp"

namespace loom {

/// The largest demand gets a link and counts half from then on, until nobody has links to spare; a node with `degree` links
/// takes no more.
/// Forwarded: demand of a pair is the larger direction, links are duplex; nodes with links to spare are joined in a ring, and
/// of two components that are still apart the links of least demand are exchanged two for two. Not forwarded: demands and links
/// have a direction (`degree` each way), and who has none waits.
/// Errors of the policy: those of the network.
TopologyPolicy greedy_degree_policy(const NetworkTerms& terms, std::uint32_t degree, bool is_forwarded);

}  // namespace loom
