// SPDX-License-Identifier: Apache-2.0
// A slice of the swarm on every architecture: `./dev soak` runs as many seeds as anybody has time for. A seed that found
// something stays here.
#include "sim_backend/experiments/swarm.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace loom;

namespace {

constexpr std::uint64_t kSeedsOfFamily = 12;

SwarmResult run(std::uint64_t seed, std::optional<FabricFamily> family = {}) {
  SwarmOptions options;
  options.seed = seed;
  options.family = family;
  auto result = run_swarm(options);
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  return std::move(*result);
}

void check_clean(const SwarmResult& result) {
  for (const Violation& violation : result.violations) {
    FAIL_CHECK("seed " << result.draw.scenario.seed << " on " << result.draw.scenario.fabric->name << " at "
                       << seconds_of(violation.at.time_since_epoch()) << " s: " << to_string(violation.rule) << ": "
                       << violation.evidence);
  }
}

}  // namespace

TEST_CASE("seeds_of_the_swarm_are_safe_under_faults_on_every_architecture_and_converge_when_they_stop") {
  const auto family = static_cast<FabricFamily>(GENERATE(range(0, static_cast<int>(kFabricFamilies))));
  CAPTURE(to_string(family));
  std::uint64_t committed = 0;
  std::array<std::uint64_t, kFaultClasses> faults{};
  for (std::uint64_t seed = 1; seed <= kSeedsOfFamily; ++seed) {
    const SwarmResult result = run(seed, family);
    check_clean(result);
    committed += result.committed;
    for (std::size_t i = 0; i < kFaultClasses; ++i) {
      faults[i] += result.faults[i];
    }
  }
  // Something was done, and something went wrong: a swarm that does nothing finds nothing.
  CHECK(committed >= 3 * kSeedsOfFamily);
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    CAPTURE(to_string(static_cast<FaultClass>(i)));
    CHECK(faults[i] > 0);
  }
}

TEST_CASE("agents_that_pulse_and_rest_are_as_safe_under_faults_and_converge") {
  const auto family = static_cast<FabricFamily>(GENERATE(range(0, static_cast<int>(kFabricFamilies))));
  CAPTURE(to_string(family));
  std::uint64_t committed = 0;
  for (std::uint64_t seed = 101; seed <= 106; ++seed) {
    SwarmOptions options;
    options.seed = seed;
    options.family = family;
    const auto draw = draw_swarm(options);
    REQUIRE(draw);
    const auto result = run_draw(*draw, true);
    REQUIRE(result);
    check_clean(*result);
    committed += result->committed;
  }
  CHECK(committed >= 12);
}

TEST_CASE("a_seed_that_once_found_something_finds_it_no_more") {
  const std::uint64_t seed =
      GENERATE(920023, 920098, 920107, 920184, 920634, 920691, 920726, 920870, 920974, 921082, 921122, 921155, 921217, 921706,
               921724, 921744, 921837, 921922, 922042, 922236, 922271, 922371, 922386, 922468, 922678, 922834, 922842, 922943,
               922950, 922957, 923104, 923524, 923604, 923736, 923779, 924570, 924773, 924843, 924987, 925150, 925224, 925411,
               925499, 925528, 925622, 931571, 932148, 932374, 940839, 940992, 950544, 951200, 960990, 970923, 973480, 973932,
               1010777, 930192, 1040097, 1050907, 1070276, 1070344, 1072161, 1091492, 1111295, 1111326, 1111642, 1111906,
               1113168, 1140777, 1112574, 1143387, 1143651, 1172734, 1181190, 1183040);
  check_clean(run(seed));
}

TEST_CASE("a_fault_file_that_once_found_something_finds_it_no_more") {
  SwarmOptions options;
  options.seed = GENERATE(50, 1159, 3397, 3843);
  const auto draw = draw_fault_file(options);
  REQUIRE(draw);
  const auto result = run_draw(*draw);
  REQUIRE(result);
  check_clean(*result);
}

TEST_CASE("the_swarm_draws_every_kind_of_work") {
  std::size_t granted = 0;
  std::size_t exchanging = 0;
  std::size_t cancelled = 0;
  std::size_t changed = 0;
  std::size_t churned = 0;
  std::set<ActionKind> actions;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SwarmOptions options;
    options.seed = seed;
    const auto draw = draw_swarm(options);
    REQUIRE(draw);
    churned += draw->scenario.churn.revisions > 0 ? 1 : 0;
    for (const ScenarioAction& action : draw->scenario.actions) {
      actions.insert(action.kind);
    }
    for (const JobSubmission& job : draw->scenario.jobs) {
      granted += job.transmit == Transmit::grants ? 1 : 0;
      exchanging += job.workload == "dlrm" && job.transmit == Transmit::slots ? 1 : 0;
      cancelled += job.runs_for < std::chrono::milliseconds{400} ? 1 : 0;
      changed += job.changes.empty() ? 0 : 1;
    }
  }
  CHECK(granted > 0);
  CHECK(exchanging > 0);
  CHECK(cancelled > 0);
  CHECK(changed > 0);
  CHECK(churned > 0);
  CHECK(actions.size() == kActionKinds - 1);  // jobs are cancelled by the time that they run for
}

TEST_CASE("a_seed_of_the_swarm_run_twice_is_the_same_run") {
  const std::uint64_t seed = GENERATE(3, 8, 13);
  const SwarmResult first = run(seed);
  const SwarmResult second = run(seed);
  CHECK(first.digest == second.digest);
  CHECK(first.events == second.events);
}
