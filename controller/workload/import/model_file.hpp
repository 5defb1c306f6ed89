// SPDX-License-Identifier: Apache-2.0
// Model files: a user's own layers, as YAML or JSON: a chain, or a graph of operators that name their inputs. What one layer
// holds, computes and hands on; how it is spread over nodes stays with the settings of every model (tp, pp, zero, batch, ...).
// Times are measured ones, by batch, or follow from multiply-accumulates and a rate.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/models/model.hpp"
#include "core/config/yaml/yaml_document.hpp"
#include "core/result.hpp"

namespace loom {

/// Layers of a model file.
inline constexpr std::size_t kModelLayers = 4096;

/// Whether this names a model file: .yaml, .yml, or a .json that says `"kind": "model"` in its first 4 KiB (a trace does not).
bool is_model_file(std::string_view path);

/// All that is wrong with a model file, for whoever checks files. `root`: of the file at `path`.
std::vector<ConfigError> check_model_file(const std::filesystem::path& path, const YamlNode& root);

/// The model for `batch` samples a data-parallel rank; 0: the file's. Keys: docs/workloads.md#model-files. Errors:
/// invalid_config (all that is wrong with the file, a line each, with line and column: an unknown key, a value outside its
/// range, a layer whose table of times lacks the batch, a name given twice, an input that no layer is, a cycle with its path),
/// not_found. Blocks are in an order in which each comes after its inputs, the file's where that is one; `handed` of each
/// counts every tensor that is still to be read.
Result<Model> read_model_file(const std::string& path, std::int64_t batch);

}  // namespace loom
