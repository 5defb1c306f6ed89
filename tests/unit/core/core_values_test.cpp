// SPDX-License-Identifier: Apache-2.0
// Result, Digest, order statistics, setpoints, and the words of the enumerations.
#include <catch2/catch.hpp>

#include <set>

#include "core/alarm.hpp"
#include "core/digest.hpp"
#include "core/message.hpp"
#include "core/messages/report.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"

namespace loom {
namespace {

Result<int> half_of(int value) {
  if (value % 2 != 0) {
    return fail(ErrorCode::invalid_argument, std::to_string(value) + " is odd");
  }
  return value / 2;
}

Result<void> both_even(int a, int b) {
  LOOM_TRY(half_of(a));
  LOOM_TRY(half_of(b));
  return {};
}

TEST_CASE("a_result_holds_a_value_or_a_sentence") {
  CHECK(half_of(4).value() == 2);
  REQUIRE_FALSE(half_of(3));
  CHECK(half_of(3).error() == Error{ErrorCode::invalid_argument, "3 is odd"});
}

TEST_CASE("try_returns_the_first_error") {
  CHECK(both_even(2, 4).has_value());
  CHECK(both_even(3, 5).error().message == "3 is odd");
  CHECK(both_even(2, 5).error().message == "5 is odd");
}

TEST_CASE("every_word_of_an_enumeration_is_its_own") {
  std::set<std::string_view> words;
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    CHECK(words.insert(to_string(static_cast<ErrorCode>(code))).second);
  }
  CHECK(to_string(ErrorCode::device_silent) == "device_silent");
  CHECK(to_string(ErrorCode::unsupported) == "unsupported");
  CHECK(to_string(AlarmCode::plan_refused) == "plan_refused");
  CHECK(to_string(AlarmCode::lasers_off) == "lasers_off");
  CHECK(to_string(CommitState::confirmed) == "confirmed");
  CHECK(to_string(CommitState::darkening) == "darkening");
  CHECK(to_string(CommitOutcome::refused) == "refused");
  CHECK(to_string(Drift::stale) == "stale");
  CHECK(to_string(Role::operator_) == "operator");
  CHECK(to_string(CollectiveKind::point_to_point) == "point_to_point");
  CHECK(to_string(static_cast<Drift>(200)) == "?");
}

TEST_CASE("wall times are printed as RFC 3339 with microseconds") {
  CHECK(to_string(LightState::degraded) == "degraded");
  CHECK(to_string(AlarmCode::receiver_withheld) == "receiver_withheld");
  CHECK(to_string(WallTime{}) == "-");
  CHECK(to_string(WallTime{std::chrono::seconds{951'782'399} + std::chrono::nanoseconds{999'999'999}}) ==
        "2000-02-28T23:59:59.999999Z");
  CHECK(to_string(wall_time(Instant{std::chrono::seconds{1}}, std::chrono::seconds{1'767'225'600})) ==
        "2026-01-01T00:00:01.000000Z");
}

std::uint64_t digest_of(std::initializer_list<std::string_view> parts) {
  Digest digest;
  for (const std::string_view part : parts) {
    digest.add(part);
  }
  return digest.value();
}

TEST_CASE("a_digest_depends_on_order_length_and_every_byte") {
  CHECK(digest_of({"light", "loom"}) == digest_of({"light", "loom"}));
  CHECK(digest_of({"light", "loom"}) != digest_of({"loom", "light"}));
  CHECK(digest_of({"lightloom"}) != digest_of({"light", "loom"}));
  CHECK(digest_of({std::string_view("\0", 1)}) != digest_of({std::string_view("\0\0", 2)}));
  CHECK(digest_of({"lightloom!"}) != digest_of({"lightloom?"}));
  CHECK(digest_of({}) != digest_of({""}));
}

TEST_CASE("a_digest_is_the_same_number_on_every_machine") {
  Digest digest;
  digest.add(std::uint64_t{42});
  digest.add("lightloom");
  CHECK(digest.value() == 0xaf1bb430d7e111c9ULL);
}

std::vector<Duration> durations(int count) {
  std::vector<Duration> values;
  for (int i = count; i >= 1; --i) {
    values.emplace_back(i);
  }
  return values;
}

TEST_CASE("a_spread_takes_percentiles_by_nearest_rank") {
  auto hundred = durations(100);
  CHECK(spread_of(hundred) == Spread{Duration{1}, Duration{50}, Duration{99}, Duration{100}, 100});
  auto thousand = durations(1024);
  CHECK(spread_of(thousand).p99 == Duration{1014});
}

TEST_CASE("a_spread_of_few_values_does_not_flatter_the_tail") {
  auto two = durations(2);
  CHECK(spread_of(two) == Spread{Duration{1}, Duration{1}, Duration{2}, Duration{2}, 2});
  auto one = durations(1);
  CHECK(spread_of(one) == Spread{Duration{1}, Duration{1}, Duration{1}, Duration{1}, 1});
  std::vector<Duration> none;
  CHECK(spread_of(none) == Spread{});
}

TEST_CASE("only_lasers_go_dark") {
  const Setpoint laser = TransmitterSetpoint{{0, 8}, Dbm{0}, true};
  CHECK(emits(laser));
  CHECK_FALSE(emits(darkened(laser)));
  CHECK(std::get<TransmitterSetpoint>(darkened(laser)).slot == FrequencySlot{0, 8});
  const Setpoint heater = FilterSetpoint{{{0, Frequency{193'100'000}}}};
  CHECK(darkened(heater) == heater);
  CHECK_FALSE(emits(heater));
}

}  // namespace
}  // namespace loom
