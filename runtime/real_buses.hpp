// SPDX-License-Identifier: Apache-2.0
// What of an agent process's hardware has a lane: the buses of its nodes that an inventory says where to find, and the trigger
// lines of its host. Buses touch nothing yet; lines are opened, so that one that is not there is known before anything starts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "core/trigger/trigger_line.hpp"
#include "drivers/bus/trigger/trigger_output.hpp"
#include "runtime/lanes.hpp"

namespace loom {

/// A line of this process's nodes.
struct PlacedTrigger {
  BusId bus;
  std::string name;
  TriggerPlace place;
};

/// `report` is told a sentence a lane. Errors: invalid_config, naming the bus.
Result<void> add_real_buses(BusLanes& lanes, const Fabric& fabric, const std::vector<NodeId>& nodes,
                            const std::function<void(const std::string&)>& report);

/// `triggers`: no simulated ones. Errors: as TriggerOutput::open(), naming the line.
Result<void> add_triggers(BusLanes& lanes, const std::vector<PlacedTrigger>& triggers, const TriggerClock& clock,
                          const std::function<void(const std::string&)>& report);

}  // namespace loom
