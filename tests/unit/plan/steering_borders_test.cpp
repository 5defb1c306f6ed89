// SPDX-License-Identifier: Apache-2.0
// What a plan is completed with where the fabric is not as confirmed: which readings differ, what devices may hold, and whose
// light goes dark with whose.
#include <catch2/catch.hpp>

#include "controller/plan/steering.hpp"
#include "core/ring/ring.hpp"
#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {
namespace {

/// Two jobs on SiP-OCS, confirmed; a plan that touches the first switch and nothing else.
struct Bench {
  std::shared_ptr<const Fabric> fabric = small_fabric(3);
  Plan confirmed;
  Plan plan;
  std::vector<Observation> seen;
  KnownState known;
  DeviceId ocs;

  Bench() {
    Planning planning(fabric);
    planning.request.intent.jobs = {placed_job(1, {2, 3, 4}), placed_job(2, {5, 6, 7})};
    const auto made = planning.attempt();
    REQUIRE(made);
    confirmed = (*made)->plan;
    for (NodePlan& node : confirmed.nodes.edit_all()) {
      for (DevicePlan& device : node.devices) {
        device.touched = false;
        device.may_hold.clear();
      }
    }
    confirmed.changed.clear();
    confirmed.touched.clear();
    confirmed.moved_steering.clear();
    plan = confirmed;
    for (const Device& device : fabric->devices) {
      if (device.role == DeviceRole::circuit_switch) {
        ocs = device.id;
        break;
      }
    }
    share(plan, ocs).touched = true;
    plan.changed = {fabric->device(ocs).agent};
    known.confirmed = &confirmed;
    known.observations.resize(fabric->devices.size());
    seen.resize(fabric->devices.size());
  }
  DevicePlan& share(Plan& of, DeviceId id) const {
    for (DevicePlan& device : of.nodes.edit(fabric->device(id).agent.value).devices) {
      if (device.device == id) {
        return device;
      }
    }
    FAIL("no such device");
    return of.nodes.edit(0).devices[0];
  }
  void see(DeviceId id, Reading reading) {
    seen[id.value] = {id, DeviceHealth::ready, {}, std::move(reading), {}};
    known.observations[id.value] = &seen[id.value];
  }
  /// The first switch has another row for this node's input.
  void see_other_row(std::uint32_t node) {
    auto connects = std::get<CircuitSwitchSetpoint>(share(confirmed, ocs).timeline.front().setpoint).connects;
    std::erase_if(connects, [&](const CrossConnect& row) { return row.input == node; });
    see(ocs, CircuitSwitchObservation{connects, true});
  }
  void play_timeslots() {
    for (Plan* each : {&confirmed, &plan}) {
      for (NodePlan& node : each->nodes.edit_all()) {
        for (DevicePlan& device : node.devices) {
          if (fabric->device(device.device).role == DeviceRole::transmitter) {
            device.timeline.back().hold = std::chrono::milliseconds{1};
          }
        }
      }
    }
  }
  DeviceId laser_of(const Circuit& circuit) const { return *fabric->device_of_element[circuit.transmitter.value]; }
  bool passes_first_switch(const Circuit& circuit) const {
    return fabric->nodes[circuit.source.value].transmitters.front() == circuit.transmitter;
  }
  Plan completed() const {
    Plan wide = plan;
    see_to_steering(*fabric, known, wide);
    return wide;
  }
  bool is_known() const { return is_as_known(*fabric, known, plan); }
};

TEST_CASE("a fabric is as known while nothing is in doubt and no reading differs from all that is planned") {
  Bench bench;
  CHECK(bench.is_known());
  SECTION("in doubt") {
    bench.known.uncertain = {&bench.confirmed};
    CHECK_FALSE(bench.is_known());
  }
  SECTION("a switch that moves") {
    bench.see_other_row(2);
    CHECK_FALSE(bench.is_known());
    bench.share(bench.plan, bench.ocs).touched = false;
    CHECK(bench.is_known());
  }
  SECTION("a laser that stays") {
    const Circuit circuit = bench.confirmed.circuits.front();
    const DeviceId laser = bench.laser_of(circuit);
    const auto reads = [&](FrequencySlot slot) {
      bench.see(laser, TransmitterObservation{centre_of(slot), Dbm{0}, true, true, 0, 0});
      return bench.is_known();
    };
    FrequencySlot other = circuit.slot;
    other.n += 160;
    CHECK(reads(circuit.slot));
    CHECK_FALSE(reads(other));
    bench.share(bench.plan, laser).touched = true;  // it goes dark in any case
    CHECK(reads(other));
    bench.share(bench.plan, laser).touched = false;
    std::get<TransmitterSetpoint>(bench.share(bench.confirmed, laser).timeline.front().setpoint).emit = false;
    CHECK_FALSE(reads(circuit.slot));
    bench.confirmed.nodes.edit(circuit.source.value).devices.clear();
    CHECK_FALSE(reads(circuit.slot));
  }
}

TEST_CASE("nothing is met by light where nothing moves") {
  Bench bench;
  bench.see_other_row(2);
  CHECK_FALSE(lasers_that_meet(*bench.fabric, bench.known, bench.plan).empty());
  bench.share(bench.plan, bench.ocs).touched = false;
  CHECK(lasers_that_meet(*bench.fabric, bench.known, bench.plan).empty());
}

TEST_CASE("light of static circuits goes dark where it meets what differs, and no other") {
  Bench bench;
  bench.see_other_row(2);
  const Plan wide = bench.completed();
  for (const Circuit& circuit : wide.circuits) {
    const bool meets = circuit.source == NodeId{2} && bench.passes_first_switch(circuit);
    CHECK(std::binary_search(wide.touched.begin(), wide.touched.end(), circuit.id) == meets);
    Plan copy = wide;
    CHECK(bench.share(copy, bench.laser_of(circuit)).touched == meets);
  }
  CHECK(wide.changed == std::vector<NodeId>{bench.fabric->device(bench.ocs).agent, NodeId{2}});
}

TEST_CASE("a job that plays timeslots goes dark as a whole, another one does not") {
  Bench bench;
  bench.play_timeslots();
  bench.plan.changed.insert(bench.plan.changed.end(), {NodeId{2}, NodeId{7}});  // take part already
  bench.see_other_row(2);
  const Plan wide = bench.completed();
  for (const Circuit& circuit : wide.circuits) {
    Plan copy = wide;
    CHECK(bench.share(copy, bench.laser_of(circuit)).touched == (circuit.job == JobId{1}));
  }
  const NodeId agent = bench.fabric->device(bench.ocs).agent;
  CHECK(wide.changed == std::vector<NodeId>{agent, NodeId{2}, NodeId{3}, NodeId{4}, NodeId{7}});
}

TEST_CASE("a laser that is left alone is asked nothing though its light meets what differs") {
  Bench bench;
  bench.see_other_row(2);
  for (DevicePlan& device : bench.plan.nodes.edit(2).devices) {
    device.left_alone = true;
  }
  Plan wide = bench.completed();
  for (const DevicePlan& device : wide.nodes[2].devices) {
    CHECK_FALSE(device.touched);
  }
}

TEST_CASE("a device that a revision in doubt may have found elsewhere may be there still") {
  Bench bench;
  Plan went = bench.confirmed;
  const Setpoint elsewhere = CircuitSwitchSetpoint{{{2, 7}}};
  bench.share(went, bench.ocs).may_hold = {elsewhere};
  bench.known.uncertain = {&went};
  Plan wide = bench.completed();
  const auto& may_hold = bench.share(wide, bench.ocs).may_hold;
  CHECK(std::find(may_hold.begin(), may_hold.end(), elsewhere) != may_hold.end());
}

TEST_CASE("a switch that failed commits may have left otherwise is told so, be it moved or left alone") {
  Bench bench;
  const CircuitSwitchSetpoint left{{{2, 7}}};
  bench.known.left = {{bench.ocs, {left}}};
  const bool is_left_alone = GENERATE(false, true);
  DevicePlan& device = bench.share(bench.plan, bench.ocs);
  device.touched = !is_left_alone;
  device.left_alone = is_left_alone;
  CHECK_FALSE(is_as_known(*bench.fabric, bench.known, bench.plan));
  Plan wide = bench.completed();
  const auto& may_hold = bench.share(wide, bench.ocs).may_hold;
  CHECK(std::ranges::find(may_hold, Setpoint{left}) != may_hold.end());
  CHECK(bench.share(wide, bench.ocs).touched != is_left_alone);
}

TEST_CASE("what an agent that began anew takes for somebody else's is ours where a failed commit may have left it") {
  Bench bench;
  const auto connects =
      std::get<CircuitSwitchSetpoint>(bench.share(bench.confirmed, bench.ocs).timeline.front().setpoint).connects;
  CircuitSwitchObservation seen{{}, true};
  seen.occupied = connects;
  std::swap(seen.occupied.front().output, seen.occupied.back().output);
  bench.see(bench.ocs, seen);
  const bool is_known = GENERATE(false, true);
  if (is_known) {
    bench.known.left = {{bench.ocs, {CircuitSwitchSetpoint{seen.occupied}}}};
  }
  Plan wide = bench.completed();
  const auto& may_hold = bench.share(wide, bench.ocs).may_hold;
  CHECK((std::ranges::find(may_hold, Setpoint{CircuitSwitchSetpoint{seen.occupied}}) != may_hold.end()) == is_known);
}

TEST_CASE("two places of a ring are one as long as light cannot tell them apart") {
  const auto fabric = small_fabric(2);
  const auto bank = std::find_if(fabric->devices.begin(), fabric->devices.end(),
                                 [](const Device& device) { return device.role == DeviceRole::filter; });
  const auto& ring = std::get<RingFilter>(fabric->element(bank->elements[0]).kind);
  const std::int64_t width = ring.fwhm.mhz / kRingWidthParts;
  const auto plan_at = [&](std::int64_t off) {
    Plan plan;
    for (const Node& node : fabric->nodes) {
      NodePlan slice;
      slice.node = node.id;
      plan.nodes.push_back(std::move(slice));
    }
    const FilterSetpoint setpoint{{{0, Frequency{ring.cold_resonance.mhz - 50'000 + off}}}};
    plan.nodes.edit(bank->agent.value).devices.push_back({bank->id, true, {{{}, {}, kForever, setpoint}}});
    return plan;
  };
  const auto held = [&](std::int64_t off) {
    const Plan confirmed = plan_at(0);
    const Plan went = plan_at(off);
    KnownState known{&confirmed, {&went}, {}};
    known.observations.resize(fabric->devices.size());
    Plan plan = plan_at(off);
    see_to_steering(*fabric, known, plan);
    return plan.nodes[bank->agent.value].devices[0].may_hold.size();
  };
  CHECK(held(width) == 1);
  CHECK(held(-width) == 1);
  CHECK(held(width + 1) == 2);
}

}  // namespace
}  // namespace loom::test
