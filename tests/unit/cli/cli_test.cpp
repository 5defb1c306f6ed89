// SPDX-License-Identifier: Apache-2.0
// What people and programs see of `loom`: tables, durations, JSON keys, exit codes of errors.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/nouns/rows.hpp"
#include "cli/offline/config_words.hpp"
#include "cli/options.hpp"
#include "cli/render/term.hpp"
#include "cli/tree.hpp"
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

TEST_CASE("durations of the command line are written as those of files, or with m for minutes") {
  CHECK(*parse_duration("250ms") == Duration{250'000'000});
  CHECK(*parse_duration("5 ms") == Duration{5'000'000});
  CHECK(*parse_duration("0.5s") == Duration{500'000'000});
  CHECK(*parse_duration("2m") == Duration{120'000'000'000});
  CHECK(*parse_duration("2 min") == Duration{120'000'000'000});
  CHECK(*parse_duration("1h") == std::chrono::hours{1});
}

TEST_CASE("a duration that is refused says of which option it was and what is expected") {
  const auto sentence = [](const std::string& text) {
    const auto duration = parse_duration(text, "--for");
    REQUIRE_FALSE(duration);
    CHECK(duration.error().code == ErrorCode::invalid_argument);
    return duration.error().message;
  };
  CHECK_THAT(sentence("10"), Catch::StartsWith("--for: '10' has no unit; expected a duration such as '10s' (units: ns,"));
  CHECK_THAT(sentence("1x"), Catch::Contains("has the unit 'x'"));
  CHECK_THAT(sentence(""), Catch::Contains("does not begin with a number"));
  CHECK(sentence("0s") == "--for: '0s' is no time at all; expected more than 0 s and at most 8760 h");
  CHECK_THAT(sentence("-1s"), Catch::Contains("expected more than 0 s"));
  CHECK_THAT(sentence("8761h"), Catch::Contains("is too long; expected more than 0 s and at most 8760 h"));
  CHECK_THAT(sentence("99999999999999999999s"), Catch::Contains("64 bits"));
}

TEST_CASE("a number of the command line is digits within its limits, and the sentence has the real ones") {
  const auto revision = number_check<std::uint64_t>("revision", 1);
  CHECK(revision("1").empty());
  CHECK(revision("18446744073709551615").empty());
  CHECK(revision("abc") == "'abc' is no revision; expected a whole number from 1");
  for (const char* wrong : {"0", "-1", "", "1.5", "0x10", " 1", "+1"}) {
    INFO(wrong);
    CHECK_THAT(revision(wrong), Catch::Contains("is no revision; expected a whole number from 1"));
  }
  CHECK_THAT(revision("99999999999999999999"), Catch::EndsWith("expected a whole number from 1 to 18446744073709551615"));
  CHECK_THAT(number_check<std::uint32_t>("number of chains", 1)("4294967296"), Catch::EndsWith("from 1 to 4294967295"));
  CHECK(number_check("number of seeds", 1, 1'000)("1000").empty());
  CHECK_THAT(number_check("number of seeds", 1, 1'000)("1001"), Catch::EndsWith("from 1 to 1000"));
}

TEST_CASE("numbers that an option cannot hold are refused before the command runs") {
  const auto refusal = [](std::vector<const char*> words) -> std::string {
    CommandLine line;
    CLI::App app;
    build_tree(app, line);
    words.insert(words.begin(), "loom");
    try {
      app.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(refusal({"trace", "1"}).empty());
  CHECK_THAT(refusal({"trace", "0"}), Catch::Contains("'0' is no revision; expected a whole number from 1"));
  CHECK_THAT(refusal({"trace", "99999999999999999999"}), Catch::Contains("'99999999999999999999' is no revision"));
  CHECK_THAT(refusal({"wait", "-1"}), Catch::Contains("'-1' is no revision"));
  CHECK_THAT(refusal({"sim", "run", "s.yaml", "--seed", "-1"}), Catch::Contains("'-1' is no seed"));
  CHECK(refusal({"sim", "run", "s.yaml", "--seed", "18446744073709551615"}).empty());
  CHECK_THAT(refusal({"plan", "vgg19", "--nodes", "8,-4"}), Catch::Contains("'-4' is no number of nodes"));
  CHECK_THAT(refusal({"plan", "vgg19", "--chains", "0"}), Catch::Contains("'0' is no number of chains"));
  CHECK_THAT(refusal({"arena", "--seeds", "1001"}), Catch::Contains("from 1 to 1000"));
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
