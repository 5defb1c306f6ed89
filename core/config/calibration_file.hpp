// SPDX-License-Identifier: Apache-2.0
// A calibration (`kind: calibration`): settings of workloads and fabrics that were fitted to somebody's measurements, and what
// they were fitted to, so that whoever prints a number that rests on them can say so. Schema:
// configs/schema/calibration.schema.json.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/config/yaml/config_error.hpp"
#include "core/config/yaml/yaml_document.hpp"

namespace loom {

struct Calibration {
  std::string name;
  std::string note;                             ///< one sentence that is printed beside every number
  std::vector<std::string> fitted_to;           ///< the figures that the knobs were turned for
  std::map<std::string, std::string> settings;  ///< as of --set: key, fabric.key or fabric.NAME.key
};

/// `known`: what keys of `set` must be among; empty: any.
Loaded<Calibration> load_calibration(const std::filesystem::path& path);
Loaded<Calibration> read_calibration(const std::filesystem::path& path, const YamlNode& root,
                                     const std::vector<std::string>& known = {});

}  // namespace loom
