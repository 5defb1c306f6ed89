// SPDX-License-Identifier: Apache-2.0
// Every committed fabric under virtual time: its scenario runs without a violation, bytes get through over the light that was
// there, and a job's light never blinks when others come and go.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "controller/architectures/registry.hpp"
#include "controller/predict/replay.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::seconds;

namespace {

Scenario committed(const std::string& name) {
  auto scenario = load_scenario("configs/scenarios/" + name + ".yaml", all_fabric_kinds());
  REQUIRE(scenario);
  return *scenario.value;
}

SimResult run(const Scenario& scenario) {
  SimOptions options;
  options.seed = scenario.seed;
  auto result = run_simulation(scenario, options);
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  CHECK(result->revisions.mixed == 0);
  CHECK(result->revisions.returned == 0);
  for (const Violation& violation : result->violations) {
    FAIL_CHECK(to_string(violation.rule) << ": " << violation.evidence);
  }
  return *result;
}

std::size_t windows_of(const LightTimeline& light, std::set<std::uint32_t> sources, bool still_lit) {
  return static_cast<std::size_t>(std::count_if(light.begin(), light.end(), [&](const LitWindow& window) {
    return sources.contains(window.source.value) && (window.end == kNever) == still_lit;
  }));
}

JobSpec placed(const std::string& workload, std::uint32_t first, std::uint32_t nodes) {
  auto job = make_workload(workload, {nodes, {}});
  REQUIRE(job);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    job->placement.push_back(NodeId{first + i});
  }
  return *job;
}

/// The scenarios sip_ring_16 and sip_ocs_16: a ring on nodes 0..7, then an all-to-all on 8..11 that leaves again.
void check_two_jobs(const std::string& name) {
  const SimResult result = run(committed(name));
  CHECK(result.revisions.committed == 3);
  const std::set<std::uint32_t> first{0, 1, 2, 3, 4, 5, 6, 7};
  const std::set<std::uint32_t> second{8, 9, 10, 11};
  CHECK(windows_of(result.light, first, true) >= 8);
  CHECK(windows_of(result.light, first, false) == 0);  // lit once, never touched
  CHECK(windows_of(result.light, second, false) >= 12);
  CHECK(windows_of(result.light, second, true) == 0);
  ReplayOptions options;
  options.start = Instant{seconds{6}};
  for (const JobSpec& job : {placed("vgg19", 0, 8), placed("dlrm", 8, 4)}) {
    const auto replayed = replay(job, result.light, options);
    INFO((replayed ? "" : replayed.error().message));
    REQUIRE(replayed);
    CHECK(replayed->waited == Duration{0});
    CHECK(replayed->iteration > replayed->compute);
  }
}

}  // namespace

TEST_CASE("sip_ring_runs_two_jobs_over_re_used_wavelengths") { check_two_jobs("sip_ring_16"); }

TEST_CASE("sip_ocs_runs_two_jobs_over_four_switches") { check_two_jobs("sip_ocs_16"); }

TEST_CASE("one_commit_moves_lasers_heaters_wss_and_ocs_of_a_lab_of_every_element") {
  const Scenario scenario = committed("all_elements");
  const SimResult result = run(scenario);
  CHECK(result.revisions.committed == 1);
  CHECK(windows_of(result.light, {0, 1, 2, 3}, true) == 4);
  ReplayOptions options;
  options.start = Instant{seconds{5}};
  const auto replayed = replay(placed("vgg19", 0, 4), result.light, options);
  REQUIRE(replayed);
  CHECK(replayed->waited == Duration{0});
}
