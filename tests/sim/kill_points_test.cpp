// SPDX-License-Identifier: Apache-2.0
// kill -9 at the steps of a change, and devices without power at its instants: see sim_backend/experiments/kill_points.hpp for
// what is judged. A trial takes milliseconds, so the suite tries all points of one architecture and a part of each other's;
// `./dev soak kill-points` tries all of all.
#include "sim_backend/experiments/kill_points.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <set>

#include "sim_backend/experiments/swarm_fabric.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;

namespace {

void check_trials(const KillReport& report, const KillExperiment& experiment, const std::string& name) {
  std::printf("%s, %s: %llu of %llu kill points covered, slowest return %.3f s\n", name.c_str(),
              std::string(to_string(experiment.change)).c_str(), static_cast<unsigned long long>(report.covered),
              static_cast<unsigned long long>(report.points), seconds_of(report.slowest));
  CHECK(report.covered > 0);
  for (const KillTrial& trial : report.failures) {
    for (const std::string& finding : trial.findings) {
      FAIL_CHECK(name << ", kill point " << trial.kill_point << " of seed " << experiment.seed << ": " << finding);
    }
  }
}

void check_kills(const KillExperiment& experiment, Peer machine, std::uint64_t stride, const std::string& name) {
  const auto report = try_kill_points(experiment, machine, stride);
  REQUIRE(report);
  check_trials(*report, experiment, name);
}

/// The smallest of its family.
KillExperiment experiment_on(FabricFamily family) {
  KillExperiment experiment;
  const auto fabric = make_fabric({family, 0}, "configs");
  REQUIRE(fabric);
  experiment.fabric = *fabric;
  return experiment;
}

FabricFamily any_family() { return static_cast<FabricFamily>(GENERATE(range(0, static_cast<int>(kFabricFamilies)))); }

}  // namespace

TEST_CASE("a_controller_killed_at_any_step_of_a_change_finds_its_way_back") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(8, 4);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  check_kills(experiment, controller_peer(), 1, "controller");
}

TEST_CASE("an_agent_killed_at_any_step_of_a_change_finds_its_way_back") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(8, 4);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  const std::uint32_t node = GENERATE(range(0U, 8U));
  check_kills(experiment, agent_peer(NodeId{node}), 1, "agent " + std::to_string(node));
}

/// Here agents may be dark for a revision of which only the journal knows: a new incarnation that does not take it for
/// uncertain leaves them so.
TEST_CASE("a_controller_killed_between_going_and_proceed_brings_light_back_on_every_architecture") {
  const FabricFamily family = any_family();
  KillExperiment experiment = experiment_on(family);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  const auto span = points_while_going(experiment);
  REQUIRE(span);
  REQUIRE(span->end > span->first);
  const auto report = try_kill_span(experiment, controller_peer(), *span);
  REQUIRE(report);
  check_trials(*report, experiment, std::string(to_string(family)) + ", controller while going");
}

TEST_CASE("machines_killed_at_steps_of_a_change_find_their_way_back_on_every_architecture") {
  const FabricFamily family = any_family();
  KillExperiment experiment = experiment_on(family);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  const std::string name(to_string(family));
  check_kills(experiment, controller_peer(), 9, name + ", controller");
  const auto last = static_cast<std::uint32_t>(experiment.fabric->nodes.size()) - 1;
  for (const std::uint32_t node : {0U, last}) {  // the first ones drive switches
    check_kills(experiment, agent_peer(NodeId{node}), 9, name + ", agent " + std::to_string(node));
  }
}

namespace {

/// Every device of these kinds that the change or its opposite writes, at every `every`-th of the instants that lie 5 ms apart.
void check_power_cycles(const KillExperiment& experiment, const std::string& name, const std::set<DeviceRole>& kinds,
                        std::uint64_t every) {
  const auto devices = devices_of_changes(experiment);
  REQUIRE(devices);
  std::size_t tried = 0;
  for (const DeviceId device : *devices) {
    if (!kinds.contains(experiment.fabric->device(device).role)) {
      continue;
    }
    ++tried;
    const auto report = try_power_cycles(experiment, device, std::chrono::milliseconds{5}, every);
    REQUIRE(report);
    const std::string& called = experiment.fabric->device(device).name;
    std::printf("%s, %s, %s: %llu of %llu power cycles covered, slowest return %.3f s\n", name.c_str(), called.c_str(),
                std::string(to_string(experiment.change)).c_str(), static_cast<unsigned long long>(report->covered),
                static_cast<unsigned long long>(report->points), seconds_of(report->slowest));
    CHECK(report->covered > 0);
    for (const KillTrial& trial : report->failures) {
      for (const std::string& finding : trial.findings) {
        FAIL_CHECK(name << ", " << called << ", instant " << trial.kill_point << ": " << finding);
      }
    }
  }
  CHECK(tried > 0);  // there is such a device at all
}

const std::set<DeviceRole> kLasers{DeviceRole::transmitter};
const std::set<DeviceRole> kOthers{DeviceRole::filter, DeviceRole::wavelength_switch, DeviceRole::circuit_switch};

}  // namespace

TEST_CASE("a_heater_or_switch_that_loses_power_at_any_instant_of_a_change_is_set_again") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(8, 4);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  check_power_cycles(experiment, "oddl", kOthers, 4);
}

/// Light of the job that stays passes the WSS that the other job's change writes.
TEST_CASE("a_wss_that_two_jobs_share_is_set_again_in_the_dark_after_a_power_cycle") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(16, 8);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  check_power_cycles(experiment, "oddl, one group", kOthers, 4);
}

TEST_CASE("a_laser_that_loses_power_at_any_instant_of_a_change_is_set_again") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(8, 4);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  check_power_cycles(experiment, "oddl", kLasers, 4);
}

TEST_CASE("devices_that_lose_power_at_instants_of_a_change_are_set_again_on_every_architecture") {
  const FabricFamily family = any_family();
  KillExperiment experiment = experiment_on(family);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  const std::string name(to_string(family));
  check_power_cycles(experiment, name, kLasers, 16);
  if (family != FabricFamily::oddl_awgr) {  // there light between neighbours passes nothing that moves
    check_power_cycles(experiment, name, kOthers, 8);
  }
}
