// SPDX-License-Identifier: Apache-2.0
// A schedule in pieces, and whole again.
#include "core/messages/schedule_part.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "core/forwarding/forwarding_builder.hpp"

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

/// Every rank reaches those up to `reach` behind it through all between.
ForwardingTable ring_of(std::uint32_t ranks, std::uint32_t reach, ForwardingMode mode) {
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    nodes.push_back({7 + 2 * rank});
    rows.push_back(rank);
  }
  ForwardingBuilder table(mode, nodes, rows);
  for (std::uint32_t source = 0; source < ranks; ++source) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> paths;
    for (std::uint32_t distance = 2; distance <= reach; ++distance) {
      for (std::uint32_t hop = 1; hop < distance; ++hop) {
        paths[(source + distance) % ranks].push_back((source + hop) % ranks);
      }
    }
    for (const auto& [destination, path] : paths) {
      table.add(source, destination, path);
    }
  }
  return table.take();
}

TEST_CASE("a_schedule_that_was_cut_is_the_same_when_it_is_joined") {
  JobSchedule schedule;
  schedule.job = {7};
  schedule.waiting = 3;
  schedule.note = "rings, then pairs";
  schedule.forwarding = GENERATE(ring_of(1'500, 5, ForwardingMode::cut_through), ring_of(40, 2, ForwardingMode::cut_through),
                                 ring_of(7, 3, ForwardingMode::store_and_forward), ForwardingTable{});
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
    const ForwardingTable& piece = part.part.forwarding;
    CHECK(2 * piece.entries.size() + piece.hops.size() <= 8 * std::max<std::size_t>(512, schedule.forwarding.ranks()));
  }
}

TEST_CASE("entries_of_a_schedule_that_came_between_two_pages_are_left_out") {
  JobSchedule before;
  before.forwarding = ring_of(600, 4, ForwardingMode::cut_through);
  JobSchedule after;
  after.forwarding = ring_of(500, 4, ForwardingMode::cut_through);
  const auto cuts = cuts_of(before);
  REQUIRE(cuts.size() == 3);
  std::vector<SchedulePart> parts{part_of(before, cuts[0]), part_of(before, cuts[1]), part_of(after, cuts_of(after)[1])};
  CHECK(join_parts(parts).forwarding == part_of(before, cuts[1]).part.forwarding);
  parts = {part_of(before, cuts[0]), part_of(before, cuts[2]), part_of(before, cuts[1])};
  CHECK(join_parts(parts).forwarding == part_of(before, cuts[2]).part.forwarding);
}

TEST_CASE("of_no_parts_nothing_is_joined") { CHECK(join_parts({}) == JobSchedule{}); }

}  // namespace
}  // namespace loom
