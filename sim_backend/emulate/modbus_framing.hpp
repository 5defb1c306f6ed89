// SPDX-License-Identifier: Apache-2.0
// Modbus as a server speaks it, over TCP and RTU: functions 03h, 04h, 06h and 10h. Written from the standard and not by
// libmodbus, whose client judges it: a server that is damaged on purpose must make its own frames, and a client that stops
// within a frame must hold nobody up. Source: Modbus application protocol V1.1b3; Modbus over serial line V1.02; Modbus/TCP
// guide V1.0b.
#pragma once

#include <memory>

#include "sim_backend/emulate/framing.hpp"

namespace loom {

/// Modbus application protocol V1.1b3, section 7.
enum class ModbusException : std::uint8_t { function = 1, address = 2, value = 3, device = 4, busy = 6, gateway_target = 11 };

std::unique_ptr<Framing> make_modbus_tcp_framing();
/// Frames are found by their length and CRC; one that is not whole after 50 ms of silence is forgotten. Who is not addressed
/// says nothing.
std::unique_ptr<Framing> make_modbus_rtu_framing();

}  // namespace loom
