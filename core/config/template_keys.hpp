// SPDX-License-Identifier: Apache-2.0
// Keys that templates of fabrics have in common: channels, lasers, receivers, lengths, and the ranges that hardware has.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/config/fabric_template.hpp"
#include "core/config/yaml/quantity.hpp"
#include "core/config/yaml/yaml_reader.hpp"
#include "core/fabric/grid.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

inline constexpr Range<Duration> kDeviceTime{Duration{0}, std::chrono::seconds{60}};
inline constexpr Range<Duration> kRobotTime{Duration{0}, std::chrono::hours{1}};
inline constexpr Range<BitRate> kTransceiverRate{{1'000'000}, gigabits(10'000)};
inline constexpr Range<FrequencyOffset> kSignalWidth{{1}, {1'000'000}};
inline constexpr Range<std::int64_t> kFibreLengthMm{0, 10'000'000};  ///< within a building: 10 km

/// A comb of channels from four keys of `map`; on the G.694.1 grid, without overlap, within the C band.
ChannelPlan read_channels(YamlMap& map, const ChannelPlan& standard, std::string_view first, std::string_view spacing,
                          std::string_view width, std::string_view count);

inline constexpr std::int64_t kTemplateNodesMost = 16'384;

/// So many nodes with so many elements each are a fabric (limits::kElements); an error of the key `nodes` otherwise.
void check_elements(YamlMap& map, std::uint64_t nodes, std::uint64_t elements_a_node);

/// `signal_width` must fit a channel.
void check_signal_width(YamlMap& map, FrequencyOffset signal_width, const ChannelPlan& plan);

inline constexpr TemplateKey kRateKey{"rate", "of one transmitter, bit/s with a unit: 100 Gb/s"};
inline constexpr TemplateKey kSignalWidthKey{"signal_width", "of a transmitter's light, GHz"};
inline constexpr TemplateKey kLaserControlKey{"laser_control_max", "from an order to a laser to its first motion, at most"};
inline constexpr TemplateKey kLaserRetuneKey{"laser_retune_max", "of a laser to another channel, at most"};
inline constexpr TemplateKey kLaserBlankKey{"laser_blank_max", "of a laser to dark or back, at most"};
inline constexpr TemplateKey kAcquisitionKey{"receiver_acquisition_max", "from light to lock, at most"};

/// The keys that every template's lasers and receivers have: the six above.
template <class Parameters>
void read_ends(YamlMap& map, Parameters& parameters) {
  parameters.rate = map.bit_rate(kRateKey.name, kTransceiverRate, parameters.rate);
  parameters.signal_width = map.offset(kSignalWidthKey.name, kSignalWidth, parameters.signal_width);
  parameters.laser_control_max = map.duration(kLaserControlKey.name, kDeviceTime, parameters.laser_control_max);
  parameters.laser_retune_max = map.duration(kLaserRetuneKey.name, kDeviceTime, parameters.laser_retune_max);
  parameters.laser_blank_max = map.duration(kLaserBlankKey.name, kDeviceTime, parameters.laser_blank_max);
  parameters.receiver_acquisition_max = map.duration(kAcquisitionKey.name, kDeviceTime, parameters.receiver_acquisition_max);
}

}  // namespace loom
