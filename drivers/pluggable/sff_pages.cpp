// SPDX-License-Identifier: Apache-2.0
// Byte numbers of SFF-8472 and SFF-8690.
#include "drivers/pluggable/sff_pages.hpp"

#include <cmath>
#include <numeric>

namespace loom::sff {
namespace {

constexpr double kLightSpeed = 299'792'458.0;  ///< m/s; MHz x 20,000 of 0.05 nm make it

std::string text_of(Bytes bytes) {
  std::string text;
  for (const std::uint8_t character : bytes) {
    text += character == 0 ? ' ' : character >= 0x20 && character < 0x7F ? static_cast<char>(character) : '?';
  }
  const std::size_t end = text.find_last_not_of(' ');
  return text.substr(0, end == std::string::npos ? 0 : end + 1);
}

}  // namespace

std::uint8_t sum_of(Bytes bytes) { return static_cast<std::uint8_t>(std::accumulate(bytes.begin(), bytes.end(), 0U)); }

std::uint16_t word_at(Bytes block, unsigned first, unsigned byte) {
  const std::size_t place = byte - first;
  return place + 1 < block.size() ? static_cast<std::uint16_t>(block[place] << 8 | block[place + 1]) : std::uint16_t{0};
}

std::optional<Identity> read_identity(Bytes bytes) {
  if (bytes.size() < kIdentityBytes || sum_of(bytes.first(63)) != bytes[63] || sum_of(bytes.subspan(64, 31)) != bytes[95]) {
    return std::nullopt;
  }
  return Identity{text_of(bytes.subspan(20, 16)), text_of(bytes.subspan(40, 16)), text_of(bytes.subspan(56, 4)),
                  text_of(bytes.subspan(68, 16)), (bytes[65] & 0x40) != 0,        (bytes[64] & 0x10) != 0};
}

std::optional<Limits> read_limits(Bytes bytes) {
  if (bytes.size() < kLimitsBytes) {
    return std::nullopt;
  }
  const auto word = [&](unsigned byte) { return std::int64_t{word_at(bytes, kLimitsFirst, byte)}; };
  return Limits{(bytes[0] & 0x02) != 0,
                (bytes[0] & 0x01) != 0,
                (bytes[0] & 0x04) != 0,
                (bytes[0] & 0x08) != 0,
                Frequency{word(132) * 1'000'000 + word(134) * 100},
                Frequency{word(136) * 1'000'000 + word(138) * 100},
                FrequencyOffset{static_cast<std::int16_t>(word(140)) * 100LL}};
}

std::optional<std::uint16_t> channel_of(const Limits& limits, Frequency frequency) {
  const std::int64_t grid = limits.grid.mhz;
  const std::int64_t offset = (frequency - limits.first).mhz;
  if (grid == 0 || offset % grid != 0) {
    return std::nullopt;
  }
  const std::int64_t channel = 1 + offset / grid;
  const std::int64_t last = 1 + (limits.last - limits.first).mhz / grid;
  return channel >= 1 && channel <= last && channel <= 0xFFFF ? std::optional(static_cast<std::uint16_t>(channel))
                                                              : std::nullopt;
}

std::uint16_t wavelength_of(Frequency frequency) {
  return frequency.mhz <= 0
             ? std::uint16_t{0}
             : static_cast<std::uint16_t>(std::lround(kLightSpeed * 20'000 / static_cast<double>(frequency.mhz)) & 0xFFFF);
}

Frequency frequency_of_wavelength(std::uint16_t steps) {
  return steps == 0 ? Frequency{} : Frequency{std::llround(kLightSpeed * 20'000 / steps)};
}

}  // namespace loom::sff
