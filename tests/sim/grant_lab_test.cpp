// SPDX-License-Identifier: Apache-2.0
// The fast plane at scale, in small: determinism, load, loss, and the closed form.
#include <catch2/catch.hpp>

#include "sim_backend/experiments/grant_lab.hpp"

using namespace loom;

namespace {

GrantLabOptions small_lab() {
  GrantLabOptions options;
  options.nodes = 16;
  options.streams_per_node = 60;
  return options;
}

}  // namespace

TEST_CASE("the_same_seed_delivers_the_same_messages") {
  GrantLabOptions options = small_lab();
  options.loss_per_million = 10'000;
  const auto first = run_grant_lab(options);
  const auto again = run_grant_lab(options);
  options.seed = 2;
  const auto other = run_grant_lab(options);
  REQUIRE(first);
  REQUIRE(again);
  REQUIRE(other);
  CHECK(first->digest == again->digest);
  CHECK(first->digest != other->digest);
}

TEST_CASE("every_stream_is_carried_at_any_load_and_with_losses_and_no_light_meets_light") {
  for (const std::uint32_t loss : {0U, 10'000U, 200'000U}) {
    for (const std::uint32_t load : {20U, 80U, 150U}) {
      for (const std::uint32_t transmitters : {1U, 2U}) {
        GrantLabOptions options = small_lab();
        options.loss_per_million = loss;
        options.load_percent = load;
        options.sender.transmitters = transmitters;
        const auto result = run_grant_lab(options);
        REQUIRE(result);
        CHECK(result->streams == 16 * 60);
        CHECK(result->unreachable == 0);
        CHECK(result->collisions == 0);
        CHECK(result->utilisation <= 1.0);
      }
    }
  }
}

TEST_CASE("an_uncontended_grant_takes_one_round_trip") {
  GrantLabOptions options = small_lab();
  options.load_percent = 5;
  options.traffic = GrantTraffic::permutation;
  options.jitter = Duration::zero();
  const auto result = run_grant_lab(options);
  REQUIRE(result);
  CHECK(result->latency_p50 == 2 * options.sender.timings.control);
}

TEST_CASE("a_saturated_receiver_carries_what_the_closed_form_says") {
  GrantLabOptions options = small_lab();
  options.traffic = GrantTraffic::permutation;
  options.load_percent = 400;
  for (const std::int64_t bytes : {50'000, 561'200, 5'000'000}) {
    options.stream_bytes = Bytes{bytes};
    const auto result = run_grant_lab(options);
    REQUIRE(result);
    // Whoever sends to one receiver only stays on its wavelength: nothing is tuned after the first stream.
    GrantTimings tuned = options.sender.timings;
    tuned.tune = Duration::zero();
    // Beside C3's terms: guard, table lateness, and the row that the first bytes wait for; 1 % stands for all of them.
    CHECK(result->efficiency == Approx(grant_efficiency(tuned, Bytes{bytes}, kForever)).margin(0.01));
  }
}

TEST_CASE("a_lab_beyond_its_limits_is_refused") {
  GrantLabOptions options = small_lab();
  options.nodes = 1;
  CHECK(run_grant_lab(options).error().code == ErrorCode::out_of_range);
  options = small_lab();
  options.load_percent = 0;
  CHECK(run_grant_lab(options).error().code == ErrorCode::out_of_range);
}
