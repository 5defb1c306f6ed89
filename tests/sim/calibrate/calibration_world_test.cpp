// SPDX-License-Identifier: Apache-2.0
// Rings that are not what their fabric says: what a job gets of them before they were measured, and after. The judge is ground
// truth: the light that comes to receivers, and where simulated rings really stand.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "controller/architectures/oddl/fabric.hpp"
#include "sim_backend/experiments/ring_truth.hpp"
#include "sim_backend/experiments/survey_client.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::shared_ptr<const Fabric> testbed(std::uint32_t nodes, std::uint32_t group_size, std::int32_t channels,
                                      std::uint32_t planes, bool calibrated) {
  OddlParameters parameters;
  parameters.nodes = nodes;
  parameters.group_size = group_size;
  parameters.channels = channels;
  parameters.planes = planes;
  parameters.calibrated = calibrated;
  parameters.photodiodes = true;
  Fabric fabric = make_oddl(parameters);
  build_index(fabric);
  return std::make_shared<const Fabric>(std::move(fabric));
}

RingHabits astray() {
  RingHabits habits;
  habits.resistance = 0.05;
  habits.cold = FrequencyOffset{125'000};
  habits.crosstalk = 0.02;
  habits.substrate = 0.1;
  return habits;
}

Scenario scenario_of(std::shared_ptr<const Fabric> fabric, Duration job_at) {
  Scenario scenario;
  scenario.name = "calibration";
  scenario.fabric = std::move(fabric);
  scenario.algorithm = "oddl";
  scenario.rings = astray();
  JobSubmission job;
  job.name = "ring";
  job.workload = "vgg19";
  job.nodes = static_cast<std::uint32_t>(scenario.fabric->nodes.size());
  job.at = job_at;
  scenario.jobs = {job};
  return scenario;
}

std::vector<ScriptedJob> jobs_of(const Scenario& scenario) {
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  return std::move(*jobs);
}

std::size_t circuits_of(const World& world) { return world.controller().confirmed_plan()->plan.circuits.size(); }

/// What an operator is told of them.
std::size_t said_lit(World& world) {
  Query query{Noun::circuits, {}};
  const OperatorReply reply = world.controller().answer(query);
  return static_cast<std::size_t>(
      std::ranges::count(std::get<std::vector<CircuitReport>>(reply.rows), LightState::lit, &CircuitReport::light));
}

std::string violations(const World& world) {
  std::string text;
  for (const Violation& each : world.checker().violations()) {
    text += each.evidence + "\n";
  }
  return text;
}

std::string troubles(const SurveyClient& client) {
  std::string text = client.trouble();
  for (const RingTrouble& each : client.campaign().troubles()) {
    text += each.ring + ": " + each.why + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("rings that are off their fabric are found by light and their job is lit") {
  const Scenario scenario = scenario_of(testbed(4, 4, 16, 2, false), seconds{120});
  World world(scenario, jobs_of(scenario), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{5}});
  SurveyClient client(world, SurveyClient::What::rings);
  client.run(Instant{seconds{110}});
  INFO(client.trouble());
  REQUIRE(client.trouble().empty());
  CHECK(troubles(client) == "");
  const Intent& intent = world.controller().intent();
  CHECK(intent.probes.empty());
  CHECK(intent.calibrations.size() == 4);
  for (const std::size_t light : {0U, 1U, 2U}) {
    const auto misses = ring_misses(*scenario.fabric, scenario.rings, 1, intent, Believed::calibration, light);
    REQUIRE(misses.size() == 8);
    CHECK(*std::ranges::max_element(misses) < 100'000.0 / kRingWidthParts);
    const auto before = ring_misses(*scenario.fabric, scenario.rings, 1, intent, Believed::fabric, light);
    CHECK(*std::ranges::max_element(before) > 50'000);
  }
  world.run_until(Instant{seconds{130}});
  REQUIRE(circuits_of(world) > 0);
  CHECK(world.light().reached().size() == circuits_of(world));
  CHECK(said_lit(world) == circuits_of(world));
  CHECK(world.unsettled().empty());
  CHECK(violations(world) == "");
}

TEST_CASE("five hundred rings are found side by side") {
  Scenario scenario = scenario_of(testbed(64, 16, 32, 8, false), seconds{2});
  scenario.jobs.clear();
  World world(scenario, {}, {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{10}});
  SurveyClient client(world, SurveyClient::What::rings);
  client.run(Instant{seconds{100}});
  CHECK(troubles(client) == "");
  CHECK(client.campaign().steps() < 100);
  for (const std::size_t light : {0U, 1U}) {
    const auto misses =
        ring_misses(*scenario.fabric, scenario.rings, 1, world.controller().intent(), Believed::calibration, light);
    REQUIRE(misses.size() == 512);
    CHECK(*std::ranges::max_element(misses) < 2'000);
  }
  CHECK(violations(world) == "");
}

TEST_CASE("rings that nobody has measured carry no light that is called lit") {
  const Scenario scenario = scenario_of(testbed(4, 4, 16, 2, false), seconds{5});
  World world(scenario, jobs_of(scenario), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{15}});
  REQUIRE(circuits_of(world) > 0);
  CHECK(world.light().reached().size() < circuits_of(world));
  CHECK(said_lit(world) == 0);
}

TEST_CASE("where the fabric is believed and wrong its light is not called lit because monitors see none") {
  const Scenario scenario = scenario_of(testbed(4, 4, 16, 2, true), seconds{5});
  World world(scenario, jobs_of(scenario), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{15}});
  REQUIRE(circuits_of(world) > 0);
  CHECK(world.light().reached().size() < circuits_of(world));
  // A photodiode tells power, and light whose band a ring cuts has nearly all of it; what brings none is never called lit.
  std::size_t bright = 0;
  for (const Circuit& circuit : world.controller().confirmed_plan()->plan.circuits) {
    const auto lights = world.light().lights_at(circuit.receiver);
    bright += std::ranges::any_of(lights, [&](const Light& light) { return light.power >= Dbm{-1'000}; }) ? 1 : 0;
  }
  CHECK(bright < circuits_of(world));
  CHECK(said_lit(world) <= bright);
}

TEST_CASE("a bank beside running light is measured without touching it") {
  // Node 4 and the nodes after it are in the other group.
  Scenario scenario = scenario_of(testbed(8, 4, 16, 2, true), seconds{2});
  scenario.rings = {};
  scenario.jobs[0].nodes = 4;
  World world(scenario, jobs_of(scenario), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{10}});
  const std::size_t circuits = circuits_of(world);
  REQUIRE(circuits > 0);
  std::set<std::uint32_t> used;
  for (const Circuit& circuit : world.controller().confirmed_plan()->plan.circuits) {
    used.insert(circuit.source.value);
    used.insert(circuit.destination.value);
  }
  std::vector<DeviceId> free;
  std::vector<DeviceId> busy;
  for (const Device& device : scenario.fabric->devices) {
    if (device.role == DeviceRole::filter) {
      (used.contains(device.agent.value) ? busy : free).push_back(device.id);
    }
  }
  REQUIRE(!free.empty());
  const LightTimeline before = world.light().timeline();
  SurveyClient client(world, SurveyClient::What::rings, free);
  client.run(Instant{seconds{200}});
  CHECK(troubles(client) == "");
  CHECK(world.controller().intent().calibrations.size() == free.size());
  CHECK(world.light().reached().size() == circuits);
  for (const LitWindow& window : before) {
    const LightTimeline now = world.light().timeline();
    CHECK(std::ranges::count(now, window) == 1);  // lit as before, and never dark in between
  }
  CHECK(violations(world) == "");
}

TEST_CASE("a bank that carries light is not measured and says what it carries") {
  Scenario scenario = scenario_of(testbed(4, 4, 16, 1, true), seconds{2});
  scenario.rings = {};
  World world(scenario, jobs_of(scenario), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{10}});
  const std::size_t circuits = circuits_of(world);
  SurveyClient client(world, SurveyClient::What::rings);
  client.run(Instant{seconds{60}});
  REQUIRE(client.trouble().empty());
  CHECK(client.campaign().calibrations().empty());
  REQUIRE(client.campaign().troubles().size() == 4);
  CHECK(world.light().reached().size() == circuits);
}
