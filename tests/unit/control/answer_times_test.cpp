// SPDX-License-Identifier: Apache-2.0
// What the controller makes of answers that it measured: a bound of the next one, the losses that it allows for, and how
// long light will be dark.
#include "controller/control/commit/answer_times.hpp"

#include <catch2/catch.hpp>

#include "controller/control/jobs/dark_forecast.hpp"

namespace loom {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST_CASE("answer times: steady answers bring the bound down to them, one that is slow takes it up at once") {
  AnswerTimes times;
  CHECK_FALSE(times.bound(4));
  times.add(4, milliseconds{10});
  CHECK(times.bound(4) == Duration{milliseconds{30}});
  for (int i = 0; i < 100; ++i) {
    times.add(4, milliseconds{10});
  }
  CHECK(*times.bound(4) < milliseconds{11});
  CHECK(*times.bound(4) >= milliseconds{10});
  times.add(4, milliseconds{100});
  CHECK(*times.bound(4) >= milliseconds{100});
  for (int i = 0; i < 30; ++i) {
    times.add(4, milliseconds{10});
  }
  CHECK(*times.bound(4) < milliseconds{20});
}

TEST_CASE("answer times: many bound few, and few bound many by their number") {
  AnswerTimes times;
  times.add(1'024, milliseconds{8});
  CHECK(times.bound(1'024) == Duration{milliseconds{24}});
  CHECK(times.bound(3) == Duration{milliseconds{24}});
  CHECK(times.bound(5'000) == Duration{milliseconds{4 * 24}});  // of 1,024 to 2,047, and of 4,096 to 8,191
  times.add(3, microseconds{10});
  CHECK(times.bound(3) == kAnswerFloor);  // nobody waits less
  CHECK(times.bound(1'024) == Duration{milliseconds{24}});
  CHECK_FALSE(times.bound(1ULL << 40));
  AnswerTimes one;
  one.add(1, milliseconds{1});
  CHECK(one.bound(2) == Duration{milliseconds{6}});
  CHECK(one.bound(4'095) == Duration{milliseconds{3 << 11}});
  CHECK_FALSE(one.bound(1 << 14));
}

TEST_CASE("answer times: repeats follow from losses, and from how little is known of them") {
  AnswerTimes times;
  CHECK(times.repeats(4, 3) == 3);
  CHECK(times.repeats(0, 0) == 1);
  times.count(4, 0);
  CHECK(times.repeats(4, 3) == 3);  // three of four might be lost for all that is known
  times.count(2'000, 0);
  CHECK(times.repeats(4, 3) == 1);
  CHECK(times.repeats(1'024, 3) == 1);
  times.count(100, 4);
  CHECK(times.repeats(1'024, 3) >= 2);
  for (int i = 0; i < 20; ++i) {
    times.count(1'024, 41);  // 2 % either way
  }
  CHECK(times.repeats(1'024, 3) == 3);
  CHECK(times.repeats(1'024, 9) <= 4);
  for (int i = 0; i < 200; ++i) {
    times.count(1'024, 0);
  }
  CHECK(times.repeats(1'024, 3) == 1);  // what was long ago is forgotten
}

// --- darkness ------------------------------------------------------------------------------------------------------------

TEST_CASE("of nothing measured nothing is expected beside the device") {
  CHECK(DarkForecast().beside(1) == Duration{});
  CHECK(DarkForecast().beside(16'384) == Duration{});
}

TEST_CASE("the first commit is expected again, and a change is followed by quarters") {
  DarkForecast forecast;
  forecast.keep(64, std::chrono::milliseconds{100}, std::chrono::milliseconds{140});
  CHECK(forecast.beside(64) == std::chrono::milliseconds{40});
  for (int i = 0; i < 30; ++i) {
    forecast.keep(64, std::chrono::milliseconds{10}, std::chrono::milliseconds{90});
  }
  CHECK(forecast.beside(100) > std::chrono::milliseconds{79});  // as many by the power of two
  CHECK(forecast.beside(100) <= std::chrono::milliseconds{80});
  forecast.keep(64, std::chrono::milliseconds{10}, std::chrono::milliseconds{10});
  CHECK(forecast.beside(64) > std::chrono::milliseconds{59});
  CHECK(forecast.beside(64) <= std::chrono::milliseconds{60});
}

TEST_CASE("of a number of agents that was never seen the nearest speaks, of more in proportion") {
  DarkForecast forecast;
  forecast.keep(8, {}, std::chrono::milliseconds{5});
  forecast.keep(1024, {}, std::chrono::milliseconds{500});
  CHECK(forecast.beside(1) == std::chrono::microseconds{625});
  CHECK(forecast.beside(20) == std::chrono::milliseconds{5});
  CHECK(forecast.beside(512) == std::chrono::milliseconds{250});
  CHECK(forecast.beside(~0U) == std::chrono::milliseconds{500});
}

TEST_CASE("light that was dark for less than its device promises leaves nothing beside it") {
  DarkForecast forecast;
  forecast.keep(8, std::chrono::milliseconds{20}, std::chrono::milliseconds{12});
  CHECK(forecast.beside(8) == Duration{});
}

}  // namespace
}  // namespace loom
