// kill -9 at every step of a change: see sim_backend/kill_points.hpp for what is judged. A trial takes
// milliseconds, so the suite tries them all, of one seed; `./dev soak` tries other seeds.
#include "sim_backend/kill_points.hpp"

#include <catch2/catch.hpp>

#include <cstdio>

#include "tests/sim/oddl_light.hpp"

using namespace loom;

namespace {

void check_kills(const KillExperiment& experiment, Peer machine, const std::string& name) {
  const auto report = try_kill_points(experiment, machine, 1);
  REQUIRE(report);
  std::printf("%s, %s: %llu of %llu kill points covered, slowest return %.3f s\n", name.c_str(),
              std::string(to_string(experiment.change)).c_str(), static_cast<unsigned long long>(report->covered),
              static_cast<unsigned long long>(report->points), seconds_of(report->slowest));
  CHECK(report->points > 0);
  for (const KillTrial& trial : report->failures) {
    for (const std::string& finding : trial.findings) {
      FAIL_CHECK(name << ", kill point " << trial.kill_point << " of seed " << experiment.seed << ": " << finding);
    }
  }
}

}  // namespace

TEST_CASE("a_controller_killed_at_any_step_of_a_change_finds_its_way_back") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(8, 4);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  check_kills(experiment, controller_peer(), "controller");
}

TEST_CASE("an_agent_killed_at_any_step_of_a_change_finds_its_way_back") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(8, 4);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  const std::uint32_t node = GENERATE(range(0U, 8U));
  check_kills(experiment, agent_peer(NodeId{node}), "agent " + std::to_string(node));
}

namespace {

/// Every device that the change writes, at every fourth of the instants that lie 5 ms apart; `./dev soak kill-points` tries
/// all.
void check_power_cycles(const KillExperiment& experiment, const std::string& name, bool of_lasers) {
  const auto devices = devices_of_change(experiment);
  REQUIRE(devices);
  std::size_t tried = 0;
  for (const DeviceId device : *devices) {
    if ((experiment.fabric->device(device).kind == DeviceKind::itla_laser) != of_lasers) {
      continue;
    }
    ++tried;
    const auto report = try_power_cycles(experiment, device, std::chrono::milliseconds{5}, 4);
    REQUIRE(report);
    const std::string& called = experiment.fabric->device(device).name;
    std::printf("%s, %s, %s: %llu of %llu power cycles covered, slowest return %.3f s\n", name.c_str(), called.c_str(),
                std::string(to_string(experiment.change)).c_str(), static_cast<unsigned long long>(report->covered),
                static_cast<unsigned long long>(report->points), seconds_of(report->slowest));
    CHECK(report->points > 0);
    for (const KillTrial& trial : report->failures) {
      for (const std::string& finding : trial.findings) {
        FAIL_CHECK(name << ", " << called << ", instant " << trial.kill_point << ": " << finding);
      }
    }
  }
  CHECK(tried > 0);
}

}  // namespace

TEST_CASE("a_heater_or_switch_that_loses_power_at_any_instant_of_a_change_is_set_again") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(8, 4);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  check_power_cycles(experiment, "oddl", false);
}

/// Light of the job that stays passes the WSS that the other job's change writes.
TEST_CASE("a_wss_that_two_jobs_share_is_set_again_in_the_dark_after_a_power_cycle") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(16, 8);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  check_power_cycles(experiment, "oddl, one group", false);
}

TEST_CASE("a_circuit_switch_that_loses_power_at_any_instant_of_a_change_is_set_again") {
  KillExperiment experiment;
  SipOcsParameters parameters;
  parameters.nodes = 8;
  experiment.fabric = std::make_shared<const Fabric>(make_sip_ocs(parameters));
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  check_power_cycles(experiment, "sip_ocs", false);
}

TEST_CASE("a_laser_that_loses_power_at_any_instant_of_a_change_is_set_again") {
  KillExperiment experiment;
  experiment.fabric = test::small_oddl(8, 4);
  experiment.change = GENERATE(IntentChange::submit, IntentChange::cancel);
  check_power_cycles(experiment, "oddl", true);
}
