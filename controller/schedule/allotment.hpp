// Allotment: which planes of its transmitters a job is admitted with, where a fabric has several (ODDL), in proportion to its
// traffic. Decided once: a running job keeps what it has.
#pragma once

#include "core/demand.hpp"
#include "core/fabric.hpp"

namespace loom {

/// Fills Job::planes of placed jobs that have none; on fabrics without a choice it does nothing.
void allot(const Fabric& fabric, Intent& placed);

}  // namespace loom
