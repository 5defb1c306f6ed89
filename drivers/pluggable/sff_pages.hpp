// SPDX-License-Identifier: Apache-2.0
// What the bytes of a tunable SFP+ mean: A0h and the lower A2h (SFF-8472), page 02h of A2h (SFF-8690 rev. 1.5). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/module/module_pages.hpp"
#include "core/units.hpp"

namespace loom::sff {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t at_a0(unsigned byte) { return byte; }
constexpr std::uint32_t at_a2(unsigned byte) {
  return offset_of(PageLayout::two_addresses,
                   {true, byte < kPageBytes ? std::uint8_t{0} : std::uint8_t{2}, static_cast<std::uint8_t>(byte)});
}

inline constexpr unsigned kIdentityBytes = 96;
struct Identity {
  std::string vendor, part, revision, serial;
  bool is_tunable = false;  ///< A0h 65.6
  bool has_pages = false;   ///< A0h 64.4
};
/// Nothing: too short, or one of its two checksums (bytes 63 and 95) is wrong.
std::optional<Identity> read_identity(Bytes bytes);

inline constexpr unsigned kLimitsFirst = 128;
inline constexpr unsigned kLimitsBytes = 14;
struct Limits {
  bool by_channel = false;     ///< 128.1
  bool by_wavelength = false;  ///< 128.0, in steps of 0.05 nm
  bool has_dither = false;     ///< 128.2
  bool self_tunes = false;     ///< 128.3
  Frequency first;
  Frequency last;
  FrequencyOffset grid;  ///< may be negative
};
std::optional<Limits> read_limits(Bytes bytes);
/// From 1 on; nothing: it is on no channel of it.
std::optional<std::uint16_t> channel_of(const Limits& limits, Frequency frequency);
/// In 0.05 nm, the nearest.
std::uint16_t wavelength_of(Frequency frequency);
Frequency frequency_of_wavelength(std::uint16_t steps);

inline constexpr unsigned kMonitorFirst = 96;
inline constexpr unsigned kMonitorBytes = 16;
inline constexpr unsigned kTxPower = 102;
inline constexpr unsigned kRxPower = 104;
inline constexpr unsigned kStatus = 110;
inline constexpr std::uint8_t kDisabled = 0x80;     ///< of byte 110: the state, by pin or by software
inline constexpr std::uint8_t kSoftDisable = 0x40;  ///< likewise
inline constexpr std::uint8_t kTxFault = 0x04;

inline constexpr unsigned kTuningFirst = 144;
inline constexpr unsigned kTuningBytes = 26;
inline constexpr unsigned kChannel = 144;
inline constexpr unsigned kWavelength = 146;
inline constexpr unsigned kManners = 151;
inline constexpr std::uint8_t kDitherOff = 0x01;
inline constexpr std::uint8_t kSelfTuning = 0x02;
inline constexpr unsigned kFrequencyError = 152;
inline constexpr unsigned kTuningStatus = 168;
inline constexpr std::uint8_t kBusy = 0xF0;  ///< self tuning, TEC fault, unlocked, tuning: locked is none of them
inline constexpr std::uint8_t kTecFault = 0x40;
inline constexpr std::uint8_t kUnlocked = 0x20;
inline constexpr std::uint8_t kTuning = 0x10;
inline constexpr unsigned kFlags = 172;
inline constexpr std::uint8_t kBadChannel = 0x10;
inline constexpr std::uint8_t kNewChannel = 0x08;

/// Two bytes of a block that begins at `first`.
std::uint16_t word_at(Bytes block, unsigned first, unsigned byte);
std::uint8_t sum_of(Bytes bytes);

}  // namespace loom::sff
