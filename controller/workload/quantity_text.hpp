// SPDX-License-Identifier: Apache-2.0
// Quantities as sentences and tables have them: three significant digits and the unit that fits the size.
#pragma once

#include <cstdint>
#include <string>

#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// `12.3 us`, `4.56 ms`, `1.20 s`; `never` for kForever.
std::string text_of(Duration duration);
/// `561 kB`, `574.7 MB`; powers of ten, as the field prints them.
std::string text_of(Bytes bytes);
std::string text_of(BitRate rate);
/// As text_of(Duration); `0 s` for nothing.
std::string seconds_text(double seconds);

/// "1 pair", "2 pairs".
std::string count_text(std::uint64_t value, const char* one, const char* many);
/// `%.3g`.
std::string number_text(double value);

}  // namespace loom
