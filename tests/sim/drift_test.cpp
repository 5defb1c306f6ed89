// Somebody changes devices behind the controller's back, one at a time: each is named within one poll and repaired by a commit
// that disturbs no other light, or left alone where the scenario says so.
#include "sim_backend/experiments/drift_experiment.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

DriftResult run(const Plant& plant, const Scenario& scenario = drift_scenario(), std::uint64_t seed = 1,
                Duration phase = milliseconds{130}) {
  auto result = run_drift(scenario, plant, seed, phase);
  REQUIRE(result);
  return *result;
}

Plant plant_named(const std::string& name) {
  const auto plants = drift_plants();
  const auto found = std::find_if(plants.begin(), plants.end(), [&](const Plant& plant) { return plant.name == name; });
  REQUIRE(found != plants.end());
  return *found;
}

}  // namespace

TEST_CASE("every_planted_drift_is_named_within_one_poll_and_repaired_without_disturbing_other_light") {
  const DriftFabric fabric = GENERATE(DriftFabric::nodes_16, DriftFabric::ocs_16);
  const Scenario scenario = drift_scenario(fabric);
  for (const Plant& plant : drift_plants(fabric)) {
    if (plant.expected == Drift::stale) {
      continue;
    }
    CAPTURE(plant.name);
    const DriftResult result = run(plant, scenario);
    CHECK(result.named_after <= poll_bound(scenario.controller));
    CHECK(result.sound_after <= poll_bound(scenario.controller) + seconds{2});
    CHECK(result.commits == 1);
    CHECK(result.touched == plant.circuits);
    CHECK(result.by_repair <= plant.circuits);
    CHECK(result.violations == 0);
    REQUIRE(result.alarms.size() == 1);
    CHECK(result.alarms.front().evidence.find(result.device_name) == 0);
    CHECK(result.alarms.front().next_command == "loom device show " + std::to_string(result.device.value));
  }
}

TEST_CASE("a_silent_device_is_stale_within_one_poll_is_asked_again_and_nothing_is_written") {
  const DriftFabric fabric = GENERATE(DriftFabric::nodes_16, DriftFabric::ocs_16);
  const Scenario scenario = drift_scenario(fabric);
  constexpr Duration kTries =
      4 * milliseconds{500} + milliseconds{100};  // the longest reply deadline of the drivers, and pauses
  for (const Plant& plant : drift_plants(fabric)) {
    if (plant.expected != Drift::stale) {
      continue;
    }
    CAPTURE(plant.name);
    const DriftResult result = run(plant, scenario);
    CHECK(result.named_after <= poll_bound(scenario.controller) + kTries);
    CHECK(result.sound_after >= seconds{6});
    CHECK(result.sound_after <= seconds{6} + poll_bound(scenario.controller) + kTries);
    CHECK(result.commits == 0);
    CHECK(result.by_outsider + result.by_repair == 0);
    CHECK(result.violations == 0);
    const auto reported = std::find_if(result.alarms.begin(), result.alarms.end(), [&](const Alarm& alarm) {
      return alarm.evidence.find("follows no order: " + result.device_name + ": ") != std::string::npos;  // its driver's words
    });
    REQUIRE(reported != result.alarms.end());
    CHECK(reported->next_command == "loom device reset " + std::to_string(result.device.value));
  }
}

TEST_CASE("what_the_scenario_only_wants_reported_is_named_and_left") {
  Scenario scenario = drift_scenario();
  scenario.drift.missing = DriftAnswer::report;
  const DriftResult result = run(plant_named("laser switched off"), scenario);
  CHECK(result.named_after <= poll_bound(scenario.controller));
  CHECK(result.sound_after == kForever);
  CHECK(result.commits == 0);
  CHECK(result.alarms.size() == 1);
}

TEST_CASE("a_device_that_cannot_be_repaired_is_given_up_after_a_bounded_number_of_attempts") {
  Plant plant = plant_named("laser switched off");
  plant.act = [](Outsider& outsider, World& world, DeviceId laser) {
    outsider.emission(laser, false);
    DeviceFault stuck;
    stuck.kind = DeviceFaultKind::stick;
    world.loop().call_at(world.loop_now() + milliseconds{50}, Precision::ordinary,
                         [&world, laser, stuck] { world.bus().inject(laser, stuck); });
  };
  const Scenario scenario = drift_scenario();
  const DriftResult result = run(plant, scenario);
  CHECK(result.commits == 0);
  CHECK(result.by_outsider + result.by_repair == 1);
  const auto gave_up = std::count_if(result.alarms.begin(), result.alarms.end(), [](const Alarm& alarm) {
    return alarm.evidence.find("is still missing after 3 repairs") != std::string::npos;
  });
  CHECK(gave_up == 1);
  const auto failed = std::count_if(result.alarms.begin(), result.alarms.end(), [](const Alarm& alarm) {
    return alarm.evidence.find("did not repair") != std::string::npos;
  });
  CHECK(failed == 3);
}

TEST_CASE("a_device_that_flaps_is_repaired_a_few_times_and_then_left") {
  Plant plant = plant_named("laser switched off");
  plant.act = [](Outsider& outsider, World& world, DeviceId laser) {
    for (int i = 0; i < 18; ++i) {
      world.loop().call_at(world.loop_now() + seconds{i}, Precision::ordinary,
                           [&outsider, laser] { outsider.emission(laser, false); });
    }
  };
  Scenario scenario = drift_scenario();
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  World world(scenario, std::move(*jobs), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{4}});
  REQUIRE(world.controller().is_idle());
  const DeviceId laser = plant.device(world.controller().confirmed_plan()->plan, *scenario.fabric);
  Outsider outsider(world.bus(), scenario.fabric);
  const std::uint64_t before = world.confirmed();
  plant.act(outsider, world, laser);
  world.run_until(Instant{seconds{26}});
  CHECK(world.confirmed() - before <= scenario.controller.repair_attempts);
  CHECK(world.confirmed() - before >= 2);
}

TEST_CASE("a_drift_alarm_is_cleared_when_the_device_is_sound_again") {
  const Scenario scenario = drift_scenario();
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  World world(scenario, std::move(*jobs), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{4}});
  const Plant plant = plant_named("laser switched off");
  const DeviceId laser = plant.device(world.controller().confirmed_plan()->plan, *scenario.fabric);
  Outsider outsider(world.bus(), scenario.fabric);
  plant.act(outsider, world, laser);
  const auto is_alarmed = [&] {
    const auto& alarms = world.controller().alarms();
    return std::any_of(alarms.begin(), alarms.end(), [&](const StandingAlarm& row) {
      return !row.cleared && row.alarm.code == AlarmCode::drift && row.alarm.device == laser;
    });
  };
  bool was_alarmed = false;
  for (int i = 0; i < 400; ++i) {
    world.run_until(world.loop_now() + milliseconds{20});
    was_alarmed = was_alarmed || is_alarmed();
  }
  CHECK(was_alarmed);
  CHECK_FALSE(is_alarmed());
  CHECK(world.controller().drift().counts() == DriftCounts{});
}
