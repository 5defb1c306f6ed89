// SPDX-License-Identifier: Apache-2.0
// What one node does during an iteration, instant by instant: read off a play, never guessed. For Gantt charts and for where an
// iteration's time goes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/time.hpp"

namespace loom {

class Predictor;
class Reconfiguration;

enum class NodeDoes : std::uint8_t {
  compute,       ///< nothing of its communication is under way
  compute_over,  ///< computes, and hides communication
  compute_dark,  ///< computes, and has no light
  communicate,   ///< a collective is under way, no compute
  dark,          ///< no light, no compute
  wait,          ///< neither: for others
};

inline constexpr std::size_t kNodeDoings = 6;

/// "compute", "communicate", ...
std::string_view to_string(NodeDoes what);

struct LaneSpan {
  Duration from{};  ///< since the iteration's start
  Duration to{};
  NodeDoes what = NodeDoes::wait;
  bool operator==(const LaneSpan&) const = default;
};

/// Spans follow each other without a gap from the iteration's start to its end; two neighbours differ.
struct NodeLane {
  std::uint32_t node = 0;
  std::vector<LaneSpan> spans;  ///< empty: nobody knows

  Duration sum(NodeDoes what) const;
};

/// Nanoseconds since the iteration's start.
struct LaneInterval {
  double from = 0;
  double to = 0;
};

/// When something is so; intervals may overlap, in any order.
struct LaneParts {
  std::vector<LaneInterval> computes;
  std::vector<LaneInterval> communicates;
  std::vector<LaneInterval> dark;
};

/// O(intervals x log).
NodeLane lane_of(std::uint32_t node, const LaneParts& parts, double end_ns);

/// Of the last run, of the node that was dark longest; of equal ones the one that communicated most. `changing`: what that run
/// was given, or null. Empty where more instants went by than a Reconfiguration keeps.
NodeLane lane_of(const Predictor& predictor, const Reconfiguration* changing, double iteration_ns);

}  // namespace loom
