// SPDX-License-Identifier: Apache-2.0
// A bank as it really is, by arithmetic that is none of the program's: Lorentzian drops, each heater warming all rings.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/messages/report.hpp"

namespace loom::test {

struct TrueBank {
  std::vector<double> cold_mhz;
  std::vector<std::vector<double>> mhz_per_square_volt;  ///< [ring][heater]
  double fwhm_mhz = 50'000;
  double top_dbm = -5;        ///< of light that drops wholly
  double most_dbm = 10;       ///< more than that a monitor does not tell
  double noise_part = 0;      ///< of each reading, either way
  double floor_dbm = -40;     ///< what a monitor reads of no light
  double drops_within = 1e9;  ///< widths: light that is farther off passes by
  std::uint64_t random = 1;

  double stands(std::size_t ring, const std::vector<std::int32_t>& millivolts) const {
    double place = cold_mhz[ring];
    for (std::size_t heater = 0; heater < millivolts.size(); ++heater) {
      const double volts = millivolts[heater] / 1e3;
      place -= mhz_per_square_volt[ring][heater] * volts * volts;
    }
    return place;
  }

  Dbm dropped(std::size_t ring, const std::vector<std::int32_t>& millivolts, Frequency light) {
    const double off = 2 * (static_cast<double>(light.mhz) - stands(ring, millivolts)) / fwhm_mhz;
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const double noise = 1 + noise_part * (static_cast<double>(random >> 33) / 1073741824.0 - 1);
    const double dbm = top_dbm - 10 * std::log10(1 + off * off) + 10 * std::log10(noise);
    const double seen = std::abs(off) > 2 * drops_within ? floor_dbm : std::max(floor_dbm, std::min(dbm, most_dbm));
    return {static_cast<std::int32_t>(std::lround(100 * seen))};
  }
};

inline constexpr std::int64_t kKindCold = 193'500'000;
inline constexpr double kKindShift = 20'000;  ///< MHz a V^2

/// Rings as their fabric says: one transmitter each, with a light every 100 GHz from 193.3 THz down.
inline std::vector<RingReport> kind_of(std::size_t rings, std::size_t lights = 5) {
  std::vector<RingReport> all;
  for (std::size_t i = 0; i < rings; ++i) {
    RingReport ring;
    ring.ring = {static_cast<std::uint32_t>(100 + i)};
    ring.name = "ring-" + std::to_string(i);
    ring.bank = {3};
    ring.channel = static_cast<std::uint32_t>(i);
    ring.channels = static_cast<std::uint32_t>(rings);
    ring.fwhm = {50'000};
    ring.cold_resonance = {kKindCold};
    ring.shift = static_cast<std::uint64_t>(kKindShift * 1e3);
    ring.millivolts_max = 8'000;
    ring.receiver = {static_cast<std::uint32_t>(200 + i)};
    ring.monitor = DeviceId{9};
    for (std::size_t k = 0; k < lights; ++k) {
      ring.lights.push_back(
          {{static_cast<std::uint32_t>(300 + i)}, ring.receiver, {static_cast<std::int32_t>(32 - 16 * k), 4}});
    }
    all.push_back(std::move(ring));
  }
  return all;
}

inline TrueBank true_bank(std::size_t rings, double crosstalk) {
  TrueBank bank;
  for (std::size_t i = 0; i < rings; ++i) {
    bank.cold_mhz.push_back(static_cast<double>(kKindCold) + (i % 2 == 0 ? 125'000.0 : -110'000.0));
    std::vector<double> row;
    for (std::size_t j = 0; j < rings; ++j) {
      const double own = kKindShift * (i % 3 == 0 ? 0.95 : 1.05);
      const double distance = std::abs(static_cast<double>(i) - static_cast<double>(j));
      row.push_back(i == j ? own : own * crosstalk * std::exp(1 - distance));
    }
    bank.mhz_per_square_volt.push_back(std::move(row));
  }
  return bank;
}

}  // namespace loom::test
