// loom config check: every error of every file.
#include <cstdio>

#include "cli/command_line.hpp"
#include "cli/offline/config_words.hpp"
#include "cli/offline/offline.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"

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

}  // namespace

void add_config(CLI::App& app, CommandLine& line) {
  CLI::App* config = app.add_subcommand("config", "Configuration files");
  config->require_subcommand(1);
  CLI::App* check = config->add_subcommand("check", "Every error of every file, as file:line:column");
  auto& paths = line.keep<std::vector<std::string>>();
  check->add_option("FILE", paths, "YAML files")->required();
  line.when(*check, check_configs, paths);
}

}  // namespace loom::cli
