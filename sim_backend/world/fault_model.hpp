// SPDX-License-Identifier: Apache-2.0
// A scenario's device faults as simulated devices take them: the same in the simulated world and in an agent's process.
#pragma once

#include "core/config/scenario/scenario.hpp"
#include "sim_backend/devices/simulated_device.hpp"

namespace loom {

/// `zero`: the start of the run, from which the fault's times count.
DeviceFault model_fault(const ScenarioFault& fault, Instant zero);

}  // namespace loom
