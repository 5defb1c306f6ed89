// SPDX-License-Identifier: Apache-2.0
// Registers of an amplifier or attenuator behind Modbus. No standard names them: the map is ours (docs/devices.md, *Gain
// stages*).
#pragma once

#include <cstdint>

namespace loom::gain_stage {

/// Holding registers from the base on. The first two are written and read, as one block; the others are read only.
enum class Register : std::uint16_t {
  on = 0,         ///< 1: it passes light
  magnitude = 1,  ///< gain, or attenuation, wanted, 0.01 dB
  status = 2,     ///< Status bits
  present = 3,    ///< gain or attenuation that it has now, 0.01 dB
  input = 4,      ///< power that comes to it, 0.01 dBm, signed; -40 dBm or less: none
  output = 5      ///< power that leaves it, likewise
};
inline constexpr std::uint16_t kWritable = 2;
inline constexpr std::uint16_t kWordsWithoutPowers = 4;
inline constexpr std::uint16_t kWords = 6;

/// Of Register::status.
inline constexpr std::uint16_t kMoving = 1;
inline constexpr std::uint16_t kBroken = 2;

}  // namespace loom::gain_stage
