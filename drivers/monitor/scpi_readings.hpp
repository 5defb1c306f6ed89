// SPDX-License-Identifier: Apache-2.0
// What meters of light answer over SCPI, as values and pure functions: numbers, counted arrays, traces with their peaks, who it
// is. Strict: nothing unless every character is accounted for.
//
// Numbers are NRf of IEEE 488.2; SCPI-99 volume 1 section 7.2.1 gives 9.9E37 for infinity, -9.9E37 for its negative and 9.91E37
// for "not a number", which meters say above their range, in the dark, and while they know nothing.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/fabric/grid.hpp"
#include "core/observation.hpp"
#include "core/units.hpp"

namespace loom::scpi {

enum class PowerUnit : std::uint8_t { dbm, watt };

/// What one number says of power.
struct PowerReading {
  enum class Kind : std::uint8_t { measured, dark, above_range, not_a_number };
  Kind kind = Kind::measured;
  Dbm power{kNoLight};
  bool operator==(const PowerReading&) const = default;
};

std::optional<double> read_number(std::string_view text);
/// "-12.3,+1.5E0": at most `most` of them.
std::optional<std::vector<double>> read_numbers(std::string_view text, std::size_t most);
/// "2,1.931E14,1.932E14": how many, then they.
std::optional<std::vector<double>> read_counted(std::string_view text, std::size_t most);
PowerReading power_of(double value, PowerUnit unit);

struct Peak {
  Frequency frequency;
  Dbm power;
  bool operator==(const Peak&) const = default;
};

/// Of a trace of wavelengths (metre, in vacuum) and powers (dBm): tops at `floor` or above with a valley of `excursion` at
/// either side, ascending frequency. A top between points is found by the parabola through three of them. Nothing: the lists
/// are of different lengths, or the wavelengths neither ascend nor lie within 100 nm to 100 um.
std::optional<std::vector<Peak>> find_peaks(const std::vector<double>& wavelengths, const std::vector<double>& powers,
                                            Dbm floor, Db excursion);

}  // namespace loom::scpi
