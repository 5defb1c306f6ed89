// SPDX-License-Identifier: Apache-2.0
// The heater bank driver against the bank's model.
#include "drivers/heater/heater_bank.hpp"

#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

Rig bank_rig(SimDeviceOptions options = {}) {
  Fabric fabric = bank_fabric();
  const DeviceId bank = device_named(fabric, "bank");
  return Rig(std::move(fabric), bank, options);
}

std::vector<std::int32_t> millivolts(const Rig& rig) {
  return std::get<FilterObservation>(rig.driver->observe().reading).millivolts;
}

const FilterSetpoint kTwoRings{
    {{0, Frequency{193'075'000}}, {2, Frequency{190'300'000}}}};  // 925 GHz = 25 mW, 3.7 THz = 100 mW

TEST_CASE("heater_voltage_follows_the_square_root_of_the_shift") {
  const RingFilter ring{.free_spectral_range = {}, .cold_resonance = Frequency{194'000'000}};
  CHECK(heater_millivolts(ring, Frequency{194'000'000}).value() == 0);
  CHECK(heater_millivolts(ring, Frequency{193'075'000}).value() == 5'000);  // 925 GHz / 37 GHz/mW = 25 mW = (5 V)^2 / 1 kohm
  CHECK(heater_millivolts(ring, Frequency{190'300'000}).value() == 10'000);
}

TEST_CASE("heater_takes_the_nearest_resonance_of_a_comb") {
  RingFilter ring;
  ring.cold_resonance = Frequency{194'000'000};
  ring.free_spectral_range = FrequencyOffset{1'000'000};
  CHECK(heater_millivolts(ring, Frequency{192'075'000}).value() == 5'000);
  CHECK(heater_millivolts(ring, Frequency{194'075'000}).value() == 5'000);
}

TEST_CASE("heater_check_names_the_limit") {
  Rig rig = bank_rig();
  const auto above = rig.driver->check(FilterSetpoint{{{1, Frequency{194'100'000}}}});
  REQUIRE_FALSE(above.has_value());
  CHECK(above.error().code == ErrorCode::out_of_range);
  CHECK(above.error().message ==
        "bank channel 1: resonance 194.10000 THz lies above the cold resonance 194.00000 THz; a heater only moves it down");
  const auto below = rig.driver->check(FilterSetpoint{{{1, Frequency{190'000'000}}}});
  REQUIRE_FALSE(below.has_value());
  CHECK(below.error().message == "bank channel 1: resonance 190.00000 THz needs 10398 mV of heating, limit 10000 mV");
  CHECK(rig.driver->check(FilterSetpoint{{{4, Frequency{193'000'000}}}}).error().code == ErrorCode::not_found);
  CHECK(rig.driver->check(FilterSetpoint{{{1, Frequency{193'000'000}}, {1, Frequency{193'000'000}}}}).error().code ==
        ErrorCode::invalid_argument);
  CHECK_FALSE(rig.driver->check(TransmitterSetpoint{}).has_value());
  CHECK(rig.transactions.empty());
}

TEST_CASE("heater_brings_every_ring_to_its_resonance_and_parks_the_others") {
  Rig rig = bank_rig();
  rig.fire(kTwoRings);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(millivolts(rig) == std::vector<std::int32_t>{5'000, 0, 10'000, 0});
  const Frequency cold{194'000'000};
  CHECK(std::get<RingLight>(rig.model->light(rig.now)).resonances ==
        std::vector<Frequency>{Frequency{193'075'000}, cold, Frequency{190'300'000}, cold});
}

TEST_CASE("heater_asks_who_it_is_once_then_writes_one_block_and_reads_before_and_after") {
  Rig rig = bank_rig();
  rig.fire(kTwoRings);
  REQUIRE(rig.transactions.size() == 4);
  CHECK(std::get<Registers>(rig.transactions[0].order) == Registers{0x8000, 1, {}});
  CHECK(std::get<Registers>(rig.transactions[1].order) == Registers{0, 4, {}});
  CHECK(std::get<Registers>(rig.transactions[2].order) == Registers{0, 0, {5'000, 0, 10'000}});
  CHECK(std::get<Registers>(rig.transactions[3].order) == Registers{0, 4, {}});
  CHECK(rig.transactions[2].bus_address == 7);
  rig.poll();
  REQUIRE(rig.transactions.size() == 5);
  CHECK(rig.driver->observe().identity.description == "waveshare_mv, version register 0x0064");
  CHECK(rig.driver->observe().proof == Proof::assumed);
}

TEST_CASE("heater_second_fire_of_the_same_setpoint_writes_nothing") {
  Rig rig = bank_rig();
  rig.fire(kTwoRings);
  const std::size_t before = rig.writes();
  const Instant began = rig.now;
  rig.fire(kTwoRings);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.writes() == before);
  CHECK(rig.now - began < std::chrono::milliseconds{10});
}

TEST_CASE("heater_is_not_settled_before_its_rings_are_warm") {
  Rig rig = bank_rig();
  rig.driver->stage(kTwoRings);
  rig.driver->fire();
  rig.run([&] { return rig.transactions.size() == 4; });
  CHECK(rig.driver->activity() == DriverActivity::busy);
  const Instant proven = rig.now;
  rig.run();
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.now - proven >= std::chrono::milliseconds{1});
}

TEST_CASE("heater_that_ignores_its_writes_is_found_out") {
  Rig rig = bank_rig();
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::stick});
  rig.fire(kTwoRings);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault == "bank: channel 0 reads 0 mV after 5000 mV was written 3 times");
}

TEST_CASE("heater_exceptions_are_named_and_not_repeated") {
  const std::array<const char*, 4> names{"illegal function", "illegal address", "illegal value", "device failure"};
  for (std::uint8_t code = 1; code <= 4; ++code) {
    Rig rig = bank_rig();
    rig.wire = [code](const Transaction&) { return bus_reply(BusStatus::exception, code); };
    rig.fire(kTwoRings);
    CHECK(rig.driver->activity() == DriverActivity::failed);
    CHECK(rig.transactions.size() == 1);
    CHECK(rig.driver->observe().fault == "bank: read of version register 0x8000: refused with exception " +
                                             std::to_string(code) + " (" + names[code - 1u] + ")");
  }
}

TEST_CASE("heater_audit_sees_what_somebody_else_wrote") {
  Rig rig = bank_rig();
  rig.fire(kTwoRings);
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::settled);
  const Transaction foreign{rig.model->device(), 7, Registers{1, 0, {1'234}}, std::chrono::milliseconds{500}};
  rig.now += rig.model->execute(rig.now, foreign).service_time;
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  CHECK(millivolts(rig) == std::vector<std::int32_t>{5'000, 1'234, 10'000, 0});
  rig.fire(kTwoRings);
  CHECK(millivolts(rig) == std::vector<std::int32_t>{5'000, 0, 10'000, 0});
}

}  // namespace
}  // namespace loom
