// SPDX-License-Identifier: Apache-2.0
// HeaterBoard: the register map of a board with analogue outputs behind Modbus holding registers: where its outputs are, what a
// count means, how it says which board it is and what it says of its outputs. Presets by name, each number of which a
// device's profile may overrule. A value and its arithmetic; it never talks. docs/devices.md has the sources.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/fabric/device_profile.hpp"
#include "core/fabric/fabric.hpp"
#include "drivers/heater/heater_law.hpp"

namespace loom {

struct HeaterBoard {
  /// Registers that hold what the board is: one, or one an output (type codes).
  struct Identity {
    std::uint16_t address = 0;
    bool each_output = false;
    std::uint16_t least = 0;  ///< what it must hold, limits included
    std::uint16_t most = 0;
  };

  std::string_view name;
  std::uint16_t base = 0;     ///< register of output 0, on the wire
  std::uint16_t outputs = 0;  ///< 0: as many as it answers for
  bool drives_current = false;
  double full_scale = 0;     ///< V, or A
  double scale = 0;          ///< counts a V, or an A
  bool block_writes = true;  ///< function 10h; else 06h, a register a write
  std::optional<Identity> identity{};
  std::optional<std::uint16_t> status{};  ///< two registers an output (ADAM)

  HeaterSource source() const;
  /// Counts that come nearest to `volts` across a heater of `ohm`.
  std::uint16_t counts_of(double volts, double ohm) const;
  double volts_of(std::uint16_t counts, double ohm) const;
  /// "5000 mV" or "5000 uA": what `counts` stand for.
  std::string text_of(std::uint16_t counts) const;
};

inline constexpr std::array<std::string_view, 6> kHeaterBoardNames{"waveshare_mv", "waveshare_ua", "adam_6224",
                                                                   "adam_4024",    "adam_6024",    "custom"};
inline constexpr std::array<std::string_view, 3> kHeaterUnits{"board", "volt", "ampere"};

/// Of a model's `profile:`.
inline constexpr std::array kHeaterBoardKeys{
    ProfileKey{"board", WordKey{kHeaterBoardNames, 0}, "the board, which gives the other keys what is usual for them"},
    ProfileKey{"register_base", IntegerKey{-1, -1, 65'535},
               "register of the first output, as on the wire (a data sheet's 40001 is 0); -1: the board's"},
    ProfileKey{"unit", WordKey{kHeaterUnits, 0}, "what a count stands for; board: as the board has it"},
    ProfileKey{"scale", RealKey{0, 0, 1e9}, "counts a volt, or an ampere; 0: the board's"},
    ProfileKey{"full_scale", RealKey{0, 0, 1'000}, "the most that an output gives, in volts or amperes; 0: the board's"},
    ProfileKey{"checks_version", FlagKey{true}, "the version register must hold what is expected before anything is written"},
    ProfileKey{"version_register", IntegerKey{-1, -1, 65'535},
               "the register that says which board it is; -1: the board's, where it has one"},
    ProfileKey{"version", IntegerKey{-1, -1, 65'535}, "what the version register must hold; -1: what the board's papers give"},
    ProfileKey{"status_register", IntegerKey{-1, -1, 65'535},
               "the first of two registers an output with ADAM's status bits; -1: the board's, where it has them"},
    ProfileKey{"block_writes", FlagKey{true}, "the board takes several registers in a write (function 10h)"},
};

/// The board of a device: its preset, overruled by what its profile gives.
HeaterBoard heater_board_of(const Device& device);
/// Why this device cannot be a bank behind its board; empty: it can.
std::string refuse_board(const Fabric& fabric, const Device& device);

/// What ADAM says of an output, in the words of an alarm: "heater open"; empty: nothing. `words`: its two status registers.
std::string status_trouble(std::span<const std::uint16_t> words);

inline constexpr std::uint16_t kStatusOpenCircuit = 1 << 3;

}  // namespace loom
