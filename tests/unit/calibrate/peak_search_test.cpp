// SPDX-License-Identifier: Apache-2.0
// Peaks of one light, found in few looks; and what looks like one and is none.
#include "controller/calibrate/peak_search.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

using namespace loom;

namespace {

constexpr double kWidth = 50'000;

Dbm lorentzian(double place, double peak, double top = -5) {
  const double off = 2 * (place - peak) / kWidth;
  return {static_cast<std::int32_t>(std::lround(100 * std::max(-40.0, top - 10 * std::log10(1 + off * off))))};
}

int run(PeakSearch& search, const std::function<Dbm(double)>& light) {
  int looks = 0;
  for (; !search.is_over() && looks < 500; ++looks) {
    const double place = search.next();
    search.take(place, light(place));
  }
  REQUIRE(search.is_over());
  return looks;
}

}  // namespace

TEST_CASE("a scan finds a peak wherever in its range it lies") {
  for (double peak = 3'000; peak < 400'000; peak += 7'777) {
    CAPTURE(peak);
    PeakSearch search = PeakSearch::scan(0, 400'000, kWidth);
    run(search, [&](double place) { return lorentzian(place, peak); });
    REQUIRE(search.peak());
    CHECK(std::abs(*search.peak() - peak) < 300);
  }
}

TEST_CASE("a scan finds a peak of light that is gone beyond half the width") {
  for (double peak = 30'000; peak < 370'000; peak += 7'777) {
    CAPTURE(peak);
    PeakSearch search = PeakSearch::scan(0, 400'000, kWidth);
    run(search, [&](double place) { return std::abs(place - peak) > kWidth / 2 ? kNoLight : lorentzian(place, peak); });
    REQUIRE(search.peak());
    CHECK(std::abs(*search.peak() - peak) < 500);
  }
}

TEST_CASE("a peak that is known takes three looks, and one that has gone a little few more") {
  PeakSearch there = PeakSearch::about(200'000, 0, 400'000, kWidth);
  CHECK(run(there, [](double place) { return lorentzian(place, 201'000); }) == 3);
  PeakSearch beside = PeakSearch::about(200'000, 0, 400'000, kWidth);
  CHECK(run(beside, [](double place) { return lorentzian(place, 225'000); }) <= 9);
  REQUIRE(beside.peak());
  CHECK(std::abs(*beside.peak() - 225'000) < 300);
  PeakSearch away = PeakSearch::about(200'000, 0, 400'000, kWidth);
  run(away, [](double place) { return std::abs(place - 280'000) > kWidth / 2 ? kNoLight : lorentzian(place, 280'000); });
  REQUIRE(away.peak());
  CHECK(std::abs(*away.peak() - 280'000) < 500);
}

TEST_CASE("a look at a converter's last count beside the light moves no peak") {
  constexpr Dbm kLastCount{-3'113};
  for (double peak = 150'000; peak < 250'000; peak += 777) {
    CAPTURE(peak);
    PeakSearch search = PeakSearch::about(200'000, 0, 400'000, kWidth);
    run(search, [&](double place) { return std::abs(place - peak) > kWidth / 2 ? kLastCount : lorentzian(place, peak); });
    REQUIRE(search.peak());
    CHECK(std::abs(*search.peak() - peak) < 300);
  }
}

TEST_CASE("what is no resonance is told by what it is") {
  const auto trouble = [](const std::function<Dbm(double)>& light) {
    PeakSearch search = PeakSearch::scan(0, 400'000, kWidth);
    run(search, light);
    CHECK_FALSE(search.peak());
    return search.trouble();
  };
  CHECK_THAT(trouble([](double) { return kNoLight; }), Catch::Contains("sees no light"));
  CHECK_THAT(trouble([](double) { return Dbm{-700}; }), Catch::Contains("wherever the ring stands"));
  CHECK_THAT(trouble([](double place) { return std::min(lorentzian(place, 200'000), Dbm{-1'200}); }),
             Catch::Contains("saturated"));
  CHECK_THAT(trouble([](double place) { return std::max(lorentzian(place, 100'000), lorentzian(place, 300'000, -6)); }),
             Catch::Contains("two rings"));
}
