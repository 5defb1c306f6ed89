// SPDX-License-Identifier: Apache-2.0
// Interlock contacts in the simulated world: darkness within the devices' times whatever else has failed, light only after a
// rearm, and a judge that would notice.
#include <catch2/catch.hpp>

#include "sim_backend/simulation.hpp"
#include "sim_backend/world/world.hpp"
#include "tests/sim/light/oddl_light.hpp"
#include "tests/sim/light/one_ring.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

MachineFault machine_fault(MachineFaultKind kind, std::optional<NodeId> node, Duration at, Duration lasts) {
  MachineFault fault;
  fault.kind = kind;
  fault.node = node;
  fault.at = at;
  fault.lasts = lasts;
  return fault;
}

/// A ring job over eight nodes; the contact of node 2 is open from 2 s to 3 s.
Scenario opened() {
  Scenario scenario = one_ring(small_oddl(8, 4), 8);
  scenario.duration = seconds{6};
  scenario.machine_faults = {machine_fault(MachineFaultKind::interlock_open, NodeId{2}, seconds{2}, seconds{1})};
  return scenario;
}

SimResult run(const Scenario& scenario, std::uint64_t seed = 1) {
  SimOptions options;
  options.seed = seed;
  auto result = run_simulation(scenario, options);
  REQUIRE(result);
  return *result;
}

void check_clean(const SimResult& result) {
  for (const Violation& violation : result.violations) {
    FAIL_CHECK("at " << seconds_of(violation.at.time_since_epoch()) << " s: " << to_string(violation.rule) << ": "
                     << violation.evidence);
  }
}

/// Is any light of this node there at that time?
bool is_lit(const SimResult& result, NodeId node, Duration at) {
  return std::ranges::any_of(result.light, [&](const LitWindow& window) {
    return window.source == node && window.begin <= Instant{at} && window.end > Instant{at};
  });
}

}  // namespace

TEST_CASE("an_open_contact_is_dark_within_its_devices_times_and_lit_again_after_a_rearm") {
  const SimResult result = run(opened());
  check_clean(result);
  CHECK(is_lit(result, NodeId{2}, milliseconds{1'999}));
  const auto fabric = small_oddl(8, 4);
  const auto& transmitter = std::get<Transmitter>(fabric->element(fabric->nodes[2].transmitters.front()).kind);
  for (Duration at = seconds{2} + transmitter.blank_max + transmitter.control_max; at < milliseconds{3'300};
       at += milliseconds{1}) {
    REQUIRE_FALSE(is_lit(result, NodeId{2}, at));
  }
  CHECK(is_lit(result, NodeId{2}, result.virtual_time));
}

TEST_CASE("an_open_contact_needs_no_controller_and_no_network") {
  Scenario scenario = opened();
  const bool is_dead = GENERATE(true, false);
  scenario.machine_faults.push_back(
      is_dead ? machine_fault(MachineFaultKind::crash, {}, milliseconds{1'900}, seconds{3})
              : machine_fault(MachineFaultKind::partition, NodeId{2}, milliseconds{1'900}, seconds{3}));
  std::ranges::sort(scenario.machine_faults, {}, &MachineFault::at);
  const SimResult result = run(scenario);
  check_clean(result);
  CHECK(is_lit(result, NodeId{2}, milliseconds{1'999}));
  CHECK_FALSE(is_lit(result, NodeId{2}, milliseconds{2'050}));
  CHECK_FALSE(is_lit(result, NodeId{2}, milliseconds{4'800}));  // closed since 3 s, and nobody has rearmed
  CHECK(std::ranges::none_of(result.excused,
                             [](const ExcusedViolation& each) { return each.violation.rule == SafetyRule::interlock; }));
}

TEST_CASE("a_rearm_for_somebody_elses_contact_does_not_bring_light_back_where_one_is_still_open") {
  Scenario scenario = opened();
  scenario.machine_faults.push_back(
      machine_fault(MachineFaultKind::interlock_open, NodeId{5}, milliseconds{2'100}, milliseconds{10}));  // rearmed at 2.41 s
  ScenarioAction maintenance;  // its order about lasers is a newer one than that rearm
  maintenance.kind = ActionKind::maintain;
  maintenance.at = milliseconds{3'050};
  maintenance.node = NodeId{7};
  scenario.jobs.front().nodes = 4;
  scenario.actions = {maintenance};
  const SimResult result = run(scenario);
  check_clean(result);
  CHECK(is_lit(result, NodeId{2}, milliseconds{1'999}));
  for (Duration at = milliseconds{2'100}; at < milliseconds{3'300}; at += milliseconds{1}) {
    REQUIRE_FALSE(is_lit(result, NodeId{2}, at));
  }
  CHECK(is_lit(result, NodeId{2}, result.virtual_time));
}

TEST_CASE("the_judge_notices_light_that_stays_although_a_contact_is_open") {
  const Scenario scenario = opened();
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  World world(scenario, std::move(*jobs), WorldOptions{});
  REQUIRE(world.start());
  world.run_until(Instant{milliseconds{1'900}});
  CHECK(world.checker().violations().empty());
  world.crash(agent_peer(NodeId{2}), kForever);  // planted: nobody is there to hear of it, and nothing excuses that
  world.run_until(Instant{milliseconds{2'500}});
  CHECK(std::ranges::any_of(world.checker().violations(),
                            [](const Violation& violation) { return violation.rule == SafetyRule::interlock; }));
}

TEST_CASE("an_agent_that_starts_while_its_contact_is_open_stays_dark") {
  Scenario scenario = opened();
  scenario.machine_faults.push_back(machine_fault(MachineFaultKind::crash, NodeId{2}, milliseconds{2'300}, milliseconds{200}));
  const SimResult result = run(scenario);
  check_clean(result);
  CHECK_FALSE(is_lit(result, NodeId{2}, milliseconds{2'900}));
  CHECK(is_lit(result, NodeId{2}, result.virtual_time));
}

TEST_CASE("contacts_of_the_fabric_are_read_before_anything_is_lit") {
  Scenario scenario = opened();
  Fabric fabric = *scenario.fabric;
  fabric.interlocks = {{"door", "file:///run/door", NodeId{0}, NodeId{7}}};
  scenario.fabric = std::make_shared<const Fabric>(std::move(fabric));
  scenario.machine_faults.push_back(machine_fault(MachineFaultKind::crash, NodeId{5}, seconds{4}, milliseconds{200}));
  const SimResult result = run(scenario);
  check_clean(result);
  CHECK(is_lit(result, NodeId{5}, result.virtual_time));
}
