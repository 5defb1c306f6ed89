// SPDX-License-Identifier: Apache-2.0
// What every wavelength-selective switch with one common port shares, whatever it speaks: which side its ports are on, what a
// list of routes must keep, and how a route is named in a sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"

namespace loom {

/// Of one input its ports are its outputs; turned around they are its inputs.
enum class PortMap : std::uint8_t { by_output, by_input };

/// Precondition: one of them is 1 (fabric files with anything else are refused).
PortMap port_map_of(PortNumber inputs, PortNumber outputs);

/// The port of the device that a route uses, from 1.
std::uint16_t port_of(PortMap map, const WssRoute& route);
/// Attenuation 0. Precondition: `port` > 0.
WssRoute route_at(PortMap map, FrequencySlot slot, std::uint16_t port);

/// Is the setpoint a list of routes, each lawful to `check_one`, ascending by (slot, input), each piece of spectrum once?
/// Errors: unsupported, out_of_range (too many), invalid_argument (order), conflict (overlap), and those of `check_one`.
Result<void> check_routes(const std::string& device, const Setpoint& setpoint,
                          const std::function<Result<void>(const WssRoute&)>& check_one);

/// A DeviceModel::refuse: an element of several inputs and several outputs.
std::string refuse_two_sides(const Fabric& fabric, const Device& device);

std::string name_of(FrequencySlot slot);     ///< "slot n=-272 m=8"
std::string decibel_of(std::int32_t centi);  ///< "12.5 dB"

}  // namespace loom
