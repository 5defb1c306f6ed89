// SPDX-License-Identifier: Apache-2.0
// The outermost map of a fabric file, combs of channels, and bus endpoints. What is inside is in fabric_template.cpp and
// fabric_explicit.cpp.
#include "core/config/fabric_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "core/config/endpoints/bus_lines.hpp"
#include "core/config/fabric_explicit.hpp"
#include "core/config/fabric_template.hpp"
#include "core/config/template_keys.hpp"
#include "core/config/yaml/yaml_reader.hpp"
#include "core/limits.hpp"
#include "core/ring/drop_monitor.hpp"
#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"

namespace loom {
namespace {

/// The C band that our amplifiers and lasers cover: the window of the WSS in docs/devices.md.
constexpr Range<Frequency> kCBand{{191'325'000}, {196'150'000}};
constexpr Range<FrequencyOffset> kSpacing{kGridStep, {4'800'000}};

/// `value` in steps of `step`, or an error that names the two nearest lawful values.
std::int32_t steps_of(YamlMap& map, std::string_view key, std::int64_t value_mhz, FrequencyOffset step, const UnitTable& table,
                      Frequency anchor) {
  const std::int64_t offset = value_mhz - anchor.mhz;
  if (offset % step.mhz != 0) {
    const std::int64_t below = anchor.mhz + (offset / step.mhz - (offset < 0 ? 1 : 0)) * step.mhz;
    map.error(key, format_text("{}: found {}; expected a multiple of {}{} (ITU-T G.694.1), such as {} or {}", key,
                               print_quantity(value_mhz, table), print_quantity(step.mhz, kFrequencyOffsetUnits),
                               anchor.mhz == 0 ? "" : " from 193.1 THz", print_quantity(below, table),
                               print_quantity(below + step.mhz, table)));
  }
  return static_cast<std::int32_t>(offset / step.mhz);
}

/// Item `index` of the list under `key`; the file where there is none.
const YamlNode& item_of(const YamlNode& root, std::string_view key, std::size_t index) {
  const auto at = std::ranges::find(root.keys, key, &YamlNode::text);
  const auto& items = at == root.keys.end() ? root.items : root.items[static_cast<std::size_t>(at - root.keys.begin())].items;
  return at != root.keys.end() && index < items.size() ? items[index] : root;
}

}  // namespace

ReturnPath read_return_path(YamlMap& file) {
  const std::array<std::string, 2> words{"electrical", "optical"};  // in the order of ReturnPath
  return static_cast<ReturnPath>(file.word("return_path", words, std::size_t{0}).value_or(0));
}

InstallationTimes read_installation_times(YamlMap& file) {
  const Range<Duration> trip{std::chrono::microseconds{1}, std::chrono::milliseconds{50}};
  const Range<Duration> error{Duration{}, std::chrono::milliseconds{10}};
  const InstallationTimes usual;
  return {file.duration("agent_trip", trip, usual.agent_trip), file.duration("clock_error", error, usual.clock_error),
          file.duration("flight_error", error, usual.flight_error)};
}

ChannelPlan read_channels(YamlMap& map, const ChannelPlan& standard, std::string_view first, std::string_view spacing,
                          std::string_view width, std::string_view count) {
  const Frequency lowest = map.frequency(first, kCBand, centre_of(standard.first));
  const FrequencyOffset step = map.offset(spacing, kSpacing, FrequencyOffset{standard.step_n * kGridStep.mhz});
  const FrequencyOffset slot_width = map.offset(width, {kSlotWidthStep, {4'800'000}}, width_of(standard.first));
  ChannelPlan plan;
  plan.count = static_cast<std::int32_t>(map.integer(count, {1, 1'024}, std::int64_t{standard.count}));
  plan.first.n = steps_of(map, first, lowest.mhz, kGridStep, kFrequencyUnits, kGridAnchor);
  plan.first.m = steps_of(map, width, slot_width.mhz, kSlotWidthStep, kFrequencyOffsetUnits, {});
  plan.step_n = steps_of(map, spacing, step.mhz, kGridStep, kFrequencyOffsetUnits, {});
  if (slot_width > step && plan.count > 1) {
    map.error(width, format_text("{}: {} is wider than the spacing of {}; expected channels that do not overlap", width,
                                 print_quantity(slot_width.mhz, kFrequencyOffsetUnits),
                                 print_quantity(step.mhz, kFrequencyOffsetUnits)));
  }
  const Frequency bottom = lower_edge_of(plan.slot(0));
  const Frequency top = upper_edge_of(plan.slot(plan.count - 1));
  if (bottom < kCBand.min || top > kCBand.max) {
    map.error(count, format_text("the channels reach from {} to {}; expected within the C band, {} to {}", to_string(bottom),
                                 to_string(top), to_string(kCBand.min), to_string(kCBand.max)));
  }
  return plan;
}

void check_elements(YamlMap& map, std::uint64_t nodes, std::uint64_t elements_a_node) {
  if (nodes * elements_a_node > limits::kElements) {
    map.error("nodes", format_text("nodes: found {} with {} elements each; expected at most {} elements in all", nodes,
                                   elements_a_node, limits::kElements));
  }
}

void check_signal_width(YamlMap& map, FrequencyOffset signal_width, const ChannelPlan& plan) {
  if (signal_width > width_of(plan.first)) {
    map.error("signal_width", format_text("signal_width: {} is wider than a channel; expected at most {}",
                                          print_quantity(signal_width.mhz, kFrequencyOffsetUnits),
                                          print_quantity(width_of(plan.first).mhz, kFrequencyOffsetUnits)));
  }
}

Result<void> check_endpoint(std::string_view endpoint) {
  if (endpoint == "sim") {
    return {};
  }
  for (const std::string_view scheme : {"modbus-tcp://", "tcp://"}) {
    if (endpoint.starts_with(scheme)) {
      const auto place = parse_host_port(endpoint.substr(scheme.size()));
      return place ? Result<void>{}
                   : fail(ErrorCode::invalid_config, format_text("found '{}'; expected {}HOST:PORT with a port of 1..65535; {}",
                                                                 endpoint, scheme, place.error().message));
    }
  }
  if (constexpr std::string_view kHttp = "http://"; endpoint.starts_with(kHttp)) {
    const auto place = parse_host_port(endpoint.substr(kHttp.size()), std::uint16_t{80});
    return place ? Result<void>{}
                 : fail(ErrorCode::invalid_config,
                        format_text("found '{}'; expected http://HOST or http://HOST:PORT with a port of 1..65535; {}",
                                    endpoint, place.error().message));
  }
  for (const std::string_view scheme : {"modbus-rtu:///dev/", "serial:///dev/", "i2c:///dev/", "optoe:///"}) {
    if (endpoint.starts_with(scheme) && endpoint.size() > scheme.size()) {
      return {};
    }
  }
  return fail(ErrorCode::invalid_config,
              format_text("found '{}'; expected sim, modbus-tcp://HOST:PORT, tcp://HOST:PORT, http://HOST[:PORT], "
                          "modbus-rtu:///dev/DEVICE?baud=9600, serial:///dev/DEVICE?baud=9600, optoe:///FILE or "
                          "i2c:///dev/i2c-NUMBER",
                          endpoint));
}

Loaded<Fabric> read_fabric(std::string_view file, const YamlNode& root, const FabricKinds& kinds) {
  ErrorList errors{std::string(file)};
  YamlMap map(root, "the fabric file", errors);
  check_header(map, "fabric");
  const bool from_template = std::ranges::find(root.keys, "template", &YamlNode::text) != root.keys.end();
  Fabric fabric = from_template ? read_template(map, kinds.templates, errors) : read_explicit(map, kinds.models, errors);
  if (errors.empty()) {
    for (std::string& fault : check_fabric(fabric)) {
      errors.add(root, std::move(fault));
    }
    std::vector<LineFault> places = check_lines(fabric, kinds.models);
    std::ranges::move(check_protocols(fabric, kinds.models), std::back_inserter(places));
    for (LineFault& fault : places) {
      errors.add(fault.device ? item_of(root, "devices", fault.device->value) : item_of(root, "buses", fault.bus.value),
                 std::move(fault.message));
    }
  }
  if (!errors.empty()) {
    return {std::nullopt, errors.sorted()};
  }
  for (Device& device : fabric.devices) {
    const auto usual = std::ranges::find(kinds.models, device.role, &DeviceModel::role);
    if (device.model.empty() && usual != kinds.models.end()) {
      device.model = (*usual)->name;
    }
  }
  build_index(fabric);
  for (std::string& fault : check_locked_rings(fabric)) {
    errors.add(root, std::move(fault));
  }
  return errors.empty() ? Loaded<Fabric>{std::move(fabric), {}} : Loaded<Fabric>{std::nullopt, errors.sorted()};
}

Loaded<Fabric> load_fabric(const std::filesystem::path& path, const FabricKinds& kinds) {
  const Loaded<YamlNode> document = read_yaml(path);
  return document ? read_fabric(path.string(), *document.value, kinds) : Loaded<Fabric>{std::nullopt, document.errors};
}

}  // namespace loom
