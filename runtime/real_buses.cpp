// SPDX-License-Identifier: Apache-2.0
// A lane owns what it drives.
#include "runtime/real_buses.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/bus_device.hpp"

namespace loom {

Result<void> add_real_buses(BusLanes& lanes, const Fabric& fabric, const std::vector<NodeId>& nodes,
                            const std::function<void(const std::string&)>& report) {
  for (const Bus& bus : fabric.buses) {
    if (bus.endpoint == "sim" || !std::ranges::binary_search(nodes, bus.agent)) {
      continue;
    }
    auto device = make_bus(bus.endpoint);
    if (!device) {
      return fail(device.error().code, format_text("bus {}: {}", bus.name, device.error().message));
    }
    std::shared_ptr<BusDevice> shared(std::move(*device));
    lanes.add(bus.id, [shared](const Transaction& transaction) { return shared->execute(transaction); });
    report(format_text("bus {} is at {}", bus.name, bus.endpoint));
  }
  return {};
}

Result<void> add_triggers(BusLanes& lanes, const std::vector<PlacedTrigger>& triggers, const TriggerClock& clock,
                          const std::function<void(const std::string&)>& report) {
  for (const PlacedTrigger& trigger : triggers) {
    auto output = make_trigger_output(trigger.place, clock);
    const auto opened = output ? (*output)->open() : std::unexpected(output.error());
    if (!opened) {
      return fail(opened.error().code, format_text("trigger '{}': {}", trigger.name, opened.error().message));
    }
    std::shared_ptr<TriggerOutput> shared(std::move(*output));
    lanes.add(trigger.bus, [shared](const Transaction& transaction) { return execute(*shared, transaction); });
    report(format_text("trigger '{}' gives edges", trigger.name));
  }
  return {};
}

}  // namespace loom
