// SPDX-License-Identifier: Apache-2.0
// What people and programs see of `loom`: tables, durations, JSON keys, exit codes of errors.
#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/nouns/rows.hpp"
#include "cli/offline/config_words.hpp"
#include "cli/options.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "runtime/state/state_folder.hpp"

namespace loom::cli {

TEST_CASE("every shipped file is sound by the words that the other rooms know, and a wrong one is found") {
  const ScenarioWords words = scenario_words();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("configs")) {
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    ++files;
    for (const ConfigError& error : check_config(entry.path(), all_fabric_kinds(), &words)) {
      FAIL_CHECK(to_string(error));
    }
  }
  CHECK(files >= 40);
  CHECK_FALSE(words.job("vgg19", 8, {{"batch", "many"}}));
  CHECK(words.job("vgg19", 8, {{"batch", "32"}}));
  CHECK(words.settings("dlrm").size() > words.settings("./trace.json").size());
}

TEST_CASE("durations are printed with three digits and their unit") {
  CHECK(text_of(Duration{999}) == "999 ns");
  CHECK(text_of(Duration{1'234}) == "1.23 us");
  CHECK(text_of(Duration{45'600'000}) == "45.6 ms");
  CHECK(text_of(Duration{7'000'000'000}) == "7.00 s");
  CHECK(text_of(kForever) == "never");
}

TEST_CASE("a table lines up, numbers flush right") {
  Table table({"node", "state"});
  table.add({"7", "live"});
  table.add({"1023", "dead"});
  CHECK(table.text() == "node  state\n   7  live\n1023  dead\n");
}

TEST_CASE("a word that nobody knows has a nearest one, unless it is far from all") {
  CHECK(nearest("staus", {"status", "schedule", "sim"}) == "status");
  CHECK(nearest("xyzzy", {"status", "schedule", "sim"}).empty());
}

TEST_CASE("status as JSON has the keys of the operator's reference") {
  StatusReport status;
  status.live = 3;
  const auto object = json_of(status);
  for (const char* key : {"api_version", "term", "revision", "agents", "jobs", "drift"}) {
    CHECK(object.contains(key));
  }
  CHECK(object["agents"]["live"] == 3);
  for (const char* key : {"missing", "foreign", "detuned", "dim", "stale"}) {
    CHECK(object["drift"].contains(key));
  }
}

TEST_CASE("errors end in the exit code of their kind") {
  CHECK(exit_code_of(ErrorCode::refused) == 3);
  CHECK(exit_code_of(ErrorCode::unreachable) == 5);
  CHECK(exit_code_of(ErrorCode::timed_out) == 124);
  CHECK(exit_code_of(ErrorCode::invalid_argument) == 2);
  CHECK(exit_code_of(ErrorCode::device_error) == 1);
}

TEST_CASE("durations of the command line need a unit") {
  CHECK(*parse_duration("250ms") == Duration{250'000'000});
  CHECK(*parse_duration("2m") == Duration{120'000'000'000});
  CHECK_FALSE(parse_duration("10"));
  CHECK(parse_duration("10").error().message.find("'10' has no unit: write '10s'") != std::string::npos);
  CHECK_FALSE(parse_duration("0s"));
  CHECK_FALSE(parse_duration("-1s"));
}

TEST_CASE("every node belongs to exactly one agent process") {
  Scenario scenario;
  OddlParameters parameters;
  parameters.nodes = 8;
  parameters.group_size = 4;
  scenario.fabric = std::make_shared<const Fabric>(make_oddl(parameters));
  for (std::uint32_t processes = 1; processes <= 8; ++processes) {
    scenario.agents.processes = processes;
    std::uint32_t next = 0;
    for (std::uint32_t process = 0; process < processes; ++process) {
      const NodeSpan span = spans_of_process(scenario, process).front();
      CHECK(span.first == next);
      CHECK(span.end > span.first);
      next = span.end;
    }
    CHECK(next == 8);
  }
}

}  // namespace loom::cli
