// SPDX-License-Identifier: Apache-2.0
// Names and times into sentences.
#include "controller/control/requests/iteration_text.hpp"

#include <algorithm>
#include <optional>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// So long every job may be between two passes.
constexpr Duration kStandsStill = std::chrono::seconds{1};

/// "389.0 ms"; of no negative time.
std::string in_ms(Duration duration) {
  const std::int64_t tenths = (duration.count() + 50'000) / 100'000;
  return format_text("{}.{} ms", tenths / 10, tenths % 10);
}

std::string node_name(const Fabric& fabric, NodeId node) {
  return node.value < fabric.nodes.size() ? fabric.nodes[node.value].name : format_text("node {}", node.value);
}

std::string device_name(const Fabric& fabric, const std::optional<DeviceId>& device) {
  return device && device->value < fabric.devices.size() ? fabric.devices[device->value].name : std::string("a laser");
}

}  // namespace

std::string slowest_text(const IterationReport& report, const Fabric& fabric) {
  const SlowIteration& slow = report.slowest;
  if (slow.iteration == 0) {
    return {};
  }
  const std::string node = node_name(fabric, slow.node);
  const std::string took = format_text("iteration {} took {}", slow.iteration, in_ms(slow.length));
  switch (slow.cause) {
    case DelayCause::none:
      return took;
    case DelayCause::training:
      return format_text("{}: {} computed for {}", took, node, in_ms(slow.took));
    case DelayCause::tuning:
      return format_text("{}: {} of {} was tuned {} after its pass", took, device_name(fabric, slow.device), node,
                         in_ms(slow.took));
    case DelayCause::words:
      return format_text("{}: the word of {} came {} late", took, node, in_ms(slow.took));
    case DelayCause::dark:
      return format_text("{}: {} of {} stayed dark, {} were played again", took, device_name(fabric, slow.device), node,
                         in_ms(slow.took));
  }
  return took;
}

std::string awaited_text(const IterationReport& report, const Fabric& fabric) {
  if (!report.awaited || report.awaited->since < std::max(kStandsStill, 2 * report.p50)) {
    return {};
  }
  return format_text("{}, {}, for {} now", node_name(fabric, report.awaited->node),
                     report.awaited->is_over ? "whose training is not ready" : "whose pass is not over",
                     in_ms(report.awaited->since));
}

}  // namespace loom
