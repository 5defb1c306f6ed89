// SPDX-License-Identifier: Apache-2.0
// SiP-Ring (docs/systems/sipml.md#ring-programme, #closed-tours): static light, decided once a job. Jobs come one after
// another: what a job has lit stays its own for as long as it still serves every pair that sends, and nobody else's light is
// ever moved for it.
#pragma once

#include "controller/architectures/registry.hpp"

namespace loom {

/// One stage a job, lit until the next revision; a pair has one circuit a granted wavelength. A new job keeps to the shortest
/// stretch of the ring that has all of its nodes, and there to its share of the wavelengths (its nodes over all nodes of the
/// stretch); only if that does not reach does it take whatever is free anywhere.
/// objective, bound: seconds on the wire of one iteration, the worst job's.
/// Errors: unsupported (no SiP-Ring), infeasible (naming the pair that gets no wavelength, and what it would have crossed),
/// timed_out.
Result<Schedule> schedule_sip_ring(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget);

}  // namespace loom
