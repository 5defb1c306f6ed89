// SPDX-License-Identifier: Apache-2.0
// The words of scenarios that the controller's rooms own, for `loom config check`.
#pragma once

#include "core/config/scenario/scenario_words.hpp"

namespace loom::cli {

ScenarioWords scenario_words();

}  // namespace loom::cli
