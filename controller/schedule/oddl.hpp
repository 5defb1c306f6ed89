// ODDL (reconstruction, SYSTEMS.md C2): a transmitter picks its destination by wavelength; per job the WSS pair of every
// group says which group a wavelength leads to. Rings are one static matching; an all-to-all is P maps (latin square over the
// job's groups), each played as G timeslots in which only lasers move.
#pragma once

#include "controller/schedule/registry.hpp"

namespace loom {

/// Job stages: P all-to-all stages (finite, one cycle) first, then the rings; the last ring stage is static light.
/// objective, bound: seconds of one iteration, guards counted, commits between stages not.
/// Errors: infeasible names both jobs and the (group, wavelength) and the nearest request that fits.
Result<Schedule> schedule_oddl(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget);

}  // namespace loom
