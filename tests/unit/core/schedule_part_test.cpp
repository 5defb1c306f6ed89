// A schedule in pieces, and whole again.
#include "core/messages/schedule_part.hpp"

#include <catch2/catch.hpp>

namespace loom {
namespace {

Timeslot timeslot_of(std::uint32_t circuits, std::uint32_t number) {
  Timeslot timeslot;
  timeslot.guard = Duration{number};
  timeslot.hold = number % 3 == 0 ? kForever : Duration{1'000 + number};
  for (std::uint32_t i = 0; i < circuits; ++i) {
    Circuit circuit;
    circuit.id = {1 + number * 10'000ULL + i};
    circuit.source = {i};
    circuit.destination = {i + 1};
    timeslot.circuits.push_back(circuit);
  }
  return timeslot;
}

TEST_CASE("a_schedule_that_was_cut_is_the_same_when_it_is_joined") {
  JobSchedule schedule;
  schedule.job = {7};
  schedule.forwards = true;
  schedule.waiting = 3;
  schedule.note = "rings, then pairs";
  schedule.forwarding.row_of = {0, 0, 1};
  schedule.forwarding.via = {0, 1, 2, 2, 1, 0};
  for (std::uint32_t i = 0; i < 1'500; ++i) {
    schedule.routes.push_back({{i}, {i + 2}, {{i + 1}}});
  }
  SECTION("of many stages and timeslots of any size") {
    for (std::uint32_t number = 0; number < 40; ++number) {
      Stage stage;
      stage.cycles = number;
      for (std::uint32_t slot = 0; slot <= number % 7; ++slot) {
        stage.timeslots.push_back(timeslot_of((number * 97 + slot * 131) % 1'300, number + slot));
      }
      schedule.stages.push_back(std::move(stage));
    }
  }
  SECTION("of streams, under grants") {
    Stage stage;
    stage.transmit = Transmit::grants;
    stage.timeslots = {timeslot_of(8, 1)};
    for (std::uint32_t i = 0; i < 5'000; ++i) {
      stage.streams.push_back({i, {i % 8}, {(i + 1) % 8}, Bytes{i}});
    }
    schedule.stages.push_back(std::move(stage));
  }
  SECTION("of a stage without a timeslot") { schedule.stages.resize(2); }
  SECTION("of nothing else") {}
  std::vector<SchedulePart> parts;
  for (const ScheduleCut& cut : cuts_of(schedule)) {
    parts.push_back(part_of(schedule, cut));
  }
  CHECK(join_parts(parts) == schedule);
  for (const SchedulePart& part : parts) {
    CHECK(part.job == schedule.job);
    std::size_t circuits = 0;
    std::size_t streams = 0;
    for (const Stage& stage : part.part.stages) {
      for (const Timeslot& timeslot : stage.timeslots) {
        circuits += timeslot.circuits.size();
      }
      streams += stage.streams.size();
    }
    CHECK((circuits <= 512 || part.part.stages.front().timeslots.size() == 1));
    CHECK(streams <= 512);
    CHECK(part.part.routes.size() <= 512);
  }
}

TEST_CASE("of_no_parts_nothing_is_joined") { CHECK(join_parts({}) == JobSchedule{}); }

}  // namespace
}  // namespace loom
