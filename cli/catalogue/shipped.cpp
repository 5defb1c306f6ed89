// SPDX-License-Identifier: Apache-2.0
// Reads no more of a file than says what it is: whether it is sound is `loom config check`.
#include "cli/catalogue/shipped.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "cli/command_line.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/config/yaml/yaml_document.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

namespace fs = std::filesystem;

/// The remark at the head of a file, up to its first full stop or colon; the line for editors is none.
std::string first_sentence(const fs::path& path) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line) && line.starts_with("#");) {
    if (!line.starts_with("# yaml-language-server")) {
      text += (text.empty() ? "" : " ") + line.substr(std::min<std::size_t>(2, line.size()));
    }
  }
  for (const std::string_view stop : {". ", ": ", "; "}) {
    text = text.substr(0, text.find(stop));
  }
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

const YamlNode* value_of(const YamlNode& map, std::string_view key) {
  const auto at = std::ranges::find(map.keys, key, &YamlNode::text);
  return at == map.keys.end() ? nullptr : &map.items[static_cast<std::size_t>(at - map.keys.begin())];
}

std::string text_of(const YamlNode* node) { return node == nullptr ? std::string() : node->text; }

/// A file without `modes` runs in its own and in the simulation.
std::string modes_of(const YamlNode& root) {
  const std::string own = text_of(value_of(root, "mode"));
  std::string all = own;
  const YamlNode* list = value_of(root, "modes");
  if (list == nullptr) {
    return own == "sim" ? own : own + ", sim";
  }
  for (const YamlNode& mode : list->items) {
    all += mode.text == own ? "" : ", " + mode.text;
  }
  return all;
}

int list_configs(const Globals& globals, const std::string& kind) {
  const fs::path folder = config_folder();
  if (folder.empty()) {
    return give_up({ErrorCode::not_found, "there is no folder configs here, and none was installed"},
                   "cd to the tree, or ./dev install");
  }
  std::vector<ShippedFile> files = shipped_files(folder);
  if (!kind.empty()) {
    std::erase_if(files, [&](const ShippedFile& file) { return file.kind != kind; });
  }
  if (globals.json) {
    auto object = answer();
    object["files"] = Json::array();
    for (const ShippedFile& file : files) {
      object["files"].push_back({{"path", file.path}, {"kind", file.kind}, {"modes", file.modes}, {"about", file.about}});
    }
    print(object);
    return kDone;
  }
  Table table({"file", "kind", "modes", "about"});
  for (const ShippedFile& file : files) {
    table.add({file.path, file.kind, file.modes.empty() ? "-" : file.modes, file.about});
  }
  std::fputs(table.text().c_str(), stdout);
  print_note("mode sim: loom sim run FILE; soft, mixed, hard: loom lab run FILE");
  return kDone;
}

}  // namespace

fs::path config_folder() {
  std::error_code problem;
  if (fs::is_directory("configs/scenarios", problem)) {
    return "configs";
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", problem);
  const fs::path installed = program.parent_path().parent_path() / "share" / "lightloom";
  return fs::is_directory(installed / "scenarios", problem) ? installed : fs::path();
}

std::vector<ShippedFile> shipped_files(const fs::path& folder) {
  std::vector<ShippedFile> files;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    if (at->path().extension() != ".yaml") {
      continue;
    }
    const auto document = read_yaml(at->path());
    const std::string kind = document ? text_of(value_of(*document.value, "kind")) : "";
    if (!kind.empty()) {
      files.push_back(
          {at->path().string(), kind, kind == "scenario" ? modes_of(*document.value) : "", first_sentence(at->path())});
    }
  }
  std::ranges::sort(files, {}, &ShippedFile::path);
  return files;
}

void add_config_list(CLI::App& config, CommandLine& line) {
  CLI::App* list = config.add_subcommand("list", "The files that come with the programs: kind, modes, what they are");
  auto& kind = line.keep<std::string>();
  list->add_option("KIND", kind, "Only these: scenario, fabric, faults, ...");
  line.when(*list, list_configs, kind);
}

}  // namespace loom::cli
