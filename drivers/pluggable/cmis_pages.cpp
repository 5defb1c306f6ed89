// SPDX-License-Identifier: Apache-2.0
// Byte numbers are those of OIF-CMIS-05.x: sections 8.2 (lower memory), 8.3 (page 00h), 8.4 (01h), 8.7 (04h), 8.9 (10h), 8.10
// (11h) and 8.15 (12h).
#include "drivers/pluggable/cmis_pages.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/fabric/grid.hpp"
#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom::cmis {
namespace {

constexpr unsigned kUpper = 128;  ///< number of an upper page's first byte

/// 0 beyond what was read.
std::uint8_t byte_at(Bytes bytes, unsigned number) { return number - kUpper < bytes.size() ? bytes[number - kUpper] : 0; }
std::uint16_t word_at(Bytes bytes, unsigned number) {
  return static_cast<std::uint16_t>(byte_at(bytes, number) << 8 | byte_at(bytes, number + 1));
}
std::int16_t signed_at(Bytes bytes, unsigned number) { return static_cast<std::int16_t>(word_at(bytes, number)); }

/// ASCII, filled up with blanks. What cannot be printed is shown as '?'.
std::string text_at(Bytes bytes, unsigned number, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint8_t character = byte_at(bytes, number + i);
    text += character == 0 ? ' ' : character >= 0x20 && character < 0x7F ? static_cast<char>(character) : '?';
  }
  const std::size_t end = text.find_last_not_of(' ');
  return text.substr(0, end == std::string::npos ? 0 : end + 1);
}

// CMIS 5.4 table 8-47: worst cases, by code. D is "50 minutes or more".
constexpr std::array<Duration, 13> kLongest{
    std::chrono::milliseconds{1},  std::chrono::milliseconds{5},   std::chrono::milliseconds{10},
    std::chrono::milliseconds{50}, std::chrono::milliseconds{100}, std::chrono::milliseconds{500},
    std::chrono::seconds{1},       std::chrono::seconds{5},        std::chrono::seconds{10},
    std::chrono::minutes{1},       std::chrono::minutes{5},        std::chrono::minutes{10},
    std::chrono::minutes{50}};

/// Channel n of a grid is at the anchor and (n + shift) steps, where n is a multiple of `multiple` (section 8.15.1).
struct GridRow {
  std::string_view name;
  std::int64_t step_mhz;
  int shift;
  int multiple;
  GridPlace place;
};
constexpr std::array<GridRow, kGrids> kRows{{{"3.125 GHz", 3'125, 0, 1, {128, 0x01, 130}},
                                             {"6.25 GHz", 6'250, 0, 1, {128, 0x02, 134}},
                                             {"12.5 GHz", 12'500, 0, 1, {128, 0x04, 138}},
                                             {"25 GHz", 25'000, 0, 1, {128, 0x08, 142}},
                                             {"50 GHz", 50'000, 0, 1, {128, 0x10, 146}},
                                             {"100 GHz", 100'000, 0, 1, {128, 0x20, 150}},
                                             {"33 GHz", 0, 0, 1, {128, 0x40, 154}},
                                             {"75 GHz", 25'000, 0, 3, {128, 0x80, 158}},
                                             {"150 GHz", 25'000, 3, 6, {129, 0x40, 162}},
                                             {"300 GHz", 12'500, -9, 24, {129, 0x20, 166}}}};
constexpr std::uint8_t kFineBit = 0x80;   ///< of 04h:129
constexpr std::uint8_t kPowerBit = 0x80;  ///< of 04h:196
/// In which order grids are tried; 33 GHz is left out: its channels are not at whole MHz.
constexpr std::array kPreference{Grid::ghz100,  Grid::ghz50,    Grid::ghz75,  Grid::ghz25, Grid::ghz12_5,
                                 Grid::ghz6_25, Grid::ghz3_125, Grid::ghz150, Grid::ghz300};

const GridRow& row_of(Grid grid) { return kRows[static_cast<std::size_t>(grid)]; }

std::int64_t spacing_of(Grid grid) { return row_of(grid).step_mhz * row_of(grid).multiple; }

bool holds(const std::optional<Range16>& range, int channel) {
  return range && channel >= range->low && channel <= range->high;
}

std::optional<Choice> exactly(const Limits& limits, Grid grid, Frequency frequency) {
  const auto channel = channel_of(grid, frequency);
  if (!channel || !holds(limits.channels[static_cast<std::size_t>(grid)], *channel)) {
    return std::nullopt;
  }
  return Choice{grid, static_cast<std::int16_t>(*channel), 0};
}

/// Beside the nearest channel of the grid.
std::optional<Choice> beside(const Limits& limits, Grid grid, Frequency frequency) {
  const auto& range = limits.channels[static_cast<std::size_t>(grid)];
  if (!range || !limits.has_fine || limits.fine_step == 0) {
    return std::nullopt;
  }
  std::optional<Choice> best;
  const GridRow& row = row_of(grid);
  const std::int64_t nearest = (frequency - kGridAnchor).mhz / row.step_mhz - row.shift;
  const std::int64_t reach = 32'768 / row.step_mhz + 1;  // of a fine offset of 16 bits
  const auto first = static_cast<int>(std::max<std::int64_t>(range->low, nearest - reach));
  const auto last = static_cast<int>(std::min<std::int64_t>(range->high, nearest + reach));
  for (int channel = first; channel <= last; ++channel) {
    const auto centre = frequency_of(grid, channel);
    const std::int64_t offset = centre ? (frequency - *centre).mhz : 0;
    const bool reaches = centre && offset >= limits.fine.low && offset <= limits.fine.high && offset % limits.fine_step == 0;
    if (reaches && (!best || std::abs(offset) < std::abs(best->fine))) {
      best = Choice{grid, static_cast<std::int16_t>(channel), static_cast<std::int16_t>(offset)};
    }
  }
  return best;
}

}  // namespace

std::string_view to_string(ModuleState state) {
  constexpr std::array<std::string_view, 6> kNames{"reserved", "LowPwr", "PwrUp", "Ready", "PwrDn", "Fault"};
  const auto index = static_cast<std::size_t>(state);
  return index < kNames.size() ? kNames[index] : "reserved";
}

std::string_view to_string(PathState state) {
  constexpr std::array<std::string_view, 8> kNames{"reserved",    "DPDeactivated", "DPInit",      "DPDeinit",
                                                   "DPActivated", "DPTxTurnOn",    "DPTxTurnOff", "DPInitialized"};
  const auto index = static_cast<std::size_t>(state);
  return index < kNames.size() ? kNames[index] : "reserved";
}

std::string_view to_string(Grid grid) { return row_of(grid).name; }

GridPlace place_of(Grid grid) { return row_of(grid).place; }

std::optional<Lower> read_lower(Bytes bytes) {
  if (bytes.size() < kLowerBytes) {
    return std::nullopt;
  }
  const unsigned state = bytes[3] >> 1 & 0x07;
  return Lower{bytes[0],
               bytes[1],
               (bytes[2] & 0x80) != 0,
               state <= 5 ? static_cast<ModuleState>(state) : ModuleState::reserved,
               bytes[kGlobalControl],
               bytes[41]};
}

std::optional<Identity> read_identity(Bytes bytes) {
  if (bytes.size() < kIdentityBytes) {
    return std::nullopt;
  }
  return Identity{text_at(bytes, 129, 16), text_at(bytes, 148, 16), text_at(bytes, 164, 2), text_at(bytes, 166, 16)};
}

Duration longest(unsigned code) { return code < kLongest.size() ? kLongest[code] : kForever; }

unsigned code_of(Duration duration) {
  return static_cast<unsigned>(std::ranges::lower_bound(kLongest, duration) - kLongest.begin());
}

std::optional<Advertised> read_advertised(Bytes page) {
  if (page.size() != kPageBytes) {
    return std::nullopt;
  }
  const std::uint8_t path = byte_at(page, 144);
  const std::uint8_t output = byte_at(page, 168);
  const std::uint8_t controls = byte_at(page, 155);
  const std::uint8_t monitors = byte_at(page, 160);
  return Advertised{(controls & 0x40) != 0,
                    (controls & 0x02) != 0,
                    (monitors & 0x02) != 0,
                    (monitors & 0x04) != 0,
                    (byte_at(page, 142) & 0x40) != 0,
                    longest(path >> 4),
                    longest(path & 0x0F),
                    longest(byte_at(page, 167) & 0x0F),
                    longest(output >> 4),
                    longest(output & 0x0F)};
}

std::optional<std::uint16_t> sample_of(Bytes observables, Bytes samples, std::uint8_t type, unsigned lane) {
  for (std::size_t at = 0; at + 1 < std::min(observables.size(), samples.size()); at += 2) {
    if (observables[at + 1] == type && (observables[at] & 0x0FU) == lane) {
      return static_cast<std::uint16_t>(samples[at] << 8U | samples[at + 1]);
    }
  }
  return std::nullopt;
}

namespace {

constexpr int kExponentZero = 24;
constexpr unsigned kMantissaBits = 11;
constexpr double kMantissaMost = (1U << kMantissaBits) - 1;

}  // namespace

double float16_of(std::uint16_t word) {
  return (word & ((1U << kMantissaBits) - 1)) * std::pow(10.0, static_cast<int>(word >> kMantissaBits) - kExponentZero);
}

std::uint16_t to_float16(double value) {
  int exponent = 0;
  for (double mantissa = value * std::pow(10.0, kExponentZero); mantissa > kMantissaMost && exponent < 31; mantissa /= 10) {
    ++exponent;
  }
  const double mantissa = std::round(value * std::pow(10.0, kExponentZero - exponent));
  return static_cast<std::uint16_t>(static_cast<unsigned>(exponent) << kMantissaBits |
                                    static_cast<unsigned>(std::clamp(mantissa, 0.0, kMantissaMost)));
}

std::optional<Frequency> frequency_of(Grid grid, int channel) {
  const GridRow& row = row_of(grid);
  if (channel % row.multiple != 0) {
    return std::nullopt;
  }
  if (grid == Grid::ghz33) {
    return Frequency{kGridAnchor.mhz + std::lround(channel * 100'000.0 / 3)};
  }
  return Frequency{kGridAnchor.mhz + (channel + row.shift) * row.step_mhz};
}

std::optional<int> channel_of(Grid grid, Frequency frequency) {
  const GridRow& row = row_of(grid);
  const std::int64_t offset = (frequency - kGridAnchor).mhz;
  if (grid == Grid::ghz33) {
    const int channel = static_cast<int>(std::lround(static_cast<double>(offset) * 3 / 100'000));
    return frequency_of(grid, channel) == frequency ? std::optional(channel) : std::nullopt;
  }
  if (offset % row.step_mhz != 0) {
    return std::nullopt;
  }
  const auto channel = static_cast<int>(offset / row.step_mhz) - row.shift;
  return channel % row.multiple == 0 ? std::optional(channel) : std::nullopt;
}

std::uint8_t checksum_of(Bytes page) {
  unsigned sum = 0;
  for (std::size_t i = 0; i + 1 < page.size(); ++i) {
    sum += page[i];
  }
  return static_cast<std::uint8_t>(sum);
}

std::optional<Limits> read_limits(Bytes page) {
  if (page.size() != kPageBytes || checksum_of(page) != page.back()) {
    return std::nullopt;
  }
  Limits limits;
  for (unsigned i = 0; i < kGrids; ++i) {
    const GridPlace& place = kRows[i].place;
    if ((byte_at(page, place.byte) & place.bit) != 0) {
      limits.channels[i] = Range16{signed_at(page, place.lowest), signed_at(page, place.lowest + 2)};
    }
  }
  limits.has_fine = (byte_at(page, 129) & kFineBit) != 0;
  limits.fine_step = word_at(page, 190);
  limits.fine = {signed_at(page, 192), signed_at(page, 194)};
  limits.has_power = (byte_at(page, 196) & kPowerBit) != 0;
  limits.power = {signed_at(page, 198), signed_at(page, 200)};
  return limits;
}

std::optional<Choice> choose(const Limits& limits, Frequency frequency, FrequencyOffset spacing) {
  for (const bool same_spacing : {true, false}) {
    for (const Grid grid : kPreference) {
      const auto choice = (spacing_of(grid) == spacing.mhz) == same_spacing ? exactly(limits, grid, frequency) : std::nullopt;
      if (choice) {
        return choice;
      }
    }
  }
  for (const Grid grid : kPreference) {
    if (const auto choice = beside(limits, grid, frequency)) {
      return choice;
    }
  }
  return std::nullopt;
}

std::string reach_of(const Limits& limits) {
  std::string text;
  for (unsigned i = 0; i < kGrids; ++i) {
    const auto& range = limits.channels[i];
    const auto grid = static_cast<Grid>(i);
    const auto low = range ? frequency_of(grid, range->low) : std::nullopt;
    const auto high = range ? frequency_of(grid, range->high) : std::nullopt;
    if (low && high) {
      text += format_text("{}{} from {} to {}", text.empty() ? "" : ", ", to_string(grid), loom::to_string(*low),
                          loom::to_string(*high));
    }
  }
  return text.empty() ? "no grid at all" : text;
}

std::uint8_t host_lanes(Bytes control, unsigned lane) {
  const std::uint8_t own = byte_at(control, kStagedConfig + lane);
  unsigned mask = 0;
  for (unsigned i = 0; i < kLanes && own >> 4 != 0; ++i) {
    const std::uint8_t config = byte_at(control, kStagedConfig + i);
    const bool is_same = config >> 4 != 0 && (config >> 1 & 0x07) == (own >> 1 & 0x07);
    mask |= is_same ? 1U << i : 0U;
  }
  return static_cast<std::uint8_t>(mask);
}

unsigned nibble_of(Bytes bytes, unsigned first, unsigned lane) {
  const std::uint8_t both = byte_at(bytes, first + lane / 2);
  return lane % 2 == 0 ? both & 0x0F : both >> 4;
}

PathState path_state(Bytes status, unsigned lane) {
  const unsigned code = nibble_of(status, 128, lane);
  return code <= 7 ? static_cast<PathState>(code) : PathState::reserved;
}

unsigned config_status(Bytes status, unsigned lane) { return nibble_of(status, kConfigStatus, lane); }

std::string_view name_of_config_status(unsigned code) {
  constexpr std::array<std::string_view, 9> kNames{"undefined",
                                                   "success",
                                                   "rejected",
                                                   "rejected: invalid AppSel",
                                                   "rejected: invalid data path",
                                                   "rejected: invalid signal integrity",
                                                   "rejected: lanes in use",
                                                   "rejected: partial data path",
                                                   "rejected: no emulation"};
  return code < kNames.size() ? kNames[code] : code == kConfigInProgress ? "in progress" : "reserved";
}

Dbm power_of(std::uint16_t tenths_of_microwatts) { return to_dbm(Milliwatt{tenths_of_microwatts * 1e-4}); }

std::uint16_t tenths_of(Dbm power) {
  return static_cast<std::uint16_t>(std::clamp(std::lround(to_milliwatt(power).value * 1e4), 0L, 65'535L));
}

std::optional<Tuning> read_tuning(Bytes bytes, unsigned lane) {
  if (bytes.size() < tuning_bytes(lane)) {
    return std::nullopt;
  }
  const std::int64_t current =
      std::int64_t{word_at(bytes, kCurrent + 4 * lane)} << 16 | word_at(bytes, kCurrent + 4 * lane + 2);
  return Tuning{byte_at(bytes, kGridByte + lane),          signed_at(bytes, kChannel + 2 * lane),
                signed_at(bytes, kFineOffset + 2 * lane),  Frequency{current},
                signed_at(bytes, kTargetPower + 2 * lane), byte_at(bytes, kTuningStatus + lane)};
}

std::string complaint_of(std::uint8_t flags) {
  constexpr std::array<std::pair<std::uint8_t, std::string_view>, 4> kNames{{{kFlagPower, "target power out of range"},
                                                                             {kFlagFine, "fine tuning out of range"},
                                                                             {kFlagNotAccepted, "tuning not accepted"},
                                                                             {kFlagChannel, "invalid channel"}}};
  std::string text;
  for (const auto& [bit, name] : kNames) {
    if ((flags & bit) != 0) {
      text += format_text("{}{}", text.empty() ? "" : ", ", name);
    }
  }
  return text;
}

}  // namespace loom::cmis
