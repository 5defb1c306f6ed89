// SPDX-License-Identifier: Apache-2.0
// Quantity: "100 GHz" to an exact integer of the finest unit and back. Decimal arithmetic only, so that what a person wrote
// is what is stored: a value that the integer cannot hold exactly is refused, never rounded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace loom {

struct Unit {
  std::string_view word;
  std::int64_t factor = 1;  ///< finest units in one of these
};

/// The units of one physical quantity. Case matters (mW is not MW).
struct UnitTable {
  std::string_view quantity;    ///< "a frequency"
  std::string_view example;     ///< "193.1 THz"
  std::span<const Unit> units;  ///< ascending factor; of equal factors the first is printed
};

extern const UnitTable kFrequencyUnits;        ///< MHz
extern const UnitTable kFrequencyOffsetUnits;  ///< MHz
extern const UnitTable kPowerUnits;            ///< 0.01 dBm
extern const UnitTable kRatioUnits;            ///< 0.01 dB
extern const UnitTable kDurationUnits;         ///< ns
extern const UnitTable kBitRateUnits;          ///< bit/s
extern const UnitTable kLengthUnits;           ///< mm
extern const UnitTable kBytesUnits;            ///< bytes
extern const UnitTable kVoltageUnits;          ///< mV
extern const UnitTable kResistanceUnits;       ///< mohm
extern const UnitTable kTuningUnits;           ///< MHz/mW

/// Errors: invalid_argument (no number, no unit, a unit of another quantity), out_of_range (finer than the finest unit, or
/// beyond 64 bits). The sentence says what was found and what is accepted.
Result<std::int64_t> parse_quantity(std::string_view text, const UnitTable& table);

/// `value` in the largest unit that needs no more than three decimals: "191.325 THz".
std::string print_quantity(std::int64_t value, const UnitTable& table);

}  // namespace loom
