// SPDX-License-Identifier: Apache-2.0
// loom config check|list|keys: every error of every file, and every key that files may have.
#include <cstdio>

#include "cli/catalogue/faults.hpp"
#include "cli/catalogue/shipped.hpp"
#include "cli/command_line.hpp"
#include "cli/offline/config_words.hpp"
#include "cli/offline/offline.hpp"
#include "cli/reference/config_keys.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

int check_configs(const Globals& globals, const std::vector<std::string>& paths) {
  auto list = nlohmann::ordered_json::array();
  std::size_t faults = 0;
  const ScenarioWords words = scenario_words();
  for (const std::string& path : paths) {
    for (const ConfigError& error : check_config(path, all_fabric_kinds(), &words)) {
      ++faults;
      if (globals.json) {
        list.push_back({{"file", error.file}, {"line", error.line}, {"column", error.column}, {"message", error.message}});
      } else {
        std::printf("%s\n", to_string(error).c_str());
      }
    }
  }
  if (globals.json) {
    auto object = answer();
    object["errors"] = std::move(list);
    print(object);
  } else if (faults == 0) {
    print_note(std::to_string(paths.size()) + (paths.size() == 1 ? " file is sound" : " files are sound"));
  }
  return faults == 0 ? kDone : kFailed;
}

struct KeysOptions {
  std::string kind;
  std::string key;
};

/// `scenario jobs[]: one job`
std::string heading_of(const Json& section) {
  const auto word = [&](const char* name) { return section[name].get<std::string>(); };
  return format_text("{}{}{}{}: {}", word("kind"), word("path").empty() ? "" : " " + word("path"),
                     word("where").empty() ? "" : ", ", word("where"), word("summary"));
}

int print_keys(const Globals& globals, const KeysOptions& options) {
  const auto keys = config_keys_json(options.kind, options.key);
  if (!keys) {
    return give_up(keys.error());
  }
  if (globals.json) {
    print(*keys);
    return kDone;
  }
  bool is_first = true;
  for (const Json& section : (*keys)["sections"]) {
    std::printf("%s%s\n", is_first ? "" : "\n", heading_of(section).c_str());
    is_first = false;
    Table table({"key", "takes", "absent", "meaning"});
    for (const Json& key : section["keys"]) {
      table.add({key["key"], key["takes"], key["absent"], key["meaning"]});
    }
    std::fputs(table.text().c_str(), stdout);
  }
  return kDone;
}

}  // namespace

void add_config(CLI::App& app, CommandLine& line) {
  CLI::App* config = app.add_subcommand("config", "Configuration files");
  config->require_subcommand(1);
  CLI::App* check = config->add_subcommand("check", "Every error of every file, as file:line:column");
  auto& paths = line.keep<std::vector<std::string>>();
  check->add_option("FILE", paths, "YAML files")->required();
  line.when(*check, check_configs, paths);
  add_config_list(*config, line);
  add_config_faults(*config, line);
  CLI::App* keys = config->add_subcommand("keys", "Every key of every kind of file: type, unit, range, default, meaning");
  auto& options = line.keep<KeysOptions>();
  keys->add_option("KIND", options.kind, "scenario, fabric, inventory, faults, calibration, model, cluster or prices");
  keys->add_option("KEY", options.key, "One key, wherever it is (at) or at its place (jobs[].at), or a map (jobs[])");
  line.when(*keys, print_keys, options);
}

}  // namespace loom::cli
