// SPDX-License-Identifier: Apache-2.0
// `device set D key=value...`: what a person writes of a setpoint. Starts from what the device shall be now, so that one key
// changes one thing.
#pragma once

#include <string>
#include <vector>

#include "core/messages/operator.hpp"
#include "core/messages/report.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// What the words make of a device, as DeviceRequest has it.
struct HandSetting {
  Setpoint setpoint;
  std::vector<HeaterByHand> heaters{};  ///< in volts: whose rings only the controller knows
};

/// transmitter: frequency=193.1THz power=-1dBm emit=on|off; filter: ring.K=193.05THz|off volts.K=2.5V; wavelength_switch:
/// route=N/M:IN-OUT (repeatable, all of them); ocs: connect=IN-OUT (repeatable, all of them). Errors: invalid_argument naming
/// the word and what is accepted.
Result<HandSetting> setpoint_of(const DeviceReport& device, const std::vector<std::string>& words);

}  // namespace loom::cli
