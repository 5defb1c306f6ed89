// SPDX-License-Identifier: Apache-2.0
// Rings that are not what their fabric says: what a job gets of them before they were measured, and after. The judge is ground
// truth: the light that comes to receivers, and where simulated rings really stand.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "sim_backend/experiments/ring_truth.hpp"
#include "sim_backend/experiments/survey_client.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

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
  const Scenario scenario = scenario_on({.calibrated = false, .habits = astray(), .job_at = seconds{120}});
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

TEST_CASE("a host that is busy for a moment returns a look, and spoils no calibration") {
  Scenario scenario = scenario_on({.calibrated = false, .habits = astray()});
  for (int i = 0; i < 100; ++i) {  // of which some strike between what a commit measures its host by and its instant
    scenario.machine_faults.push_back(
        {seconds{5} + i * milliseconds{83}, NodeId{1}, MachineFaultKind::slow, milliseconds{30}, milliseconds{60}});
  }
  World world(scenario, {}, {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{5}});
  SurveyClient client(world, SurveyClient::What::rings);
  client.run(Instant{seconds{60}});
  CHECK(troubles(client) == "");
  CHECK(world.controller().intent().calibrations.size() == 4);
  const OperatorReply history = world.controller().answer(Query{Noun::history, {}});
  const auto& commits = std::get<std::vector<CommitReport>>(history.rows);
  CHECK(std::ranges::count(commits, CommitOutcome::committed, &CommitReport::outcome) <
        static_cast<std::ptrdiff_t>(commits.size()));
}

TEST_CASE("five hundred rings are found side by side") {
  const Scenario scenario =
      scenario_on({.nodes = 64, .group_size = 16, .channels = 32, .planes = 8, .calibrated = false, .habits = astray()});
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

TEST_CASE("rings that nobody has measured carry no light that is called lit, not even before they were read") {
  const Scenario scenario = scenario_on({.calibrated = false, .habits = astray(), .job_at = seconds{5}});
  World world(scenario, jobs_of(scenario), {});
  REQUIRE(world.start());
  std::size_t circuits = 0;
  for (Instant at{seconds{4}}; at < Instant{seconds{15}}; at += milliseconds{20}) {
    world.run_until(at);
    circuits = world.controller().confirmed_plan() ? circuits_of(world) : 0;
    REQUIRE(said_lit(world) == 0);
  }
  REQUIRE(circuits > 0);
  CHECK(world.light().reached().size() < circuits);
}

TEST_CASE("where the fabric is believed and wrong its light is not called lit because monitors see none") {
  const Scenario scenario = scenario_on({.habits = astray(), .job_at = seconds{5}});
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
  const Scenario scenario = scenario_on({.nodes = 8, .job_at = seconds{2}});
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
  const Scenario scenario = scenario_on({.planes = 1, .job_at = seconds{2}});
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
