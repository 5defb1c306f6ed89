// SPDX-License-Identifier: Apache-2.0
// Which fault of the catalogue a device that gave up looks like, by what it answered last: for an alarm's evidence. A guess of
// the name, and no more: cables and devices fail alike.
#pragma once

#include <string_view>

#include "core/fabric/fabric.hpp"
#include "core/transaction.hpp"

namespace loom {

/// Empty: the bus itself was lost, and nothing is known of the device.
std::string_view looks_like(const BusReply& last, DeviceRole role);

}  // namespace loom
