// SPDX-License-Identifier: Apache-2.0
// A scenario file (`kind: scenario`) into a Scenario, together with the fabric file that it names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config/fabric_template.hpp"
#include "core/config/scenario/scenario.hpp"
#include "core/config/scenario/scenario_words.hpp"
#include "core/config/yaml/config_error.hpp"
#include "core/config/yaml/yaml_document.hpp"

namespace loom {

/// All errors of both files at once. Paths in the file are relative to the file. In sim and soft mode every bus is "sim",
/// whatever the fabric and the inventory say; in mixed at least one is not, in hard none is.
/// Schema: configs/schema/scenario.schema.json.
/// `as`: to be run in this mode instead of the file's own `mode`; an error that names the file's modes if it is none of them.
/// `kinds`: what the fabric file may name. `words`: what workloads, settings and algorithms must be; null: any.
Loaded<Scenario> load_scenario(const std::filesystem::path& path, const FabricKinds& kinds, std::optional<Mode> as = {},
                               const ScenarioWords* words = nullptr);

/// `sim, soft`: the modes that a scenario may be run in, for a sentence.
std::string modes_text(const Scenario& scenario);

/// For `loom config check`: finds out by `kind` what the file is and reads it; empty means lawful.
std::vector<ConfigError> check_config(const std::filesystem::path& path, const FabricKinds& kinds,
                                      const ScenarioWords* words = nullptr);
/// The same of a file that is in memory; `path` says where what it names lies.
std::vector<ConfigError> check_config(const std::filesystem::path& path, const YamlNode& root, const FabricKinds& kinds,
                                      const ScenarioWords* words = nullptr);

}  // namespace loom
