// SPDX-License-Identifier: Apache-2.0
// Light that nobody has proven dark is never steered: agents that die at any instant of a commit, and devices that lose their
// power while nobody is there to remember what they held. Ground truth judges every instant.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "sim_backend/experiments/drift_experiment.hpp"
#include "sim_backend/experiments/swarm_fabric.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

JobSubmission job(const std::string& name, const std::string& workload, std::uint32_t nodes, Duration at, Duration runs_for) {
  JobSubmission submission;
  submission.name = name;
  submission.workload = workload;
  submission.nodes = nodes;
  submission.at = at;
  submission.runs_for = runs_for;
  return submission;
}

/// A job of two nodes ends at 4 s on a ring of fibre where another one of eight goes on.
Scenario ending_on_a_ring() {
  SipRingParameters parameters;
  parameters.nodes = 16;
  parameters.rings = 2;
  parameters.wavelengths = 32;
  Scenario scenario;
  scenario.fabric = std::make_shared<const Fabric>(make_sip_ring(parameters));
  scenario.algorithm = "sip-ring";
  scenario.duration = seconds{10};
  scenario.jobs = {job("stays", "vgg16", 8, seconds{1}, kForever), job("ends", "resnet50", 2, seconds{2}, seconds{2})};
  return scenario;
}

/// A job of two nodes ends at 3.5 s on the switches of a group where another one of two goes on.
Scenario ending_on_oddl() {
  OddlParameters parameters;
  parameters.nodes = 8;
  parameters.group_size = 4;
  parameters.channels = 8;
  Scenario scenario;
  scenario.fabric = std::make_shared<const Fabric>(make_oddl(parameters));
  scenario.duration = seconds{14};
  scenario.jobs = {job("ends", "vgg16", 2, seconds{1}, milliseconds{2'500}),
                   job("stays", "dlrm", 2, milliseconds{1'500}, kForever)};
  return scenario;
}

DeviceId device_named(const Fabric& fabric, const std::string& name) {
  for (const Device& device : fabric.devices) {
    if (device.name == name) {
      return device.id;
    }
  }
  FAIL("no device " << name);
  return {};
}

MachineFault away(std::uint32_t node, Duration at, Duration lasts) {
  return {at, NodeId{node}, MachineFaultKind::crash, lasts};
}

ScenarioFault power_cut(const Fabric& fabric, const std::string& name, Duration at, Duration lasts) {
  ScenarioFault fault;
  fault.at = at;
  fault.device = device_named(fabric, name);
  fault.kind = DeviceFaultKind::reboot;
  fault.lasts = lasts;
  return fault;
}

/// Answers how many revisions were committed.
std::uint64_t check_safe(const Scenario& scenario, std::uint64_t seed = 1, std::uint64_t least_commits = 3) {
  SimOptions options;
  options.seed = seed;
  const auto result = run_simulation(scenario, options);
  REQUIRE(result);
  for (const Violation& violation : result->violations) {
    FAIL_CHECK(to_string(violation.rule) << " at " << violation.at.time_since_epoch() / milliseconds{1}
                                         << " ms: " << violation.evidence);
  }
  CHECK(result->revisions.committed >= least_commits);
  return result->revisions.committed;
}

}  // namespace

TEST_CASE("an_agent_that_dies_at_any_instant_of_a_commit_on_a_ring_has_its_light_steered_by_nobody") {
  const std::uint32_t node = GENERATE(8U, 9U);  // of the job that ends
  for (const Duration lasts : {milliseconds{100}, milliseconds{300}, milliseconds{1'000}}) {
    for (Duration at = milliseconds{3'900}; at <= milliseconds{4'300}; at += milliseconds{25}) {
      CAPTURE(node, at / milliseconds{1}, lasts.count());
      Scenario scenario = ending_on_a_ring();
      scenario.machine_faults = {away(node, at, lasts)};
      check_safe(scenario);
    }
  }
}

TEST_CASE("nor_if_the_controller_dies_with_it") {
  for (const Duration later : {milliseconds{0}, milliseconds{30}, milliseconds{80}}) {
    for (Duration at = milliseconds{4'000}; at <= milliseconds{4'200}; at += milliseconds{25}) {
      CAPTURE(at / milliseconds{1}, later.count());
      Scenario scenario = ending_on_a_ring();
      MachineFault controller;
      controller.at = at + later;
      controller.kind = MachineFaultKind::crash;
      controller.lasts = milliseconds{200};
      scenario.machine_faults = {away(9, at, milliseconds{300}), controller};
      check_safe(scenario);
    }
  }
}

TEST_CASE("a_switch_that_lost_its_power_while_its_agent_was_away_is_not_set_again_under_light") {
  for (const Duration lasts : {milliseconds{150}, milliseconds{342}, milliseconds{1'500}}) {
    for (Duration at = milliseconds{2'900}; at <= milliseconds{3'400}; at += milliseconds{50}) {
      CAPTURE(at / milliseconds{1}, lasts.count());
      Scenario scenario = ending_on_oddl();
      scenario.machine_faults = {away(0, milliseconds{2'800}, milliseconds{2'500})};
      scenario.device_faults = {power_cut(*scenario.fabric, "wss-in-0", at, lasts)};
      check_safe(scenario);
    }
  }
}

TEST_CASE("nor_is_one_that_lost_it_before_its_agent_died") {
  const std::string device = GENERATE(as<std::string>{}, "wss-in-0", "wss-out-0");
  for (const Duration away_at : {milliseconds{1'600}, milliseconds{3'300}}) {
    for (const Duration before : {milliseconds{0}, milliseconds{100}, milliseconds{200}}) {
      CAPTURE(device, away_at.count(), before.count());
      Scenario scenario = ending_on_oddl();
      scenario.machine_faults = {away(0, away_at, milliseconds{300})};
      scenario.device_faults = {power_cut(*scenario.fabric, device, away_at - before, milliseconds{100})};
      check_safe(scenario);
    }
  }
}

namespace {

/// At 5 s every process dies and every journal is lost; the lasers shine on. A second job is asked for at `at`.
void check_without_journals(Scenario scenario, Duration at, Duration controller_away) {
  scenario.jobs = {job("before", "vgg16", 4, seconds{1}, kForever), job("after", "resnet50", 4, at, kForever)};
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  World world(scenario, std::move(*jobs), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{5}});
  REQUIRE(world.light().reached().size() >= 4);
  world.crash(controller_peer(), controller_away);
  world.disk(controller_peer()).wipe();
  for (const Node& node : scenario.fabric->nodes) {
    world.crash(agent_peer(node.id), milliseconds{200});
    world.disk(agent_peer(node.id)).wipe();
  }
  world.run_until(Instant{at} + seconds{10});
  for (const Violation& violation : world.checker().violations()) {
    FAIL_CHECK(to_string(violation.rule) << " at " << violation.at.time_since_epoch() / milliseconds{1}
                                         << " ms: " << violation.evidence);
  }
  CHECK(world.controller().confirmed() >= Revision{1});
  CHECK(differences(world.light(), &world.controller().confirmed_plan()->plan).empty());
}

}  // namespace

TEST_CASE("lasers_that_shine_when_all_journals_are_gone_are_dark_before_a_second_one_shines_in_their_place") {
  for (const Duration at : {milliseconds{5'100}, milliseconds{5'300}, milliseconds{5'600}, milliseconds{7'000}}) {
    for (const Duration controller_away : {milliseconds{50}, milliseconds{400}}) {
      CAPTURE(at.count(), controller_away.count());
      check_without_journals(ending_on_oddl(), at, controller_away);
      check_without_journals(ending_on_a_ring(), at, controller_away);
    }
  }
}

TEST_CASE("lasers_that_nobody_asked_for_go_dark_though_no_job_comes") {
  Scenario scenario = ending_on_oddl();
  scenario.jobs = {job("before", "vgg16", 4, seconds{1}, kForever)};
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  World world(scenario, std::move(*jobs), {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{5}});
  world.crash(controller_peer(), milliseconds{100});
  world.disk(controller_peer()).wipe();
  for (const Node& node : scenario.fabric->nodes) {
    world.crash(agent_peer(node.id), milliseconds{200});
    world.disk(agent_peer(node.id)).wipe();
  }
  world.run_until(Instant{seconds{9}});
  CHECK(world.light().reached().empty());
  CHECK(world.checker().violations().empty());
  const auto foreign = std::count_if(world.alarms().begin(), world.alarms().end(),
                                     [](const Alarm& alarm) { return alarm.code == AlarmCode::drift; });
  CHECK(foreign >= 4);
}

namespace {

Scenario on(FabricFamily family, std::uint32_t size) {
  const auto fabric = make_fabric({family, size}, "configs");
  REQUIRE(fabric);
  Scenario scenario;
  scenario.fabric = *fabric;
  scenario.algorithm = algorithm_of(**fabric);
  scenario.controller.stage_deadline = seconds{2};
  scenario.duration = seconds{6};
  return scenario;
}

}  // namespace

TEST_CASE("a_controller_moves_nothing_in_light_that_another_one_still_gives") {
  const FabricFamily family =
      GENERATE(FabricFamily::sip_ocs, FabricFamily::sip_ring, FabricFamily::all_elements, FabricFamily::oddl_open);
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    for (Duration at = milliseconds{2'404}; at <= milliseconds{2'428}; at += milliseconds{4}) {  // the copy lacks what went
      CAPTURE(to_string(family), seed, at / milliseconds{1});
      Scenario scenario = on(family, 0);
      scenario.jobs = {job("stays", "vgg19", 2, seconds{1}, kForever),
                       job("comes", "vgg19", 2, milliseconds{2'400}, milliseconds{150})};
      MachineFault copy;
      copy.at = at;
      copy.kind = MachineFaultKind::takeover;
      copy.lasts = milliseconds{1'900};
      scenario.machine_faults = {copy};
      check_safe(scenario, seed, 2);
    }
  }
}

TEST_CASE("a_device_that_follows_orders_again_is_ordered_to_be_as_it_was_planned") {
  // Its driver gave up a repair. It reads as planned since, and nothing but an order can show whether it follows.
  Scenario scenario = on(FabricFamily::topoopt_panels, 0);
  scenario.jobs = {job("first", "vgg19", 2, milliseconds{579}, kForever),
                   job("second", "vgg19", 4, milliseconds{1'953}, kForever)};
  ScenarioFault fault;
  fault.kind = DeviceFaultKind::fail;
  fault.device = device_named(*scenario.fabric, "flip-tx-4-0");
  fault.at = milliseconds{3'098};
  for (const Duration lasts : {milliseconds{1'050}, milliseconds{1'136}, milliseconds{1'300}}) {
    CAPTURE(lasts.count());
    fault.lasts = lasts;
    scenario.device_faults = {fault};
    check_safe(scenario);
  }
}

TEST_CASE("a_laser_under_grants_that_failed_is_taken_back_when_it_answers") {
  Scenario scenario = on(FabricFamily::oddl_open, 0);
  scenario.jobs = {job("granted", "moe", 4, milliseconds{1'000}, kForever)};
  scenario.jobs.front().transmit = Transmit::grants;
  ScenarioFault fault;
  fault.device = device_named(*scenario.fabric, "laser-1");
  std::uint64_t committed = 0;
  for (const DeviceFaultKind kind : {DeviceFaultKind::stick, DeviceFaultKind::nack, DeviceFaultKind::fail}) {
    for (const Duration at : {milliseconds{1'500}, milliseconds{1'700}, milliseconds{2'500}}) {
      CAPTURE(static_cast<int>(kind), at.count());
      fault.kind = kind;
      fault.at = at;
      fault.lasts = milliseconds{500};
      scenario.device_faults = {fault};
      committed += check_safe(scenario, 1, 1);
    }
  }
  CHECK(committed > 9);  // not every fault meets a row; some were repaired
}
