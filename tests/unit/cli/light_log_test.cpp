// SPDX-License-Identifier: Apache-2.0
// The light log: what was written is what is read, and damage is named.
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "sim_backend/judge/light_log.hpp"

namespace loom {
namespace {

std::vector<OpticalChange> samples() {
  const WssRoute route{{-272, 8}, 1, 31, Db{150}};
  return {{instant_from_ns(7), DeviceId{3}, 1, LaserLight{true, Frequency{193'100'000}, Dbm{-123}}},
          {instant_from_ns(8), DeviceId{4}, 2, RingLight{{Frequency{191'400'000}, Frequency{196'100'000}}}},
          {instant_from_ns(9), DeviceId{5}, 3, WssLight{{route}, {route, route}}},
          {instant_from_ns(10), DeviceId{6}, 4, OcsLight{{{1, 2}}, {}}}};
}

}  // namespace

TEST_CASE("a light log gives back every kind of change as it was") {
  for (const OpticalChange& change : samples()) {
    std::string line;
    append_line(line, change);
    REQUIRE(line.back() == '\n');
    const auto again = read_line(std::string_view(line).substr(0, line.size() - 1));
    REQUIRE(again);
    CHECK(again->at == change.at);
    CHECK(again->device == change.device);
    CHECK(again->generation == change.generation);
    CHECK(again->state == change.state);
  }
}

TEST_CASE("a damaged line of a light log is refused with file, line and word") {
  const std::string path = std::tmpnam(nullptr);
  std::ofstream(path) << "7 3 1 laser 1 193100000 -123\n8 4 1 laser one 2 3\n";
  const auto log = read_light_log(path);
  REQUIRE_FALSE(log);
  CHECK(log.error().message.find(path + ":2") != std::string::npos);
  CHECK(log.error().message.find("'one'") != std::string::npos);
  std::remove(path.c_str());
}

TEST_CASE("a last line that is still being written is left for later") {
  const std::string path = std::tmpnam(nullptr);
  std::ofstream(path) << "7 3 1 laser 1 193100000 -123\n8 4 1 las";
  const auto log = read_light_log(path);
  REQUIRE(log);
  CHECK(log->size() == 1);
  std::remove(path.c_str());
}

TEST_CASE("a light log is whole through what its writer said last, and through nothing before it spoke") {
  const std::string path = std::tmpnam(nullptr);
  CHECK(light_log_whole_through(path) == Instant{});
  write_light_log_whole(path, instant_from_ns(7));
  write_light_log_whole(path, instant_from_ns(12'345'678'901));
  CHECK(light_log_whole_through(path) == instant_from_ns(12'345'678'901));
  std::remove((path + ".whole").c_str());
}

TEST_CASE("absurd counts in a light log are refused by their limit") {
  const auto line = read_line("7 3 1 wss 999999999");
  REQUIRE_FALSE(line);
  CHECK(line.error().message.find("999999999") != std::string::npos);
}

}  // namespace loom
