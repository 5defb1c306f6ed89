// SPDX-License-Identifier: Apache-2.0
// What the kinds of faults do that part light from registers, a machine from its clock, or a controller from its agents: seen
// in ground truth, and over when they are over.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/architectures/sip_ocs/fabric.hpp"
#include "sim_backend/simulation.hpp"
#include "sim_backend/world/troubled_host.hpp"
#include "tests/sim/light/oddl_light.hpp"
#include "tests/sim/light/one_ring.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using Links = std::set<std::pair<ElementId, ElementId>>;

std::shared_ptr<const Fabric> circuit_switches() {
  SipOcsParameters parameters;
  parameters.nodes = 8;
  parameters.switches = 2;
  return std::make_shared<const Fabric>(make_sip_ocs(parameters));
}

std::unique_ptr<World> world_of(const Scenario& scenario) {
  auto script = script_of(scenario);
  REQUIRE(script);
  auto world = std::make_unique<World>(scenario, std::move(*script), WorldOptions{});
  REQUIRE(world->start());
  return world;
}

Links links_at(World& world, Duration at) {
  world.run_until(Instant{at});
  Links links;
  for (const Reach& reach : world.light().reached()) {
    links.insert({reach.transmitter, reach.receiver});
  }
  return links;
}

void add_fault(Scenario& scenario, const std::string& device, DeviceFaultKind kind) {
  ScenarioFault fault;
  fault.at = seconds{3};
  fault.kind = kind;
  fault.lasts = seconds{1};
  fault.device = std::ranges::find(scenario.fabric->devices, device, &Device::name)->id;
  scenario.device_faults.push_back(fault);
}

MachineFault machine_fault(MachineFaultKind kind, std::optional<NodeId> node) {
  MachineFault fault;
  fault.at = seconds{3};
  fault.kind = kind;
  fault.node = node;
  fault.lasts = seconds{1};
  return fault;
}

/// A loop of true time and a host whose clock and speed the test sets.
struct HostBench {
  VirtualLoop loop;
  TroubledHost host{loop};
  std::vector<std::pair<int, Instant>> fired;

  void timer(int number, Instant at) {
    host.time().call_at(at, Precision::ordinary, [this, number] { fired.push_back({number, loop.now()}); });
  }
  void at(Duration when, std::function<void()> task) { loop.call_at(Instant{when}, Precision::ordinary, std::move(task)); }
};

}  // namespace

TEST_CASE("a_misrouting_switch_lights_other_receivers_than_its_registers_say_while_it_lasts") {
  Scenario scenario = one_ring(circuit_switches());
  add_fault(scenario, "ocs-0", DeviceFaultKind::misroute);
  const auto world = world_of(scenario);
  const Links before = links_at(*world, milliseconds{2'900});
  REQUIRE(before.size() >= 4);
  const Links during = links_at(*world, milliseconds{3'500});
  CHECK(during != before);
  CHECK(during.size() == before.size());  // every link leads somewhere else, or is of the other switch
  CHECK(links_at(*world, milliseconds{4'100}) == before);
  world->run_until(Instant{seconds{10}});
  check_at_rest(*world);
  CHECK(world->confirmed() == 1);  // read-back was right all the time: there was nothing to repair
}

TEST_CASE("a_wss_with_one_output_misroutes_from_the_next_input") {
  Scenario scenario = one_ring(small_oddl(8, 4));
  add_fault(scenario, "wss-in-0", DeviceFaultKind::misroute);
  const auto world = world_of(scenario);
  const Links before = links_at(*world, milliseconds{2'900});
  REQUIRE_FALSE(before.empty());
  CHECK(links_at(*world, milliseconds{3'500}).empty());
  CHECK(links_at(*world, milliseconds{4'100}) == before);
}

TEST_CASE("behind_a_false_read_back_light_stays_though_the_plan_is_dark") {
  Scenario scenario = one_ring(circuit_switches());
  scenario.jobs.front().runs_for = milliseconds{2'800};  // it ends while the fault lasts
  add_fault(scenario, "laser-0-0", DeviceFaultKind::false_readback);
  const auto world = world_of(scenario);
  const ElementId liar = scenario.fabric->device(scenario.device_faults.front().device).elements.front();
  const auto emits_light = [&] { return !world->light().path_of(liar).empty(); };
  world->run_until(Instant{milliseconds{3'900}});
  REQUIRE(world->checker().confirmed() != nullptr);
  CHECK(world->checker().confirmed()->circuits.empty());  // confirmed on the proof of its registers
  CHECK(emits_light());
  world->run_until(Instant{milliseconds{4'100}});
  CHECK_FALSE(emits_light());
  check_at_rest(*world);
}

TEST_CASE("fibres_that_were_exchanged_carry_light_to_each_others_ends_until_they_are_put_back") {
  Scenario scenario = one_ring(circuit_switches());
  const auto calm = world_of(scenario);
  const Links planned = links_at(*calm, milliseconds{2'900});
  const ElementId lit = planned.begin()->second;
  const auto dark = std::ranges::find_if(calm->light().receivers(), [&](ElementId receiver) {
    return std::ranges::none_of(planned, [&](const auto& link) { return link.second == receiver; });
  });
  REQUIRE(dark != calm->light().receivers().end());
  const auto fibre_into = [&](ElementId receiver) { return *scenario.fabric->fibre_in[receiver.value][0]; };
  scenario.fibre_faults.push_back({seconds{3}, FibreFaultKind::swap, fibre_into(lit), fibre_into(*dark), seconds{1}});
  const auto world = world_of(scenario);
  const Links during = links_at(*world, milliseconds{3'500});
  CHECK(std::ranges::any_of(during, [&](const auto& link) { return link.second == *dark; }));
  CHECK(std::ranges::none_of(during, [&](const auto& link) { return link.second == lit; }));
  CHECK(links_at(*world, milliseconds{4'100}) == planned);
  check_at_rest(*world);
}

TEST_CASE("a_host_that_is_well_changes_nothing") {
  HostBench bench;
  bench.timer(1, Instant{milliseconds{5}});
  bench.timer(2, Instant{milliseconds{5}});
  bench.loop.run_until(Instant{seconds{1}});
  REQUIRE(bench.fired.size() == 2);
  CHECK(bench.fired[0] == std::pair{1, Instant{milliseconds{5}}});
  CHECK(bench.fired[1] == std::pair{2, Instant{milliseconds{5}}});
}

TEST_CASE("timers_of_a_clock_that_stepped_fire_when_that_clock_says_so") {
  HostBench bench;
  bench.timer(1, Instant{milliseconds{100}});
  bench.timer(2, Instant{milliseconds{200}});
  bench.at(milliseconds{50}, [&] { bench.host.set_clock(milliseconds{30}, 0); });
  bench.at(milliseconds{150}, [&] { bench.host.set_clock(-milliseconds{20}, 0); });
  bench.loop.run_until(Instant{milliseconds{120}});
  CHECK(bench.host.time().now() == Instant{milliseconds{150}});
  bench.loop.run_until(Instant{seconds{1}});
  REQUIRE(bench.fired.size() == 2);
  CHECK(bench.fired[0] == std::pair{1, Instant{milliseconds{70}}});
  CHECK(bench.fired[1] == std::pair{2, Instant{milliseconds{220}}});
}

TEST_CASE("a_clock_that_drifts_is_ahead_by_its_rate") {
  HostBench bench;
  bench.host.set_clock({}, 10'000);  // one hundredth
  bench.timer(1, Instant{milliseconds{1'010}});
  bench.loop.run_until(Instant{seconds{2}});
  CHECK(bench.host.time().now() == Instant{milliseconds{2'020}});
  REQUIRE(bench.fired.size() == 1);
  CHECK(bench.fired[0].second >= Instant{seconds{1}});
  CHECK(bench.fired[0].second <= Instant{seconds{1}} + Duration{10});
}

TEST_CASE("a_slow_host_comes_to_everything_late_and_in_order_and_catches_up") {
  HostBench bench;
  bench.at(milliseconds{10}, [&] { bench.host.set_delay(milliseconds{50}); });
  bench.at(milliseconds{30}, [&] { bench.host.set_delay({}); });
  bench.timer(1, Instant{milliseconds{5}});
  bench.timer(2, Instant{milliseconds{20}});
  bench.timer(3, Instant{milliseconds{40}});  // it has recovered, but what came before is not done
  bench.timer(4, Instant{milliseconds{90}});
  bench.loop.run_until(Instant{seconds{1}});
  REQUIRE(bench.fired.size() == 4);
  CHECK(bench.fired[0] == std::pair{1, Instant{milliseconds{5}}});
  CHECK(bench.fired[1] == std::pair{2, Instant{milliseconds{70}}});
  CHECK(bench.fired[2] == std::pair{3, Instant{milliseconds{70}}});
  CHECK(bench.fired[3] == std::pair{4, Instant{milliseconds{90}}});
}

TEST_CASE("an_agent_that_is_slow_or_whose_clock_is_wrong_is_back_in_step_when_that_is_over") {
  Scenario scenario = one_ring(small_oddl(8, 4));
  JobSubmission second = scenario.jobs.front();
  second.name = "second";
  second.at = milliseconds{3'200};  // its commit falls into the fault
  scenario.jobs.push_back(second);
  MachineFault fault = machine_fault(
      GENERATE(MachineFaultKind::slow, MachineFaultKind::clock_step, MachineFaultKind::clock_drift), NodeId{GENERATE(1U, 5U)});
  fault.delay = milliseconds{120};
  fault.offset = fault.kind == MachineFaultKind::clock_step ? milliseconds{40} : milliseconds{0};
  fault.drift_ppm = fault.kind == MachineFaultKind::clock_drift ? 20'000 : 0;
  scenario.machine_faults.push_back(fault);
  CAPTURE(to_string(fault.kind), fault.node->value);
  const auto world = world_of(scenario);
  world->run_until(Instant{seconds{20}});
  check_at_rest(*world);
  CHECK(world->light().reached().size() == 8);
}

TEST_CASE("a_controller_that_takes_over_is_obeyed_and_the_old_one_is_not") {
  Scenario scenario = one_ring(small_oddl(8, 4));
  JobSubmission second = scenario.jobs.front();
  second.name = "second";
  second.at = seconds{5};
  scenario.jobs.push_back(second);
  scenario.machine_faults.push_back(machine_fault(MachineFaultKind::takeover, {}));
  std::uint64_t fenced = 0;
  for (scenario.seed = 0; scenario.seed < 4; ++scenario.seed) {  // at rest it speaks to each of them once a second
    CAPTURE(scenario.seed);
    scenario.machine_faults.back().at = seconds{3} + scenario.seed * milliseconds{250};
    const auto world = world_of(scenario);
    world->run_until(Instant{milliseconds{2'900}});
    CHECK(world->light().reached().size() == 4);
    world->run_until(Instant{seconds{20}});
    check_at_rest(*world);
    CHECK(world->light().reached().size() == 8);
    for (const Node& node : scenario.fabric->nodes) {
      fenced += world->agent(node.id).counters().stale_term;
    }
  }
  CHECK(fenced > 0);  // it went on speaking to some that it still took for its own, and was refused
}

TEST_CASE("lasers_that_tune_for_longer_than_a_stage_lasts_are_waited_for") {
  SipOcsParameters parameters;
  parameters.nodes = 8;
  parameters.switches = 2;
  parameters.laser_retune_max = 2 * ControllerTimings{}.stage_deadline;  // a coherent pluggable may take as long
  const Scenario scenario = one_ring(std::make_shared<const Fabric>(make_sip_ocs(parameters)));
  REQUIRE(scenario.controller.stage_deadline == ControllerTimings{}.stage_deadline);
  const auto world = world_of(scenario);
  world->run_until(Instant{seconds{60}});
  check_at_rest(*world);
  CHECK_FALSE(world->light().reached().empty());
}
