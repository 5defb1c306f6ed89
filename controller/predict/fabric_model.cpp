// Fabrics by name.
#include "controller/predict/fabric_model.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/limits.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 2> kNames{"ideal-switch", "fat-tree"};
constexpr std::array<std::string_view, 1> kIdealKeys{"latency_us"};
constexpr std::array<std::string_view, 2> kFatTreeKeys{"latency_us", "oversubscription"};
constexpr double kLatencyMicroseconds = 1;  ///< one link, as in docs/predictor.md
constexpr std::uint32_t kFatTreeLinks = 6;  ///< three tiers, to the core and back
constexpr double kMicrosecondsMax = 60e6;
constexpr std::int64_t kRateMax = 100'000'000'000'000;

Duration from_us(double microseconds) { return Duration{std::llround(microseconds * 1e3)}; }

}  // namespace

std::string in_us(Duration duration) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%g us", static_cast<double>(duration.count()) / 1e3);
  return text.data();
}

Result<Duration> microseconds(const Settings& settings, std::string_view key, Duration absent) {
  const auto value = number(settings, key, static_cast<double>(absent.count()) / 1e3, 0, kMicrosecondsMax);
  if (!value) {
    return std::unexpected(value.error());
  }
  return from_us(*value);
}

namespace {

Result<FabricModel> finish_ideal(FabricModel model, const Settings& settings) {
  LOOM_TRY(check_keys(settings, model.name, kIdealKeys));
  model.assumptions = {"ideal-switch: no contention, the switch itself adds nothing; one link of " + in_us(model.link_latency)};
  return model;
}

Result<FabricModel> finish_fat_tree(FabricModel model, const Settings& settings) {
  LOOM_TRY(check_keys(settings, model.name, kFatTreeKeys));
  const auto oversubscription = number(settings, "oversubscription", 1, 1, 1'000);
  if (!oversubscription) {
    return std::unexpected(oversubscription.error());
  }
  model.form = FabricForm::fat_tree;
  model.links = kFatTreeLinks;
  model.oversubscription = *oversubscription;
  std::array<char, 32> ratio{};
  std::snprintf(ratio.data(), ratio.size(), "%g:1", *oversubscription);
  model.assumptions = {"fat-tree (uncalibrated): full bisection, no ECMP collisions; every path " +
                           std::to_string(kFatTreeLinks) + " links of " + in_us(model.link_latency),
                       std::string{"fat-tree (uncalibrated): oversubscription "} + ratio.data() +
                           " taken from every transfer, as if none were local"};
  return model;
}

}  // namespace

std::span<const std::string_view> fabric_names() { return kNames; }

Result<FabricModel> bare_model(std::string_view name, BitRate rate, std::uint32_t nodes, const Settings& settings) {
  if (rate.bits_per_second < 1 || rate.bits_per_second > kRateMax) {
    return fail(ErrorCode::out_of_range,
                "bandwidth " + std::to_string(rate.bits_per_second) + " bit/s: outside 1 .. " + std::to_string(kRateMax));
  }
  FabricModel model;
  model.name = name;
  model.rate = rate;
  model.nodes = nodes;
  const auto latency = microseconds(settings, "latency_us", from_us(kLatencyMicroseconds));
  if (!latency) {
    return std::unexpected(latency.error());
  }
  model.link_latency = *latency;
  return model;
}

Result<FabricModel> make_fabric_model(std::string_view name, BitRate rate, std::uint32_t nodes, const Settings& settings) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    return fail(ErrorCode::not_found, "no fabric '" + std::string{name.substr(0, 128)} + "' to predict for; did you mean '" +
                                          std::string{nearest(name, kNames)} + "'?");
  }
  auto model = bare_model(name, rate, nodes, settings);
  if (!model) {
    return model;
  }
  return name == "fat-tree" ? finish_fat_tree(*std::move(model), settings) : finish_ideal(*std::move(model), settings);
}

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
    return fail(ErrorCode::invalid_argument, "bandwidth '" + std::string{text.substr(0, 64)} + "' has no unit: write '" +
                                                 rate_with_unit(text, value) + "' (units: M, G, T, or b/s)");
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
    return fail(ErrorCode::invalid_argument, "bandwidth '" + std::string{text.substr(0, 64)} + "': expected one like 100G");
  }
  const double rate = value * scale->second;
  if (!(rate >= 1 && rate <= static_cast<double>(kRateMax))) {
    return fail(ErrorCode::out_of_range, "bandwidth '" + std::string{text.substr(0, 64)} + "': outside 1 b/s .. 100T");
  }
  return BitRate{std::llround(rate)};
}

}  // namespace loom
