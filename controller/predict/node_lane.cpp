// SPDX-License-Identifier: Apache-2.0
// One sweep over the ends of all intervals.
#include "controller/predict/node_lane.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "controller/predict/engine/predictor.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, kNodeDoings> kNames{
    "compute", "compute, hides communication", "compute in the dark", "communicate", "dark", "wait"};

/// Which of the three are so.
struct Doing {
  int computes = 0;
  int communicates = 0;
  int dark = 0;

  NodeDoes what() const {
    if (computes > 0) {
      return dark > 0 ? NodeDoes::compute_dark : communicates > 0 ? NodeDoes::compute_over : NodeDoes::compute;
    }
    return dark > 0 ? NodeDoes::dark : communicates > 0 ? NodeDoes::communicate : NodeDoes::wait;
  }
};

struct Change {
  double at = 0;
  int Doing::* of = nullptr;
  int by = 0;
};

/// The node that is shown.
std::uint32_t shown_node(const std::vector<NodeTimes>& nodes) {
  const auto most = std::ranges::max_element(
      nodes, {}, [](const NodeTimes& node) { return std::tuple{node.dark, node.exposed + node.overlap}; });
  return static_cast<std::uint32_t>(most - nodes.begin());
}

}  // namespace

std::string_view to_string(NodeDoes what) { return kNames[static_cast<std::size_t>(what)]; }

Duration NodeLane::sum(NodeDoes what) const {
  Duration sum{};
  for (const LaneSpan& span : spans) {
    sum += span.what == what ? span.to - span.from : Duration{};
  }
  return sum;
}

NodeLane lane_of(std::uint32_t node, const LaneParts& parts, double end_ns) {
  std::vector<Change> changes;
  const auto add = [&](const std::vector<LaneInterval>& intervals, int Doing::* of) {
    for (const LaneInterval& each : intervals) {
      const double from = std::clamp(each.from, 0.0, end_ns);
      const double to = std::clamp(each.to, 0.0, end_ns);
      if (from < to) {
        changes.push_back({from, of, 1});
        changes.push_back({to, of, -1});
      }
    }
  };
  add(parts.computes, &Doing::computes);
  add(parts.communicates, &Doing::communicates);
  add(parts.dark, &Doing::dark);
  std::ranges::sort(changes, {}, &Change::at);
  NodeLane lane{node, {}};
  Doing doing;
  Duration from{};
  const auto go_to = [&](double at) {
    const Duration to{std::llround(at)};
    if (to <= from) {
      return;
    }
    if (!lane.spans.empty() && lane.spans.back().what == doing.what()) {
      lane.spans.back().to = to;
    } else {
      lane.spans.push_back({from, to, doing.what()});
    }
    from = to;
  };
  for (const Change& change : changes) {
    go_to(change.at);
    doing.*change.of += change.by;
  }
  go_to(end_ns);
  return lane;
}

NodeLane lane_of(const Predictor& predictor, const Reconfiguration* changing, double iteration_ns) {
  if (predictor.nodes().empty() || (changing != nullptr && changing->forgot_dark())) {
    return {};
  }
  const std::uint32_t node = shown_node(predictor.nodes());
  LaneParts of;
  const auto parts = predictor.parts();
  for (std::uint32_t part = 0; part < parts.size(); ++part) {
    if (predictor.node_of(part) == node && parts[part].finish >= 0) {
      const Task& task = predictor.graph().tasks[predictor.task_of(part)];
      (task.kind == TaskKind::compute ? of.computes : of.communicates).push_back({parts[part].start, parts[part].finish});
    }
  }
  if (changing != nullptr) {
    for (const DarkSpan& span : changing->dark_spans()) {
      if (span.nodes.empty() || std::ranges::binary_search(span.nodes, node)) {
        of.dark.push_back({span.from, span.to});
      }
    }
  }
  return lane_of(node, of, iteration_ns);
}

}  // namespace loom
