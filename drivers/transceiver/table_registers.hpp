// SPDX-License-Identifier: Apache-2.0
// Registers of a laser that is set by an index into its own table (sampled gratings): 16-bit words behind the register file of
// whatever drives its currents. No standard names them: the map is ours (docs/devices.md, *Table laser*).
#pragma once

#include <cstdint>

namespace loom::table_laser {

/// Word addresses. The first three are written and read, as one block; the next three are read only. Modules with a trigger
/// have four more: a block like the first that nothing shows, and a word that is written to have it taken over, as an edge at
/// their trigger input does. What waits is dropped when it is taken, and whenever the gate is ordered shut: no edge lights a
/// laser that somebody made dark.
enum class Register : std::uint16_t {
  gate = 0,             ///< 1: emits while it is tuned
  channel = 1,          ///< index into its table, from 1 on; 0: none
  power = 2,            ///< wanted, 0.01 dBm, signed
  status = 3,           ///< Status bits
  frequency_error = 4,  ///< against the channel's frequency, MHz, signed
  output_power = 5,     ///< 0.01 dBm, signed; -40 dBm or less: no light
  next_gate = 6,
  next_channel = 7,  ///< 0: nothing waits
  next_power = 8,
  trigger = 9,  ///< 1, written: take over what waits; reads 0
};
inline constexpr std::uint16_t kWritable = 3;
inline constexpr std::uint16_t kWords = 6;
inline constexpr std::uint16_t kWordsWithTrigger = 10;

/// Of Register::status.
inline constexpr std::uint16_t kTuned = 1;     ///< currents and gate stand as ordered, and the wavelength locker holds
inline constexpr std::uint16_t kEmitting = 2;  ///< light leaves it
inline constexpr std::uint16_t kBroken = 4;    ///< it cannot emit

}  // namespace loom::table_laser
