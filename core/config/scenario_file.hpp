// A scenario file (`kind: scenario`) into a Scenario, together with the fabric file that it names.
#pragma once

#include <filesystem>
#include <vector>

#include "core/config/config_error.hpp"
#include "core/config/scenario.hpp"

namespace loom {

/// All errors of both files at once. Paths in the file are relative to the file. In sim and soft mode every bus is "sim",
/// whatever the fabric and the inventory say; in mixed at least one is not, in hard none is.
/// Schema: configs/schema/scenario.schema.json.
Loaded<Scenario> load_scenario(const std::filesystem::path& path);

/// For `loom config check`: finds out by `kind` what the file is and reads it; empty means lawful.
std::vector<ConfigError> check_config(const std::filesystem::path& path);

}  // namespace loom
