// SPDX-License-Identifier: Apache-2.0
// Qontrol Q8iv, Q8a and Q8b: drivers of eight heaters a module, modules in a chain, spoken to in ASCII lines. The dialect, its
// model, and what it says on a line. Facts from the maker's Python library and manual (docs/devices.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "drivers/heater/line_heaters.hpp"

namespace loom {

namespace qontrol {

struct Module {
  std::string_view type;  ///< as `id?` has it
  double volt_max = 0;    ///< full scale
  double ampere_max = 0;
};
std::span<const Module> modules();

/// "E03:12": error 3, channel 12. Nothing: the line is no complaint.
std::optional<LineComplaint> read_complaint(std::string_view line);
/// "4.500 V" in volts, "12.5 mA" in amperes; nothing: it is neither, or of another unit.
std::optional<double> read_volts(std::string_view line);
std::optional<double> read_amperes(std::string_view line);
/// All lines of a reply; the last that is no complaint is the answer.
LineAnswer read(const LineQuestion& question, std::string_view reply);
/// Without the end of line.
std::string say(const LineQuestion& question);

}  // namespace qontrol

extern const LineHeaterDialect kQontrolDialect;
extern const DriverModel kQontrol;

}  // namespace loom
