// SPDX-License-Identifier: Apache-2.0
// ODDL (reconstruction, docs/systems/oddl.md#two-time-scales): a transmitter picks its destination by wavelength; per job the
// WSS pair of every group says which group a wavelength leads to. Rings are one static matching, striped over the job's planes.
// An all-to-all is either maps in turn (a latin square over the job's groups, P stages), or one map that stands while nodes
// relay; each map is played as G timeslots in which only lasers move.
#pragma once

#include "controller/architectures/registry.hpp"

namespace loom {

/// Job stages: the all-to-all's (finite, one cycle) first, then the rings; the last ring stage is static light.
/// JobSchedule::note says which kind of all-to-all, and why. objective, bound: seconds of one iteration, guards counted,
/// commits between stages not. Errors: infeasible names both jobs and the (group, wavelength) and the nearest request that
/// fits.
Result<Schedule> schedule_oddl(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget);

}  // namespace loom
