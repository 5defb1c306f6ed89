// SPDX-License-Identifier: Apache-2.0
// Which light is measured where, look by look; no world, no clock.
#include "controller/calibrate/laser_survey.hpp"

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
void look(LaserSurvey& survey) {
  ReceivedLights seen;
  std::set<ElementId> transmitters;
  for (const Probe& light : survey.ask().probes) {
    CHECK(transmitters.insert(light.transmitter).second);
    CHECK(seen.emplace(light.receiver, ReceivedLight{Dbm{-1'000} + truth(light), Dbm{-1'000}})
              .second);  // nobody else's light comes there
  }
  CHECK(survey.receivers().size() == seen.size());
  survey.take(seen);
}

TEST_CASE("every_channel_of_every_laser_is_measured_once_in_as_many_looks_as_there_are_channels") {
  LaserSurvey survey(mesh(5, 4, 6));
  CHECK(survey.all() == 24);
  while (!survey.is_over()) {
    look(survey);
  }
  CHECK(survey.steps() == 6);
  CHECK(survey.unmeasured().empty());
  REQUIRE(survey.measured().size() == 24);
  for (std::size_t i = 0; i < survey.measured().size(); ++i) {
    const MeasuredChannel& light = survey.measured()[i];
    CHECK(light.transmitter.value == i / 6);  // ascending
    CHECK(light.slot == slot(static_cast<std::int32_t>(i % 6)));
    CHECK(light.offset == truth({light.transmitter, light.receiver, light.slot}));
  }
}

TEST_CASE("where_there_are_fewer_receivers_than_lasers_they_take_turns") {
  LaserSurvey survey(mesh(2, 5, 3));
  while (!survey.is_over()) {
    CHECK(survey.ask().probes.size() <= 2);
    look(survey);
  }
  CHECK(survey.measured().size() == 15);
}

TEST_CASE("lights_that_cannot_be_at_once_are_tried_by_halves_and_one_that_cannot_be_at_all_is_named") {
  LaserSurvey survey(mesh(4, 4, 1));
  const auto is_banned = [](const Probe& light) { return light.transmitter == ElementId{2}; };
  while (!survey.is_over()) {
    const ProbeLight ask = survey.ask();
    if (std::ranges::any_of(ask.probes, is_banned)) {
      survey.refused({ErrorCode::conflict, "it is being measured by another", ""});
    } else {
      look(survey);
    }
  }
  CHECK(survey.measured().size() == 3);
  REQUIRE(survey.unmeasured().size() == 1);
  CHECK(is_banned(survey.unmeasured()[0].light));
  CHECK(survey.unmeasured()[0].why == "it is being measured by another");
}

TEST_CASE("light_that_does_not_come_and_a_monitor_that_says_nothing_are_no_measurement") {
  LaserSurvey survey(mesh(2, 2, 1));
  const ProbeLight ask = survey.ask();
  REQUIRE(ask.probes.size() == 2);
  survey.take({{ask.probes[0].receiver, {Dbm{-3'200}, Dbm{-1'000}}}});
  CHECK(survey.is_over());
  CHECK(survey.measured().empty());
  REQUIRE(survey.unmeasured().size() == 2);
  CHECK(survey.unmeasured()[0].why == "nothing comes (-32.00 dBm)");
  CHECK(survey.unmeasured()[1].why == "its receiver's monitor was not read");
}

TEST_CASE("where_a_wavemeter_sees_it_light_has_a_place_beside_its_channel_and_light_outside_is_anothers") {
  LaserSurvey survey(mesh(3, 3, 1));
  const ProbeLight ask = survey.ask();
  REQUIRE(ask.probes.size() == 3);
  const Frequency middle = centre_of(slot(0));
  const Dbm power{-1'000};
  survey.take({{ask.probes[0].receiver, {power, power, middle - FrequencyOffset{1'250}}},
               {ask.probes[1].receiver, {power, power, std::nullopt}},
               {ask.probes[2].receiver, {power, power, middle + FrequencyOffset{60'000}}}});
  REQUIRE(survey.measured().size() == 2);
  CHECK(survey.measured()[0].detuning == FrequencyOffset{-1'250});
  CHECK(survey.measured()[1].detuning == std::nullopt);
  REQUIRE(survey.unmeasured().size() == 1);
  CHECK(survey.unmeasured()[0].light.transmitter == ask.probes[2].transmitter);
  CHECK_THAT(survey.unmeasured()[0].why, Catch::Contains("comes instead"));
}

TEST_CASE("what_rows_tell_of_a_look_is_joined_by_receiver_and_waits_for_its_wavemeters") {
  const auto receiver = [](std::uint32_t id, bool since) {
    ReceiverReport row;
    row.receiver = ElementId{id};
    row.power = Dbm{-1'100};
    row.since_commit = since;
    return row;
  };
  ReceivedLights lights = lights_at({receiver(1, true), receiver(2, false), receiver(3, true)}, {ElementId{1}, ElementId{2}});
  REQUIRE(lights.size() == 1);
  WayReport way;
  way.receiver = ElementId{1};
  way.expected = Dbm{-1'000};
  way.wavemeter = DeviceId{9};
  CHECK_FALSE(add_ways({way}, lights));
  way.measured = Frequency{193'100'250};
  CHECK(add_ways({way}, lights));
  CHECK(lights[ElementId{1}].expected == Dbm{-1'000});
  CHECK(lights[ElementId{1}].frequency == Frequency{193'100'250});
  way.receiver = ElementId{3};
  way.measured = std::nullopt;
  CHECK(add_ways({way}, lights));  // none of these
}

TEST_CASE("a_fabric_without_monitors_has_nothing_to_measure") {
  const LaserSurvey survey({});
  CHECK(survey.is_over());
  CHECK(survey.all() == 0);
}

}  // namespace
}  // namespace loom
