// SPDX-License-Identifier: Apache-2.0
// PortRectangle: the ports of a circuit switch that are ours, among those of a larger one. What lies outside is neither told
// nor touched; a connection that leaves the rectangle is known by its end inside. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.hpp"

namespace loom {

struct SwitchSize {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  bool operator==(const SwitchSize&) const = default;
};

/// "16x24"; nothing unless both are 1 to 65535.
std::optional<SwitchSize> read_switch_size(std::string_view text);

/// Connections in the numbers of the rectangle, ascending input.
struct SeenConnects {
  std::vector<CrossConnect> inside;
  std::vector<CrossConnect> across;  ///< one end outside, which is kPortElsewhere
  bool operator==(const SeenConnects&) const = default;
};

struct PortRectangle {
  SwitchSize whole;                 ///< of the device
  SwitchSize ours;                  ///< of the element
  std::uint32_t before_inputs = 0;  ///< inputs of the device before our first
  std::uint32_t before_outputs = 0;

  bool fits() const { return before_inputs + ours.inputs <= whole.inputs && before_outputs + ours.outputs <= whole.outputs; }
  bool is_whole() const { return ours == whole; }
  /// Of ours, counted on the whole switch. Precondition: they are inside.
  std::vector<CrossConnect> on_switch(std::span<const CrossConnect> ours_only) const;
  /// Of all that there are on the switch, those that have a port of ours.
  SeenConnects seen_of(std::span<const CrossConnect> all) const;
};

}  // namespace loom
