// SPDX-License-Identifier: Apache-2.0
// Every shipped scenario that runs in virtual time, run there: nothing unsafe, and nothing that its author does not expect.
#include "tests/sim/labs/shipped_scenarios.hpp"

#include "controller/architectures/registry.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using namespace loom::test;

namespace {

/// Several seconds each, a thousand nodes.
const std::set<std::string> kSlowInSim{"churn_1024", "sip_ocs_1024", "sip_ring_1024"};

}  // namespace

TEST_CASE("each_shipped_scenario_goes_as_expected_in_virtual_time") {
  for (const ShippedScenario& shipped : shipped_in({Mode::sim}, kSlowInSim)) {
    CAPTURE(shipped.name);
    const auto scenario = load_scenario(shipped.path, all_fabric_kinds(), Mode::sim);
    REQUIRE(scenario);
    const auto result = run_simulation(*scenario.value, {.seed = scenario.value->seed, .run_for = kForever, .trace_path = {}});
    REQUIRE(result);
    for (const Violation& violation : result->violations) {
      FAIL_CHECK(to_string(violation.rule) << ": " << violation.evidence);
    }
    INFO(text_of(result->account));
    CHECK(result->is_as_expected());
    CHECK_FALSE(result->account.jobs.empty());
    for (const JobAccount& job : result->account.jobs) {
      CAPTURE(job.name);
      CHECK(job.light.lit_time() > Duration{});  // none is refused, none is forgotten
      CHECK(job.carried.count > 0);
    }
  }
}

TEST_CASE("each_shipped_scenario_names_the_modes_that_it_runs_in") {
  for (const ShippedScenario& shipped : shipped_scenarios()) {
    CAPTURE(shipped.name);
    CHECK(shipped.name == shipped.path.stem());
    for (const Mode mode : {Mode::sim, Mode::soft, Mode::mixed, Mode::hard}) {
      CAPTURE(to_string(mode));
      const bool is_named = std::ranges::find(shipped.modes, mode) != shipped.modes.end();
      CHECK(load_scenario(shipped.path, all_fabric_kinds(), mode).value.has_value() == is_named);
    }
  }
}
