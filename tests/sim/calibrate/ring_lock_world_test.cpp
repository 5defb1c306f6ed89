// SPDX-License-Identifier: Apache-2.0
// Rings that are held on their light while their chip's temperature changes. The judge is ground truth: where simulated rings
// really stand, and the light that comes to receivers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "core/ring/calibration.hpp"
#include "sim_backend/experiments/ring_truth.hpp"
#include "sim_backend/experiments/survey_client.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

double worst_of(const std::vector<double>& values) { return *std::ranges::max_element(values); }

std::size_t circuits_of(World& world) { return world.controller().confirmed_plan()->plan.circuits.size(); }

std::vector<RingReport> rings_of(World& world) {
  const OperatorReply reply = world.controller().answer(Query{Noun::rings, {}});
  return std::get<std::vector<RingReport>>(reply.rows);
}

/// Of the rings that their agents hold, how many say that they are on their light; every one must.
std::size_t locked_rings(World& world) {
  std::size_t locked = 0;
  for (const RingReport& ring : rings_of(world)) {
    INFO(ring.name << ": " << ring.lock << " by " << ring.trim.mhz << " MHz");
    CHECK((ring.lock.empty() || ring.lock == "locked"));
    locked += ring.lock == "locked" ? 1 : 0;
  }
  return locked;
}

/// Nothing was told of anything; else what.
void check_calm(World& world) {
  for (const Alarm& alarm : world.alarms()) {
    UNSCOPED_INFO(alarm.evidence);
  }
  CHECK(world.alarms().empty());
}

struct Seen {
  double worst = 0;             ///< MHz that a lit ring stood beside its light
  std::size_t least_lit = ~0U;  ///< circuits
};

Seen watch(World& world, const Fabric& fabric, Instant until) {
  Seen seen;
  while (world.loop_now() < until) {
    world.run_until(world.loop_now() + milliseconds{100});
    seen.worst = std::max(seen.worst, worst_of(rings_off_light(world, fabric)));
    seen.least_lit = std::min(seen.least_lit, world.light().reached().size());
  }
  return seen;
}

}  // namespace

TEST_CASE("a chip that warms by ten kelvin in a minute loses no channel of rings that are held, and cooling none either") {
  const double kelvin = GENERATE(10.0, -10.0);
  const Scenario scenario =
      scenario_on({.locked = true, .habits = {.crosstalk = 0.02, .substrate = 0.1}, .job_at = seconds{2}});
  World world(scenario, std::move(*script_of(scenario)), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{6}});
  const std::size_t circuits = circuits_of(world);
  REQUIRE(circuits > 0);
  std::map<ElementId, FrequencyOffset> before;  // what crosstalk took: the fabric's figures know none
  for (const RingReport& ring : rings_of(world)) {
    before[ring.ring] = ring.trim;
  }
  warm_chips(world, *scenario.fabric, kelvin, seconds{60});
  const Seen seen = watch(world, *scenario.fabric, Instant{seconds{70}});
  CHECK(seen.least_lit == circuits);
  CHECK(seen.worst < 100'000.0 / kRingWidthParts);
  CHECK(world.confirmed() == 1);  // no repair, no alarm: it is where it should be
  check_calm(world);
  std::size_t locked = 0;
  for (const RingReport& ring : rings_of(world)) {
    if (!ring.lock.empty()) {
      ++locked;
      CHECK(ring.lock == "locked");
      CHECK(static_cast<double>(ring.trim.mhz - before[ring.ring].mhz) == Approx(kelvin * kRingMhzPerKelvin).margin(4'000));
    }
  }
  CHECK(locked == circuits);
  CHECK(world.unsettled().empty());
}

TEST_CASE("the same chip without lock loses its channels") {
  const Scenario scenario = scenario_on({.job_at = seconds{2}});
  World world(scenario, std::move(*script_of(scenario)), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{6}});
  warm_chips(world, *scenario.fabric, 10, seconds{60});
  const Seen seen = watch(world, *scenario.fabric, Instant{seconds{70}});
  CHECK(seen.worst > 100'000);
  CHECK(seen.least_lit == 0);
}

TEST_CASE("rings that are held are let go while they are measured, and held again with what was measured") {
  const Scenario scenario = scenario_on({.calibrated = false, .locked = true, .habits = astray(), .job_at = seconds{60}});
  World world(scenario, std::move(*script_of(scenario)), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{5}});
  SurveyClient client(world, SurveyClient::What::rings);
  client.run(Instant{seconds{50}});
  REQUIRE(client.trouble().empty());
  CHECK(client.campaign().troubles().empty());
  world.run_until(Instant{seconds{65}});
  warm_chips(world, *scenario.fabric, 3, seconds{10});
  const Seen first = watch(world, *scenario.fabric, Instant{seconds{80}});
  CHECK(first.worst < 100'000.0 / kRingWidthParts);
  CHECK(locked_rings(world) == circuits_of(world));
}

TEST_CASE("an agent that starts again on a warm chip finds its rings' light again") {
  const Scenario scenario = scenario_on({.locked = true, .job_at = seconds{2}});
  World world(scenario, std::move(*script_of(scenario)), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{6}});
  const std::size_t circuits = circuits_of(world);
  warm_chips(world, *scenario.fabric, 4, seconds{20});
  world.run_until(Instant{seconds{30}});
  CHECK(world.light().reached().size() == circuits);
  world.crash(agent_peer(NodeId{1}), seconds{2});
  world.run_until(Instant{seconds{60}});
  CHECK(world.light().reached().size() == circuits);
  CHECK(worst_of(rings_off_light(world, *scenario.fabric)) < 100'000.0 / kRingWidthParts);
  CHECK(locked_rings(world) == circuits_of(world));
}

TEST_CASE("rings of a job that ends on a warm chip are cold and no drift, and the next job's are in place at once") {
  Scenario scenario = scenario_on({.locked = true, .job_at = seconds{2}});
  scenario.jobs.front().runs_for = seconds{30};
  JobSubmission next = scenario.jobs.front();
  next.name = "next";
  next.at = seconds{50};
  scenario.jobs.push_back(next);
  World world(scenario, std::move(*script_of(scenario)), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{6}});
  warm_chips(world, *scenario.fabric, 8, seconds{20});
  world.run_until(Instant{seconds{49}});
  REQUIRE(circuits_of(world) == 0);
  CHECK(locked_rings(world) == 0);
  check_calm(world);
  const std::uint64_t confirmed = world.confirmed();
  world.run_until(Instant{seconds{51}});
  REQUIRE(circuits_of(world) > 0);
  CHECK(worst_of(rings_off_light(world, *scenario.fabric)) < 100'000.0 / kRingWidthParts);
  world.run_until(Instant{seconds{60}});
  CHECK(locked_rings(world) == circuits_of(world));
  CHECK(world.confirmed() == confirmed + 1);
  check_calm(world);
}

TEST_CASE("a ring that its heater cannot bring back says that it is at its end, and by how much it may still warm") {
  const Scenario scenario = scenario_on({.locked = true, .job_at = seconds{2}});
  World world(scenario, std::move(*script_of(scenario)), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{6}});
  std::uint32_t least = ~0U;
  for (const RingReport& ring : rings_of(world)) {
    least = ring.warmer_millikelvin ? std::min(least, *ring.warmer_millikelvin) : least;
  }
  REQUIRE(least < 400'000);
  warm_chips(world, *scenario.fabric, least / 1e3 + 3, seconds{120});
  world.run_until(Instant{seconds{130}});
  const auto rings = rings_of(world);
  const auto ended = std::ranges::find(rings, "at_limit", &RingReport::lock);
  REQUIRE(ended != rings.end());
  CHECK(*ended->warmer_millikelvin < 100);
  const auto warned = std::ranges::find_if(world.alarms(), [&](const Alarm& alarm) {
    return alarm.device == ended->bank && alarm.evidence.find("its heater is off") != std::string::npos;
  });
  CHECK(warned != world.alarms().end());
}

TEST_CASE("looks that a survey's commits come between move no ring: each light is measured as it is") {
  Scenario scenario = scenario_on({.locked = true, .habits = {.substrate = 0.1}});
  scenario.seed = GENERATE(range(1U, 40U));
  World world(scenario, std::move(*script_of(scenario)), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{5}});
  SurveyClient client(world, SurveyClient::What::lasers);
  client.run(Instant{seconds{120}});
  REQUIRE(client.trouble().empty());
  CHECK(client.lasers().unmeasured().empty());
  REQUIRE_FALSE(client.lasers().measured().empty());
  for (const MeasuredChannel& light : client.lasers().measured()) {
    CAPTURE(light.transmitter.value, light.slot.n, light.offset.centi);
    CHECK(std::abs(light.offset.centi) <= 5);
  }
}
