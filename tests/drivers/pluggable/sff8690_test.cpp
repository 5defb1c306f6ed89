// SPDX-License-Identifier: Apache-2.0
// SFF-8690: bytes against the specification's own numbers, the driver against a module that refuses.
#include "drivers/pluggable/sff8690.hpp"

#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

Rig module_rig(const std::string& serial = {}) {
  Fabric fabric = small_fabric();
  fabric.devices[0].model = "sff8690";
  fabric.devices[0].serial = serial;
  suit(std::get<Transmitter>(fabric.elements[fabric.devices[0].elements.front().value].kind), "sff8690");
  SimDeviceOptions options;
  return Rig(std::move(fabric), DeviceId{0}, options);
}

TransmitterSetpoint lit(std::int32_t channel) { return {slot_of(channel), Dbm{0}, true}; }

}  // namespace

TEST_CASE("wavelengths_are_in_steps_of_a_twentieth_of_a_nanometre") {
  CHECK(sff::frequency_of_wavelength(0x799B).mhz / 1'000 == 192'600);  // 1556.55 nm, the specification's own example
  CHECK(sff::wavelength_of(sff::frequency_of_wavelength(0x799B)) == 0x799B);
}

TEST_CASE("offsets_of_an_sfp_are_those_of_optoe") {
  CHECK(sff::at_a0(65) == 65);
  CHECK(sff::at_a2(110) == 366);
  CHECK(sff::at_a2(144) == 656);
}

TEST_CASE("channels_count_from_one_and_a_grid_may_be_negative") {
  sff::Limits limits;
  limits.first = Frequency{196'100'000};
  limits.last = Frequency{191'300'000};
  limits.grid = FrequencyOffset{-50'000};
  CHECK(sff::channel_of(limits, Frequency{196'100'000}) == 1);
  CHECK(sff::channel_of(limits, Frequency{191'300'000}) == 97);
  CHECK_FALSE(sff::channel_of(limits, Frequency{191'250'000}).has_value());
  CHECK_FALSE(sff::channel_of(limits, Frequency{196'075'000}).has_value());
}

TEST_CASE("a_tunable_sfp_is_calmed_tuned_in_one_transaction_and_lit") {
  Rig rig = module_rig();
  rig.fire(lit(2));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  std::vector<BytesAt> written;
  for (const Transaction& each : rig.transactions) {
    const auto& order = std::get<BytesAt>(each.order);
    CHECK(order.layout == PageLayout::two_addresses);
    if (order.count == 0 && (written.empty() || written.back() != order)) {
      written.push_back(order);
    }
  }
  const PageLayout two = PageLayout::two_addresses;
  CHECK(written == std::vector<BytesAt>{{sff::at_a2(151), 0, {sff::kDitherOff}, two},
                                        {sff::at_a2(144), 0, {0, 3}, two},
                                        {sff::at_a2(110), 0, {0}, two}});
  const auto reading = std::get<TransmitterObservation>(rig.driver->observe().reading);
  CHECK(reading.frequency == centre_of(slot_of(2)));
  CHECK(reading.locked);
  CHECK(rig.driver->observe().identity.serial == "SIM0001");
}

TEST_CASE("a_lit_sfp_is_darkened_before_it_is_tuned") {
  Rig rig = module_rig();
  rig.fire(lit(1));
  const std::size_t before = rig.writes();
  rig.fire(lit(3));
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.model->actuations()[before].address == sff::at_a2(110));
  CHECK(rig.model->actuations()[before].value == sff::kSoftDisable);
  CHECK(rig.model->actuations()[before + 1].address == sff::at_a2(144));
}

TEST_CASE("an_sfp_of_another_serial_number_or_power_is_refused") {
  Rig rig = module_rig("T4711");
  SimDeviceOptions options;
  options.keep_actuations = true;
  rig.model = make_simulated_device(module_rig().fabric, DeviceId{0}, options);  // another one was plugged in
  CHECK_THAT(rig.driver->check(TransmitterSetpoint{slot_of(1), Dbm{300}, true}).error().message,
             Catch::Contains("power 3.00 dBm asked of a module that has 0.00 dBm"));
  rig.poll();
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(rig.driver->observe().fault, Catch::Contains("serial number") && Catch::Contains("'T4711'"));
  CHECK_FALSE(rig.driver->check(lit(1)).has_value());
  CHECK(rig.writes() == 0);
}

TEST_CASE("an_sfp_beside_its_channel_is_told_by_an_audit") {
  Rig rig = module_rig();
  rig.fire(lit(1));
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{20'000}});
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  CHECK_THAT(rig.driver->observe().fault, Catch::Contains("it is at 191.52000 THz, wanted 191.50000 THz"));
}

}  // namespace loom
