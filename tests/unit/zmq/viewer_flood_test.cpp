// SPDX-License-Identifier: Apache-2.0
// A short slice of bench/viewer_flood: nobody asserts how fast, only that no agent is lost and no query goes uncounted.
#include <catch2/catch.hpp>

#include "bench/flood_lab.hpp"

namespace loom {

TEST_CASE("a_viewers_flood_costs_no_agent_its_session_and_every_query_is_answered_or_counted") {
  flood::Options options;
  options.nodes = 64;
  options.queries = 3'000;
  options.frame_queries = 4'000;
  options.timings.suspect_after = std::chrono::seconds{10};  // a machine under test may be slow
  options.timings.dead_after = std::chrono::seconds{20};
  flood::Lab lab(options);
  REQUIRE(lab.wait_for_agents());
  std::uint64_t handled = 0;
  const flood::Figures figures = lab.watch([&] {
    lab.viewer->ask(options.queries, options.noun);
    lab.viewer->ask_at_once(options.frame_queries, options.noun);
    const auto end = flood::Clock::now() + std::chrono::seconds{20};
    while (handled + lab.controller->counters().over_quota < lab.viewer->asked && flood::Clock::now() < end) {
      lab.viewer->read();
      handled += lab.controller->take().viewer_handled;
    }
  });
  handled += figures.viewer_handled;
  CHECK(handled + lab.controller->counters().over_quota == lab.viewer->asked);
  CHECK(lab.controller->counters().over_quota > 0);
  CHECK(lab.controller->lost() == 0);
  CHECK(lab.controller->present() == options.nodes);
  CHECK(figures.operators.count > 0);
  CHECK(figures.operator_failures == 0);
}

}  // namespace loom
