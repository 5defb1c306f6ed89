// SPDX-License-Identifier: Apache-2.0
// The key `actions` of a scenario: what an operator types while it runs. Schema: configs/schema/scenario.schema.json.
#pragma once

#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/config/yaml/yaml_reader.hpp"

namespace loom {

/// What actions may name. `fabric`: null: its file was unlawful, and nodes are not looked up.
struct ActionPlace {
  const Fabric* fabric = nullptr;
  const std::vector<JobSubmission>& jobs;
};

/// Ascending `at`; equal: as written.
std::vector<ScenarioAction> read_actions(YamlMap& file, const ActionPlace& place, ErrorList& errors);

}  // namespace loom
