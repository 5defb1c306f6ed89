// SPDX-License-Identifier: Apache-2.0
// A bank is swept against one that is not what its fabric says, and the law that is found puts light where it belongs.
#include "controller/calibrate/bank_sweep.hpp"

#include <catch2/catch.hpp>

#include <random>

#include "tests/unit/calibrate/true_bank.hpp"

using namespace loom;
using namespace loom::test;

namespace {

struct Swept {
  BankSweep sweep;
  int looks = 0;
};

Swept swept(TrueBank& bank, const std::vector<RingReport>& rings, const DeviceCalibration* before = nullptr) {
  Swept result{BankSweep(rings, before)};
  while (!result.sweep.is_over() && result.looks < 2'000) {
    std::vector<Dbm> powers;
    for (std::size_t i = 0; i < rings.size(); ++i) {
      const auto light = result.sweep.light(i);
      powers.push_back(light ? bank.dropped(rings[i].channel, result.sweep.millivolts(), centre_of(light->slot)) : kNoLight);
    }
    result.sweep.take(powers);
    ++result.looks;
  }
  REQUIRE(result.sweep.is_over());
  return result;
}

/// Where rings stand that the law puts on `wanted`.
std::vector<double> misses(const TrueBank& bank, const std::vector<RingLaw>& laws, Frequency wanted) {
  FilterSetpoint setpoint;
  std::vector<RingFilter> rings(bank.cold_mhz.size());
  for (std::size_t i = 0; i < rings.size(); ++i) {
    rings[i].heater_volt_max = 8;
    rings[i].cold_resonance = {kKindCold};
    setpoint.rings.push_back({static_cast<std::uint16_t>(i), wanted});
  }
  DeviceCalibration calibration;
  calibration.rings = laws;
  REQUIRE(drive_by(calibration, rings, setpoint));
  std::vector<std::int32_t> millivolts;
  for (const RingResonance& ring : setpoint.rings) {
    REQUIRE(ring.drive);
    millivolts.push_back(*ring.drive);
  }
  std::vector<double> misses;
  for (std::size_t i = 0; i < rings.size(); ++i) {
    misses.push_back(bank.stands(i, millivolts) - static_cast<double>(wanted.mhz));
  }
  return misses;
}

}  // namespace

TEST_CASE("a bank a nanometre off and five percent off is found and put on every light") {
  for (const std::size_t rings : {1U, 2U, 8U}) {
    CAPTURE(rings);
    TrueBank bank = true_bank(rings, 0.02);
    const Swept done = swept(bank, kind_of(rings));
    for (std::size_t i = 0; i < rings; ++i) {
      CHECK(done.sweep.trouble(i).empty());
    }
    const std::vector<RingLaw> laws = done.sweep.laws();
    REQUIRE(laws.size() == rings);
    for (std::size_t i = 0; i < rings; ++i) {
      CHECK(std::abs(static_cast<double>(laws[i].cold_resonance.mhz) - bank.cold_mhz[i]) < 1'000);
      CHECK(std::abs(1e-3 * static_cast<double>(laws[i].shift[i]) / bank.mhz_per_square_volt[i][i] - 1) < 0.005);
      CHECK(laws[i].residual.mhz < 1'000);
    }
    for (const std::int64_t light : {193'300'000, 193'100'000, 192'900'000}) {
      for (const double miss : misses(bank, laws, {light})) {
        CHECK(std::abs(miss) < 1'000);  // of 6,250 that are allowed
      }
    }
  }
}

TEST_CASE("a law is as good as its residual says, whatever the bank is like") {
  std::mt19937_64 random(1);
  const auto within = [&](double least, double most) { return std::uniform_real_distribution(least, most)(random); };
  for (int bank_number = 0; bank_number < 200; ++bank_number) {
    CAPTURE(bank_number);
    const std::size_t rings = 1 + bank_number % 8;
    TrueBank bank = true_bank(rings, 0);
    bank.noise_part = 0.005;
    bank.floor_dbm = bank_number % 3 == 0 ? -40 : -26;  // a converter's last count
    bank.drops_within = bank_number % 2 == 0 ? 1e9 : 0.5;
    for (std::size_t i = 0; i < rings; ++i) {
      bank.cold_mhz[i] = static_cast<double>(kKindCold) + within(-120'000, 120'000);
      const double own = kKindShift * within(0.93, 1.07);
      for (std::size_t j = 0; j < rings; ++j) {
        const double distance = std::abs(static_cast<double>(i) - static_cast<double>(j));
        bank.mhz_per_square_volt[i][j] = i == j ? own : own * within(0.005, 0.03) * std::exp(1 - distance);
      }
    }
    const Swept done = swept(bank, kind_of(rings));
    const std::vector<RingLaw> laws = done.sweep.laws();
    REQUIRE(laws.size() == rings);
    for (const RingLaw& law : laws) {
      for (int heat = 0; heat < 20; ++heat) {
        std::vector<std::int32_t> millivolts;
        for (std::size_t i = 0; i < rings; ++i) {
          millivolts.push_back(static_cast<std::int32_t>(within(0, 5'500)));
        }
        const double off = static_cast<double>(resonance_by(law, millivolts).mhz) - bank.stands(law.channel, millivolts);
        CHECK(std::abs(off) < 1'500);
        CHECK(std::abs(off) < 600 + 4.0 * static_cast<double>(law.residual.mhz));
      }
    }
  }
}

TEST_CASE("the figures of the fabric put the same bank on its neighbours' light") {
  const TrueBank bank = true_bank(8, 0.02);
  std::vector<RingLaw> kind;
  for (const RingReport& ring : kind_of(8)) {
    kind.push_back({static_cast<std::uint16_t>(ring.channel), ring.cold_resonance, std::vector<std::int64_t>(8, 0)});
    kind.back().shift[ring.channel] = static_cast<std::int64_t>(ring.shift);
  }
  for (const double miss : misses(bank, kind, {193'100'000})) {
    CHECK(std::abs(miss) > 25'000);
  }
}

TEST_CASE("a warm start takes a fraction of the looks and finds what has drifted") {
  TrueBank bank = true_bank(8, 0.02);
  const Swept cold = swept(bank, kind_of(8));
  DeviceCalibration before;
  before.device = {3};
  before.rings = cold.sweep.laws();
  for (double& place : bank.cold_mhz) {
    place -= 8'000;  // the chip is 0.7 K warmer
  }
  const Swept warm = swept(bank, kind_of(8), &before);
  CHECK(warm.looks * 3 < cold.looks * 2);
  const auto laws = warm.sweep.laws();
  REQUIRE(laws.size() == 8);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    CHECK(std::abs(static_cast<double>(laws[i].cold_resonance.mhz) - bank.cold_mhz[i]) < 1'000);
  }
}

TEST_CASE("a ring that is far from where it was is looked for as if nobody had ever measured it") {
  TrueBank bank = true_bank(2, 0.02);
  const Swept cold = swept(bank, kind_of(2));
  DeviceCalibration before;
  before.rings = cold.sweep.laws();
  bank.cold_mhz[0] -= 220'000;
  const Swept warm = swept(bank, kind_of(2), &before);
  CHECK(warm.sweep.trouble(0).empty());
  REQUIRE(warm.sweep.laws().size() == 2);
  CHECK(std::abs(static_cast<double>(warm.sweep.laws()[0].cold_resonance.mhz) - bank.cold_mhz[0]) < 1'000);
}

TEST_CASE("readings with noise and steps cost some of the residual and say so") {
  TrueBank bank = true_bank(8, 0.02);
  bank.noise_part = 0.02;
  const Swept done = swept(bank, kind_of(8));
  REQUIRE(done.sweep.laws().size() == 8);
  FrequencyOffset worst{0};
  for (const RingLaw& law : done.sweep.laws()) {
    worst = std::max(worst, law.residual);
  }
  CHECK(worst.mhz > 20);
  CHECK(worst.mhz < 3'000);
}

TEST_CASE("a ring with one light keeps its kind's heater") {
  TrueBank bank = true_bank(1, 0);
  bank.mhz_per_square_volt[0][0] = kKindShift;
  const Swept done = swept(bank, kind_of(1, 1));
  REQUIRE(done.sweep.laws().size() == 1);
  CHECK(std::abs(1e-3 * static_cast<double>(done.sweep.laws()[0].shift[0]) / kKindShift - 1) < 0.05);
}

TEST_CASE("each way in which a ring cannot be found has a name of its own") {
  const auto trouble = [](TrueBank bank) {
    const Swept done = swept(bank, kind_of(2));
    CHECK(done.sweep.laws().size() <= 1);
    return done.sweep.trouble(0);
  };
  TrueBank away = true_bank(2, 0.02);
  away.cold_mhz[0] += 900'000;
  CHECK_THAT(trouble(away), Catch::Contains("wherever the ring stands") || Catch::Contains("no resonance in range"));
  TrueBank dead = true_bank(2, 0.02);
  dead.top_dbm = -60;
  CHECK_THAT(trouble(dead), Catch::Contains("sees no light"));
  TrueBank saturated = true_bank(2, 0.02);
  saturated.most_dbm = -12;
  CHECK_THAT(trouble(saturated), Catch::Contains("saturated"));
  TrueBank swapped = true_bank(2, 0.02);
  std::swap(swapped.mhz_per_square_volt[0], swapped.mhz_per_square_volt[1]);
  CHECK_FALSE(trouble(swapped).empty());
}

TEST_CASE("a bank whose lights are beyond its heaters is not swept") {
  std::vector<RingReport> rings = kind_of(1);
  rings[0].millivolts_max = 100;
  const BankSweep sweep(rings, nullptr);
  CHECK(sweep.is_over());
  CHECK_THAT(sweep.trouble(0), Catch::Contains("none of the 5 lights"));
}
