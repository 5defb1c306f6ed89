// SPDX-License-Identifier: Apache-2.0
// A device that must say a serial number: another one, or none yet, gets nothing but darkness.
#include "tests/drivers/rig.hpp"
#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;

Rig wss_with_serial(const std::string& serial) {
  Fabric fabric = ocs_fabric();
  const DeviceId device = device_named(fabric, "wss-out-0");
  fabric.devices[device.value].serial = serial;
  return Rig(std::move(fabric), device);
}

const Setpoint kRoute = WavelengthSwitchSetpoint{{{slot_of(0), 0, 1, Db{0}}}};

TEST_CASE("a_device_that_has_not_said_its_serial_number_is_asked_for_nothing_yet") {
  Rig rig = wss_with_serial("SN000000");
  const auto refused = rig.driver->check(kRoute);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::device_error);
  CHECK_THAT(refused.error().message, Contains("it has not said its serial number; the inventory expects 'SN000000'"));
}

TEST_CASE("a_device_with_the_right_serial_number_is_driven_as_any_other") {
  Rig plain = wss_with_serial({});
  plain.poll();
  plain.poll();
  const std::string serial = plain.driver->observe().identity.serial;
  REQUIRE_FALSE(serial.empty());
  Rig rig = wss_with_serial(serial);
  rig.poll();
  rig.poll();
  CHECK(rig.driver->check(kRoute).has_value());
  rig.fire(kRoute);
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("a_device_that_says_another_serial_number_has_failed_and_both_numbers_are_named") {
  Rig rig = wss_with_serial("EP999999");
  Fabric others = ocs_fabric();  // what is plugged there says a number of its own
  rig.model = make_simulated_device(others, device_named(others, "wss-out-0"), {});
  rig.poll();
  rig.poll();
  const std::string said = rig.driver->observe().identity.serial;
  REQUIRE_FALSE(said.empty());
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().health == DeviceHealth::failed);
  CHECK(rig.driver->observe().fault == "wss-out-0: its serial number is '" + said + "'; the inventory expects 'EP999999'");
  CHECK_FALSE(rig.driver->check(kRoute).has_value());
  CHECK(rig.writes() == 0);
}

TEST_CASE("a_laser_that_is_a_stranger_may_still_be_made_dark") {
  Fabric fabric = ocs_fabric();
  const DeviceId device = device_named(fabric, "laser-0");
  fabric.devices[device.value].serial = "B";
  Rig rig(std::move(fabric), device);
  CHECK_FALSE(rig.driver->check(TransmitterSetpoint{slot_of(1), Dbm{0}, true}).has_value());
  CHECK(rig.driver->check(TransmitterSetpoint{slot_of(1), Dbm{0}, false}).has_value());
}

}  // namespace
}  // namespace loom
