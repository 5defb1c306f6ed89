// SPDX-License-Identifier: Apache-2.0
// Normal equations of a ridge regression, by Cholesky: few unknowns, well scaled.
#include "controller/calibrate/law_fit.hpp"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

constexpr double kPeakError = 200;         ///< MHz, of a peak that was found
constexpr double kNeighbourSpread = 0.03;  ///< of the others', of its own

/// Solves the symmetric positive definite n x n system in place; b becomes the answer.
void solve(std::vector<double>& a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      for (std::size_t i = j; i < n; ++i) {
        a[i * n + j] -= a[i * n + k] * a[j * n + k];
      }
    }
    const double pivot = std::sqrt(a[j * n + j]);
    for (std::size_t i = j; i < n; ++i) {
      a[i * n + j] /= pivot;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      b[i] -= a[i * n + k] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) {
      b[i] -= a[k * n + i] * b[k];
    }
    b[i] /= a[i * n + i];
  }
}

double shift_of(const RingLaw& law, std::size_t channel) { return 1e-3 * static_cast<double>(law.shift[channel]); }

}  // namespace

double misfit(const RingLaw& law, const RingPeak& peak) {
  double place = static_cast<double>((law.cold_resonance - peak.light).mhz);
  for (std::size_t channel = 0; channel < law.shift.size(); ++channel) {
    place -= shift_of(law, channel) * peak.heat[channel];
  }
  return -place;
}

RingLaw fit_law(const RingLaw& known, std::span<const RingPeak> peaks) {
  // Unknown: by how much the cold place and each heater's effect differ from what is known, in its spreads.
  const std::size_t n = known.shift.size() + 1;
  const double own = shift_of(known, known.channel);
  const auto spread_of = [&](std::size_t channel) {
    return own * (channel == known.channel ? kShiftSpread : kNeighbourSpread);
  };
  std::vector<double> a(n * n, 0.0);
  std::vector<double> b(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    a[i * n + i] = 1;
  }
  std::vector<double> row(n);
  for (const RingPeak& peak : peaks) {
    row[n - 1] = static_cast<double>(kColdSpread.mhz) / kPeakError;
    for (std::size_t channel = 0; channel + 1 < n; ++channel) {
      row[channel] = -spread_of(channel) * peak.heat[channel] / kPeakError;
    }
    const double wanted = misfit(known, peak) / kPeakError;
    for (std::size_t i = 0; i < n; ++i) {
      b[i] += row[i] * wanted;
      for (std::size_t j = 0; j < n; ++j) {
        a[i * n + j] += row[i] * row[j];
      }
    }
  }
  solve(a, b);
  RingLaw law = known;
  law.cold_resonance.mhz += std::llround(b[n - 1] * static_cast<double>(kColdSpread.mhz));
  for (std::size_t channel = 0; channel + 1 < n; ++channel) {
    law.shift[channel] += std::llround(1e3 * b[channel] * spread_of(channel));
  }
  law.points = static_cast<std::uint32_t>(peaks.size());
  law.residual = {};
  for (const RingPeak& peak : peaks) {
    law.residual = std::max(law.residual, FrequencyOffset{std::llround(std::abs(misfit(law, peak)))});
  }
  return law;
}

}  // namespace loom
