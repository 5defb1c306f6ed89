// SPDX-License-Identifier: Apache-2.0
// loom config faults: what can be wrong with a device or a fibre, as the one catalogue has it (core/fault_catalogue.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

/// {"faults": [{"fault", "of", "value", "must_have_value", "meaning", "shows", "injected_by"}]}
nlohmann::ordered_json fault_list();

void add_config_faults(CLI::App& config, CommandLine& line);

}  // namespace loom::cli
