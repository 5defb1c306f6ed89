// SPDX-License-Identifier: Apache-2.0
// Copies and comparisons.
#include "drivers/transceiver/itla_registers.hpp"

namespace loom::itla {

std::uint16_t RegisterCopy::value(Register reg) const { return words_[index_of(reg)].value_or(0); }

std::optional<Frequency> RegisterCopy::frequency() const {
  if (!knows(Register::lf1) || !knows(Register::lf2)) {
    return std::nullopt;
  }
  return Frequency{value(Register::lf1) * 1'000'000LL + value(Register::lf2) * 100LL + to_signed(value(Register::lf3))};
}

void RegisterCopy::written(Register reg, std::uint16_t value) {
  read(reg, value);
  if (kTable[index_of(reg)].tunes && reg != Register::channel) {
    must_tune_again();
  }
}

void RegisterCopy::forget_readings() {
  for (std::size_t i = index_of(Register::status_fatal); i < kRegisters; ++i) {
    words_[i].reset();
  }
}

std::optional<std::size_t> RegisterCopy::next_unknown(bool readings_too) const {
  for (std::size_t i = 0; i < kRegisters; ++i) {
    const bool is_needed = readings_too || kTable[i].setting || kTable[i].reg == Register::enable;
    if (is_needed && !words_[i]) {
      return i;
    }
  }
  return std::nullopt;
}

/// FTF leads the table, so it is the first to be written.
std::optional<std::size_t> RegisterCopy::next_differing(const Words& wanted, bool trims) const {
  constexpr std::size_t kTrim = index_of(Register::ftf);
  const auto differs = [&](std::size_t i) { return kTable[i].setting && wanted[i] && words_[i] != wanted[i]; };
  std::optional<std::size_t> first;
  bool retunes = false;
  for (std::size_t i = kTrim + 1; i < kRegisters; ++i) {
    first = !first && differs(i) ? std::optional(i) : first;
    retunes = retunes || (differs(i) && kTable[i].tunes);
  }
  return differs(kTrim) && (!trims || retunes) ? std::optional(kTrim) : first;
}

}  // namespace loom::itla
