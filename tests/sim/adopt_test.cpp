// SPDX-License-Identifier: Apache-2.0
// Where the scenario says so, what somebody changed behind the controller's back becomes desired: nothing is written, no light
// is disturbed, the alarm says so until it is cleared, and later jobs are planned around it.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim_backend/experiments/drift_experiment.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Plant plant_named(const std::string& name) {
  const auto plants = drift_plants();
  const auto found = std::find_if(plants.begin(), plants.end(), [&](const Plant& plant) { return plant.name == name; });
  REQUIRE(found != plants.end());
  return *found;
}

Scenario adopting() {
  Scenario scenario = drift_scenario();
  scenario.drift.foreign = DriftAnswer::adopt;
  scenario.drift.dim = DriftAnswer::adopt;
  return scenario;
}

/// A second ring of four nodes, after the plant.
Scenario with_a_second_job(Scenario scenario) {
  JobSubmission job = scenario.jobs.front();
  job.name = "second";
  job.nodes = 4;
  job.at = seconds{20};
  scenario.jobs.push_back(job);
  return scenario;
}

/// A fabric in light at 8 s, and one thing changed there.
struct Bench {
  Bench(const Scenario& scenario_in, const Plant& plant) : scenario(scenario_in), world(scenario, jobs_of(scenario), logged()) {
    REQUIRE(world.start());
    world.run_until(Instant{seconds{8}});
    REQUIRE(world.controller().is_idle());
    before = world.controller().confirmed_plan();
    device = plant.device(before->plan, *scenario.fabric);
    world.excuse(scenario.fabric->device(device));
    plant.act(outsider, world, device);
    world.run_until(Instant{seconds{8} + milliseconds{300}});
    writes = world.bus().register_writes();
    planted = world.loop_now();
  }

  static std::vector<ScriptedJob> jobs_of(const Scenario& scenario) {
    auto jobs = script_of(scenario);
    REQUIRE(jobs);
    return std::move(*jobs);
  }
  static WorldOptions logged() {
    WorldOptions options;
    options.devices.keep_actuations = true;
    return options;
  }

  const DeviceOverride* adopted() const {
    for (const DeviceOverride& each : world.controller().intent().overrides) {
      if (each.device == device && each.is_adopted()) {
        return &each;
      }
    }
    return nullptr;
  }
  const StandingAlarm* alarm() const {
    for (const StandingAlarm& row : world.controller().alarms()) {
      if (!row.cleared && row.alarm.code == AlarmCode::drift && row.alarm.device == device) {
        return &row;
      }
    }
    return nullptr;
  }
  std::size_t light_ended_since_planted() const {
    const LightTimeline light = world.light().timeline();
    return static_cast<std::size_t>(std::count_if(light.begin(), light.end(), [&](const LitWindow& window) {
      return window.begin < planted && window.end >= planted && window.end < kNever;
    }));
  }

  Scenario scenario;
  World world;
  Outsider outsider{world.bus(), scenario.fabric};
  std::shared_ptr<const PlanResult> before;
  DeviceId device;
  std::uint64_t writes = 0;
  Instant planted{};
};

const std::vector<std::string>& adoptable() {
  static const std::vector<std::string> kNames{"idle laser switched on", "unused route opened", "laser turned down by 4.5 dB"};
  return kNames;
}

}  // namespace

TEST_CASE("what_is_adopted_is_desired_as_it_was_found_and_nothing_is_written_or_disturbed_for_it") {
  for (const std::string& name : adoptable()) {
    CAPTURE(name);
    Bench bench(adopting(), plant_named(name));
    bench.world.run_until(Instant{seconds{18}});
    for (const Alarm& alarm : bench.world.alarms()) {
      UNSCOPED_INFO(alarm.evidence);
    }
    REQUIRE(bench.adopted() != nullptr);
    CHECK(bench.adopted()->found_beside == bench.before->plan.revision);
    CHECK(bench.world.controller().drift().counts() == DriftCounts{});
    CHECK(bench.world.controller().is_idle());
    CHECK(bench.world.controller().confirmed().value == bench.before->plan.revision.value + 1);
    const Plan& plan = bench.world.controller().confirmed_plan()->plan;
    CHECK(differences(bench.world.light(), &plan).empty());
    CHECK(plan.circuits == bench.before->plan.circuits);
    CHECK(plan.touched.empty());
    CHECK(plan.moved_steering.empty());
    CHECK(bench.world.bus().register_writes() == bench.writes);
    CHECK(bench.light_ended_since_planted() == 0);
    REQUIRE(bench.alarm() != nullptr);
    CHECK(bench.alarm()->alarm.evidence.find("is adopted as it was found") != std::string::npos);
    CHECK(bench.alarm()->alarm.next_command == "loom device set " + std::to_string(bench.device.value) + " --clear");
  }
}

TEST_CASE("a_job_that_comes_later_is_planned_around_what_was_adopted") {
  for (const std::string& name : adoptable()) {
    CAPTURE(name);
    Bench bench(with_a_second_job(adopting()), plant_named(name));
    bench.world.run_until(Instant{seconds{28}});
    for (const auto& [id, job] : bench.world.controller().jobs().records()) {
      CAPTURE(bench.world.controller().jobs().facts_of(id).name, job.reason);
      CHECK(job.state == JobState::lit);
    }
    REQUIRE(bench.adopted() != nullptr);
    const Plan& plan = bench.world.controller().confirmed_plan()->plan;
    CHECK(plan.circuits.size() > bench.before->plan.circuits.size());
    CHECK(bench.world.controller().drift().counts() == DriftCounts{});
    CHECK(differences(bench.world.light(), &plan).empty());
    CHECK(bench.world.checker().count() == 0);
  }
}

TEST_CASE("an_adoption_survives_a_controller_that_starts_again_and_its_alarm_is_raised_anew") {
  for (const std::string& name : adoptable()) {
    CAPTURE(name);
    Bench bench(adopting(), plant_named(name));
    bench.world.run_until(Instant{seconds{18}});
    REQUIRE(bench.adopted() != nullptr);
    const DeviceOverride adopted = *bench.adopted();
    bench.world.crash(controller_peer(), seconds{1});
    bench.world.run_until(Instant{seconds{28}});
    REQUIRE(bench.adopted() != nullptr);
    CHECK(*bench.adopted() == adopted);
    CHECK(bench.alarm() != nullptr);
    CHECK(bench.world.controller().drift().counts() == DriftCounts{});
    CHECK(bench.world.bus().register_writes() == bench.writes);
    CHECK(bench.light_ended_since_planted() == 0);
  }
}

TEST_CASE("what_no_plan_may_say_is_not_adopted_and_the_alarm_says_why") {
  Plant plant = plant_named("idle ring heated");
  std::string reason = "heat has no place of its own on the grid";
  SECTION("heat") {}
  SECTION("light between two channels") {
    plant = plant_named("idle laser switched on");
    plant.act = [](Outsider& outsider, World& world, DeviceId id) {
      outsider.channel(id, 2);  // of the module's own grid of 50 GHz, from the lowest of its 100 GHz channels on
      world.loop().call_at(world.loop_now() + milliseconds{50}, Precision::ordinary,
                           [&outsider, id] { outsider.emission(id, true); });
    };
    reason = "is on none of its";
  }
  Bench bench(adopting(), plant);
  bench.world.run_until(Instant{seconds{18}});
  CHECK(bench.adopted() == nullptr);
  CHECK(bench.world.controller().drift().counts().foreign == 1);
  CHECK(bench.world.controller().confirmed() == bench.before->plan.revision);
  REQUIRE(bench.alarm() != nullptr);
  CHECK(bench.alarm()->alarm.evidence.find("it is not adopted: ") != std::string::npos);
  CHECK(bench.alarm()->alarm.evidence.find(reason) != std::string::npos);
  CHECK(bench.world.bus().register_writes() == bench.writes);
}
