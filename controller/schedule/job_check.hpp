// SPDX-License-Identifier: Apache-2.0
// Whether there is anything to plan for a job, before anybody tries: one sentence that names what is wrong with the request and
// the nearest one that is not. Knows no fabric.
#pragma once

#include <cstdint>

#include "core/demand.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

/// Errors, each infeasible and naming the job: one node (nobody to talk to), no bytes moved in an iteration, a demand that
/// falls into parts which exchange nothing. Precondition: ranks of the collectives lie below the node count.
Result<void> check_job(const JobSpec& spec);

/// What a node of a job keeps of a model while it trains. 16 bytes a parameter, mixed precision and Adam: Rajbhandari et al.,
/// ZeRO (SC 2020), section 3.1. Activations are not in it.
struct ModelMemory {
  std::int64_t parameters = 0;  ///< that every replica has
  std::int64_t tables = 0;      ///< spread over all nodes (embedding tables): 4 bytes each, plain SGD
  std::uint32_t nodes = 0;
  std::uint32_t parts = 1;  ///< tensor x pipeline: nodes that hold one replica together
  std::uint32_t zero = 0;   ///< stage of ZeRO's sharding, 0 .. 3
};
Bytes bytes_a_node(const ModelMemory& memory);

/// Errors: infeasible, with the least tp x pp, or for tables the least number of nodes, that fits.
Result<void> check_memory(const ModelMemory& memory, Bytes limit);

}  // namespace loom
