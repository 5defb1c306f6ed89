// SPDX-License-Identifier: Apache-2.0
// What both forms of a fabric file say about laser safety: `hazard_level`, `power_limit` and `interlocks`. Inner header of
// fabric_file.cpp's parts; nobody else includes it.
#pragma once

#include <optional>
#include <span>

#include "core/config/yaml/yaml_reader.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

struct SafetyKeys {
  std::optional<std::size_t> level;  ///< index into kHazardLevels
  std::optional<Dbm> power_limit;
  std::span<const YamlNode> interlocks;
};

/// Asks for the keys, which are thereby known.
SafetyKeys read_safety_keys(YamlMap& file);

/// To a fabric whose nodes are there.
void apply_safety(const SafetyKeys& keys, Fabric& fabric, ErrorList& errors);

/// `power_limit` of a map, if it has one.
std::optional<Dbm> read_power_limit(YamlMap& map);

}  // namespace loom
