// SPDX-License-Identifier: Apache-2.0
// The topologies that TopoOpt's baselines choose while a job runs (docs/systems/topoopt.md#reconfigured-baselines):
// OCS-reconfig, whose servers forward, and SiP-ML as TopoOpt's authors ran it, circuits only. Greedy, link by link, from the
// bytes that are left. Pure.
#pragma once

#include "controller/predict/engine/reconfiguration.hpp"

namespace loom {

/// The largest demand gets a link and counts half from then on, until nobody has links to spare; a node with `degree` links
/// takes no more. Equal demands come in the order of a hash of `seed` and the pair.
/// Forwarded: demand of a pair is the larger direction, links are duplex; nodes with links to spare are joined in a ring, and
/// components that are still apart by links to spare, a node with two of them in the middle of another's link of least demand,
/// or by exchanging those links two for two. Not forwarded: demands and links
/// have a direction (`degree` each way), and who has none waits.
/// Errors of the policy: those of the network.
TopologyPolicy greedy_degree_policy(const NetworkTerms& terms, std::uint32_t degree, bool is_forwarded, std::uint64_t seed = 1);

}  // namespace loom
