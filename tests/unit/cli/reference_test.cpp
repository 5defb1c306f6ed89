// SPDX-License-Identifier: Apache-2.0
// Help and reference: every key has a meaning and none is made up, every command a group, every error an exit code, every
// variable its row.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "cli/command_line.hpp"
#include "cli/reference/config_keys.hpp"
#include "cli/reference/help.hpp"
#include "cli/reference/pages.hpp"
#include "cli/tree.hpp"

namespace loom::cli {
namespace {

namespace fs = std::filesystem;

std::string name_of(const ConfigSection& section) { return section.kind + " " + section.path + " " + section.where; }

TEST_CASE("every key that a reader knows has a meaning, and no other key has one") {
  const std::vector<ConfigSection> sections = config_sections();
  REQUIRE(sections.size() > 50);
  for (const ConfigSection& section : sections) {
    CAPTURE(name_of(section));
    std::set<std::string> asked;
    for (const KeyQuestion& question : asked_keys(section)) {
      asked.insert(question.key);
    }
    std::set<std::string> said;
    for (const KeyMeaning& meaning : section.meanings) {
      CHECK(said.emplace(meaning.key).second);  // once
    }
    CHECK(asked == said);
    CHECK_FALSE(asked.empty());
    for (const ConfigKey& key : keys_of(section)) {
      CAPTURE(key.key);
      CHECK_FALSE(key.takes.empty());
      CHECK_FALSE(key.absent.empty());
      CHECK_FALSE(key.meaning.empty());
    }
  }
}

TEST_CASE("every map that a file may have is a section of its own") {
  const std::vector<ConfigSection> sections = config_sections();
  std::size_t maps = 0;
  for (const ConfigSection& section : sections) {
    for (const ConfigKey& key : keys_of(section)) {
      const bool is_map = key.takes == "a map" || key.takes.find("to their keys") != std::string::npos;
      const std::string path = section.path.empty() ? key.key : section.path + "." + key.key;
      const std::string last = path.substr(path.rfind('.') + 1);
      CAPTURE(name_of(section), path);
      maps += is_map ? 1 : 0;
      CHECK((!is_map || std::ranges::any_of(sections, [&](const ConfigSection& other) {
        return other.kind == section.kind && (other.path.starts_with(path) || other.path == last);
      })));
    }
  }
  CHECK(maps > 10);
}

TEST_CASE("types, ranges and defaults are the readers' own") {
  const std::vector<ConfigSection> sections = config_sections();
  const auto find = [&](std::string_view kind, std::string_view path, std::string_view key) {
    for (const ConfigSection& section : sections) {
      if (section.kind == kind && section.path == path) {
        const auto keys = keys_of(section);
        const auto found = std::ranges::find(keys, key, &ConfigKey::key);
        if (found != keys.end()) {
          return *found;
        }
      }
    }
    return ConfigKey{};
  };
  CHECK(find("scenario", "controller", "retry_interval").takes == "a duration of 1 us to 1 h");
  CHECK(find("scenario", "controller", "retry_interval").absent == "50 ms");
  CHECK(find("scenario", "jobs[]", "runs_for").absent == "no end");
  CHECK(find("scenario", "", "fabric").absent == "required");
  CHECK(find("scenario", "", "seed").takes == "a whole number of 0 or more");
  CHECK(find("fabric", "elements[]", "rate").takes.starts_with("a bit rate of 1 Mb/s"));
}

TEST_CASE("keys are found by kind, by name and by place") {
  const auto sections = [](std::string_view kind, std::string_view key) { return (*config_keys_json(kind, key))["sections"]; };
  CHECK(sections("scenario", "jobs[].at").size() == 1);
  CHECK(sections("scenario", "at").size() > 3);
  CHECK(sections("scenario", "controller").size() == 2);  // the key, and the map
  CHECK(sections("prices", "")[0]["keys"].size() == 7);
  CHECK(config_keys_json("scenaro", "").error().message.find("scenario, fabric") != std::string::npos);
  CHECK(config_keys_json("scenario", "retry_intervl").error().message.find("did you mean 'retry_interval'") !=
        std::string::npos);
}

TEST_CASE("every command stands in a group, and every topic has a page") {
  CommandLine line;
  CLI::App app;
  build_tree(app, line);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    CAPTURE(command->get_name());
    CHECK(command->get_group() != "Subcommands");
    CHECK(command->help().find("Everywhere: --json") != std::string::npos);
  }
  REQUIRE_FALSE(page_names().empty());
  for (const std::string& name : page_names()) {
    const auto page = help_text(app, {name}, true);
    REQUIRE(page);
    CHECK(page->starts_with("# "));
  }
  CHECK(help_text(app, {"job", "submit"}, false)->find("vgg19") != std::string::npos);
  CHECK(help_text(app, {"jbo"}, false).error().next_command == "loom help job");
}

TEST_CASE("every error code ends in an exit code of the table, every alarm has its words") {
  std::set<int> codes;
  for (const ExitCodeWords& each : exit_codes()) {
    CHECK(codes.insert(each.code).second);
  }
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    CHECK(codes.contains(exit_code_of(static_cast<ErrorCode>(code))));
  }
  std::set<AlarmCode> alarms;
  for (const AlarmWords& each : alarm_words()) {
    CHECK(alarms.insert(each.code).second);
    CHECK_FALSE((each.meaning.empty() || each.cause.empty() || each.remedy.empty()));
  }
  CHECK(alarms.size() == static_cast<std::size_t>(AlarmCode::receiver_withheld) + 1);
}

TEST_CASE("every variable of the environment has one prefix and a row, and every row a reader") {
  static const std::regex kRead{R"re((?:getenv\(|environ\.get\(|environ\[|envname\()"([A-Z_]+)")re"};
  static const std::regex kOurs{R"re(\bLIGHTLOOM_[A-Z_]+\b)re"};
  std::set<std::string> read;
  std::set<std::string> named;
  for (const char* room :
       {"agents", "bench", "cli", "controller", "core", "drivers", "runtime", "sim_backend", "tests", "packaging", "python"}) {
    for (const auto& entry : fs::recursive_directory_iterator(room)) {
      const std::string kind = entry.path().extension().string();
      if ((kind != ".cpp" && kind != ".hpp" && kind != ".py" && kind != ".sh") ||
          entry.path().parent_path().filename() == "reference" || entry.path().filename() == "reference_test.cpp") {
        continue;
      }
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      const std::string all = text.str();
      for (std::sregex_iterator at(all.begin(), all.end(), kRead), end; at != end; ++at) {
        read.insert((*at)[1]);
      }
      for (std::sregex_iterator at(all.begin(), all.end(), kOurs), end; at != end; ++at) {
        named.insert(at->str());
      }
    }
  }
  std::set<std::string> rows;
  for (const EnvironmentWords& each : environment_words()) {
    CAPTURE(each.name);
    CHECK(rows.emplace(each.name).second);
    CHECK((!each.name.starts_with("LIGHTLOOM_") || named.contains(std::string(each.name))));
  }
  REQUIRE(read.contains("LIGHTLOOM_STATE"));
  for (const std::string& name : read) {
    CAPTURE(name);
    CHECK((name == "PATH" || rows.contains(name)));
  }
}

}  // namespace
}  // namespace loom::cli
