// Every architecture that this program knows, in the order of printing. Adding one: its folder, its sources in CMakeLists.txt
// and its line in registry.cpp. Mains hand these on; core, agents, plan and control name none.
#pragma once

#include <span>
#include <string_view>

#include "controller/schedule/architecture.hpp"

namespace loom {

const Architectures& all_architectures();
/// For whoever reads files of fabrics and scenarios.
std::span<const FabricTemplate* const> all_templates();
/// For whoever reads `--set`: see take_options().
std::span<const std::string_view> all_option_keys();

}  // namespace loom
