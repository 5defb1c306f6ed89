// SPDX-License-Identifier: Apache-2.0
// What the bytes of a CMIS module mean: pages 00h, 01h, 04h, 10h, 11h and 12h as far as a tunable transmitter needs them
// (CMIS 5.x; the layout of 04h and 12h is the same from 4.1 on). Pure functions of bytes: nothing is asked or believed here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/module/module_pages.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom::cmis {

using Bytes = std::span<const std::uint8_t>;

enum class Page : std::uint8_t {
  identity = 0x00,
  advertised = 0x01,
  limits = 0x04,
  control = 0x10,
  status = 0x11,
  tuning = 0x12,
  observables = 0x20,  ///< VDM: what is observed, of the first 64
  samples = 0x24,      ///< VDM: their values now
  vdm = 0x2F           ///< VDM: how many, and its control
};

constexpr std::uint32_t at(Page page, unsigned byte) {
  return offset_of(PageLayout::one_address, {false, static_cast<std::uint8_t>(page), static_cast<std::uint8_t>(byte)});
}

inline constexpr unsigned kLanes = 8;

// Lower memory.
inline constexpr unsigned kLowerBytes = 42;  ///< of it, what is read: up to the fault cause
inline constexpr unsigned kGlobalControl = 26;
inline constexpr std::uint8_t kLowPowerAllowHw = 0x40;  ///< of byte 26: the LPMode pin may keep it in low power
inline constexpr std::uint8_t kLowPowerRequest = 0x10;  ///< likewise: software keeps it there

enum class ModuleState : std::uint8_t { reserved, low_power, powering_up, ready, powering_down, fault };
std::string_view to_string(ModuleState state);

struct Lower {
  std::uint8_t identifier = 0;
  std::uint8_t revision = 0;  ///< 0x50 is 5.0
  bool is_flat = false;       ///< it has page 00h only
  ModuleState state = ModuleState::reserved;
  std::uint8_t control = 0;      ///< byte 26
  std::uint8_t fault_cause = 0;  ///< byte 41
  bool operator==(const Lower&) const = default;
};
std::optional<Lower> read_lower(Bytes bytes);

// Page 00h, from byte 128 on.
struct Identity {
  std::string vendor;
  std::string part;
  std::string revision;
  std::string serial;
  bool operator==(const Identity&) const = default;
};
inline constexpr unsigned kIdentityBytes = 62;  ///< up to the date code
std::optional<Identity> read_identity(Bytes bytes);

// Page 01h, all of it.
struct Advertised {
  bool is_tunable = false;
  bool can_disable_output = false;
  bool tells_tx_power = false;
  bool tells_rx_power = false;
  bool tells_more = false;  ///< VDM: pages 20h to 2Fh
  Duration deinit{};        ///< worst cases; kForever: 50 minutes or more
  Duration init{};
  Duration power_up{};
  Duration turn_off{};
  Duration turn_on{};
  bool operator==(const Advertised&) const = default;
};
std::optional<Advertised> read_advertised(Bytes page);
/// The longest that a code of 4 bits allows; kForever where it has no upper end (D) or means nothing (E, F).
Duration longest(unsigned code);
/// The code of the shortest class that holds `duration`.
unsigned code_of(Duration duration);

// Pages 20h and 24h, all of them: each of 64 words of 24h is what the word of 20h at its place says. VDM's types and formats as
// SONiC's platform library reads them (sonic_xcvr: codes VDM_TYPE); CMIS 5.x section 8.19 was not read.
inline constexpr std::uint8_t kPreFecBer = 15;  ///< current value, media input; a float of 16 bits
inline constexpr std::uint8_t kOsnr = 139;      ///< C-CMIS; 0.1 dB
/// Of the first observable of this type on this media lane (0..7).
std::optional<std::uint16_t> sample_of(Bytes observables, Bytes samples, std::uint8_t type, unsigned lane);
/// 11 bits of mantissa, 5 of a decimal exponent from -24 on.
double float16_of(std::uint16_t word);
std::uint16_t to_float16(double value);

// Page 04h, all of it.
enum class Grid : std::uint8_t { ghz3_125, ghz6_25, ghz12_5, ghz25, ghz50, ghz100, ghz33, ghz75, ghz150, ghz300 };
inline constexpr unsigned kGrids = 10;
std::string_view to_string(Grid grid);
/// Nothing: the channel number is none of the grid's (75 GHz: multiples of 3, 150: of 6, 300: of 24).
std::optional<Frequency> frequency_of(Grid grid, int channel);
std::optional<int> channel_of(Grid grid, Frequency frequency);
/// Where page 04h has whether the grid is there, and its lowest channel number (the highest follows).
struct GridPlace {
  unsigned byte;
  std::uint8_t bit;
  unsigned lowest;
};
GridPlace place_of(Grid grid);

struct Range16 {
  std::int16_t low = 0;
  std::int16_t high = 0;
  bool operator==(const Range16&) const = default;
};
struct Limits {
  std::array<std::optional<Range16>, kGrids> channels{};  ///< by Grid; nothing: it has not that grid
  bool has_fine = false;
  std::uint16_t fine_step = 0;  ///< MHz
  Range16 fine;                 ///< MHz
  bool has_power = false;
  Range16 power;  ///< 0.01 dBm
  bool operator==(const Limits&) const = default;
};
/// Nothing: not 128 bytes, or a wrong checksum.
std::optional<Limits> read_limits(Bytes page);
/// Low byte of the sum of bytes 128 to 254.
std::uint8_t checksum_of(Bytes page);

/// Which channel of which grid a frequency is.
struct Choice {
  Grid grid = Grid::ghz100;
  std::int16_t channel = 0;
  std::int16_t fine = 0;  ///< MHz beside it
  bool operator==(const Choice&) const = default;
};
/// Exactly where the module has a grid for it, the one of `spacing` first; else beside the nearest channel, by fine tuning.
/// Nothing: out of its reach.
std::optional<Choice> choose(const Limits& limits, Frequency frequency, FrequencyOffset spacing);
/// The frequencies that the limits reach, for sentences.
std::string reach_of(const Limits& limits);

// Page 10h, from byte 128 on.
inline constexpr unsigned kControlBytes = 25;
inline constexpr unsigned kDeinit = 128;
inline constexpr unsigned kOutputDisable = 130;
inline constexpr unsigned kApplyInit = 143;  ///< write only, a byte at a time
inline constexpr unsigned kStagedConfig = 145;

/// The host lanes whose data path carries `lane` (0..7), as a mask of bits; 0: none is configured there.
std::uint8_t host_lanes(Bytes control, unsigned lane);

// Page 11h, from byte 128 on.
inline constexpr unsigned kStatusBytes = 86;
enum class PathState : std::uint8_t {
  reserved,
  deactivated,
  initialising,
  deinitialising,
  activated,
  turning_on,
  turning_off,
  initialised
};
std::string_view to_string(PathState state);
inline constexpr unsigned kOutputValid = 133;
inline constexpr unsigned kTxFailure = 135;
inline constexpr unsigned kTxPower = 154;
inline constexpr unsigned kRxPower = 186;
inline constexpr unsigned kConfigStatus = 202;
inline constexpr unsigned kActiveConfig = 206;
inline constexpr unsigned kConfigDone = 1;
inline constexpr unsigned kConfigInProgress = 12;

/// Nibbles: the low one of a byte is the lower lane's.
unsigned nibble_of(Bytes bytes, unsigned first, unsigned lane);
PathState path_state(Bytes status, unsigned lane);
unsigned config_status(Bytes status, unsigned lane);
std::string_view name_of_config_status(unsigned code);
/// Units of 0.1 uW; 0: no light.
Dbm power_of(std::uint16_t tenths_of_microwatts);
std::uint16_t tenths_of(Dbm power);

// Page 12h, from byte 128 on.
inline constexpr unsigned kGridByte = 128;
inline constexpr unsigned kChannel = 136;
inline constexpr unsigned kFineOffset = 152;
inline constexpr unsigned kCurrent = 168;
inline constexpr unsigned kTargetPower = 200;
inline constexpr unsigned kTuningStatus = 222;
inline constexpr unsigned kTuningFlags = 231;
inline constexpr std::uint8_t kFineEnable = 0x01;
inline constexpr std::uint8_t kTuningNow = 0x02;  ///< of the status
inline constexpr std::uint8_t kUnlocked = 0x01;
inline constexpr std::uint8_t kFlagPower = 0x20;
inline constexpr std::uint8_t kFlagFine = 0x10;
inline constexpr std::uint8_t kFlagNotAccepted = 0x08;
inline constexpr std::uint8_t kFlagChannel = 0x04;
inline constexpr std::uint8_t kFlagUnlocked = 0x02;
inline constexpr std::uint8_t kFlagComplete = 0x01;

struct Tuning {
  std::uint8_t grid_byte = 0;
  std::int16_t channel = 0;
  std::int16_t fine = 0;
  Frequency current;
  std::int16_t power = 0;
  std::uint8_t status = 0;
  unsigned grid() const { return grid_byte >> 4; }
  bool is_fine() const { return (grid_byte & kFineEnable) != 0; }
};
/// Bytes to read so that lane `lane` (0..7) is among them.
constexpr unsigned tuning_bytes(unsigned lane) { return kTuningStatus - 128 + lane + 1; }
std::optional<Tuning> read_tuning(Bytes bytes, unsigned lane);
/// What the latched flags complain of; empty: nothing.
std::string complaint_of(std::uint8_t flags);

}  // namespace loom::cmis
