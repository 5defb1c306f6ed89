// SPDX-License-Identifier: Apache-2.0
// SiP-OCS, one shot (docs/systems/sipml.md#circuits-over-switches): every node has one port on each of Q circuit switches; a
// job's circuits are set once.
#pragma once

#include "controller/architectures/registry.hpp"

namespace loom {

/// One stage a job, lit until the next revision: the exact max-min of circuits over bytes, spread over the switches. What a job
/// has lit stays as it is for as long as it serves every pair that sends; then what is still wanted stays on its switch. Jobs
/// share no node, so none stands in another's way. objective, bound: seconds on the wire of one iteration, the worst job's.
/// Errors: unsupported (no SiP-OCS), infeasible (a node with more peers than switches: names it, its peers and Q), timed_out.
Result<Schedule> schedule_sip_ocs(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget);

}  // namespace loom
