// SPDX-License-Identifier: Apache-2.0
// Text to numbers, numbers to light.
#include "drivers/monitor/scpi_readings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text/format_text.hpp"
#include "drivers/scpi_identity.hpp"

namespace loom::scpi {
namespace {

constexpr double kInfinity = 9.9e37;
constexpr double kNotANumber = 9.91e37;
constexpr double kSpeedOfLight = 299'792'458;  // m/s
constexpr double kPowerMost = 1e4;             // dBm: beyond it no number is a power

bool is_about(double value, double wanted) { return std::fabs(value - wanted) < 1e-4 * std::fabs(wanted); }

Dbm centi_of(double dbm) {
  return Dbm{static_cast<std::int32_t>(std::lround(std::clamp(dbm, -kPowerMost / 100, kPowerMost / 100) * 100))};
}

/// The top of the parabola through a point and its neighbours, as a part of the step between them; 0 where there is none.
double shift_of(double before, double at, double after) {
  const double bend = before - 2 * at + after;
  return bend < 0 ? std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) : 0;
}

Peak peak_at(const std::vector<double>& wavelengths, const std::vector<double>& powers, std::size_t top) {
  const bool is_inside = top > 0 && top + 1 < powers.size();
  const double shift = is_inside ? shift_of(powers[top - 1], powers[top], powers[top + 1]) : 0;
  const double step = is_inside ? (wavelengths[top + 1] - wavelengths[top - 1]) / 2 : 0;
  const double hertz = kSpeedOfLight / (wavelengths[top] + shift * step);
  return {Frequency{std::llround(hertz / 1e6)}, centi_of(powers[top])};
}

}  // namespace

std::optional<double> read_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size() && !text.empty();
  return is_whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::vector<double>> read_numbers(std::string_view text, std::size_t most) {
  std::vector<double> values;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto value = read_number(text.substr(0, comma));
    if (!value || values.size() >= most) {
      return std::nullopt;
    }
    values.push_back(*value);
    if (comma == std::string_view::npos) {
      return values;
    }
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::vector<double>> read_counted(std::string_view text, std::size_t most) {
  auto values = read_numbers(text, most + 1);
  if (!values || !is_about(values->front() + 1, static_cast<double>(values->size()))) {
    return std::nullopt;
  }
  values->erase(values->begin());
  return values;
}

PowerReading power_of(double value, PowerUnit unit) {
  if (is_about(value, kNotANumber)) {
    return {PowerReading::Kind::not_a_number, kNoLight};
  }
  if (value >= kInfinity * 0.99) {
    return {PowerReading::Kind::above_range, kNoLight};
  }
  if (value <= -kInfinity * 0.99 || (unit == PowerUnit::watt && value <= 0)) {
    return {PowerReading::Kind::dark, kNoLight};  // a sensor's offset may read a little less than nothing
  }
  const double dbm = unit == PowerUnit::watt ? 10 * std::log10(value * 1e3) : value;
  return std::fabs(dbm) > kPowerMost ? PowerReading{PowerReading::Kind::not_a_number, kNoLight}
                                     : PowerReading{PowerReading::Kind::measured, centi_of(dbm)};
}

std::optional<std::vector<Peak>> find_peaks(const std::vector<double>& wavelengths, const std::vector<double>& powers,
                                            Dbm floor, Db excursion) {
  constexpr double kShortest = 1e-7;
  constexpr double kLongest = 1e-4;
  const std::size_t points = wavelengths.size();
  const bool ascends = std::adjacent_find(wavelengths.begin(), wavelengths.end(), std::greater_equal<>{}) == wavelengths.end();
  if (points != powers.size() || points == 0 || !ascends || wavelengths.front() < kShortest || wavelengths.back() > kLongest) {
    return std::nullopt;
  }
  const double valley = excursion.centi / 100.0;
  std::vector<Peak> peaks;
  std::size_t top = 0;       // the highest point since the last valley
  double least = powers[0];  // the lowest since the last top
  bool rises = true;
  for (std::size_t i = 0; i <= points; ++i) {
    const double now = i < points ? powers[i] : -kPowerMost;  // beyond its end the trace falls
    if (rises && now > powers[top]) {
      top = i;
    } else if (rises && powers[top] - now >= valley) {
      if (powers[top] * 100 >= floor.centi) {
        peaks.push_back(peak_at(wavelengths, powers, top));
      }
      rises = false;
      least = now;
    }
    least = std::min(least, now);
    if (!rises && i < points && now - least >= valley) {
      rises = true;
      top = i;
    }
  }
  std::reverse(peaks.begin(), peaks.end());  // wavelengths ascend
  return peaks;
}

}  // namespace loom::scpi
