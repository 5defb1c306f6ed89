// SPDX-License-Identifier: Apache-2.0
// Scenarios as files again: what the readers of scenarios and fault files read back as the same values. So that a run that was
// drawn from a seed can be kept, shrunk and handed on.
#pragma once

#include <string>

#include "core/config/scenario/scenario.hpp"

namespace loom {

/// A scenario file without its faults. `fabric`: the path that the file shall name it by.
std::string scenario_text(const Scenario& scenario, const std::string& fabric);
/// A fault file: the scenario's network and its faults.
std::string fault_text(const Scenario& scenario);

}  // namespace loom
