// SPDX-License-Identifier: Apache-2.0
// RegisterCopy: what ItlaDriver knows of the registers of its table, and which of them must be read or written next. A copy
// goes where a write makes it doubtful; nothing here talks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/units.hpp"
#include "drivers/transceiver/itla_table.hpp"

namespace loom::itla {

class RegisterCopy {
 public:
  using Words = std::array<std::optional<std::uint16_t>, kRegisters>;

  /// 0: it is not known.
  std::uint16_t value(Register reg) const;
  bool knows(Register reg) const { return words_[index_of(reg)].has_value(); }
  bool is_enabled() const { return (value(Register::enable) & kSoftwareEnable) != 0; }
  /// By StatusF as it was read last.
  bool says_locked() const {
    return knows(Register::status_fatal) && (value(Register::status_fatal) & (kStatusFrequency | kStatusFatal)) == 0;
  }
  bool is_lit() const { return is_enabled() && to_signed(value(Register::oop)) > kDark.centi; }
  /// LF; nothing: its parts are not known.
  std::optional<Frequency> frequency() const;

  void read(Register reg, std::uint16_t value) { words_[index_of(reg)] = value; }
  /// In the dark: Channel must be written again where what it counts from has changed, for that starts the tuning.
  void written(Register reg, std::uint16_t value);
  void must_tune_again() { words_[index_of(Register::channel)] = 0; }  ///< channels count from 1
  void forget(Register reg) { words_[index_of(reg)].reset(); }
  void forget_readings();
  void forget_all() { words_.fill(std::nullopt); }

  /// The first that is not known of those that say what is set, or of all.
  std::optional<std::size_t> next_unknown(bool readings_too) const;
  /// The first setting that is not as wanted; nothing is wanted of a setting that does not matter. `trims`: a laser that is
  /// otherwise set as wanted keeps the fine trim that it has.
  std::optional<std::size_t> next_differing(const Words& wanted, bool trims) const;

 private:
  Words words_{};
};

}  // namespace loom::itla
