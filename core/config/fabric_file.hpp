// SPDX-License-Identifier: Apache-2.0
// A fabric file (`kind: fabric`) into a Fabric: either a template with parameters, or every node, element, fibre, bus and
// device by name. What it returns has passed check_fabric and has its index built.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/config/fabric_template.hpp"
#include "core/config/yaml/config_error.hpp"
#include "core/config/yaml/yaml_document.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// All errors of the file at once. Schema: configs/schema/fabric.schema.json.
/// `kinds`: what the file may name.
Loaded<Fabric> load_fabric(const std::filesystem::path& path, const FabricKinds& kinds);

/// The same of a document that is parsed already; `file` names it in errors.
Loaded<Fabric> read_fabric(std::string_view file, const YamlNode& root, const FabricKinds& kinds);

/// The endpoints that a bus may have: "sim", "modbus-tcp://host:port", "tcp://host:port", "http://host[:port]",
/// "modbus-rtu:///dev/ttyUSB0?baud=9600", "serial:///dev/ttyUSB0?baud=9600": what drivers/bus can open. Error: a sentence
/// saying what is expected.
Result<void> check_endpoint(std::string_view endpoint);

}  // namespace loom
