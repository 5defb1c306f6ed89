// SPDX-License-Identifier: Apache-2.0
// Who hears whom, told by toggling, against a patching that the test made.
#include "controller/calibrate/fibre_check.hpp"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

using namespace loom;

namespace {

constexpr std::uint32_t kTransmitters = 1'000;

/// Receiver i and transmitter 1000 + i.
std::vector<WayReport> ways_of(std::uint32_t count) {
  std::vector<WayReport> ways;
  for (std::uint32_t i = 0; i < count; ++i) {
    WayReport way;
    way.receiver = {i};
    way.name = "rx-" + std::to_string(i);
    way.lights = {{{kTransmitters + i}, {i}, {0, 8}}};
    ways.push_back(std::move(way));
  }
  return ways;
}

/// `comes_from[i]`: whose light is at receiver i; -1: none. `loss`: of each receiver, centi-dB beside 5 dBm below the launch.
ReceivedLights heard(const ProbeLight& ask, const std::vector<int>& comes_from, const std::vector<int>& loss) {
  std::vector<bool> shines(comes_from.size());
  for (const Probe& probe : ask.probes) {
    shines[probe.transmitter.value - kTransmitters] = probe.emit;
  }
  ReceivedLights lights;
  for (const Probe& probe : ask.probes) {
    const auto at = probe.receiver.value;
    const int from = comes_from[at];
    lights[probe.receiver] = {from >= 0 && shines[static_cast<std::size_t>(from)] ? Dbm{-500 - loss[at]} : kNoLight, Dbm{-500}};
  }
  return lights;
}

std::size_t run(FibreCheck& check, const std::vector<int>& comes_from, const std::vector<int>& loss) {
  while (!check.is_over() && check.steps() < 200) {
    check.take(heard(check.ask(), comes_from, loss));
  }
  REQUIRE(check.is_over());
  return check.steps();
}

std::vector<int> straight(std::size_t count) {
  std::vector<int> from(count);
  std::iota(from.begin(), from.end(), 0);
  return from;
}

}  // namespace

TEST_CASE("a thousand receivers take eleven looks") {
  FibreCheck check(ways_of(1'000));
  CHECK(run(check, straight(1'000), std::vector<int>(1'000, 100)) == 11);
  CHECK(check.checked() == 1'000);
  CHECK(check.findings().empty());
}

TEST_CASE("any patching is read off and nothing else is said") {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const std::size_t count = 2 + random() % 60;
    std::vector<int> from = straight(count);
    std::shuffle(from.begin(), from.end(), random);
    from[random() % count] = -1;
    FibreCheck check(ways_of(static_cast<std::uint32_t>(count)));
    run(check, from, std::vector<int>(count, 0));
    std::size_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (from[i] == static_cast<int>(i)) {
        continue;
      }
      REQUIRE(next < check.findings().size());
      const FibreFinding& finding = check.findings()[next++];
      CHECK(finding.receiver.value == i);
      CHECK(finding.trouble == (from[i] < 0 ? FibreTrouble::missing : FibreTrouble::swapped));
      if (from[i] >= 0) {
        CHECK(finding.heard == ElementId{kTransmitters + static_cast<std::uint32_t>(from[i])});
        CHECK(finding.meant_for == ElementId{static_cast<std::uint32_t>(from[i])});
      }
    }
    CHECK(next == check.findings().size());
  }
}

TEST_CASE("loss beside what is expected is dirt from one and a half decibels on") {
  std::vector<int> loss(8, 20);
  loss[3] = 149;
  loss[5] = 150;
  FibreCheck check(ways_of(8));
  run(check, straight(8), loss);
  REQUIRE(check.findings().size() == 1);
  CHECK(check.findings()[0].receiver == ElementId{5});
  CHECK(check.findings()[0].trouble == FibreTrouble::dirty);
  CHECK(check.findings()[0].excess == Db{150});
}

TEST_CASE("what the controller refuses at once is checked in parts") {
  FibreCheck check(ways_of(20));
  std::size_t refusals = 0;
  while (!check.is_over() && check.steps() < 200) {
    if (check.ask().probes.size() > 6) {
      ++refusals;
      check.refused({ErrorCode::infeasible, "no free path"});
    } else {
      check.take(heard(check.ask(), straight(20), std::vector<int>(20, 0)));
    }
  }
  CHECK(refusals == 2);
  CHECK(check.checked() == 20);
  CHECK(check.findings().empty());
}

TEST_CASE("receivers that no light can reach are named") {
  std::vector<WayReport> ways = ways_of(3);
  ways[1].lights.clear();
  ways[2].lights = ways[0].lights;
  ways[2].lights[0].receiver = ways[2].receiver;
  FibreCheck check(ways);
  run(check, straight(3), std::vector<int>(3, 0));
  CHECK(check.checked() == 1);
  REQUIRE(check.unchecked().size() == 2);
  CHECK_THAT(check.unchecked()[0].second, Catch::Contains("no transmitter that is free"));
  CHECK_THAT(check.unchecked()[1].second, Catch::Contains("fewer transmitters"));
}
