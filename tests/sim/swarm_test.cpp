// A slice of the swarm: `./dev soak` runs as many seeds as anybody has time for. A seed that found something stays here.
#include "sim_backend/swarm.hpp"

#include <catch2/catch.hpp>

using namespace loom;

namespace {

SwarmResult run(std::uint64_t seed) {
  SwarmOptions options;
  options.seed = seed;
  auto result = run_swarm(options);
  REQUIRE(result);
  return std::move(*result);
}

void check_clean(const SwarmResult& result) {
  for (const Violation& violation : result.violations) {
    FAIL_CHECK("seed " << result.seed << " at " << seconds_of(violation.at.time_since_epoch())
                       << " s: " << to_string(violation.rule) << ": " << violation.evidence);
  }
}

}  // namespace

TEST_CASE("seeds_of_the_swarm_are_safe_under_faults_and_converge_when_they_stop") {
  const std::uint64_t seed = GENERATE(range(1, 21));
  check_clean(run(seed));
}

TEST_CASE("lasers_off_while_a_commit_waits_for_an_absent_agent_ends_that_commit") {
  check_clean(run(71));  // the controller went on waiting with a commit that was gone, and died of it
}

TEST_CASE("an_order_about_lasers_that_a_crash_lost_is_not_repeated_as_fast_as_messages_run") {
  check_clean(run(150));  // the agent knew a newer order than the controller, and both answered each other for ever
}

TEST_CASE("a_job_in_light_whose_second_commit_after_a_restart_failed_is_lit") {
  const std::uint64_t seed = GENERATE(65, 83, 437, 448);
  check_clean(run(seed));
}

TEST_CASE("a_seed_of_the_swarm_run_twice_is_the_same_run") {
  const std::uint64_t seed = GENERATE(3, 8, 13);
  const SwarmResult first = run(seed);
  const SwarmResult second = run(seed);
  CHECK(first.digest == second.digest);
  CHECK(first.events == second.events);
}
