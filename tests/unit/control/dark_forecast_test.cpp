// SPDX-License-Identifier: Apache-2.0
// What commits took beside their slowest device is what the next one is expected to.
#include <catch2/catch.hpp>
#include <chrono>

#include "controller/control/jobs/dark_forecast.hpp"

namespace loom::test {
namespace {

using std::chrono::milliseconds;

TEST_CASE("of nothing measured nothing is expected beside the device") {
  CHECK(DarkForecast().beside(1) == Duration{});
  CHECK(DarkForecast().beside(16'384) == Duration{});
}

TEST_CASE("the first commit is expected again, and a change is followed by quarters") {
  DarkForecast forecast;
  forecast.keep(64, milliseconds{100}, milliseconds{140});
  CHECK(forecast.beside(64) == milliseconds{40});
  for (int i = 0; i < 30; ++i) {
    forecast.keep(64, milliseconds{10}, milliseconds{90});
  }
  CHECK(forecast.beside(100) > milliseconds{79});  // as many by the power of two
  CHECK(forecast.beside(100) <= milliseconds{80});
  forecast.keep(64, milliseconds{10}, milliseconds{10});
  CHECK(forecast.beside(64) > milliseconds{59});
  CHECK(forecast.beside(64) <= milliseconds{60});
}

TEST_CASE("of a number of agents that was never seen, the nearest speaks") {
  DarkForecast forecast;
  forecast.keep(8, {}, milliseconds{5});
  forecast.keep(1024, {}, milliseconds{500});
  CHECK(forecast.beside(1) == milliseconds{5});
  CHECK(forecast.beside(20) == milliseconds{5});
  CHECK(forecast.beside(512) == milliseconds{500});
  CHECK(forecast.beside(~0U) == milliseconds{500});
}

TEST_CASE("light that was dark for less than its device promises leaves nothing beside it") {
  DarkForecast forecast;
  forecast.keep(8, milliseconds{20}, milliseconds{12});
  CHECK(forecast.beside(8) == Duration{});
}

}  // namespace
}  // namespace loom::test
