// SPDX-License-Identifier: Apache-2.0
// Voltages of a calibration: each ring stands where it shall although all warm each other.
#include <catch2/catch.hpp>

#include "core/demand.hpp"
#include "core/ring/calibration.hpp"
#include "core/ring/ring.hpp"

using namespace loom;

namespace {

RingLaw law(std::uint16_t channel, std::int64_t cold_mhz, std::vector<std::int64_t> shift) {
  return {channel, {cold_mhz}, std::move(shift)};
}

std::vector<RingFilter> rings(std::size_t count) {
  std::vector<RingFilter> all(count);
  for (RingFilter& ring : all) {
    ring.cold_resonance = {193'500'000};  // 37 GHz/mW, 1 kOhm, 10 V: 37 GHz a V^2
  }
  return all;
}

}  // namespace

TEST_CASE("a drive solves the heat of a whole bank") {
  DeviceCalibration bank;
  bank.rings = {law(0, 193'600'000, {30'000'000, 900'000}), law(1, 193'450'000, {1'200'000, 40'000'000})};
  FilterSetpoint setpoint{{{0, {193'100'000}}, {1, {193'200'000}}}};
  REQUIRE(drive_by(bank, rings(2), setpoint));
  const std::vector<std::int32_t> millivolts{*setpoint.rings[0].drive, *setpoint.rings[1].drive};
  CHECK(std::abs(resonance_by(bank.rings[0], millivolts).mhz - 193'100'000) < 150);
  CHECK(std::abs(resonance_by(bank.rings[1], millivolts).mhz - 193'200'000) < 150);
}

TEST_CASE("a ring that was not measured keeps the fabric's law and warms its neighbour by nothing") {
  DeviceCalibration bank;
  bank.rings = {law(1, 193'450'000, {1'200'000, 40'000'000})};
  FilterSetpoint setpoint{{{0, {193'100'000}}, {1, {193'200'000}}}};
  REQUIRE(drive_by(bank, rings(2), setpoint));
  CHECK_FALSE(setpoint.rings[0].drive);
  REQUIRE(setpoint.rings[1].drive);
  // Ring 0: 400 GHz below its cold place by 37 GHz a V^2; of that heat ring 1 feels 1.2 GHz a V^2.
  const double other = 400.0 / 37;
  const double own = *setpoint.rings[1].drive * *setpoint.rings[1].drive * 1e-6;
  CHECK(std::abs(450 - 200 - 40 * own - 1.2 * other) < 0.2);
}

TEST_CASE("a drive that was given stays and the others heed it") {
  DeviceCalibration bank;
  bank.rings = {law(0, 193'600'000, {30'000'000, 900'000}), law(1, 193'450'000, {1'200'000, 40'000'000})};
  FilterSetpoint setpoint{{{0, {193'100'000}, 5'000}, {1, {193'200'000}}}};
  REQUIRE(drive_by(bank, rings(2), setpoint));
  CHECK(setpoint.rings[0].drive == 5'000);
  CHECK(std::abs(resonance_by(bank.rings[1], std::vector<std::int32_t>{5'000, *setpoint.rings[1].drive}).mhz - 193'200'000) <
        150);
}

TEST_CASE("what a heater cannot do is refused with both numbers") {
  DeviceCalibration bank;
  bank.rings = {law(0, 193'600'000, {30'000'000})};
  FilterSetpoint above{{{0, {193'700'000}}}};
  const auto cold = drive_by(bank, rings(1), above);
  REQUIRE_FALSE(cold);
  CHECK_THAT(cold.error().message, Catch::Contains("ring 0") && Catch::Contains("above where it stands cold"));
  FilterSetpoint below{{{0, {190'000'000}}}};
  const auto hot = drive_by(bank, rings(1), below);
  REQUIRE_FALSE(hot);
  CHECK_THAT(hot.error().message, Catch::Contains("10954 mV") && Catch::Contains("limit 10000 mV"));
}

TEST_CASE("headroom is the heat that is left in kelvin") {
  const RingLaw ring = law(0, 193'600'000, {30'000'000});
  RingFilter filter;
  const Headroom left = headroom_of(ring, filter, {193'100'000}, FrequencyOffset{0});
  CHECK(left.warmer_kelvin == Approx(500'000 / kRingMhzPerKelvin));
  CHECK(left.cooler_kelvin == Approx((3'000'000 - 500'000) / kRingMhzPerKelvin));
  const Headroom trimmed = headroom_of(ring, filter, {193'100'000}, FrequencyOffset{100'000});
  CHECK(trimmed.warmer_kelvin == Approx(400'000 / kRingMhzPerKelvin));
  CHECK(trimmed.cooler_kelvin == Approx((3'000'000 - 400'000) / kRingMhzPerKelvin));
}

TEST_CASE("a trim is taken off what is read, and off nothing else") {
  const RingFilter ring = rings(1).front();
  const RingResonance wanted{1, {193'100'000}};
  const std::int32_t set = drive_of(ring, wanted);
  CHECK(resonance_at(ring, set).mhz == Approx(193'100'000).margin(100));
  for (const std::int64_t mhz : {-300'000, -5'000, 5'000, 300'000}) {
    FilterObservation bank{{set, trimmed(ring, set, {mhz}), set}, {{1, LockState::locked, {mhz}}}};
    CHECK(resonance_at(ring, bank.millivolts[1]).mhz == Approx(193'100'000 + mhz).margin(200));
    CHECK(std::abs(set_millivolts(ring, bank, 1) - set) <= 2);
    CHECK(set_millivolts(ring, bank, 0) == set);
    CHECK(set_millivolts(ring, bank, 3) == 0);
    bank.locks.clear();
    CHECK(std::abs(set_millivolts(ring, bank, 1) - set) > 2);
  }
  CHECK(trimmed(ring, set, {9'000'000}) == 0);
  CHECK(trimmed(ring, set, {-9'000'000}) == 10'000);
}

TEST_CASE("the last version of a device is in force unless it is forgotten") {
  Intent intent;
  intent.calibrations = {{{2}, 1, {}, {}, {law(0, 193'600'000, {1})}},
                         {{2}, 2, {}, {}, {law(0, 193'500'000, {1})}},
                         {{4}, 1, {}, {}, {law(0, 193'600'000, {1})}},
                         {{4}, 2, {}, {}, {}}};
  REQUIRE(calibration_of(intent, {2}) != nullptr);
  CHECK(calibration_of(intent, {2})->version == 2);
  CHECK(calibration_of(intent, {4}) == nullptr);
  CHECK(calibration_of(intent, {3}) == nullptr);
}
