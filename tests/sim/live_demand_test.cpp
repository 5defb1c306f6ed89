// SPDX-License-Identifier: Apache-2.0
// Live demand under the real controller, agents and network: what nodes report moves light, or is damped.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "sim_backend/simulation.hpp"
#include "sim_backend/world/world.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

Scenario scenario_at(const std::string& path) {
  auto scenario = load_scenario(path, all_fabric_kinds());
  for (const ConfigError& error : scenario.errors) {
    UNSCOPED_INFO(to_string(error));
  }
  REQUIRE(scenario);
  return std::move(*scenario.value);
}

std::unique_ptr<World> world_of(const Scenario& scenario) {
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  WorldOptions options;
  options.seed = scenario.seed;
  auto world = std::make_unique<World>(scenario, std::move(*jobs), options);
  REQUIRE(world->start());
  return world;
}

void check_clean(const World& world) {
  for (const Violation& violation : world.checker().violations()) {
    FAIL_CHECK("at " << seconds_of(violation.at.time_since_epoch()) << " s: " << to_string(violation.rule) << ": "
                     << violation.evidence);
  }
}

std::set<Pair> pairs_of(const World& world) {
  std::set<Pair> pairs;
  for (const Circuit& circuit : world.controller().confirmed_plan()->plan.circuits) {
    pairs.emplace(circuit.source.value, circuit.destination.value);
  }
  return pairs;
}

JobId job_named(const World& world, const std::string& name) {
  for (const auto& [id, entry] : world.controller().jobs().records()) {
    if (world.controller().jobs().facts_of(id).name == name) {
      return id;
    }
  }
  FAIL("no job " << name);
  return {};
}

const StandingAlarm* alarm_of(const World& world, AlarmCode code) {
  const auto& rows = world.controller().alarms();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const StandingAlarm& row) { return row.alarm.code == code; });
  return found == rows.end() ? nullptr : &*found;
}

/// Windows of light between two nodes, of the whole run.
std::map<Pair, std::vector<LitWindow>> windows_of(const World& world) {
  std::map<Pair, std::vector<LitWindow>> windows;
  for (const LitWindow& window : world.light().timeline()) {
    windows[{window.source.value, window.destination.value}].push_back(window);
  }
  return windows;
}

}  // namespace

TEST_CASE("light follows demand that has changed for good, and what need not move stays lit") {
  const Scenario scenario = scenario_at("configs/scenarios/live_demand.yaml");
  const auto world = world_of(scenario);
  world->run_until(Instant{seconds{8}});
  const std::set<Pair> before = pairs_of(*world);
  const std::uint64_t revisions = world->confirmed();
  REQUIRE(before.size() == 48);
  const DemandWatch& watch = world->controller().demand_watches().at(job_named(*world, "shifting"));
  INFO(watch.says());
  CHECK(watch.says() == "as the light is made for");
  world->run_until(Instant{seconds{20}});
  INFO(watch.says());
  CHECK(watch.says().find("followed by revision") == 0);
  CHECK(world->confirmed() == revisions + 1);
  CHECK(world->returned() == 0);
  const std::set<Pair> after = pairs_of(*world);
  std::set<Pair> kept;
  std::set_intersection(before.begin(), before.end(), after.begin(), after.end(), std::inserter(kept, kept.end()));
  CHECK(after.size() == 48);
  CHECK(kept.size() == 46);
  const auto windows = windows_of(*world);
  for (const Pair& pair : kept) {
    INFO(pair.first << " to " << pair.second);
    CHECK(windows.at(pair).size() == 1);  // lit once, never dark since
  }
  check_clean(*world);
  CHECK(world->unsettled().empty());
}

TEST_CASE("demand that changes faster than its light may follow is not followed, and says so until it is calm") {
  const Scenario scenario = scenario_at("configs/scenarios/live_demand_restless.yaml");
  const auto world = world_of(scenario);
  world->run_until(Instant{seconds{4}});
  const std::uint64_t revisions = world->confirmed();
  world->run_until(Instant{seconds{17}});
  CHECK(world->confirmed() == revisions);
  const StandingAlarm* alarm = alarm_of(*world, AlarmCode::demand_unsteady);
  REQUIRE(alarm != nullptr);
  INFO(alarm->alarm.evidence);
  CHECK_FALSE(alarm->cleared);
  CHECK(alarm->alarm.evidence.find("changed ") != std::string::npos);
  CHECK(alarm->alarm.evidence.find("s to move and is held for") != std::string::npos);
  const JobId job = job_named(*world, "restless");
  CHECK(world->controller().demand_watches().at(job).says().find("demand of job " + std::to_string(job.value)) == 0);
  world->run_until(Instant{seconds{70}});
  INFO(world->controller().demand_watches().at(job).says());
  CHECK(world->confirmed() == revisions);  // it came to rest as its light is made for
  const StandingAlarm* calm = alarm_of(*world, AlarmCode::demand_unsteady);
  CHECK((calm == nullptr || calm->cleared));
  CHECK_FALSE(world->controller().demand_watches().at(job).is_restless());
  check_clean(*world);
}

TEST_CASE("a job that did not ask for it keeps its light whatever its nodes report") {
  Scenario scenario = scenario_at("configs/scenarios/live_demand.yaml");
  for (JobSubmission& job : scenario.jobs) {
    job.adapt = false;
  }
  const auto world = world_of(scenario);
  world->run_until(Instant{seconds{8}});
  const std::uint64_t revisions = world->confirmed();
  world->run_until(Instant{seconds{20}});
  CHECK(world->confirmed() == revisions);
  CHECK(world->controller().demand_watches().empty());
}

TEST_CASE("a controller that starts again makes the light that its job's measured demand had moved") {
  Scenario scenario = scenario_at("configs/scenarios/live_demand.yaml");
  const auto world = world_of(scenario);
  world->run_until(Instant{seconds{18}});
  const std::set<Pair> followed = pairs_of(*world);
  const Job& job = world->controller().intent().jobs.back();
  REQUIRE(job.measured.size() > 0);
  const std::vector<Collective> measured = job.measured;
  world->crash(controller_peer(), milliseconds{200});
  world->run_until(Instant{seconds{24}});
  REQUIRE(world->is_up(controller_peer()));
  CHECK(world->controller().intent().jobs.back().measured == measured);
  CHECK(pairs_of(*world) == followed);
  check_clean(*world);
}

TEST_CASE("demand that a new plan would carry no faster leaves the light as it is") {
  Scenario scenario = scenario_at("configs/scenarios/live_demand.yaml");
  scenario.jobs.back().traffic.back() = {seconds{8}, "resnet50", {}, 1, milliseconds{100}};
  const auto world = world_of(scenario);
  world->run_until(Instant{seconds{8}});
  const std::uint64_t revisions = world->confirmed();
  world->run_until(Instant{seconds{20}});
  CHECK(world->confirmed() == revisions);
  const std::string& says = world->controller().demand_watches().at(job_named(*world, "shifting")).says();
  INFO(says);
  CHECK(says.find("over the present light and") != std::string::npos);
  CHECK(says.find("less than 5 % better; kept") != std::string::npos);
}

TEST_CASE("the same scenario of live demand runs the same again") {
  const Scenario scenario = scenario_at("configs/scenarios/live_demand_restless.yaml");
  SimOptions options;
  options.seed = scenario.seed;
  options.run_for = seconds{12};
  const auto once = run_simulation(scenario, options);
  const auto again = run_simulation(scenario, options);
  REQUIRE((once && again));
  CHECK(once->digest == again->digest);
  CHECK(once->events == again->events);
}
