// SPDX-License-Identifier: Apache-2.0
// How much light of each laser arrives, found by light; and that plans level it by that. The judge is who planted the losses,
// and ground truth.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "controller/architectures/oddl/fabric.hpp"
#include "sim_backend/experiments/survey_client.hpp"
#include "sim_backend/simulation.hpp"
#include "tests/sim/light/watched_scenario.hpp"

using namespace loom;
using std::chrono::seconds;

namespace {

/// Its ring wants light at `job_at`.
Scenario scenario_of(Duration job_at, const std::function<void(Fabric&)>& change = {}) {
  Scenario scenario = test::watched_scenario(change);
  for (auto& job : scenario.jobs) {
    job.at = job_at;
  }
  return scenario;
}

std::unique_ptr<World> started(const Scenario& scenario) {
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  auto world = std::make_unique<World>(scenario, std::move(*jobs), WorldOptions{});
  REQUIRE(world->start());
  return world;
}

FibreFault dirty(FibreId fibre, Db loss) {
  FibreFault fault;
  fault.kind = FibreFaultKind::dirty;
  fault.first = fibre;
  fault.loss = loss;
  return fault;
}

FibreId behind(const Fabric& fabric, ElementId transmitter) { return *fabric.fibre_out[transmitter.value][0]; }

/// The first circuit of the job without any dirt, and what its receiver gets.
std::pair<Circuit, Dbm> undisturbed() {
  const Scenario scenario = scenario_of(seconds{0});
  const auto world = started(scenario);
  world->run_until(Instant{seconds{6}});
  REQUIRE(world->controller().jobs().records().begin()->second.state == JobState::lit);
  const Circuit circuit = world->controller().confirmed_plan()->plan.circuits.front();
  const auto rows = std::get<std::vector<ReceiverReport>>(world->controller().answer(Query{Noun::receivers, {}}).rows);
  return {circuit, std::ranges::find(rows, circuit.receiver, &ReceiverReport::receiver)->power};
}

}  // namespace

TEST_CASE("losses behind two lasers are measured on all of their channels and no other laser has any") {
  const Scenario scenario = scenario_of(seconds{600});
  const Fabric& fabric = *scenario.fabric;
  const auto world = started(scenario);
  const ElementId first = fabric.nodes[2].transmitters.front();
  const ElementId second = fabric.nodes[9].transmitters.front();
  world->begin_fibre_fault(dirty(behind(fabric, first), Db{300}));
  world->begin_fibre_fault(dirty(behind(fabric, second), Db{150}));
  world->run_until(Instant{seconds{5}});
  SurveyClient client(*world, SurveyClient::What::lasers);
  client.run(Instant{seconds{120}});
  INFO(client.trouble());
  REQUIRE(client.trouble().empty());
  for (const UnmeasuredLight& each : client.lasers().unmeasured()) {
    INFO(each.why);
    CHECK(each.why.empty());
  }
  std::set<ElementId> lasers;
  for (const MeasuredChannel& light : client.lasers().measured()) {
    lasers.insert(light.transmitter);
    const double planted = light.transmitter == first ? -3.0 : light.transmitter == second ? -1.5 : 0.0;
    CHECK(std::abs(light.offset.centi / 100.0 - planted) < 0.3);
  }
  CHECK(lasers.size() == fabric.nodes.size());
  CHECK(world->controller().intent().calibrations.size() == fabric.nodes.size());
  CHECK(world->controller().intent().probes.empty());
  CHECK(world->checker().violations().empty());
}

TEST_CASE("frequencies of lasers are measured by the wavemeters behind them and by no one where there is none") {
  const Scenario scenario = scenario_of(seconds{600}, [](Fabric& fabric) {
    for (const std::size_t node : {std::size_t{3}, std::size_t{7}}) {
      test::tap_behind(fabric, fabric.nodes[node].transmitters.front(), "osa");
    }
  });
  const Fabric& fabric = *scenario.fabric;
  const auto world = started(scenario);
  const ElementId shifted = fabric.nodes[3].transmitters.front();
  const ElementId straight = fabric.nodes[7].transmitters.front();
  DeviceFault fault;
  fault.kind = DeviceFaultKind::detune;
  fault.offset = FrequencyOffset{1'800};  // below what is told as detuned
  fault.hidden = true;
  world->excuse(fabric.device(*fabric.device_of_element[shifted.value]));
  world->bus().inject(*fabric.device_of_element[shifted.value], fault);
  world->run_until(Instant{seconds{5}});
  SurveyClient client(*world, SurveyClient::What::lasers);
  client.run(Instant{seconds{120}});
  INFO(client.trouble());
  REQUIRE(client.trouble().empty());
  std::size_t seen = 0;
  for (const MeasuredChannel& light : client.lasers().measured()) {
    const bool is_watched = light.transmitter == shifted || light.transmitter == straight;
    CHECK(light.detuning.has_value() == is_watched);
    if (light.detuning) {
      ++seen;
      const std::int64_t planted = light.transmitter == shifted ? 1'800 : 0;
      CHECK(std::abs(light.detuning->mhz - planted) < 500);  // five times a wavemeter's noise
    }
  }
  CHECK(seen > 2);
  CHECK(client.lasers().unmeasured().empty());
  CHECK(world->checker().violations().empty());
}

TEST_CASE("a loss that would keep a job dark is levelled once its laser was measured") {
  const auto [circuit, power] = undisturbed();
  const auto narrow = [least = power - Db{200}](Fabric& fabric) {
    for (Element& element : fabric.elements) {
      if (auto* receiver = std::get_if<Receiver>(&element.kind)) {
        receiver->sensitivity = least;
      }
    }
  };
  for (const bool is_measured : {false, true}) {
    CAPTURE(is_measured);
    const Scenario scenario = scenario_of(seconds{130}, narrow);
    const auto world = started(scenario);
    world->begin_fibre_fault(dirty(behind(*scenario.fabric, circuit.transmitter), Db{400}));
    world->run_until(Instant{seconds{5}});
    if (is_measured) {
      SurveyClient client(*world, SurveyClient::What::lasers);
      client.run(Instant{seconds{120}});
      REQUIRE(client.trouble().empty());
    }
    world->run_until(Instant{seconds{150}});
    const auto rows = std::get<std::vector<CircuitReport>>(world->controller().answer(Query{Noun::circuits, {}}).rows);
    REQUIRE_FALSE(rows.empty());
    const bool is_lit = std::ranges::all_of(rows, [](const CircuitReport& row) { return row.light == LightState::lit; });
    CHECK(is_lit == is_measured);
    if (is_measured) {
      CHECK(world->light().reached().size() == world->controller().confirmed_plan()->plan.circuits.size());
    }
  }
}
