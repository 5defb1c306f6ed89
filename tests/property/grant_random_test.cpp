// SPDX-License-Identifier: Apache-2.0
// Larger worlds at random: up to 12 nodes, up to 3 transmitters, clocks and flights that err, losses, doubles, reorderings,
// restarts and deaths, then calm. Safety at every instant; after the faults stop everything comes to an end, and new streams
// are carried.
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <set>

#include "sim_backend/random.hpp"
#include "tests/property/grant_world.hpp"

namespace loom::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::int64_t kTickNs = 50;

/// `collectives`: how many numbers the streams draw from; few make a restarted node offer what its former incarnation offered.
GrantWorldOptions random_plane(Random& chance, std::uint32_t collectives) {
  GrantWorldOptions options;
  options.nodes = 2 + chance.below(11);
  options.tick = Duration{kTickNs};
  GrantTimings timings;
  timings.tune = Duration{kTickNs * chance.below(40)};
  timings.lock = Duration{kTickNs * chance.below(4)};
  timings.flight = Duration{kTickNs * (5 + chance.below(5))};
  timings.flight_error = Duration{kTickNs * chance.below(3)};
  timings.clock_error = Duration{kTickNs * chance.below(4)};
  timings.blank = Duration{kTickNs};
  timings.trigger_late = Duration{kTickNs};
  options.sender.timings = timings;
  options.arbiter.timings = timings;
  options.sender.transmitters = 1 + chance.below(3);
  options.sender.streams_max = 16;
  options.sender.keepalive = microseconds{50};
  options.sender.give_up = microseconds{400};
  options.sender.starvation = microseconds{20 + chance.below(200)};
  options.arbiter.quantum = microseconds{2 + chance.below(20)};
  options.arbiter.ahead = 1 + chance.below(2);
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    const auto clock = static_cast<int>(chance.below(static_cast<std::uint32_t>(2 * timings.clock_error.count()) + 1));
    const auto flight = static_cast<int>(chance.below(static_cast<std::uint32_t>(2 * timings.flight_error.count()) + 1));
    // A receiver's clock is the reference of its own window, so that two nodes differ by at most the error.
    options.clock_offset.push_back(Duration{clock / 2});
    options.flight.push_back(timings.flight - timings.flight_error + Duration{flight});
  }
  const std::uint32_t count = 1 + chance.below(30);
  Instant at{};
  for (std::uint32_t i = 0; i < count; ++i) {
    at += Duration{kTickNs * chance.below(200)};
    const std::uint32_t from = chance.below(options.nodes);
    const std::uint32_t to = chance.below(3) == 0 ? 0 : chance.below(options.nodes);
    if (from != to) {
      options.offers.push_back({at, {JobId{1}, i % collectives, NodeId{from}, NodeId{to}}, Bytes{1 + chance.below(200'000)}});
    }
  }
  return options;
}

struct Weather {
  std::uint32_t loss = 0;     ///< per million and message
  std::uint32_t twice = 0;    ///< likewise
  std::uint32_t crash = 0;    ///< per million and tick
  std::uint32_t deaths = 0;   ///< at most
  std::uint32_t arrival = 0;  ///< chance of a message to arrive in a tick: delays differ, so the order does
};

void storm(GrantWorld& world, Random& chance, const Weather& weather, int ticks, std::uint32_t nodes) {
  std::uint32_t deaths_left = weather.deaths;
  for (int i = 0; i < ticks && world.violation().empty(); ++i) {
    world.advance();
    for (std::size_t m = 0; m < world.flying().size();) {
      if (!chance.chance(weather.arrival)) {
        ++m;
      } else if (chance.chance(weather.loss)) {
        world.lose(m);
      } else {
        if (chance.chance(weather.twice)) {
          world.duplicate(m);
        }
        world.deliver(m);
      }
    }
    if (chance.chance(weather.crash)) {
      const std::uint32_t node = chance.below(nodes);
      if (!world.is_alive(node) || chance.below(2) == 0 || deaths_left == 0) {
        world.restart(node);
      } else {
        world.kill(node);
        --deaths_left;
      }
    }
  }
}

}  // namespace

TEST_CASE("light_never_meets_light_and_every_stream_comes_to_an_end_in_any_weather") {
  CHECK(rc::check([](std::uint64_t seed) {
    Random chance(seed);
    const GrantWorldOptions options = random_plane(chance, 2);
    GrantWorld world(options);
    Weather weather;
    weather.loss = chance.below(300'000);
    weather.twice = chance.below(300'000);
    weather.crash = chance.below(5'000);
    weather.deaths = chance.below(3);
    weather.arrival = 20'000 + chance.below(400'000);
    storm(world, chance, weather, 4000, options.nodes);
    RC_ASSERT(world.violation() == "");
    const auto ticks = world.settle(60'000);
    RC_ASSERT(world.violation() == "");
    if (!ticks) {
      RC_FAIL(world.describe());
    }
    // The plane is as good as new: nobody remembers anything that keeps a new stream from its bytes.
    const std::uint32_t before = world.tally().sent;
    for (std::uint32_t i = 0; i < options.nodes; ++i) {
      if (!world.is_alive(i)) {
        world.restart(i);
      }
      world.offer({JobId{9}, 1, NodeId{i}, NodeId{(i + 1) % options.nodes}}, Bytes{5000});
    }
    RC_ASSERT(world.settle(60'000).has_value());
    RC_ASSERT(world.violation() == "");
    RC_ASSERT(world.tally().sent == before + options.nodes);
  }));
}

TEST_CASE("in_calm_weather_every_byte_is_carried_once") {
  CHECK(rc::check([](std::uint64_t seed) {
    Random chance(seed);
    const GrantWorldOptions options = random_plane(chance, 30);
    GrantWorld world(options);
    RC_ASSERT(world.settle(100'000).has_value());
    RC_ASSERT(world.violation() == "");
    RC_ASSERT(world.tally().sent == options.offers.size());
    Duration needed{};
    std::uint64_t accepts = 0;
    for (const GrantOffer& offer : options.offers) {
      needed += time_of(offer.bytes, options.sender.timings.rate);
    }
    for (std::uint32_t i = 0; i < options.nodes; ++i) {
      accepts += world.sender(i).counters().accepts;
    }
    // Light = bytes + one lock a grant, within a tick at either end of each.
    const Duration locks = options.sender.timings.lock * static_cast<std::int64_t>(accepts);
    const Duration ends = 2 * options.tick * static_cast<std::int64_t>(accepts);
    RC_ASSERT(world.tally().lit >= needed);
    RC_ASSERT(world.tally().lit <= needed + locks + ends);
  }));
}

}  // namespace loom::testing
