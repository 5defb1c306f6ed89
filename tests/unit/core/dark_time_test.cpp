// SPDX-License-Identifier: Apache-2.0
// What devices promise to need by themselves, and which of a plan's needs longest.
#include "core/fabric/dark_time.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

const Device& first_of(const Fabric& fabric, DeviceRole role) {
  return *std::ranges::find(fabric.devices, role, &Device::role);
}

TEST_CASE("a_laser_needs_its_time_to_tune_only_for_another_frequency_and_its_time_to_come_on_only_for_light") {
  Fabric fabric = test::small_oddl();
  const Device& laser = first_of(fabric, DeviceRole::transmitter);
  auto& promised = std::get<Transmitter>(fabric.elements[laser.elements.front().value].kind);
  promised.retune_max = milliseconds{40};
  promised.enable_max = milliseconds{7};
  const TransmitterSetpoint here{promised.channels.slot(0), Dbm{0}, true};
  TransmitterSetpoint there{promised.channels.slot(1), Dbm{0}, true};
  const auto time = [&](const Setpoint* before, const Setpoint& after) { return own_time_of(fabric, laser, before, after); };
  const Setpoint held = here;
  CHECK(time(&held, here) == milliseconds{7});
  CHECK(time(&held, there) == milliseconds{47});
  CHECK(time(nullptr, here) == milliseconds{47});
  there.emit = false;
  CHECK(time(&held, there) == milliseconds{40});
}

TEST_CASE("the_slowest_device_of_a_plan_is_one_that_it_touches_and_that_does_not_hold_its_setpoint_already") {
  const Fabric fabric = test::small_oddl();
  const Device& wss = first_of(fabric, DeviceRole::wavelength_switch);
  const Duration settle = settle_time_of(fabric.element(wss.elements.front()));
  REQUIRE(settle > Duration{});
  const Setpoint blocked = WavelengthSwitchSetpoint{};
  const Setpoint routed = WavelengthSwitchSetpoint{{WssRoute{{0, 8}, 0, 0, Db{0}}}};
  Plan plan;
  plan.nodes.resize(1);
  plan.nodes.edit(0).devices = {{wss.id, true, {{{}, {}, kForever, routed}}}};
  const auto holds = [](const Setpoint& held) { return [&held](DeviceId) { return &held; }; };
  const auto slowest = slowest_of(fabric, plan, holds(blocked));
  REQUIRE(slowest);
  CHECK(slowest->device == wss.id);
  CHECK(slowest->time == settle);
  CHECK_FALSE(slowest_of(fabric, plan, holds(routed)));
  plan.nodes.edit(0).devices[0].touched = false;
  CHECK_FALSE(slowest_of(fabric, plan, holds(blocked)));
}

}  // namespace
}  // namespace loom
