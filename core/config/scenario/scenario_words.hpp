// SPDX-License-Identifier: Apache-2.0
// ScenarioWords: the words that a scenario may use and that other rooms own: workloads and their settings, schedulers. Whoever
// reads a scenario may hand them over, so that a wrong one is found at its line and column, before anything plans.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/config/yaml/yaml_document.hpp"
#include "core/result.hpp"

namespace loom {

struct ScenarioWords {
  std::vector<std::string> algorithms;
  std::vector<std::string> calibration;  ///< keys of a calibration's settings
  std::vector<std::string> workloads;
  /// Keys that the settings of a workload of that list, or of a trace file, may have.
  std::function<std::vector<std::string>(const std::string& workload)> settings;
  /// Can the job be made at all? Errors: whatever makes it impossible, values of settings among it. Asked only of known words.
  std::function<Result<void>(const std::string& workload, std::uint32_t nodes,
                             const std::map<std::string, std::string>& settings)>
      job;
  /// What is wrong with a model file (`kind: model`).
  std::function<std::vector<ConfigError>(const std::filesystem::path& path, const YamlNode& root)> model{};
  /// The same of files that `loom arena` takes: a cluster with its jobs (`kind: cluster`), prices (`kind: prices`).
  std::function<std::vector<ConfigError>(const std::filesystem::path& path, const YamlNode& root)> cluster{};
  std::function<std::vector<ConfigError>(const std::filesystem::path& path, const YamlNode& root)> prices{};
};

}  // namespace loom
