// The template form of a fabric file: the name of a template and its parameters. Inner header of fabric_file.cpp; nobody else
// includes it.
#pragma once

#include "core/config/yaml_reader.hpp"
#include "core/fabric.hpp"

namespace loom {

/// Reads the rest of `file` (all keys but schema_version and kind). After an error the fabric is empty.
Fabric read_template(YamlMap& file, ErrorList& errors);

}  // namespace loom
