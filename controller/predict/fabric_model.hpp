// What the predictor knows of a fabric: rates, latencies and dark times, each a named setting that is printed. No fabric here
// is calibrated against a measurement; each says so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/workload/settings.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// Which closed forms.
enum class FabricForm : std::uint8_t { ideal_switch, fat_tree, timeslots };

struct FabricModel {
  FabricForm form = FabricForm::ideal_switch;
  std::string name;
  std::uint32_t nodes = 0;
  BitRate rate;                 ///< of a node, each direction
  Duration link_latency{};      ///< one link, transceivers and forwarding included
  std::uint32_t links = 1;      ///< on the longest path
  double oversubscription = 1;  ///< fat-tree: every transfer gets rate / this
  // timeslots:
  std::uint32_t group_size = 32;
  Duration guard{};       ///< before a timeslot: blank, retune, acquire
  Duration map_change{};  ///< a WSS map moves: blank, settle, acquire; the whole job is dark
  std::vector<std::string> assumptions;

  Duration path_latency() const { return link_latency * links; }
  BitRate transfer_rate() const {
    return {static_cast<std::int64_t>(static_cast<double>(rate.bits_per_second) / oversubscription)};
  }
};

std::span<const std::string_view> fabric_names();

/// `settings`: the keys of `--set fabric.KEY=VALUE` without "fabric.": latency_us (all), oversubscription (fat-tree). Errors:
/// not_found (nearest name), invalid_argument, out_of_range.
Result<FabricModel> make_fabric_model(std::string_view name, BitRate rate, std::uint32_t nodes, const Settings& settings);

/// What every closed form begins with: rate, nodes, and latency_us of `settings`; the other keys are not looked at. Errors:
/// invalid_argument, out_of_range.
Result<FabricModel> bare_model(std::string_view name, BitRate rate, std::uint32_t nodes, const Settings& settings);
/// A setting in microseconds, 0 .. a minute. Errors: invalid_argument, out_of_range.
Result<Duration> microseconds(const Settings& settings, std::string_view key, Duration absent);
/// "12.5 us".
std::string in_us(Duration duration);

struct SplitSettings {
  Settings workload;
  Settings fabric;  ///< without the prefix
};
/// Keys that begin with "fabric." apart from the workload's.
SplitSettings split_settings(const Settings& settings);

/// "100G", "400 Gb/s"; a number alone is refused, with what it may have meant. Errors: invalid_argument, out_of_range (0 or
/// beyond 100 Tb/s).
Result<BitRate> parse_bit_rate(std::string_view text);

}  // namespace loom
