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
