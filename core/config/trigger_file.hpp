// SPDX-License-Identifier: Apache-2.0
// The key `triggers` of an inventory or a scenario: the lines whose edges fire devices. Schemas: configs/schema.
#pragma once

#include <string_view>
#include <vector>

#include "core/config/inventory_file.hpp"
#include "core/config/yaml/yaml_reader.hpp"
#include "core/trigger/trigger_line.hpp"

namespace loom {

/// gpio:///dev/gpiochip0/17?active=high|low&pulse=10us
/// phc:///dev/ptp0?channel=0&pin=0
/// sim?skew=100ns
/// Touches nothing. Errors: invalid_config, naming the endpoint and what is expected.
Result<TriggerPlace> parse_trigger_endpoint(std::string_view text);

/// `line name -> {endpoint, devices}`, appended to place.triggers.
void read_triggers(const YamlNode& node, const InventoryPlace& place);

/// Simulated devices take simulated edges, and no others do. Errors go to `where`.
void check_triggers(const std::vector<TriggerLine>& triggers, const Fabric& fabric, const YamlNode& where, ErrorList& errors);

}  // namespace loom
