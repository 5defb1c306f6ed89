// SPDX-License-Identifier: Apache-2.0
// Every architecture that this program knows, in the order of printing. Adding one: its folder, its sources in CMakeLists.txt
// and its line in registry.cpp. Mains hand these on; core, agents, plan and control name none.
#pragma once

#include <span>
#include <string_view>

#include "controller/schedule/architecture.hpp"
#include "core/config/fabric_template.hpp"

namespace loom {

const Architectures& all_architectures();
/// Templates and device models, for whoever reads files of fabrics and scenarios.
FabricKinds all_fabric_kinds();
/// For whoever reads `--set`: see take_options().
std::span<const std::string_view> all_option_keys();

}  // namespace loom
