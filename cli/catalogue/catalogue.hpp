// SPDX-License-Identifier: Apache-2.0
// loom workload and loom fabric: what there is to be named on a command line, and what each may be told.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

/// A key of `--set`, in words.
struct SettingWords {
  std::string_view key;
  std::string_view unit;    ///< or the words that it may be, between bars; empty: a count
  std::string_view absent;  ///< what holds where nobody says; empty: as the model's shape has it
  std::string_view meaning;
};

/// Of workloads: every key of every model of the zoo is here.
std::span<const SettingWords> workload_words();
/// Of `fabric.KEY` in predict and arena: every key of every architecture is here.
std::span<const SettingWords> compare_words();

/// What the commands print. Errors: not_found, with the nearest name.
nlohmann::ordered_json workload_list();
Result<nlohmann::ordered_json> workload_show(std::string_view name);
nlohmann::ordered_json gpu_list();
nlohmann::ordered_json fabric_list();
Result<nlohmann::ordered_json> fabric_show(std::string_view name);

void add_catalogue(CLI::App& app, CommandLine& line);

}  // namespace loom::cli
