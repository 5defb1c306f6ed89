// SPDX-License-Identifier: Apache-2.0
// The filter profile of a WaveShaper (WSP) as text, as points and as what it lets through. A line is `frequency in THz, TAB,
// attenuation in dB, TAB, phase in rad, TAB, port`, ascending; port 0 or more than 40 dB blocks; 30 dB is calibrated (sources:
// three public clients and a page of the manual). Pure values: the driver and the simulated device share them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/grid.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "drivers/wss/wss_routes.hpp"

namespace loom::waveshaper {

inline constexpr FrequencyOffset kSpacing{1'000};  ///< of the points that we write
inline constexpr Db kCalibratedMax{3'000};
inline constexpr std::size_t kPointsMax = 65'536;
inline constexpr std::int32_t kBlockedTenthMilli = 500'000;  ///< 50 dB: what we write where nothing passes

struct Band {
  Frequency first{191'250'000};  ///< of a 1000A; the device says its own
  Frequency last{196'275'000};
  bool operator==(const Band&) const = default;
};

struct Point {
  Frequency frequency;
  std::int32_t attenuation = kBlockedTenthMilli;  ///< 0.0001 dB, the last decimal of a line
  std::uint16_t port = 0;
  bool operator==(const Point&) const = default;
};
bool passes(const Point& point);

std::string write_profile(std::span<const Point> points);
/// Blanks and tabs separate, LF or CR LF ends a line, the last end may lack; phases are read and forgotten. An attenuation
/// below 0 is 0. Errors: invalid_argument, with the line's number.
Result<std::vector<Point>> read_profile(std::string_view text);

/// A piece of spectrum that passes at one attenuation to one port. Its edges are multiples of 6.25 GHz from 193.1 THz.
struct Pass {
  std::int32_t lower = 0;
  std::int32_t upper = 0;
  std::uint16_t port = 0;
  std::int32_t centi = 0;  ///< attenuation, 0.01 dB
  auto operator<=>(const Pass&) const = default;
};
Pass pass_of(FrequencySlot slot, std::uint16_t port, Db attenuation);
FrequencySlot slot_of(const Pass& pass);

/// What a profile lets through, ascending. A point passes to a slot from its lower edge on, and up to before its upper edge.
struct Spectrum {
  std::vector<Pass> passes;   ///< that are slots
  std::vector<Pass> foreign;  ///< those that are none (odd edges or widths), as the narrowest slot around each
  bool operator==(const Spectrum&) const = default;
};
Spectrum spectrum_of(std::span<const Point> points);

/// Both kinds, ascending; of the foreign ones those that meet nothing else.
std::vector<Pass> all_of(const Spectrum& spectrum);
/// Those to ports that the element has, ascending (slot.n, input).
std::vector<WssRoute> routes_of(std::span<const Pass> passes, PortMap map, PortNumber ports);

/// Neighbours of one port and attenuation joined: what is the same light has the same form. `passes` ascend.
std::vector<Pass> joined(std::span<const Pass> passes);

bool lets_through(const Spectrum& spectrum, const Pass& wanted);
/// The light of these and no other.
bool lets_through_only(const Spectrum& spectrum, std::span<const Pass> wanted);

/// A point for every whole GHz of the band. Neighbours of one port and attenuation are told apart by 0.0001 dB, which no light
/// notices and whoever reads them back does. `passes` ascend and overlap nowhere.
std::vector<Point> points_of(const Band& band, std::span<const Pass> passes);

}  // namespace loom::waveshaper
