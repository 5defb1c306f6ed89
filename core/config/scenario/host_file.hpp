// SPDX-License-Identifier: Apache-2.0
// The key `hosts` of a scenario: which host runs the agents of which nodes, and where they listen for those of other hosts.
// Schema: configs/schema/scenario.schema.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/config/yaml/yaml_reader.hpp"

namespace loom {

/// In the order of the file: host k is agent process k. `fabric`: null: its file was unlawful, and nodes are not counted.
std::vector<ScenarioHost> read_hosts(YamlMap& file, const Fabric* fabric, ErrorList& errors);

}  // namespace loom
