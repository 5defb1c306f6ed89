// SPDX-License-Identifier: Apache-2.0
// Which fault of the catalogue a device looks like that gave up, by the trouble that its driver names, and the sentence of it.
// A guess of the name, and no more: cables and devices fail alike.
#pragma once

#include <string>
#include <string_view>

#include "core/fabric/fabric.hpp"
#include "core/observation.hpp"

namespace loom {

/// Empty: nothing of the catalogue, or nothing is known of the device.
std::string_view looks_like(Trouble trouble, DeviceRole role);
/// What a device that gave up is told with: "laser-0: read of ResEna (0x32): no answer within 100 ms in 4 tries (looks like
/// silent)".
std::string sentence_of(const Device& device, const Observation& seen);

}  // namespace loom
