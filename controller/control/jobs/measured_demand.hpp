// SPDX-License-Identifier: Apache-2.0
// Measured demand: what the nodes of one job report, put together to the collectives of one iteration, and how far two demands
// are apart. Pure. What is not known from every rank of a communicator is not demand: the reading then says why not.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/adapt_policy.hpp"
#include "core/demand.hpp"
#include "core/traffic.hpp"

namespace loom {

struct NodeTraffic {
  TrafficReport report;
  Instant received{};
};

struct DemandReading {
  std::vector<Collective> collectives{};  ///< of one iteration; empty: see why_not
  Duration iteration{};                   ///< the longest period of a communicator
  std::string why_not{};                  ///< nothing is concluded, and the light stays as it is
};

/// Needed: a fresh report without trouble of every node of the job; of each communicator every rank, each on a node of its own,
/// all of the same period; and periods that fit a whole number of times into the longest, which is taken for the iteration.
DemandReading read_demand(const Job& job, const std::map<NodeId, NodeTraffic>& traffic, Instant now, const AdaptPolicy& policy);

/// Bytes of an iteration that are in only one of them, over the larger sum: 0 (the same) to 2. Equal collectives of one group
/// count together, however they are cut; a ring of ranks begins anywhere.
double demand_distance(const std::vector<Collective>& a, const std::vector<Collective>& b, std::uint32_t ranks);

/// "all_reduce of 4 ranks (2 groups), 575 MB an iteration": for people.
std::string describe_demand(const std::vector<Collective>& collectives, std::uint32_t ranks);

}  // namespace loom
