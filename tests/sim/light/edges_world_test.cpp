// SPDX-License-Identifier: Apache-2.0
// Lasers with a trigger in the whole system under virtual time: their lights begin with one edge a node, whose skew is the
// line's own, and ground truth judges every instant.
#include <catch2/catch.hpp>

#include <algorithm>

#include "controller/architectures/oddl/fabric.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::microseconds;
using std::chrono::seconds;

namespace {

/// Sixteen nodes whose lasers have tables and triggers, a line each with `endpoint`; a ring of eight of them, whose light no
/// timeslots interrupt.
Scenario edged_scenario(const std::string& endpoint) {
  OddlParameters parameters;
  parameters.nodes = 16;
  parameters.group_size = 4;
  parameters.channels = 6;
  parameters.take(OddlLaser::table_laser);
  Fabric fabric = make_oddl(parameters);
  Scenario scenario;
  for (Device& device : fabric.devices) {
    if (device.role == DeviceRole::transmitter) {
      device.profile = {{"trigger", std::int64_t{1}}};
      scenario.triggers.push_back({"edge-" + device.name, endpoint, device.agent, {device.id}});
    }
  }
  scenario.fabric = std::make_shared<const Fabric>(std::move(fabric));
  scenario.duration = seconds{10};
  scenario.controller.common_start = true;  // as whoever reads triggers from a file says it
  JobSubmission ring;
  ring.name = "ring";
  ring.workload = "vgg19";
  ring.nodes = 8;
  ring.at = std::chrono::milliseconds{500};
  scenario.jobs = {ring};
  return scenario;
}

struct EdgeOutcome {
  EdgeCounters edges;
  std::size_t lit = 0;
  std::vector<Violation> violations;
  std::vector<Alarm> alarms;
};

EdgeOutcome run(const Scenario& scenario, std::uint64_t seed = 1) {
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  WorldOptions options;
  options.seed = seed;
  World world(scenario, std::move(*jobs), options);
  REQUIRE(world.start());
  world.run_until(instant_from_ns(0) + seconds{10});
  EdgeOutcome outcome;
  for (const Node& node : scenario.fabric->nodes) {
    const EdgeCounters& counters = world.agent(node.id).units().edges().counters();
    outcome.edges.asked += counters.asked;
    outcome.edges.fired += counters.fired;
    outcome.edges.missed += counters.missed;
    outcome.edges.refused += counters.refused;
  }
  for (const auto& [id, record] : world.controller().jobs().records()) {
    outcome.lit += record.state == JobState::lit ? 1 : 0;
  }
  outcome.violations = world.checker().violations();
  outcome.alarms = world.alarms();
  return outcome;
}

}  // namespace

TEST_CASE("lasers_with_a_line_are_lit_by_its_edge_and_by_no_word") {
  const EdgeOutcome outcome = run(edged_scenario("sim?skew=200ns"));
  CHECK(outcome.lit == 1);
  CHECK(outcome.violations.empty());
  CHECK(outcome.edges.fired > 0);
  CHECK(outcome.edges.missed == 0);
  CHECK(outcome.edges.refused == 0);
  CHECK(outcome.edges.asked == outcome.edges.fired);
  CHECK(outcome.alarms.empty());
}

TEST_CASE("edges_that_come_too_late_are_told_and_cost_no_job_its_light") {
  const EdgeOutcome outcome = run(edged_scenario("sim?skew=10ms"));
  CHECK(outcome.lit == 1);
  CHECK(outcome.violations.empty());
  CHECK(outcome.edges.missed > 0);
  CHECK(std::ranges::any_of(outcome.alarms, [](const Alarm& alarm) { return alarm.evidence.contains("no edge set laser-"); }));
}
