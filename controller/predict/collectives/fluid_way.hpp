// SPDX-License-Identifier: Apache-2.0
// A collective as a few fluids: transfers of a run of rounds move at one pace, each link carrying as many of them as lead over
// it. Rings are one fluid: once they are under way, no rank may be a round ahead of its neighbour. What is sent directly is
// several, by how much its ways are loaded. An approximation for ranks that come late, and of how links are shared while a
// round's transfers wait for one another.
#pragma once

#include <optional>
#include <vector>

#include "controller/predict/collectives/round_plan.hpp"
#include "controller/predict/engine/network.hpp"
#include "controller/predict/engine/transfers.hpp"

namespace loom {

/// One run of rounds of one lane, whatever its bytes. Costs are ns a byte of the largest transfer, nobody else there.
struct FluidRun {
  std::uint32_t first_way = 0;  ///< of Transfers::reset()
  std::uint32_t ways = 0;
  double slowest = 0;     ///< cost of the transfer that holds all others back
  double mean = 0;        ///< cost of a transfer
  double latency_ns = 0;  ///< of a transfer; rings: mean, others: longest
};

/// Runs of the plan, lane by lane; their ways are added to `ways`. Nothing: two nodes that talk are not connected.
std::optional<std::vector<FluidRun>> fluid_runs(const Network& network, const RoundPlan& plan,
                                                std::span<const std::uint32_t> nodes, std::vector<FluidWay>& ways);

/// Bytes of the largest transfer of a round.
double largest_of(const RoundPlan::Run& run);

/// What the latency of a round adds to the time of its fluid, ns: a ring hides it behind its slowest transfer. `on_wire`:
/// bytes of the largest transfer.
double latency_beside(const FluidRun& run, double on_wire);

}  // namespace loom
