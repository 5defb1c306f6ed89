// SPDX-License-Identifier: Apache-2.0
// Shifts.
#include "drivers/ocs/port_rectangle.hpp"

#include <algorithm>
#include <charconv>

#include "core/fabric/occupied_ports.hpp"

namespace loom {
namespace {

std::optional<std::uint32_t> read_count(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >= 1 && value <= 0xFFFF ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<SwitchSize> read_switch_size(std::string_view text) {
  const std::size_t cross = std::min(text.find('x'), text.size());
  const auto inputs = read_count(text.substr(0, cross));
  const auto outputs = cross < text.size() ? read_count(text.substr(cross + 1)) : std::nullopt;
  return inputs && outputs ? std::optional(SwitchSize{*inputs, *outputs}) : std::nullopt;
}

std::vector<CrossConnect> PortRectangle::on_switch(std::span<const CrossConnect> ours_only) const {
  std::vector<CrossConnect> shifted;
  shifted.reserve(ours_only.size());
  for (const CrossConnect each : ours_only) {
    shifted.push_back(
        {static_cast<std::uint16_t>(each.input + before_inputs), static_cast<std::uint16_t>(each.output + before_outputs)});
  }
  return shifted;
}

SeenConnects PortRectangle::seen_of(std::span<const CrossConnect> all) const {
  SeenConnects seen;
  for (const CrossConnect each : all) {
    const std::uint32_t input = each.input - before_inputs;  // wraps below our first
    const std::uint32_t output = each.output - before_outputs;
    const bool has_input = each.input >= before_inputs && input < ours.inputs;
    const bool has_output = each.output >= before_outputs && output < ours.outputs;
    if (has_input || has_output) {
      (has_input && has_output ? seen.inside : seen.across)
          .push_back({has_input ? static_cast<std::uint16_t>(input) : kPortElsewhere,
                      has_output ? static_cast<std::uint16_t>(output) : kPortElsewhere});
    }
  }
  const auto ascends = [](CrossConnect a, CrossConnect b) {
    return a.input != b.input ? a.input < b.input : a.output < b.output;
  };
  std::ranges::sort(seen.inside, ascends);
  std::ranges::sort(seen.across, ascends);
  return seen;
}

}  // namespace loom
