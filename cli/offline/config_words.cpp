// SPDX-License-Identifier: Apache-2.0
// Asked of the zoo, the registry of schedulers and the arena.
#include "cli/offline/config_words.hpp"

#include "cli/workloads.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/arena/cluster/cluster_file.hpp"
#include "controller/arena/cost/prices.hpp"
#include "controller/arena/entries.hpp"
#include "controller/workload/import/model_file.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

template <class Words>
std::vector<std::string> texts(const Words& words) {
  return {words.begin(), words.end()};
}

/// Any workload's: what it may ask of the fabric's architecture.
void add_option_keys(std::vector<std::string>& keys) {
  keys.insert(keys.end(), all_option_keys().begin(), all_option_keys().end());
}

std::vector<std::string> settings_of(const std::string& workload) {
  std::vector<std::string> keys = texts(workload_keys(workload));
  if (keys.empty()) {
    keys.emplace_back("compute_ms");  // a trace
  }
  add_option_keys(keys);
  return keys;
}

/// What `--set` takes of any workload and any fabric.
std::vector<std::string> calibration_keys() {
  std::vector<std::string> keys;
  for (const std::string_view workload : workload_names()) {
    const auto own = workload_keys(workload);
    keys.insert(keys.end(), own.begin(), own.end());
  }
  for (const std::string_view fabric : arena_names()) {
    for (const std::string_view key : arena_keys(fabric)) {
      keys.push_back(format_text("fabric.{}", key));
      keys.push_back(format_text("fabric.{}.{}", fabric, key));
    }
  }
  add_option_keys(keys);
  return keys;
}

}  // namespace

ScenarioWords scenario_words() {
  ScenarioWords words;
  words.algorithms = texts(all_architectures().scheduler_names());
  words.calibration = calibration_keys();
  words.workloads = texts(workload_names());
  words.settings = settings_of;
  words.model = check_model_file;
  words.cluster = [](const std::filesystem::path& path, const YamlNode& root) { return read_cluster(path, root).errors; };
  words.prices = [](const std::filesystem::path& path, const YamlNode& root) { return read_prices(path, root).errors; };
  words.job = [](const std::string& workload, std::uint32_t nodes,
                 const std::map<std::string, std::string>& settings) -> Result<void> {
    const auto spec = read_job({workload, nodes, Settings(settings.begin(), settings.end())});
    return spec ? Result<void>{} : std::unexpected(spec.error());
  };
  return words;
}

}  // namespace loom::cli
