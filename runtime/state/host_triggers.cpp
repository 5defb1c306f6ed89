// SPDX-License-Identifier: Apache-2.0
// Endpoints by node.
#include "runtime/state/host_triggers.hpp"

#include <algorithm>
#include <utility>

#include "core/config/trigger_file.hpp"

namespace loom {

Result<std::vector<PlacedTrigger>> own_triggers(const Scenario& scenario, const std::vector<NodeId>& nodes) {
  std::vector<PlacedTrigger> placed;
  for (std::size_t i = 0; i < scenario.triggers.size(); ++i) {
    const TriggerLine& line = scenario.triggers[i];
    auto place = parse_trigger_endpoint(line.endpoint);
    if (!place) {
      return std::unexpected(place.error());
    }
    if (std::ranges::binary_search(nodes, line.agent) && !std::holds_alternative<SimulatedEdge>(*place)) {
      placed.push_back({trigger_bus(*scenario.fabric, i), line.name, *std::move(place)});
    }
  }
  return placed;
}

}  // namespace loom
