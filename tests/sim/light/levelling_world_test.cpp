// SPDX-License-Identifier: Apache-2.0
// Amplifiers and attenuators in the whole system under virtual time: light that would arrive too strong or too weak is
// levelled, ground truth judges what arrives, and what goes wrong with a gain is named.
#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>

#include "sim_backend/simulation.hpp"
#include "tests/sim/light/watched_scenario.hpp"

using namespace loom;
using std::chrono::seconds;

namespace {

struct Bench {
  Scenario scenario;
  std::unique_ptr<World> world;

  explicit Bench(const std::function<void(Fabric&)>& change = {}, std::optional<DeviceFaultKind> of_boosters = {}) {
    scenario = test::watched_scenario(change);
    const auto faults = check_fabric(*scenario.fabric);
    INFO((faults.empty() ? "" : faults.front()));
    REQUIRE(faults.empty());
    for (const Device& device : scenario.fabric->devices) {
      if (of_boosters && device.role == DeviceRole::gain_stage) {
        ScenarioFault fault;
        fault.device = device.id;
        fault.kind = *of_boosters;
        scenario.device_faults.push_back(fault);
      }
    }
    auto jobs = script_of(scenario);
    REQUIRE(jobs);
    world = std::make_unique<World>(scenario, std::move(*jobs), WorldOptions{});
    REQUIRE(world->start());
  }

  void run(Duration duration) { world->run_until(world->loop_now() + duration); }
  const Plan& plan() const { return world->controller().confirmed_plan()->plan; }
  JobState state() const { return world->controller().jobs().records().begin()->second.state; }
  std::string reason() const { return world->controller().jobs().records().begin()->second.reason; }
  std::vector<CircuitReport> circuits() const {
    return std::get<std::vector<CircuitReport>>(world->controller().answer(Query{Noun::circuits, {}}).rows);
  }
  std::vector<StandingAlarm> alarms() const {
    auto rows = std::get<std::vector<StandingAlarm>>(world->controller().answer(Query{Noun::alarms, {}}).rows);
    std::erase_if(rows, [](const StandingAlarm& row) { return row.cleared; });
    return rows;
  }
  DeviceId booster() const { return std::ranges::find(scenario.fabric->devices, DeviceRole::gain_stage, &Device::role)->id; }
  Db gain_of(DeviceId id) const {
    for (const DevicePlan& planned : plan().nodes[scenario.fabric->device(id).agent.value].devices) {
      if (planned.device == id) {
        return std::get<GainSetpoint>(planned.timeline.front().setpoint).gain;
      }
    }
    return kGainOff;
  }
  bool attenuates() const {
    return std::ranges::any_of(plan().nodes, [](const NodePlan& node) {
      return std::ranges::any_of(node.devices, [](const DevicePlan& device) {
        const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&device.timeline.front().setpoint);
        return wss != nullptr &&
               std::ranges::any_of(wss->routes, [](const WssRoute& route) { return route.attenuation > Db{0}; });
      });
    });
  }
  void check_lit() const {
    CHECK(state() == JobState::lit);
    for (const CircuitReport& row : circuits()) {
      INFO(row.why);
      CHECK(row.light == LightState::lit);
    }
    CHECK(world->light().reached().size() == plan().circuits.size());
    CHECK(world->checker().violations().empty());
  }
};

}  // namespace

TEST_CASE("an amplifier is turned on with its gain before any light needs it") {
  Bench bench;
  bench.run(seconds{6});
  bench.check_lit();
  const auto& element = bench.scenario.fabric->element(bench.scenario.fabric->device(bench.booster()).elements.front());
  CHECK(bench.gain_of(bench.booster()) == usual_gain(element.kind));
  CHECK(bench.world->light().graph().gain(element.id) == usual_gain(element.kind));
  CHECK_FALSE(bench.attenuates());
  CHECK(bench.alarms().empty());
}

TEST_CASE("light of lasers that are stronger than others is attenuated until every receiver reads it") {
  Bench bench([](Fabric& fabric) {
    for (Element& element : fabric.elements) {
      if (auto* laser = std::get_if<Transmitter>(&element.kind); laser != nullptr && element.id.value % 2 == 0) {
        laser->launch_power = laser->launch_power + Db{300};
      }
      if (auto* amplifier = std::get_if<Amplifier>(&element.kind)) {
        amplifier->input_max = amplifier->input_max + Db{300};
      }
      if (auto* receiver = std::get_if<Receiver>(&element.kind)) {
        receiver->overload = Dbm{receiver->sensitivity + Db{600}};
      }
    }
    fabric.power_limit = Dbm{2'700};
  });
  bench.run(seconds{6});
  INFO(bench.reason());
  bench.check_lit();
  CHECK(bench.attenuates());
}

TEST_CASE("a gain that falls is told with the amplifiers name and ends when it is back") {
  Bench bench;
  bench.run(seconds{6});
  REQUIRE(bench.state() == JobState::lit);
  ScenarioFault dim;
  dim.device = bench.booster();
  dim.at = bench.world->loop_now().time_since_epoch();
  dim.kind = DeviceFaultKind::dim;
  dim.loss = Db{500};
  dim.lasts = seconds{10};
  bench.world->begin_fault(dim);
  bench.run(seconds{8});
  const auto rows = bench.alarms();
  CHECK(std::ranges::any_of(rows, [&](const StandingAlarm& row) { return row.alarm.device == bench.booster(); }));
  bench.run(seconds{30});
  CHECK(bench.world->checker().violations().empty());
  CHECK(std::ranges::none_of(bench.alarms(), [&](const StandingAlarm& row) { return row.alarm.device == bench.booster(); }));
}

TEST_CASE("an amplifier that loses its power is turned on again") {
  Bench bench;
  bench.run(seconds{6});
  REQUIRE(bench.state() == JobState::lit);
  ScenarioFault reboot;
  reboot.device = bench.booster();
  reboot.at = bench.world->loop_now().time_since_epoch();
  reboot.kind = DeviceFaultKind::reboot;
  reboot.lasts = std::chrono::milliseconds{200};
  bench.world->begin_fault(reboot);
  bench.run(seconds{20});
  bench.check_lit();
  CHECK(bench.alarms().empty());
}

TEST_CASE("a job whose light passes amplifiers that never obeyed is left out and says which") {
  Bench bench({}, DeviceFaultKind::silence);
  bench.run(seconds{40});
  CHECK(bench.state() != JobState::lit);
  CHECK_THAT(bench.reason(), Catch::Contains("booster-"));
  CHECK(bench.world->light().reached().empty());
  CHECK(bench.world->checker().violations().empty());
}
