// SPDX-License-Identifier: Apache-2.0
// The template form of a fabric file: a name, and parameters of which a whole fabric is built. Templates are values that the
// mains hand in (controller/architectures has them); this room knows how a file names one, and reads none itself.
#pragma once

#include <span>
#include <string_view>

#include "core/config/yaml/yaml_reader.hpp"
#include "core/fabric/device_model.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// A parameter, for people: `loom config keys`.
struct TemplateKey {
  std::string_view name;
  std::string_view meaning;  ///< with its unit
};

struct FabricTemplate {
  std::string_view name;     ///< as files have it: `template: NAME`
  std::string_view summary;  ///< a line
  std::span<const TemplateKey> keys;
  /// Reads `parameters` to its end; errors go into the list behind the map. What is returned counts only where `errors` is
  /// empty.
  Fabric (*read)(YamlMap& parameters, const ErrorList& errors);
};

using FabricTemplates = std::span<const FabricTemplate* const>;

/// What a file of a fabric may name.
struct FabricKinds {
  FabricTemplates templates;
  DeviceModels models;
};

/// Reads the rest of `file` (all keys but schema_version and kind). After an error the fabric is empty.
Fabric read_template(YamlMap& file, FabricTemplates templates, ErrorList& errors);

}  // namespace loom
