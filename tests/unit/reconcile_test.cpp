// Desired against observed: each word of drift, and who needs a repair.
#include "controller/plan/reconcile.hpp"

#include <catch2/catch.hpp>
#include <cmath>

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
    made = *make_plan(request);
    seen.resize(fabric->devices.size());
    for (const NodePlan& node : made->plan.nodes) {
      for (const DevicePlan& plan : node.devices) {
        seen[plan.device.value] = {plan.device, DeviceHealth::ready, instant_from_ns(1'000), read(plan), ""};
      }
    }
  }

  Reading read(const DevicePlan& plan) const {
    const Setpoint& setpoint = plan.timeline[0].setpoint;
    if (const auto* laser = std::get_if<LaserSetpoint>(&setpoint)) {
      return LaserObservation{centre_of(laser->slot), laser->emit ? laser->power : kNoLight, laser->emit, true, 0, 0};
    }
    if (const auto* wss = std::get_if<WssSetpoint>(&setpoint)) {
      return WssObservation{wss->routes, true};
    }
    HeaterObservation bank{{0}};
    for (const RingResonance& wanted : std::get<HeaterSetpoint>(setpoint).rings) {
      const auto& ring = std::get<RingFilter>(fabric->element(fabric->device(plan.device).elements[wanted.channel]).kind);
      const double watts = static_cast<double>((ring.cold_resonance - wanted.resonance).mhz) / ring.mhz_per_milliwatt / 1000;
      bank.millivolts[wanted.channel] = static_cast<std::int32_t>(std::lround(1000 * std::sqrt(watts * ring.heater_ohm)));
    }
    return bank;
  }

  Reconciliation judge(std::int64_t now_ns = 2'000) const {
    return reconcile(*fabric, made->plan, seen, instant_from_ns(now_ns));
  }
  LaserObservation& laser(std::uint32_t node) {
    return std::get<LaserObservation>(seen[made->plan.nodes[node].devices[0].device.value].reading);
  }
  HeaterObservation& bank(std::uint32_t node) {
    return std::get<HeaterObservation>(seen[made->plan.nodes[node].devices[1].device.value].reading);
  }
  WssObservation& wss(std::uint32_t node) {
    return std::get<WssObservation>(seen[made->plan.nodes[node].devices[2].device.value].reading);
  }
};

TEST_CASE("finds_no_drift_where_devices_do_as_told") {
  const World world;
  const auto found = world.judge();
  CHECK(found.counts == DriftCounts{});
  CHECK(found.repair.empty());
  CHECK(found.devices.size() == world.fabric->devices.size());
}

TEST_CASE("a_dark_laser_is_missing_and_a_lit_idle_one_is_foreign") {
  World world;
  world.laser(1).emitting = false;
  world.laser(6).emitting = true;
  const auto found = world.judge();
  CHECK(found.counts.missing == 1);
  CHECK(found.counts.foreign == 1);
  CHECK(found.repair == std::vector{NodeId{1}, NodeId{6}});
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
  CHECK(found.repair == std::vector{NodeId{0}, NodeId{2}});
}

TEST_CASE("an_old_or_absent_reading_is_stale_and_is_not_repaired") {
  World world;
  world.seen.pop_back();
  auto found = world.judge();
  CHECK(found.counts.stale == 1);
  CHECK(found.repair.empty());
  found = world.judge(11'000'000'000);
  CHECK(found.counts.stale == world.fabric->devices.size());
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
