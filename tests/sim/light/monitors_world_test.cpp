// SPDX-License-Identifier: Apache-2.0
// Monitors in the whole system under virtual time: they see ground truth, and what no read-back shows is found by them.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim_backend/experiments/drift_experiment.hpp"
#include "sim_backend/light/local_light.hpp"
#include "sim_backend/simulation.hpp"
#include "tests/drivers/monitors/monitored_fabric.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Sixteen nodes of ODDL in four groups, a ring of eight of them that no timeslots interrupt, and whatever `add` puts there.
struct Bench {
  Scenario scenario;
  std::unique_ptr<World> world;

  explicit Bench(const std::function<void(Fabric&)>& add, std::uint64_t seed = 1) {
    scenario = drift_scenario();
    Fabric fabric = *scenario.fabric;
    add(fabric);
    const auto faults = check_fabric(fabric);
    INFO((faults.empty() ? "" : faults.front()));
    REQUIRE(faults.empty());
    scenario.fabric = std::make_shared<const Fabric>(std::move(fabric));
    auto jobs = script_of(scenario);
    REQUIRE(jobs);
    WorldOptions options;
    options.seed = seed;
    world = std::make_unique<World>(scenario, std::move(*jobs), options);
    REQUIRE(world->start());
  }
  void run(Duration duration) { world->run_until(world->loop_now() + duration); }
  const Plan& plan() const { return world->controller().confirmed_plan()->plan; }
  JobState state() const { return world->controller().jobs().records().begin()->second.state; }
  std::vector<CircuitReport> circuits() const {
    return std::get<std::vector<CircuitReport>>(world->controller().answer(Query{Noun::circuits, {}}).rows);
  }
  DeviceReport device(DeviceId id) const {
    return std::get<std::vector<DeviceReport>>(world->controller().answer(Query{Noun::devices, id.value}).rows).at(0);
  }
  DeviceId busy_wss() const {
    for (const Device& device : scenario.fabric->devices) {
      if (device.role != DeviceRole::wavelength_switch) {
        continue;
      }
      for (const DevicePlan& planned : plan().nodes[device.agent.value].devices) {
        const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&planned.timeline.front().setpoint);
        if (planned.device == device.id && wss != nullptr && wss->routes.size() > 1) {
          return device.id;
        }
      }
    }
    FAIL("no WSS carries anything");
    return {};
  }
  /// The fibre at the receiver of a circuit that has its own.
  FibreFault at_receiver(FibreFaultKind kind, Duration lasts) const {
    FibreFault fault;
    fault.kind = kind;
    fault.first = *world->light().fibre_into(plan().circuits.front().receiver);
    fault.lasts = lasts;
    return fault;
  }
  LightState state_of_first() const {
    const auto rows = circuits();
    const auto found = std::ranges::find(rows, plan().circuits.front().receiver,
                                         [](const CircuitReport& row) { return row.circuit.receiver; });
    REQUIRE(found != rows.end());
    return found->light;
  }
  bool is_alarmed_by_monitor() const {
    const auto rows = std::get<std::vector<StandingAlarm>>(world->controller().answer(Query{Noun::alarms, {}}).rows);
    return std::ranges::any_of(rows, [&](const StandingAlarm& row) {
      return !row.cleared && row.alarm.device && scenario.fabric->device(*row.alarm.device).role == DeviceRole::monitor;
    });
  }
  std::string reason() const { return world->controller().jobs().records().begin()->second.reason; }
};

}  // namespace

TEST_CASE("a_circuit_is_lit_by_the_power_at_its_receiver_and_proven_by_the_monitor_there") {
  Bench bench([](Fabric& fabric) { test::watch_receivers(fabric); });
  bench.run(seconds{6});
  REQUIRE(bench.state() == JobState::lit);
  const auto rows = bench.circuits();
  REQUIRE(rows.size() == bench.plan().circuits.size());
  for (const CircuitReport& row : rows) {
    INFO(row.why);
    CHECK(row.light == LightState::lit);
    CHECK(row.proof == Proof::monitor);
  }
  CHECK(bench.world->checker().violations().empty());
  CHECK(bench.world->alarms().empty());
  for (const Device& device : bench.scenario.fabric->devices) {
    if (device.role == DeviceRole::monitor) {
      const Observation seen = bench.device(device.id).observation;
      CHECK(seen.health == DeviceHealth::ready);
      CHECK(seen.proof == Proof::monitor);
    }
  }
}

TEST_CASE("without_a_monitor_a_circuit_through_a_wss_is_assumed") {
  Bench bench([](Fabric&) {});
  bench.run(seconds{6});
  REQUIRE(bench.state() == JobState::lit);
  for (const CircuitReport& row : bench.circuits()) {
    CHECK(row.proof == Proof::assumed);
  }
}

TEST_CASE("light_that_a_wss_sends_astray_while_its_registers_agree_is_missed_by_the_monitor_and_comes_back") {
  Bench bench([](Fabric& fabric) { test::watch_receivers(fabric); });
  bench.run(seconds{6});
  REQUIRE(bench.state() == JobState::lit);
  ScenarioFault fault;
  fault.device = bench.busy_wss();
  fault.kind = DeviceFaultKind::misroute;
  fault.lasts = seconds{12};
  fault.at = bench.world->loop_now().time_since_epoch();
  bench.world->begin_fault(fault);
  const std::uint64_t commits = bench.world->confirmed();
  bench.run(seconds{4});
  CHECK(bench.state() == JobState::dark);
  CHECK_THAT(bench.reason(), Catch::Contains("receives too little: desired") && Catch::Contains("measured by photodiodes-") &&
                                 Catch::Contains(", limit "));
  const auto named = std::ranges::find_if(bench.world->alarms(), [&](const Alarm& alarm) {
    return alarm.code == AlarmCode::drift && alarm.device &&
           bench.scenario.fabric->device(*alarm.device).role == DeviceRole::monitor;
  });
  REQUIRE(named != bench.world->alarms().end());
  INFO(named->evidence);
  CHECK_THAT(named->evidence, Catch::Contains("misses light of circuit") && Catch::Contains("desired") &&
                                  Catch::Contains("measured by") && Catch::Contains("limit"));
  CHECK_THAT(named->next_command, Catch::Contains("loom circuit explain"));
  CHECK(bench.world->confirmed() == commits);  // nobody knows what to mend, so nothing else is disturbed
  bench.run(seconds{14});
  CHECK(bench.state() == JobState::lit);
  CHECK(bench.world->checker().violations().empty());
}

TEST_CASE("a_cut_fibre_is_missed_by_the_monitor_behind_it_and_its_circuit_is_lit_again_when_it_is_mended") {
  Bench bench([](Fabric& fabric) { test::watch_receivers(fabric); });
  bench.run(seconds{6});
  REQUIRE(bench.state() == JobState::lit);
  const std::size_t reached = bench.world->light().reached().size();
  bench.world->begin_fibre_fault(bench.at_receiver(FibreFaultKind::cut, seconds{8}));
  CHECK(bench.world->light().reached().size() + 1 == reached);
  const std::uint64_t commits = bench.world->confirmed();
  bench.run(seconds{6});
  CHECK(bench.state_of_first() == LightState::dark);
  CHECK(bench.state() == JobState::dark);
  CHECK_THAT(bench.reason(), Catch::Contains("receives too little"));
  CHECK(bench.is_alarmed_by_monitor());
  CHECK(bench.world->confirmed() == commits);
  bench.run(seconds{8});
  CHECK(bench.world->light().reached().size() == reached);
  CHECK(bench.state_of_first() == LightState::lit);
  CHECK(bench.state() == JobState::lit);
  CHECK_FALSE(bench.is_alarmed_by_monitor());
  CHECK(bench.world->checker().violations().empty());
  CHECK(bench.world->unsettled().empty());
}

TEST_CASE("a_cut_fibre_that_no_monitor_looks_behind_is_not_seen_by_anybody") {
  Bench bench([](Fabric&) {});
  bench.run(seconds{6});
  REQUIRE(bench.state() == JobState::lit);
  const std::size_t reached = bench.world->light().reached().size();
  bench.world->begin_fibre_fault(bench.at_receiver(FibreFaultKind::cut, kForever));
  bench.run(seconds{10});
  CHECK(bench.world->light().reached().size() + 1 == reached);
  CHECK(bench.state_of_first() == LightState::lit);  // by every register, of which none tells of a fibre
  CHECK(bench.world->alarms().empty());
  for (const CircuitReport& row : bench.circuits()) {
    CHECK(row.proof == Proof::assumed);  // and it is not said to be measured
  }
  CHECK(bench.world->unsettled().empty());  // the judge knows why
}

TEST_CASE("a_dirty_fibre_costs_what_it_loses_and_is_missed_once_the_power_is_out_of_range") {
  Bench bench([](Fabric& fabric) { test::watch_receivers(fabric); });
  bench.run(seconds{6});
  REQUIRE(bench.state() == JobState::lit);
  FibreFault fault = bench.at_receiver(FibreFaultKind::dirty, seconds{12});
  const Dbm before = bench.world->light().lights_on(fault.first).front().power;
  const ElementId receiver = bench.plan().circuits.front().receiver;
  const Dbm least = std::get<Receiver>(bench.scenario.fabric->element(receiver).kind).sensitivity;
  REQUIRE(before > least + Db{100});
  fault.loss = Db{50};
  bench.world->begin_fibre_fault(fault);
  CHECK(bench.world->light().lights_on(fault.first).front().power == before - Db{50});
  bench.run(seconds{5});
  CHECK(bench.state_of_first() == LightState::lit);
  fault.loss = before - least;  // both count: half a decibel too much
  fault.lasts = seconds{20};
  bench.world->begin_fibre_fault(fault);
  bench.run(seconds{5});
  CHECK(bench.state_of_first() == LightState::dark);
  CHECK(bench.is_alarmed_by_monitor());
  bench.run(seconds{6});  // the first is wiped away
  CHECK(bench.world->light().lights_on(fault.first).front().power == least);
  bench.run(seconds{20});
  CHECK(bench.world->light().lights_on(fault.first).front().power == before);
  CHECK(bench.state() == JobState::lit);
  CHECK(bench.world->checker().violations().empty());
}

TEST_CASE("a_wss_that_takes_every_order_and_moves_nothing_never_lights_a_job") {
  Bench bench([](Fabric& fabric) { test::watch_receivers(fabric); });
  for (const Device& device : bench.scenario.fabric->devices) {
    if (device.role == DeviceRole::wavelength_switch) {
      ScenarioFault fault;
      fault.device = device.id;
      fault.kind = DeviceFaultKind::false_readback;
      bench.world->begin_fault(fault);
    }
  }
  bench.run(seconds{6});
  CHECK(bench.state() == JobState::dark);
  CHECK_THAT(bench.reason(), Catch::Contains("receives too little"));
}

TEST_CASE("a_dead_monitor_is_named_and_its_circuits_are_unknown_but_left_alone") {
  Bench bench([](Fabric& fabric) { test::watch_receivers(fabric); });
  bench.run(seconds{6});
  REQUIRE(bench.state() == JobState::lit);
  const ElementId receiver = bench.plan().circuits.front().receiver;
  ScenarioFault fault;
  fault.device = *bench.scenario.fabric->device_of_element[receiver.value];
  fault.kind = DeviceFaultKind::silence;
  fault.lasts = seconds{12};
  fault.at = bench.world->loop_now().time_since_epoch();
  bench.world->begin_fault(fault);
  const std::uint64_t commits = bench.world->confirmed();
  bench.run(seconds{8});
  CHECK(bench.state() == JobState::degraded);
  CHECK_THAT(bench.reason(), Catch::Contains("photodiodes-") && Catch::Contains("cannot be read"));
  CHECK(bench.world->confirmed() == commits);
  bench.run(seconds{12});
  CHECK(bench.state() == JobState::lit);
  CHECK(bench.world->confirmed() == commits);
  CHECK(bench.world->checker().violations().empty());
}

TEST_CASE("a_wavemeter_outranks_a_laser_that_says_that_it_is_in_its_place") {
  for (const std::string answers : {"array", "trace"}) {
    INFO(answers);
    Bench bench([&](Fabric& fabric) {
      for (const Node& node : fabric.nodes) {
        const DeviceId osa = test::tap_behind(fabric, node.transmitters.front(), "osa");
        fabric.devices[osa.value].profile = {{"answers", std::int64_t{answers == "trace" ? 1 : 0}}};
      }
    });
    bench.run(seconds{6});
    INFO(bench.reason());
    REQUIRE(bench.state() == JobState::lit);
    const DeviceId laser = *bench.scenario.fabric->device_of_element[bench.plan().circuits.front().transmitter.value];
    CHECK(bench.device(laser).observation.proof == Proof::monitor);
    DeviceFault fault;
    fault.kind = DeviceFaultKind::detune;
    fault.offset = FrequencyOffset{20'000};
    fault.hidden = true;  // its own locker sees nothing
    fault.until = bench.world->loop_now() + seconds{40};
    bench.world->excuse(bench.scenario.fabric->device(laser));
    bench.world->bus().inject(laser, fault);
    bench.run(seconds{4});
    CHECK(bench.state() != JobState::lit);
    CHECK(bench.device(laser).observation.proof != Proof::monitor);
    const auto named = std::ranges::find_if(bench.world->alarms(), [&](const Alarm& alarm) {
      return alarm.code == AlarmCode::drift && alarm.device == laser && alarm.evidence.find("detuned") != std::string::npos;
    });
    REQUIRE(named != bench.world->alarms().end());
    INFO(named->evidence);
    CHECK_THAT(named->evidence, Catch::Contains("off by +") && Catch::Contains("limit +2.5 GHz") &&
                                    Catch::Contains("measured by osa-") && Catch::Contains("the laser itself says"));
    bench.run(seconds{60});
    CHECK(bench.state() == JobState::lit);
    CHECK(bench.device(laser).observation.proof == Proof::monitor);
  }
}

TEST_CASE("the_same_seed_measures_the_same") {
  const auto digest = [](std::uint64_t seed) {
    Bench bench([](Fabric& fabric) { test::watch_receivers(fabric); }, seed);
    bench.run(seconds{4});
    return bench.world->digest();
  };
  CHECK(digest(5) == digest(5));
  CHECK(digest(5) != digest(6));
}

TEST_CASE("a_monitor_whose_light_another_process_makes_is_not_simulated") {
  Fabric fabric = *drift_scenario().fabric;
  test::watch_receivers(fabric);
  std::vector<NodeId> all;
  for (const Node& node : fabric.nodes) {
    all.push_back(node.id);
  }
  CHECK(blind_monitors(fabric, all).empty());
  const std::vector<NodeId> half(all.begin(), all.begin() + 8);
  const auto blind = blind_monitors(fabric, half);
  CHECK(blind.size() == 8);
  REQUIRE_FALSE(blind.empty());
  CHECK_THAT(blind.front(),
             Catch::Contains("photodiodes-0") && Catch::Contains("would read darkness") && Catch::Contains("--light-logs"));
  for (Bus& bus : fabric.buses) {
    bus.endpoint = bus.name.find("monitor") != std::string::npos ? "modbus-tcp://127.0.0.1:1503" : bus.endpoint;
  }
  CHECK(blind_monitors(fabric, half).empty());
}
