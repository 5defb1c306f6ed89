// SPDX-License-Identifier: Apache-2.0
// Physical quantities as types, so that unlawful arithmetic does not compile: Dbm + Db is Dbm, Dbm + Dbm is an error,
// and powers add as Milliwatt. Values are integers in the finest unit a device speaks (MHz, 0.01 dB); raw doubles stop
// at registers and at the codec.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

namespace loom {

/// A difference of frequencies, MHz.
struct FrequencyOffset {
  std::int64_t mhz = 0;
  auto operator<=>(const FrequencyOffset&) const = default;
};

/// An optical frequency (vacuum), MHz: 193.1 THz is 193'100'000. OpenConfig, CMIS page 12h and ITLA FTF fit exactly.
struct Frequency {
  std::int64_t mhz = 0;
  auto operator<=>(const Frequency&) const = default;
};

constexpr FrequencyOffset operator-(Frequency a, Frequency b) { return {a.mhz - b.mhz}; }
constexpr Frequency operator+(Frequency a, FrequencyOffset b) { return {a.mhz + b.mhz}; }
constexpr Frequency operator-(Frequency a, FrequencyOffset b) { return {a.mhz - b.mhz}; }
constexpr FrequencyOffset operator+(FrequencyOffset a, FrequencyOffset b) { return {a.mhz + b.mhz}; }
constexpr FrequencyOffset operator-(FrequencyOffset a) { return {-a.mhz}; }
constexpr FrequencyOffset magnitude(FrequencyOffset a) { return {a.mhz < 0 ? -a.mhz : a.mhz}; }

/// A ratio of powers, 0.01 dB. Losses are positive numbers of a field called loss; gains of one called gain.
struct Db {
  std::int32_t centi = 0;
  auto operator<=>(const Db&) const = default;
};

/// An absolute power, 0.01 dBm. A reading of -40 dBm or less means "no light", not a number.
struct Dbm {
  std::int32_t centi = 0;
  auto operator<=>(const Dbm&) const = default;
};

inline constexpr Dbm kNoLight{-4000};

constexpr Db operator+(Db a, Db b) { return {a.centi + b.centi}; }
constexpr Db operator-(Db a, Db b) { return {a.centi - b.centi}; }
constexpr Db operator-(Db a) { return {-a.centi}; }
constexpr Dbm operator+(Dbm a, Db b) { return {a.centi + b.centi}; }
constexpr Dbm operator-(Dbm a, Db b) { return {a.centi - b.centi}; }
constexpr Db operator-(Dbm a, Dbm b) { return {a.centi - b.centi}; }

/// A linear power, mW: the only form in which powers add.
struct Milliwatt {
  double value = 0;
  auto operator<=>(const Milliwatt&) const = default;
};

constexpr Milliwatt operator+(Milliwatt a, Milliwatt b) { return {a.value + b.value}; }

inline Milliwatt to_milliwatt(Dbm power) { return {std::pow(10.0, power.centi / 1000.0)}; }
inline Dbm to_dbm(Milliwatt power) {
  if (power.value <= 1e-9) {
    return {-9000};
  }
  return {static_cast<std::int32_t>(std::lround(1000.0 * std::log10(power.value)))};
}

/// An amount of data, bytes.
struct Bytes {
  std::int64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }

/// A data rate, bit/s.
struct BitRate {
  std::int64_t bits_per_second = 0;
  auto operator<=>(const BitRate&) const = default;
};

constexpr BitRate gigabits(std::int64_t value) { return {value * 1'000'000'000}; }

}  // namespace loom
