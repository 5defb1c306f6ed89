// SPDX-License-Identifier: Apache-2.0
// Replay over ground truth: what a fault does to light is what it does to the iteration, and nothing else does.
#include <catch2/catch.hpp>

#include "controller/predict/replay.hpp"
#include "controller/workload/models/zoo.hpp"
#include "sim_backend/simulation.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint32_t kNodes = 8;

Scenario ring_on_eight() {
  Scenario scenario;
  scenario.name = "replay";
  scenario.fabric = small_oddl(kNodes, 4);
  JobSubmission job;
  job.name = "ring";
  job.workload = "vgg19";
  job.nodes = kNodes;
  job.at = milliseconds{500};
  scenario.jobs = {job};
  scenario.duration = seconds{4};
  return scenario;
}

ScenarioFault detuned(const Scenario& scenario, std::uint32_t node, Duration at, Duration lasts) {
  ScenarioFault fault;
  fault.at = at;
  fault.device = device_of(*scenario.fabric, scenario.fabric->nodes[node].transmitters.front());
  fault.kind = DeviceFaultKind::detune;
  fault.offset = FrequencyOffset{12'000};  // out of its own passbands, not yet into a neighbour's
  fault.lasts = lasts;
  return fault;
}

LightTimeline light_of_run(const Scenario& scenario) {
  const auto result = run_simulation(scenario, {.seed = 11, .run_for = kForever, .trace_path = {}});
  REQUIRE(result);
  CHECK(result->revisions.mixed == 0);
  return result->light;
}

JobSpec placed_job() {
  auto job = make_workload("vgg19", {kNodes, {}});
  REQUIRE(job);
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    job->placement.push_back(NodeId{node});
  }
  return *job;
}

Result<Replay> replay_at(const LightTimeline& light, Instant start) {
  ReplayOptions options;
  options.start = start;
  return replay(placed_job(), light, options);
}

}  // namespace

TEST_CASE("detuning one transmitter lengthens the replayed iteration by the darkness that it makes") {
  const Scenario whole = ring_on_eight();
  Scenario faulty = whole;
  faulty.device_faults = {detuned(whole, 3, milliseconds{2'040}, milliseconds{30})};
  const Instant start{seconds{2}};
  const auto undisturbed = replay_at(light_of_run(whole), start);
  const auto disturbed = replay_at(light_of_run(faulty), start);
  REQUIRE(undisturbed);
  REQUIRE(disturbed);
  CHECK(undisturbed->dark == Duration{0});
  CHECK(disturbed->iteration > undisturbed->iteration + milliseconds{20});
  CHECK(disturbed->dark >= milliseconds{20});
}

TEST_CASE("an iteration before the fault is not disturbed by it") {
  Scenario faulty = ring_on_eight();
  const Instant start{milliseconds{1'500}};
  const auto undisturbed = replay_at(light_of_run(faulty), start);
  faulty.device_faults = {detuned(faulty, 3, seconds{3}, milliseconds{30})};
  const auto before = replay_at(light_of_run(faulty), start);
  REQUIRE(undisturbed);
  REQUIRE(before);
  CHECK(before->iteration == undisturbed->iteration);
}

TEST_CASE("bytes that never get light again are named, not lost") {
  Scenario faulty = ring_on_eight();
  faulty.device_faults = {detuned(faulty, 3, seconds{2}, kForever)};
  const auto replayed = replay_at(light_of_run(faulty), Instant{milliseconds{2'500}});
  REQUIRE_FALSE(replayed);
  CAPTURE(replayed.error().message);
  CHECK(replayed.error().code == ErrorCode::infeasible);
  CHECK(replayed.error().message.find("from node 3 to node 4") != std::string::npos);
}
