// SPDX-License-Identifier: Apache-2.0
// Prefixes and units.
#include "controller/workload/fabric_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::int64_t kRateMax = 100'000'000'000'000;

}  // namespace

SplitSettings split_settings(const Settings& settings) {
  static constexpr std::string_view kPrefix = "fabric.";
  SplitSettings split;
  for (const auto& [key, value] : settings) {
    if (key.starts_with(kPrefix)) {
      split.fabric.emplace(key.substr(kPrefix.size()), value);
    } else {
      split.workload.emplace(key, value);
    }
  }
  return split;
}

namespace {

/// What somebody who left the unit out may have meant: 100 is 100G, 25000000000 is 25G.
std::string rate_with_unit(std::string_view text, double value) {
  constexpr double kGiga = 1e9;
  const bool is_in_bits = value >= kGiga && std::fmod(value, kGiga) == 0;
  return (is_in_bits ? std::to_string(std::llround(value / kGiga)) : std::string{text.substr(0, 32)}) + "G";
}

}  // namespace

Result<BitRate> parse_bit_rate(std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  unit.erase(std::remove(unit.begin(), unit.end(), ' '), unit.end());
  if (fault == std::errc{} && unit.empty()) {
    return fail(ErrorCode::invalid_argument, format_text("bandwidth '{}' has no unit: write '{}' (units: M, G, T, or b/s)",
                                                         text.substr(0, 64), rate_with_unit(text, value)));
  }
  static constexpr std::array<std::pair<std::string_view, double>, 13> kUnits{{{"b/s", 1},
                                                                               {"bit/s", 1},
                                                                               {"M", 1e6},
                                                                               {"Mb/s", 1e6},
                                                                               {"Mbit/s", 1e6},
                                                                               {"Mbps", 1e6},
                                                                               {"G", 1e9},
                                                                               {"Gb/s", 1e9},
                                                                               {"Gbit/s", 1e9},
                                                                               {"Gbps", 1e9},
                                                                               {"T", 1e12},
                                                                               {"Tb/s", 1e12},
                                                                               {"Tbps", 1e12}}};
  const auto scale = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& each) { return each.first == unit; });
  if (fault != std::errc{} || scale == kUnits.end()) {
    return fail(ErrorCode::invalid_argument, format_text("bandwidth '{}': expected one like 100G", text.substr(0, 64)));
  }
  const double rate = value * scale->second;
  if (!(rate >= 1 && rate <= static_cast<double>(kRateMax))) {
    return fail(ErrorCode::out_of_range, format_text("bandwidth '{}': outside 1 b/s .. 100T", text.substr(0, 64)));
  }
  return BitRate{std::llround(rate)};
}

}  // namespace loom
