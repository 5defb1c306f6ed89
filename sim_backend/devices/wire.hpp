// SPDX-License-Identifier: Apache-2.0
// How long bytes take on a serial wire. Pure arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/time.hpp"

namespace loom {

/// 8N1: ten bits a byte.
inline Duration wire_time(std::size_t bytes, std::uint32_t baud) {
  return Duration{static_cast<std::int64_t>(bytes) * 10'000'000'000 / static_cast<std::int64_t>(baud)};
}

/// I2C: eight bits and their acknowledgement a byte; start and stop not counted.
inline Duration i2c_time(std::size_t bytes, std::uint32_t hertz) {
  return Duration{static_cast<std::int64_t>(bytes) * 9'000'000'000 / static_cast<std::int64_t>(hertz)};
}

/// Between `low` and `high` percent of a worst case, from one draw.
inline Duration part_of(Duration worst, std::uint64_t draw, std::int64_t low, std::int64_t high) {
  return worst / 100 * (low + static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(high - low + 1)));
}

}  // namespace loom
