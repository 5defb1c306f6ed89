// SPDX-License-Identifier: Apache-2.0
// Faults as configuration: the keys `network`, `device_faults`, `machine_faults` and `fibre_faults` of a scenario, and files
// that hold nothing else (`kind: faults`), so that any workload meets any faults. Schema: configs/schema/faults.schema.json.
#pragma once

#include <filesystem>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/config/yaml/config_error.hpp"
#include "core/config/yaml/yaml_reader.hpp"

namespace loom {

/// Where faults that are read go. `fabric`: whose devices and nodes they name; null: names are not looked up.
struct FaultPlace {
  const Fabric* fabric = nullptr;
  NetworkFaults& network;                     ///< keys that are absent leave what is there
  std::vector<ScenarioFault>& device_faults;  ///< added to, kept sorted
  std::vector<MachineFault>& machine_faults;  ///< the same
  std::vector<FibreFault>& fibre_faults;      ///< the same
  Duration& faults_darken;                    ///< what `expect` of a fault file is added to
};

void read_faults_of(YamlMap& file, const FaultPlace& place, ErrorList& errors);

/// Every error of the file; empty: it was lawful and is added.
std::vector<ConfigError> add_fault_file(const std::filesystem::path& path, const FaultPlace& place);
/// The same, to a scenario that has been loaded.
std::vector<ConfigError> add_faults(const std::filesystem::path& path, Scenario& scenario);
/// Without a fabric: names are not looked up.
std::vector<ConfigError> check_fault_file(const std::filesystem::path& path, const YamlNode& root);

}  // namespace loom
