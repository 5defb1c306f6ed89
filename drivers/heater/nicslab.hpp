// SPDX-License-Identifier: Apache-2.0
// Nicslab XPOW: eight sources of voltage and current, spoken to in lines like SCPI's. The dialect, its model, and what it says
// on a line. Facts from a client (docs/devices.md).
#pragma once

#include <string>
#include <string_view>

#include "drivers/heater/line_heaters.hpp"

namespace loom {

namespace nicslab {

inline constexpr double kVoltMax = 29;
inline constexpr double kAmpereMax = 0.3;
inline constexpr std::size_t kChannels = 8;

/// "CH:3:VAL:1.250:0.0125": fields 3 and 4, counted from 0, are volts and amperes of channel 3; where the third is a number
/// already, those are fields 2 and 3, since the client's source does not show a reply. Of another channel: nothing.
LineAnswer read(const LineQuestion& question, std::string_view reply);
/// Without the end of line.
std::string say(const LineQuestion& question);

}  // namespace nicslab

extern const LineHeaterDialect kNicslabDialect;
extern const DriverModel kNicslab;

}  // namespace loom
