// SPDX-License-Identifier: Apache-2.0
// One element of an explicit fabric file: the words of ElementKind and the keys of each. Inner header of fabric_explicit.cpp.
#pragma once

#include <string_view>

#include "core/config/yaml/yaml_reader.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// "transmitter", "wavelength_selective_switch", ...
std::string_view element_word(const ElementKind& kind);

/// Everything but the id; finishes the map, unless its kind is unknown. Kinds with a fixed number of ports do not take `inputs`
/// or `outputs`.
Element read_fabric_element(YamlMap& map);

}  // namespace loom
