// SPDX-License-Identifier: Apache-2.0
// The law that holds a ring on its light, against a Lorentzian of its own arithmetic.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "agents/lock/peak_lock.hpp"

using namespace loom;

namespace {

constexpr FrequencyOffset kWidth{100'000};
constexpr double kHalf = 50'000;
constexpr TrimRange kFar{FrequencyOffset{-400'000}, FrequencyOffset{400'000}};

/// Of all light, what drops of it so far beside the ring.
double dropped(double off) { return 1 / (1 + off * off / (kHalf * kHalf)); }

/// A ring that stands `beside` MHz above its light while it is not moved, and what a converter of `step` mW makes of its drop.
struct Bench {
  double beside = 0;
  double light = 0.1;  ///< mW
  double step = 0;
  PeakLock lock{kWidth};

  double off(FrequencyOffset trim) const { return beside + static_cast<double>(trim.mhz); }
  double seen(FrequencyOffset trim) const {
    const double power = light * dropped(off(trim));
    return step > 0 ? std::round(power / step) * step : power;
  }
  LockLook steady() const { return {seen(lock.trim()), seen(lock.side(false)), seen(lock.side(true)), seen(lock.trim())}; }
  void look() { lock.see(steady()); }
};

Bench bench_at(double beside) {
  Bench bench;
  bench.beside = beside;
  bench.lock.limit(kFar);
  return bench;
}

}  // namespace

TEST_CASE("the distance to the top is told by two looks, whatever the light's power") {
  for (const double off : {-400'000.0, -45'000.0, -20'000.0, -300.0, 0.0, 1'000.0, 30'000.0, 49'000.0, 120'000.0}) {
    for (const double power : {1e-4, 1.0, 30.0}) {
      const double above = power * dropped(off + 10'000);
      const double below = power * dropped(off - 10'000);
      const auto found = offset_from_peak((above - below) / (above + below), kHalf, 10'000, std::abs(off) < kHalf);
      REQUIRE(found);
      CHECK(*found == Approx(off).margin(1));
    }
  }
}

TEST_CASE("a ring within half its width is on its light after a look or two") {
  for (const double beside : {-48'000.0, -12'000.0, 7'000.0, 48'000.0}) {
    Bench bench = bench_at(beside);
    for (int look = 0; look < 5; ++look) {
      bench.look();
    }
    CHECK(std::abs(bench.off(bench.lock.trim())) < 20);
    CHECK(bench.lock.state() == LockState::locked);
  }
}

TEST_CASE("a ring that stands three widths beside its light is brought back, since a Lorentzian ends nowhere") {
  Bench bench = bench_at(300'000);
  int looks = 0;
  while (bench.lock.state() != LockState::locked && looks < 50) {
    bench.look();
    ++looks;
  }
  CHECK(looks < 16);
  CHECK(std::abs(bench.off(bench.lock.trim())) < kHalf / 4);
}

TEST_CASE("a step of the converter costs no more than its share") {
  Bench bench = bench_at(20'000);
  bench.step = bench.light / 500;  // a signal of 500 counts
  double worst = 0;
  for (int look = 0; look < 100; ++look) {
    bench.look();
    worst = look < 5 ? 0 : std::max(worst, std::abs(bench.off(bench.lock.trim())));
  }
  CHECK(worst < 1'000);
}

TEST_CASE("light that comes, goes or doubles between two looks moves no ring") {
  Bench bench = bench_at(3'000);
  bench.look();
  const FrequencyOffset before = bench.lock.trim();
  bench.lock.see({std::nullopt, 0.1, 0.1, std::nullopt});
  CHECK(bench.lock.state() == LockState::no_light);
  bench.lock.see({0.1, 0.0, 0.0, 0.1});
  CHECK(bench.lock.state() == LockState::no_light);
  bench.lock.see({0.1, 0.05, 0.1, 0.1});
  CHECK(bench.lock.state() == LockState::no_light);
  CHECK(bench.lock.trim() == before);
  bench.look();
  CHECK(bench.lock.state() == LockState::locked);
}

TEST_CASE("light that changes as much as a ring could change it is told by how the look ends, and moves no ring") {
  Bench bench = bench_at(0);
  bench.look();
  const FrequencyOffset before = bench.lock.trim();
  const LockLook steady = bench.steady();
  const double factor = GENERATE(0.0, 0.6, 0.7, 1.4, 1.7);
  const int changes_at = GENERATE(1, 2, 3);
  CAPTURE(factor, changes_at);
  LockLook look = steady;
  int part = 0;
  for (std::optional<double>* seen : {&look.middle, &look.below, &look.above, &look.again}) {
    *seen = **seen * (part++ >= changes_at ? factor : 1);
  }
  bench.lock.see(look);
  CHECK(bench.lock.trim() == before);
}

TEST_CASE("a light that goes out for one look moves no ring either") {
  Bench bench = bench_at(0);
  bench.look();
  const FrequencyOffset before = bench.lock.trim();
  LockLook look = bench.steady();
  look.above = std::nullopt;
  bench.lock.see(look);
  CHECK(bench.lock.trim() == before);
  bench.look();
  bench.lock.see(look);
  CHECK(std::abs(bench.off(bench.lock.trim())) < 20);
}

TEST_CASE("at the edge of what a monitor sees a ring goes to the side that has light") {
  Bench bench = bench_at(-44'000);
  const auto seen = [&](FrequencyOffset trim) {
    return std::abs(bench.off(trim)) < kHalf ? std::optional(bench.seen(trim)) : std::nullopt;
  };
  for (int look = 0; look < 7; ++look) {
    const PeakLock& lock = bench.lock;
    const auto middle = seen(lock.trim());
    bench.lock.see({middle, seen(lock.side(false)), seen(lock.side(true)), middle});
    CHECK(bench.lock.state() != LockState::no_light);
  }
  CHECK(bench.lock.state() == LockState::locked);
}

TEST_CASE("a ring whose place its heater cannot reach says so, and stays at its end") {
  Bench bench = bench_at(-80'000);
  bench.lock.limit({FrequencyOffset{-30'000}, FrequencyOffset{30'000}});
  for (int look = 0; look < 10; ++look) {
    bench.look();
  }
  CHECK(bench.lock.state() == LockState::at_limit);
  CHECK(bench.lock.trim() == FrequencyOffset{30'000});
}

TEST_CASE("a chip that warms steadily is followed until it moves half a width between two looks") {
  const auto worst_at = [](double per_look) {
    Bench bench = bench_at(0);
    double worst = 0;
    for (int look = 0; look < 12 && worst < 4 * kHalf; ++look) {
      LockLook seen;
      const auto warms = [&](double power) {
        bench.beside -= per_look / 4;
        return power;
      };
      seen.middle = warms(bench.seen(bench.lock.trim()));
      seen.below = warms(bench.seen(bench.lock.side(false)));
      seen.above = warms(bench.seen(bench.lock.side(true)));
      seen.again = warms(bench.seen(bench.lock.trim()));
      bench.lock.see(seen);
      worst = std::max(worst, std::abs(bench.off(bench.lock.trim())));
    }
    return worst;
  };
  CHECK(worst_at(1'000) < 4'000);
  CHECK(worst_at(10'000) < kHalf);
  CHECK(worst_at(100'000) > kHalf);
}
