// SPDX-License-Identifier: Apache-2.0
// Which light is measured where, look by look; no world, no clock.
#include "controller/calibrate/power_survey.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace loom {
namespace {

FrequencySlot slot(std::int32_t k) { return {16 * k, 8}; }

/// Receivers 100 and on, each of which every one of `transmitters` reaches on every one of `channels`.
std::vector<WayReport> mesh(std::uint32_t receivers, std::uint32_t transmitters, std::int32_t channels) {
  std::vector<WayReport> ways;
  for (std::uint32_t r = 0; r < receivers; ++r) {
    WayReport way;
    way.receiver = ElementId{100 + r};
    for (std::uint32_t t = 0; t < transmitters; ++t) {
      for (std::int32_t k = 0; k < channels; ++k) {
        way.lights.push_back({ElementId{t}, way.receiver, slot(k)});
      }
    }
    ways.push_back(std::move(way));
  }
  return ways;
}

/// What a laser is beside its figures: a tenth of a decibel for its number, a hundredth for its channel.
Db truth(const Probe& light) {
  return Db{10 * static_cast<std::int32_t>(light.transmitter.value) + static_cast<std::int32_t>(light.slot.n) / 16};
}

/// One look: everything should bring -10 dBm.
void look(PowerSurvey& survey) {
  std::map<ElementId, Dbm> expected;
  std::map<ElementId, Dbm> seen;
  std::set<ElementId> transmitters;
  for (const Probe& light : survey.ask().probes) {
    CHECK(transmitters.insert(light.transmitter).second);
    CHECK(seen.emplace(light.receiver, Dbm{-1'000} + truth(light)).second);  // nobody else's light comes there
    expected[light.receiver] = Dbm{-1'000};
  }
  CHECK(survey.receivers().size() == seen.size());
  survey.expect(expected);
  survey.take(seen);
}

TEST_CASE("every_channel_of_every_laser_is_measured_once_in_as_many_looks_as_there_are_channels") {
  PowerSurvey survey(mesh(5, 4, 6));
  CHECK(survey.all() == 24);
  while (!survey.is_over()) {
    look(survey);
  }
  CHECK(survey.steps() == 6);
  CHECK(survey.unmeasured().empty());
  REQUIRE(survey.powers().size() == 24);
  for (std::size_t i = 0; i < survey.powers().size(); ++i) {
    const MeasuredPower& power = survey.powers()[i];
    CHECK(power.transmitter.value == i / 6);  // ascending
    CHECK(power.slot == slot(static_cast<std::int32_t>(i % 6)));
    CHECK(power.offset == truth({power.transmitter, power.receiver, power.slot}));
  }
}

TEST_CASE("where_there_are_fewer_receivers_than_lasers_they_take_turns") {
  PowerSurvey survey(mesh(2, 5, 3));
  while (!survey.is_over()) {
    CHECK(survey.ask().probes.size() <= 2);
    look(survey);
  }
  CHECK(survey.powers().size() == 15);
}

TEST_CASE("lights_that_cannot_be_at_once_are_tried_by_halves_and_one_that_cannot_be_at_all_is_named") {
  PowerSurvey survey(mesh(4, 4, 1));
  const auto is_banned = [](const Probe& light) { return light.transmitter == ElementId{2}; };
  while (!survey.is_over()) {
    const ProbeLight ask = survey.ask();
    if (std::ranges::any_of(ask.probes, is_banned)) {
      survey.refused({ErrorCode::conflict, "it is being measured by another", ""});
    } else {
      look(survey);
    }
  }
  CHECK(survey.powers().size() == 3);
  REQUIRE(survey.unmeasured().size() == 1);
  CHECK(is_banned(survey.unmeasured()[0].light));
  CHECK(survey.unmeasured()[0].why == "it is being measured by another");
}

TEST_CASE("light_that_does_not_come_and_a_monitor_that_says_nothing_are_no_measurement") {
  PowerSurvey survey(mesh(2, 2, 1));
  const ProbeLight ask = survey.ask();
  REQUIRE(ask.probes.size() == 2);
  survey.expect({{ask.probes[0].receiver, Dbm{-1'000}}, {ask.probes[1].receiver, Dbm{-1'000}}});
  survey.take({{ask.probes[0].receiver, Dbm{-3'200}}});
  CHECK(survey.is_over());
  CHECK(survey.powers().empty());
  REQUIRE(survey.unmeasured().size() == 2);
  CHECK(survey.unmeasured()[0].why == "nothing comes (-32.00 dBm)");
  CHECK(survey.unmeasured()[1].why == "its receiver's monitor was not read");
}

TEST_CASE("a_fabric_without_monitors_has_nothing_to_measure") {
  const PowerSurvey survey({});
  CHECK(survey.is_over());
  CHECK(survey.all() == 0);
}

}  // namespace
}  // namespace loom
