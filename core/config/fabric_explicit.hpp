// SPDX-License-Identifier: Apache-2.0
// The explicit form of a fabric file: its lists of nodes, elements, fibres, buses and devices. Inner header of
// fabric_file.cpp; nobody else includes it.
#pragma once

#include <string_view>

#include "core/config/yaml/yaml_reader.hpp"
#include "core/fabric/device_model.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// Reads the rest of `file` (all keys but schema_version and kind). Every reference by name is resolved or an error.
Fabric read_explicit(YamlMap& file, DeviceModels models, ErrorList& errors);

/// `return_path: electrical | optical` of a fabric file.
ReturnPath read_return_path(YamlMap& file);
/// `agent_trip`, 1 us to 50 ms; `clock_error` and `flight_error`, at most 10 ms: windows of grants have room for no more.
InstallationTimes read_installation_times(YamlMap& file);

}  // namespace loom
