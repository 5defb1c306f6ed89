// SPDX-License-Identifier: Apache-2.0
// Faults as an emulator's command line has them.
#pragma once

#include <string>
#include <string_view>

#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "sim_backend/devices/simulated_device.hpp"

namespace loom {

struct EmulatedFault {
  DeviceFault fault;  ///< `until` is set by whoever injects it
  Duration after{};   ///< from the emulator's start
  Duration lasts = kForever;
};

/// NAME[=VALUE][,times=N][,after=DURATION][,lasts=DURATION]. Errors: invalid_argument, with what was found and what is
/// expected.
Result<EmulatedFault> parse_fault(std::string_view text, const Device& device);

/// A line for each fault that a device of this role can have, for --help.
std::string fault_help(DeviceRole role);

}  // namespace loom
