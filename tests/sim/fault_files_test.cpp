// SPDX-License-Identifier: Apache-2.0
// Any workload meets any faults: a scenario's jobs under each committed fault file, judged by ground truth; and what the reader
// says of a fault file that is wrong.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "controller/architectures/registry.hpp"
#include "core/config/scenario/fault_file.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/config/scenario/scenario_text.hpp"
#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

/// The jobs of small_faults without its own faults.
Scenario workload() {
  auto loaded = load_scenario("configs/scenarios/small_faults.yaml", all_fabric_kinds());
  REQUIRE(loaded);
  loaded.value->network = {};
  loaded.value->device_faults.clear();
  for (JobSubmission& job : loaded.value->jobs) {
    job.expect.reset();
  }
  return std::move(*loaded.value);
}

std::vector<ConfigError> errors_of(const std::string& lines, Scenario& scenario) {
  const fs::path path = fs::temp_directory_path() / ("loom-faults-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << "schema_version: 1\nkind: faults\nname: f\n" << lines;
  auto errors = add_faults(path, scenario);
  fs::remove(path);
  return errors;
}

}  // namespace

TEST_CASE("a_workload_is_safe_and_converges_under_each_committed_fault_file") {
  const std::string file =
      GENERATE(as<std::string>{}, "rough_network", "crashing_controller", "rebooting_devices", "everything", "untrue_light");
  CAPTURE(file);
  Scenario scenario = workload();
  REQUIRE(add_faults("configs/faults/" + file + ".yaml", scenario).empty());
  CHECK((!scenario.machine_faults.empty() || !scenario.device_faults.empty()));
  const auto result = run_simulation(scenario, {});
  REQUIRE(result);
  for (const Violation& violation : result->violations) {
    FAIL_CHECK(to_string(violation.rule) << ": " << violation.evidence);
  }
  CHECK(result->revisions.committed >= 2);
  CHECK(result->revisions.mixed == 0);
  INFO(text_of(result->account));
  CHECK(result->account.is_as_expected());  // dark for as long as the file says, at most
}

TEST_CASE("a_fault_file_that_says_nothing_of_darkness_allows_none") {
  Scenario scenario = workload();
  REQUIRE(errors_of("device_faults:\n  - {at: 4 s, device: heater-2, kind: reboot, lasts: 100 ms}\n", scenario).empty());
  const auto silent = run_simulation(scenario, {});
  REQUIRE(silent);
  CHECK_FALSE(silent->account.is_as_expected());
  REQUIRE(errors_of("expect: {dark_at_most: 3 s}\n", scenario).empty());
  const auto expected = run_simulation(scenario, {});
  REQUIRE(expected);
  CHECK(expected->account.is_as_expected());
}

TEST_CASE("faults_of_a_file_are_added_to_the_scenarios_own_in_order_of_time") {
  Scenario scenario = workload();
  scenario.machine_faults.push_back({std::chrono::seconds{2}, {}, MachineFaultKind::crash});
  REQUIRE(errors_of("machine_faults:\n  - {at: 1 s, machine: node-3, kind: partition, lasts: 5 ms}\n", scenario).empty());
  REQUIRE(scenario.machine_faults.size() == 2);
  CHECK(scenario.machine_faults[0] ==
        MachineFault{std::chrono::seconds{1}, NodeId{3}, MachineFaultKind::partition, std::chrono::milliseconds{5}});
  CHECK_FALSE(scenario.machine_faults[1].node.has_value());
}

TEST_CASE("faults_name_only_what_can_have_them") {
  Scenario scenario = workload();
  const auto errors = errors_of(
      "device_faults:\n"
      "  - {at: 1 s, device: heater-1, kind: laser-dead}\n"
      "machine_faults:\n"
      "  - {at: 1 s, machine: controller, kind: slow, delay: 5 ms}\n"
      "  - {at: 1 s, machine: node-1, kind: takeover}\n"
      "  - {at: 1 s, machine: node-1, kind: clock_step}\n"
      "fibre_faults:\n"
      "  - {at: 1 s, kind: fibre-swap, ends: [ring-0]}\n"
      "  - {at: 1 s, kind: fibre-swap, ends: ['ring-0', 'ring-0:7']}\n"
      "  - {at: 1 s, kind: fibre-cut, ends: [ring-0, ring-1]}\n"
      "  - {at: 1 s, kind: fibre-dirty, ends: [ring-0]}\n"
      "  - {at: 1 s, kind: fibre-cut, ends: [ring-0], loss: 3 dB}\n",
      scenario);
  REQUIRE(errors.size() == 9);
  CHECK(errors[0].message.find("is a filter; expected a device that can have laser-dead: transmitter") != std::string::npos);
  CHECK(errors[1].message.find("expected a node") != std::string::npos);
  CHECK(errors[2].message.find("expected the controller") != std::string::npos);
  CHECK(errors[3].message.find("offset") != std::string::npos);
  CHECK(errors[4].message.find("expected two inputs") != std::string::npos);
  CHECK(errors[5].message.find("no fibre at input 7") != std::string::npos);
  CHECK(errors[6].message.find("found 2; expected one input") != std::string::npos);
  CHECK(errors[7].message.find("loss") != std::string::npos);
  CHECK(errors[8].message.find("loss") != std::string::npos);
}

TEST_CASE("a_swap_names_the_fibres_at_two_inputs") {
  Scenario scenario = workload();
  REQUIRE(
      errors_of("fibre_faults:\n  - {at: 2 s, kind: fibre-swap, ends: [ring-0, 'ring-3:0'], lasts: 5 ms}\n", scenario).empty());
  REQUIRE(scenario.fibre_faults.size() == 1);
  const auto ends_at = [&](FibreId fibre) {
    return scenario.fabric->element(scenario.fabric->fibres[fibre.value].to.element).name;
  };
  CHECK(ends_at(scenario.fibre_faults.front().first) == "ring-0");
  CHECK(ends_at(scenario.fibre_faults.front().second) == "ring-3");
}

TEST_CASE("a_cut_and_a_dirty_fibre_are_one_fibre_each_and_a_file_of_them_reads_back") {
  Scenario scenario = workload();
  REQUIRE(errors_of("fibre_faults:\n"
                    "  - {at: 2 s, kind: fibre-dirty, ends: [ring-0], loss: 2.5 dB, lasts: 1 s}\n"
                    "  - {at: 1 s, kind: fibre-cut, ends: ['ring-3:0']}\n",
                    scenario)
              .empty());
  REQUIRE(scenario.fibre_faults.size() == 2);
  CHECK(scenario.fibre_faults[0].kind == FibreFaultKind::cut);
  CHECK(scenario.fibre_faults[0].lasts == kForever);
  CHECK(scenario.fibre_faults[1].kind == FibreFaultKind::dirty);
  CHECK(scenario.fibre_faults[1].loss == Db{250});
  const std::string text = fault_text(scenario);
  Scenario again = workload();
  REQUIRE(errors_of(text.substr(text.find("fibre_faults:")), again).empty());
  CHECK(again.fibre_faults == scenario.fibre_faults);
}

TEST_CASE("a_wrong_fault_file_is_named_with_its_place_and_the_nearest_word") {
  Scenario scenario = workload();
  const auto errors = errors_of(
      "machine_faults:\n"
      "  - {at: 1 s, machine: node-77, kind: crash}\n"
      "  - {at: 1 s, machine: node-7, kind: crush}\n"
      "jobs: []\n",
      scenario);
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].line == 5);
  CHECK(errors[0].message.find("node-77") != std::string::npos);
  CHECK(errors[1].line == 6);
  CHECK(errors[1].message.find("crash") != std::string::npos);
  CHECK(errors[2].line == 7);
  CHECK(add_faults("configs/faults/none.yaml", scenario).size() == 1);
}

}  // namespace loom
