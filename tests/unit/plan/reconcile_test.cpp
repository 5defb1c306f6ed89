// SPDX-License-Identifier: Apache-2.0
// Desired against observed: each word of drift, and who needs a repair.
#include "controller/plan/reconcile/reconcile.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"

namespace {

using namespace loom;

struct World {
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const PlanResult> made;
  std::vector<Observation> seen;  ///< by device; agrees with the plan

  World() {
    OddlParameters parameters;
    parameters.nodes = 8;
    parameters.group_size = 4;
    parameters.channels = 6;
    fabric = std::make_shared<const Fabric>(make_oddl(parameters));
    PlanRequest request;
    request.fabric = fabric;
    request.revision = Revision{1};
    Job job;
    job.id = JobId{1};
    job.spec.node_count = 4;
    job.spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000}, 1}};
    request.intent.jobs = {job};
    made = *make_plan(all_architectures(), request);
    seen.resize(fabric->devices.size());
    for (const NodePlan& node : made->plan.nodes) {
      for (const DevicePlan& plan : node.devices) {
        seen[plan.device.value] = {plan.device, DeviceHealth::ready, instant_from_ns(1'000), read(plan), ""};
      }
    }
  }

  Reading read(const DevicePlan& plan) const {
    const Setpoint& setpoint = plan.timeline[0].setpoint;
    if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
      return TransmitterObservation{centre_of(laser->slot), laser->emit ? laser->power : kNoLight, laser->emit, true, 0, 0};
    }
    if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
      return WavelengthSwitchObservation{wss->routes, true};
    }
    FilterObservation bank{{0}};
    for (const RingResonance& wanted : std::get<FilterSetpoint>(setpoint).rings) {
      const auto& ring = std::get<RingFilter>(fabric->element(fabric->device(plan.device).elements[wanted.channel]).kind);
      const double watts = static_cast<double>((ring.cold_resonance - wanted.resonance).mhz) / ring.mhz_per_milliwatt / 1000;
      bank.millivolts[wanted.channel] = static_cast<std::int32_t>(std::lround(1000 * std::sqrt(watts * ring.heater_ohm)));
    }
    return bank;
  }

  Reconciliation judge(std::int64_t now_ns = 2'000) const {
    return reconcile(*fabric, made->plan, seen, instant_from_ns(now_ns));
  }
  TransmitterObservation& laser(std::uint32_t node) {
    return std::get<TransmitterObservation>(seen[made->plan.nodes[node].devices[0].device.value].reading);
  }
  FilterObservation& bank(std::uint32_t node) {
    return std::get<FilterObservation>(seen[made->plan.nodes[node].devices[1].device.value].reading);
  }
  WavelengthSwitchObservation& wss(std::uint32_t node) {
    return std::get<WavelengthSwitchObservation>(seen[made->plan.nodes[node].devices[2].device.value].reading);
  }
};

TEST_CASE("finds_no_drift_where_devices_do_as_told") {
  const World world;
  const auto found = world.judge();
  CHECK(found.counts == DriftCounts{});
  CHECK(found.devices.size() == world.fabric->devices.size());
}

TEST_CASE("a_dark_laser_is_missing_and_a_lit_idle_one_is_foreign") {
  World world;
  world.laser(1).emitting = false;
  world.laser(6).emitting = true;
  world.laser(6).power = Dbm{0};
  const auto found = world.judge();
  CHECK(found.counts.missing == 1);
  CHECK(found.counts.foreign == 1);
  CHECK(found.devices[world.made->plan.nodes[1].devices[0].device.value].drift == Drift::missing);
  CHECK(found.devices[world.made->plan.nodes[6].devices[0].device.value].drift == Drift::foreign);
}

TEST_CASE("an_emission_without_light_is_nothing_foreign") {
  World world;
  world.laser(6).emitting = true;
  world.laser(6).power = Dbm{kNoLight};
  CHECK(world.judge().counts == DriftCounts{});
}

TEST_CASE("detuned_and_dim_are_told_apart") {
  World world;
  world.laser(0).frequency.mhz += 2'501;
  world.laser(1).frequency.mhz -= 2'500;
  world.laser(2).power = Dbm{-301};
  world.laser(3).power = Dbm{-300};
  const auto found = world.judge();
  CHECK(found.counts.detuned == 1);
  CHECK(found.counts.dim == 1);
}

TEST_CASE("an_old_or_absent_reading_is_stale") {
  World world;
  world.seen.pop_back();
  auto found = world.judge();
  CHECK(found.counts.stale == 1);
  found = world.judge(11'000'000'000);
  CHECK(found.counts.stale == world.fabric->devices.size());
}

TEST_CASE("a_device_that_gave_up_is_believed_only_where_it_contradicts_the_plan") {
  World world;
  world.seen[world.made->plan.nodes[0].devices[0].device.value].health = DeviceHealth::failed;
  world.seen[world.made->plan.nodes[0].devices[0].device.value].fault = "laser-0: read of ResEna: no answer in 3 tries";
  CHECK(world.judge().counts.stale == 1);
  world.seen[world.made->plan.nodes[0].devices[0].device.value].fault.clear();  // it is being asked again
  CHECK(world.judge().counts.stale == 1);
  world.laser(0).status_fatal = 1U << 13;  // it was read, and says so itself
  CHECK(world.judge().counts.stale == 0);
  world.laser(0).emitting = false;
  CHECK(world.judge().counts.missing == 1);
}

TEST_CASE("the_evidence_names_desired_observed_and_limit") {
  World world;
  const auto deliver = [&](std::uint32_t node, std::size_t device, Drift drift) {
    const DevicePlan& plan = world.made->plan.nodes[node].devices[device];
    return evidence_of(*world.fabric, plan, &world.seen[plan.device.value], drift, instant_from_ns(2'001'000), {});
  };
  using Catch::Matchers::Contains;
  const Frequency wanted = world.laser(0).frequency;
  world.laser(0).frequency.mhz += 12'500;
  CHECK_THAT(deliver(0, 0, Drift::detuned), Contains("laser-0") && Contains("desired " + to_string(wanted)) &&
                                                Contains("off by +12.5 GHz, limit +2.5 GHz") && Contains("read 2 ms ago"));
  world.laser(1).power = Dbm{-450};
  CHECK_THAT(deliver(1, 0, Drift::dim), Contains("observed") && Contains("weaker by 4.5 dB, limit 3.0 dB"));
  world.laser(2).emitting = false;
  CHECK_THAT(deliver(2, 0, Drift::missing), Contains("observed darkness"));
  world.bank(3).millivolts[0] = 0;
  CHECK_THAT(deliver(3, 1, Drift::missing), Contains("observed 0 mV"));
  world.wss(0).routes.pop_back();
  CHECK_THAT(deliver(0, 2, Drift::missing), Contains("desired and not there: route n="));
}

TEST_CASE("a_repair_touches_the_drifted_device_and_the_light_that_passes_what_differs_of_it") {
  World world;
  std::vector<const Observation*> seen;
  for (const Observation& observation : world.seen) {
    seen.push_back(&observation);
  }
  const auto scope = [&](DeviceId device) { return repair_scope(*world.fabric, world.made->plan, {device}, seen, {}); };
  const DeviceId laser = world.made->plan.nodes[1].devices[0].device;
  CHECK(scope(laser).devices == std::vector{laser});
  CHECK(scope(laser).nodes == std::vector{NodeId{1}});

  // A ring that lost its heat: the one circuit that it drops.
  const Circuit& circuit = world.made->plan.circuits.front();
  const DeviceId bank = world.made->plan.nodes[circuit.destination.value].devices[1].device;
  world.bank(circuit.destination.value).millivolts[0] = 0;
  const RepairScope ring = scope(bank);
  CHECK(ring.devices.size() == 2);
  CHECK(std::find(ring.devices.begin(), ring.devices.end(), *world.fabric->device_of_element[circuit.transmitter.value]) !=
        ring.devices.end());
  CHECK(ring.steering == std::vector{bank});  // others' light comes to the ring as it does to a switch

  // A switch that lost one route: the light of that route, and no other.
  const DeviceId wss = world.made->plan.nodes[0].devices[2].device;
  REQUIRE(world.wss(0).routes.size() > 1);
  world.wss(0).routes.pop_back();
  const RepairScope route = scope(wss);
  CHECK(route.devices.size() == 2);
  CHECK(route.steering == std::vector{wss});
}

TEST_CASE("switches_and_rings_drift_too") {
  World world;
  world.wss(0).routes.pop_back();
  world.bank(1).millivolts[0] = 0;
  world.bank(2).millivolts[0] += world.bank(2).millivolts[0] / 10;
  world.bank(7).millivolts[0] = 500;
  const auto found = world.judge();
  CHECK(found.counts.missing == 2);
  CHECK(found.counts.detuned == 1);
  CHECK(found.counts.foreign == 1);
  world.wss(0).routes.push_back({{0, 8}, 0, 1, Db{0}});
  CHECK(world.judge().counts.foreign == 2);
}

}  // namespace
