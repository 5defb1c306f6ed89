// SPDX-License-Identifier: Apache-2.0
// TopoOpt under virtual time: jobs come, change their traffic and end through the commit protocol; the light checker stays
// clean, nobody else's light blinks, and look-ahead panels are wired while light stays.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "controller/architectures/registry.hpp"
#include "controller/architectures/topoopt/fabric.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "sim_backend/simulation.hpp"

namespace {

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

SimResult run(const Scenario& scenario) {
  SimOptions options;
  options.seed = scenario.seed;
  auto result = run_simulation(scenario, options);
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  CHECK(result->revisions.mixed == 0);
  CHECK(result->revisions.returned == 0);
  for (const std::string& refusal : result->refusals) {
    FAIL_CHECK("refused: " << refusal);
  }
  for (const Violation& violation : result->violations) {
    FAIL_CHECK(to_string(violation.rule) << ": " << violation.evidence);
  }
  return *result;
}

Scenario committed(const std::string& name) {
  auto scenario = load_scenario("configs/scenarios/" + name + ".yaml", all_fabric_kinds());
  REQUIRE(scenario);
  scenario.value->mode = Mode::sim;
  return *scenario.value;
}

/// Windows from these servers that were lit at `at`.
LightTimeline lit_at(const LightTimeline& light, std::uint32_t first, std::uint32_t last, Instant at) {
  LightTimeline lit;
  std::copy_if(light.begin(), light.end(), std::back_inserter(lit), [&](const LitWindow& window) {
    return window.source.value >= first && window.source.value <= last && window.begin <= at && at < window.end;
  });
  return lit;
}

TEST_CASE("a_job_comes_changes_its_traffic_and_keeps_what_both_topologies_share_while_another_comes_and_goes") {
  const SimResult result = run(committed("topoopt_16"));
  CHECK(result.revisions.committed == 4);
  const LightTimeline before = lit_at(result.light, 0, 7, Instant{seconds{4}});
  const LightTimeline after = lit_at(result.light, 0, 7, Instant{seconds{7}});
  CHECK(before.size() == 8 * 4);
  CHECK(after.size() == 8 * 4);
  const auto stayed = std::count_if(before.begin(), before.end(), [](const LitWindow& window) { return window.end == kNever; });
  CHECK(stayed >= 8 * 2);  // at least one ring both ways was never touched
  CHECK(lit_at(result.light, 8, 13, Instant{seconds{11}}).size() == 6 * 4);
  CHECK(lit_at(result.light, 8, 13, Instant{seconds{19}}).empty());
  for (const LitWindow& window : after) {
    CHECK(window.end == kNever);  // the other job's end touched nobody
  }
}

Scenario panels(Duration settle) {
  TopooptParameters parameters;
  parameters.nodes = 12;
  parameters.layer = TopooptLayer::look_ahead_panels;
  parameters.panel_settle_max = settle;
  Scenario scenario;
  scenario.name = "panels";
  scenario.fabric = std::make_shared<const Fabric>(make_topoopt(parameters));
  scenario.algorithm = "topoopt";
  scenario.duration = seconds{200};
  JobSubmission job;
  job.name = "a";
  job.workload = "vgg19";
  job.nodes = 8;
  job.at = seconds{1};
  JobSubmission change = job;
  change.name = "a-changed";
  change.changes = "a";
  change.workload = "dlrm";
  change.at = seconds{60};
  scenario.jobs = {job, change};
  return scenario;
}

TEST_CASE("look_ahead_panels_are_wired_while_the_light_stays_and_then_flipped_in_milliseconds") {
  const Duration settle = seconds{30};
  const SimResult result = run(panels(settle));
  CHECK(result.revisions.committed == 3);  // wired and lit; wired ahead; flipped
  const LightTimeline before = lit_at(result.light, 0, 7, Instant{seconds{59}});
  REQUIRE(before.size() == 8 * 4);
  Instant dark = kNever;
  for (const LitWindow& window : before) {
    CHECK(window.begin > Instant{seconds{1}} + settle / 2);  // the first light had to wait for the robot
    REQUIRE(window.end != kNever);
    CHECK(window.end > Instant{seconds{60}} + settle / 2);  // and stayed while it wired the other panels
    dark = std::min(dark, window.end);
  }
  const LightTimeline after = lit_at(result.light, 0, 7, Instant{seconds{190}});
  REQUIRE(after.size() == 8 * 4);
  Instant lit{};
  for (const LitWindow& window : after) {
    CHECK(window.begin > dark);
    lit = std::max(lit, window.begin);
  }
  CHECK(lit - dark < milliseconds{500});  // one commit of the 1x2 switches, not of a panel
}

}  // namespace
