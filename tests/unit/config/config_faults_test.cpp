// SPDX-License-Identifier: Apache-2.0
// Every fault of a YAML file that people and tools make, each refused with file:line:column and a reason; nothing is read by
// half, and nothing throws.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/config/yaml/yaml_document.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

struct Fault {
  std::string name;
  std::string line;    ///< put in as line 7 of an otherwise lawful scenario
  std::string reason;  ///< part of the sentence
};

/// Line 7 is the faulty one.
std::string scenario_with(const std::string& line) {
  return "schema_version: 1\nkind: scenario\nname: s\nmode: sim\nfabric: " +
         fs::absolute("configs/fabrics/oddl_8.yaml").string() + "\nalgorithm: oddl\n" + line + "\n";
}

std::vector<ConfigError> errors_of(const std::string& text) {
  const fs::path path = fs::temp_directory_path() / "lightloom_config_faults.yaml";
  std::ofstream(path, std::ios::binary) << text;
  auto loaded = load_scenario(path, all_fabric_kinds());
  CHECK(loaded.value.has_value() == loaded.errors.empty());
  fs::remove(path);
  return loaded.errors;
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults{
      {"octal", "seed: 010", "010"},
      {"hexadecimal", "seed: 0x10", "0x10"},
      {"an exponent for an integer", "agents: {processes: 1e0}", "1e0"},
      {"a quoted integer", "seed: '7'", "seed"},
      {"a quoted word where it matters", "agents: {processes: '1'}", "processes"},
      {"yes for a number", "agents: {processes: yes}", "yes"},
      {"a negative count", "agents: {processes: -1}", "-1"},
      {"out of range", "agents: {processes: 4096}", "1..8"},
      {"a number beyond 64 bits", "seed: 99999999999999999999999", "seed"},
      {"a duration without a unit", "duration: 5", "unit"},
      {"a duration in a wrong unit", "duration: 5 GHz", "GHz"},
      {"a duration that is not a number", "duration: nan s", "nan"},
      {"a map where a word is wanted", "duration: {s: 5}", "duration"},
      {"a list where a map is wanted", "controller: [1, 2]", "controller"},
      {"a word where a list is wanted", "jobs: many", "jobs"},
      {"null", "seed: ~", "seed"},
      {"an unknown key, with the nearest", "controler: {}", "controller"},
      {"an unknown key inside, with the nearest", "reconcile: {mising: report}", "missing"},
      {"an unknown word, with those that are known", "reconcile: {dim: adopted}", "adopt"},
      {"a drift that cannot be adopted, with those that can", "reconcile: {missing: adopt}",
       "only foreign and dim may be adopted"},
      {"another that cannot", "reconcile: {detuned: adopt}", "only foreign and dim may be adopted"},
      {"limits that contradict each other", "reconcile: {audit_round: 20 s, stale_after: 5 s}", "audit_round"},
      {"a duplicate key", "name: again", "duplicate key"},
      {"an anchor", "network: &n {loss: 0.1}", "anchor"},
      {"an alias of nothing", "network: *n", "anchor"},
      {"a merge key", "<<: {seed: 1}", "merge key"},
      {"a tag", "seed: !!int 7", "tag"},
      {"a second document", "---", "document"},
      {"a tab for indentation", "network:\n\tloss: 0.1", ""},
      {"an open bracket", "jobs: [", ""},
      {"an open quote", "algorithm2: \"oddl", ""},
      {"bytes that are no UTF-8", "algorithm2: \xC3\x28", ""},
      {"a NUL", std::string("seed: 1\0", 8), ""},
  };
  return kFaults;
}

TEST_CASE("every_fault_of_a_yaml_file_is_refused_with_its_place_and_reason") {
  CHECK(errors_of(scenario_with("seed: 7")).empty());
  for (const Fault& fault : faults()) {
    CAPTURE(fault.name, fault.line);
    const auto errors = errors_of(scenario_with(fault.line));
    REQUIRE_FALSE(errors.empty());
    CHECK(errors.front().line >= 7);
    CHECK(errors.front().column >= 1);
    CHECK_THAT(errors.front().message, Catch::Matchers::Contains(fault.reason));
    CHECK_THAT(to_string(errors.front()), Catch::Matchers::Contains("lightloom_config_faults.yaml:"));
  }
}

TEST_CASE("a_scenario_says_what_is_done_about_drift_and_how_fast") {
  const fs::path path = fs::temp_directory_path() / "lightloom_config_faults.yaml";
  std::ofstream(path) << scenario_with(
      "reconcile: {audit_round: 500 ms, interval: 200 ms, stale_after: 3 s, attempts: 5, backoff: 1 s, quiet: 9 s, "
      "foreign: report, dim: report}");
  const auto loaded = load_scenario(path, all_fabric_kinds());
  fs::remove(path);
  REQUIRE(loaded);
  const Scenario& scenario = *loaded.value;
  CHECK(scenario.drift == DriftPolicy{DriftAnswer::repair, DriftAnswer::report, DriftAnswer::repair, DriftAnswer::report});
  CHECK(scenario.controller.repair_attempts == 5);
  CHECK(scenario.controller.repair_quiet == std::chrono::seconds{9});
  CHECK(poll_bound(scenario.controller) == std::chrono::milliseconds{1'500});
  CHECK(audit_interval(scenario.controller, 4) == std::chrono::milliseconds{125});
}

TEST_CASE("a_byte_order_mark_is_read_over_and_another_encoding_is_refused") {
  const std::string text = scenario_with("seed: 7");
  CHECK(errors_of("\xEF\xBB\xBF" + text).empty());
  std::string wide("\xFF\xFE", 2);
  for (const char letter : text) {
    wide += letter;
    wide += '\0';
  }
  // UTF-16 is lawful YAML: yaml-cpp may read it; it is the same file or an error, never something else.
  CHECK_NOTHROW(errors_of(wide));
}

TEST_CASE("a_bomb_of_anchors_is_refused_at_its_first_anchor") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 9; ++k) {
      bomb += before + (k == 8 ? "]\n" : ", ");
    }
  }
  const auto errors = parse_yaml("bomb.yaml", bomb).errors;
  REQUIRE_FALSE(errors.empty());
  CHECK(errors.front().line == 1);
  CHECK_THAT(errors.front().message, Catch::Matchers::Contains("anchor"));
}

}  // namespace
}  // namespace loom
