// SPDX-License-Identifier: Apache-2.0
// A journal that was written under another fabric: its numbers are of nobody, and no controller believes it.
#include "controller/plan/verify/verify_journal.hpp"

#include "controller/architectures/oddl/fabric.hpp"
#include "core/journal/journal_state.hpp"
#include "tests/unit/control/controller_bench.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using testing::ControllerBench;
using testing::milliseconds;
using testing::seconds;

/// Revision 1 with four nodes in light, and revision 2 on its way.
SnapshotRecord journalled(ControllerBench& bench) {
  bench.submit(4);
  bench.pass(seconds{1});
  bench.stops_at = 2;
  bench.submit(4);
  bench.pass(milliseconds{500});
  SnapshotRecord state = state_of(bench.records);
  REQUIRE(state.confirmed != nullptr);
  REQUIRE(state.going != nullptr);
  REQUIRE_FALSE(state.kept.empty());
  REQUIRE(state.intent.jobs.size() == 2);
  return state;
}

Fabric fabric_of(std::uint32_t nodes) {
  OddlParameters parameters;
  parameters.nodes = nodes;
  parameters.group_size = 4;
  parameters.channels = 6;
  return make_oddl(parameters);
}

std::shared_ptr<const Plan> changed(const std::shared_ptr<const Plan>& plan, const std::function<void(Plan&)>& change) {
  auto copy = std::make_shared<Plan>(*plan);
  change(*copy);
  return copy;
}

}  // namespace

TEST_CASE("a journal is believed under the fabric that it was written under, and under none of fewer or more nodes") {
  ControllerBench bench;
  const SnapshotRecord state = journalled(bench);
  CHECK(verify_journal(*bench.fabric, state).has_value());
  CHECK(verify_journal(*bench.fabric, SnapshotRecord{}).has_value());
  for (const Fabric& other : {fabric_of(4), fabric_of(12)}) {
    const auto fits = verify_journal(other, state);
    REQUIRE_FALSE(fits.has_value());
    CHECK(fits.error().code == ErrorCode::conflict);
    CHECK_THAT(fits.error().message, Contains("what fabric " + other.name + " does not have"));
  }
}

TEST_CASE("whatever of a journal names what the fabric does not have is said") {
  ControllerBench bench;
  SnapshotRecord state = journalled(bench);
  const NodeId nobody{8};
  const DeviceId no_device{static_cast<std::uint32_t>(bench.fabric->devices.size())};
  const ElementId no_element{static_cast<std::uint32_t>(bench.fabric->elements.size())};
  const DeviceId laser = bench.fabric->devices_of_agent[0].front();
  REQUIRE(bench.fabric->device(laser).role == DeviceRole::transmitter);
  Circuit circuit = state.confirmed->circuits.front();
  Intent intent = state.intent;
  std::string misfit;
  SECTION("a job's node") {
    state.intent.jobs.back().nodes.back() = nobody;
    misfit = "job 2 names node 8 of 8";
  }
  SECTION("a drained node") {
    state.intent.drained = {NodeId{7}, nobody};
    misfit = "drained nodes names node 8";
  }
  SECTION("a node in maintenance") {
    state.intent.maintenance = {nobody};
    misfit = "maintenance names node 8";
  }
  SECTION("a device that is set by hand") {
    state.intent.overrides = {{laser, TransmitterSetpoint{}}, {no_device, TransmitterSetpoint{}}};
    misfit = "device " + std::to_string(no_device.value) + " is set";
  }
  SECTION("a device that is set as one of another kind") {
    state.intent.overrides = {{laser, CircuitSwitchSetpoint{}}};
    misfit = "another kind";
  }
  SECTION("a circuit that an operator pinned") {
    circuit.transmitter = no_element;
    state.intent.pinned = {{JobId{1}, {Stage{{Timeslot{{circuit}}}}}}};
    misfit = "no transmitter and receiver";
  }
  SECTION("a circuit whose ends are not its kinds") {
    std::swap(circuit.transmitter, circuit.receiver);
    state.kept.back().circuits = {circuit};
    misfit = "no transmitter and receiver";
  }
  SECTION("a circuit to come back to when a trial ends") {
    circuit.destination = nobody;
    state.probation.emplace();
    state.probation->pinned_before = {{JobId{1}, {Stage{{Timeslot{{circuit}}}}}}};
    misfit = "names node 8 of 8";
  }
  SECTION("an intent that was kept") {
    intent.drained = {nobody};
    state.kept.front().intent = std::make_shared<const Intent>(intent);
    misfit = "drained nodes names node 8";
  }
  SECTION("the intent of the revision on its way") {
    intent.drained = {nobody};
    state.going_intent = std::make_shared<const Intent>(intent);
    misfit = "drained nodes names node 8";
  }
  SECTION("the confirmed plan") {
    state.confirmed = changed(state.confirmed, [](Plan& plan) { plan.nodes.pop_back(); });
    misfit = "7 node plans";
  }
  SECTION("the plan on its way") {
    state.going = changed(state.going, [](Plan& plan) { plan.nodes.edit(0).devices.pop_back(); });
    misfit = "devices, which are not its agent's";
  }
  SECTION("a plan of which nobody knows what became") {
    state.uncertain = {changed(state.confirmed, [](Plan& plan) { plan.nodes.pop_back(); })};
    misfit = "7 node plans";
  }
  SECTION("who was to take part") {
    state.going = changed(state.going, [&](Plan& plan) { plan.changed.push_back(nobody); });
    misfit = "names node 8 of 8";
  }
  const auto fits = verify_journal(*bench.fabric, state);
  REQUIRE_FALSE(fits.has_value());
  CHECK_THAT(fits.error().message, Contains(misfit));
}

}  // namespace loom
