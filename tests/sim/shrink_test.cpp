// SPDX-License-Identifier: Apache-2.0
// What the swarm draws can be written down, read back and run again; and what fails is made small.
#include "sim_backend/experiments/shrink.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "controller/architectures/registry.hpp"
#include "core/config/scenario/fault_file.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_((fs::temp_directory_path() / ("loom-shrink-" + std::to_string(getpid()))).string()) {}
  ~Folder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Scenario read_back(const DrawFiles& files) {
  auto loaded = load_scenario(files.scenario, all_fabric_kinds());
  for (const ConfigError& error : loaded.errors) {
    FAIL_CHECK(to_string(error));
  }
  REQUIRE(loaded);
  for (const ConfigError& error : add_faults(files.faults, *loaded.value)) {
    FAIL_CHECK(to_string(error));
  }
  return std::move(*loaded.value);
}

}  // namespace

TEST_CASE("a_drawn_run_is_written_and_read_back_as_the_same_run") {
  const std::uint64_t seed = GENERATE(range(1, 31));
  const bool of_fault_file = GENERATE(false, true);
  CAPTURE(seed, of_fault_file);
  SwarmOptions options;
  options.seed = seed;
  const auto draw = of_fault_file ? draw_fault_file(options) : draw_swarm(options);
  REQUIRE(draw);
  const Folder folder;
  const auto files = write_draw(*draw, options.configs, folder.path());
  REQUIRE(files);
  const Scenario read = read_back(*files);
  const Scenario& drawn = draw->scenario;
  CHECK(read.jobs == drawn.jobs);
  CHECK(read.churn == drawn.churn);
  CHECK(read.actions == drawn.actions);
  CHECK(read.network == drawn.network);
  CHECK(read.device_faults == drawn.device_faults);
  CHECK(read.machine_faults == drawn.machine_faults);
  CHECK(read.fibre_faults == drawn.fibre_faults);
  CHECK(read.algorithm == drawn.algorithm);
  CHECK(read.controller.stage_deadline == drawn.controller.stage_deadline);
  const auto first = run_draw(*draw);
  const auto again = run_simulation(read, {.seed = read.seed, .trace_path = {}});
  REQUIRE(first);
  REQUIRE(again);
  CHECK(first->digest == again->digest);
}

TEST_CASE("what_fails_is_shrunk_to_what_it_needs_and_found_again_from_its_files") {
  // An agent that is never back leaves its node absent: the run does not come to rest. Everything else here is chaff.
  SwarmOptions options;
  options.seed = 4;
  options.allowed = {};
  options.family = FabricFamily::oddl;
  auto draw = draw_swarm(options);
  REQUIRE(draw);
  Scenario& scenario = draw->scenario;
  const auto crash = [&](std::uint32_t node, Duration at, Duration lasts) {
    MachineFault fault;
    fault.at = at;
    fault.node = NodeId{node};
    fault.kind = MachineFaultKind::crash;
    fault.lasts = lasts;
    scenario.machine_faults.push_back(fault);
  };
  crash(1, std::chrono::seconds{1}, std::chrono::milliseconds{50});
  crash(2, std::chrono::seconds{2}, std::chrono::milliseconds{50});
  crash(3, std::chrono::seconds{3}, std::chrono::minutes{50});
  crash(1, std::chrono::seconds{4}, std::chrono::milliseconds{50});
  scenario.network.loss = 0.01;
  const auto found = run_draw(*draw);
  REQUIRE(found);
  REQUIRE_FALSE(found->violations.empty());
  CHECK(found->violations.front().rule == SafetyRule::unsettled);
  const auto shrunk = shrink(*draw, {200, options.configs});
  REQUIRE(shrunk);
  const Scenario& small = shrunk->draw.scenario;
  CHECK(shrunk->rule == SafetyRule::unsettled);
  CHECK(shrunk->draw.fabric.size == 0);
  CHECK(small.jobs.empty());
  CHECK(small.churn.revisions == 0);
  CHECK(small.network == NetworkFaults{});
  REQUIRE(small.machine_faults.size() == 1);
  CHECK(small.machine_faults.front().node == NodeId{3});
  CHECK(small.duration < scenario.duration);
  const Folder folder;
  const auto files = write_draw(shrunk->draw, options.configs, folder.path());
  REQUIRE(files);
  const Scenario read = read_back(*files);
  const auto again = run_simulation(read, {.seed = read.seed, .trace_path = {}});
  REQUIRE(again);
  REQUIRE_FALSE(again->violations.empty());
  CHECK(again->violations.front().rule == shrunk->rule);
}

}  // namespace loom
