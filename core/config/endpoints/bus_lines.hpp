// SPDX-License-Identifier: Apache-2.0
// Lines: what the buses of an inventory really are, wires and ports. Two names for one wire, or two devices that would answer
// at once, are mistakes that show only as nonsense on the bus; here they are sentences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/fabric/device_model.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

struct LineFault {
  BusId bus;                       ///< the later one of the two
  std::optional<DeviceId> device;  ///< the later one of the two; nothing: it is about the buses
  std::string message;             ///< names both
};

/// One line under two protocols or at two speeds, one serial line as two buses, two devices at one Modbus unit, and two
/// devices on a line that has no addresses (tcp, http, serial, optoe), unless they are modules in different slots of one
/// mainframe. A device file is its agent's host's; HOST:PORT is everybody's. On i2c an address of 7 bits is asked for. Buses at
/// `sim` are no lines. Ascending bus, then device.
std::vector<LineFault> check_lines(const Fabric& fabric, DeviceModels models);

/// Devices whose model does not speak what their bus's endpoint says. Ascending device.
std::vector<LineFault> check_protocols(const Fabric& fabric, DeviceModels models);

}  // namespace loom
