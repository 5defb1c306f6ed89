// SPDX-License-Identifier: Apache-2.0
// Whatever the scheduler and lower make of a lawful request, verify accepts, and untouched light stays as it was.
#include <catch2/catch.hpp>
#include <map>

#include "controller/plan/verify/verify.hpp"
#include "tests/property/plan_worlds.hpp"

namespace {

using namespace loom;
using namespace loom::testing;

TEST_CASE("verify_accepts_every_plan_that_is_made") {
  std::uint32_t accepted = 0;
  std::uint32_t refused = 0;
  std::uint32_t moving = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::string fault;
    const Walk made = walk(seed, 8, fault);
    INFO("seed " << seed << ": " << fault);
    REQUIRE(fault.empty());
    accepted += static_cast<std::uint32_t>(made.accepted.size());
    refused += made.refused;
    for (const Accepted& one : made.accepted) {
      for (const NodePlan& node : one.result->plan.nodes) {
        moving += node.cycle > Duration{} ? 1 : 0;
      }
    }
  }
  CHECK(accepted > 1'500);
  CHECK(refused > 0);
  CHECK(moving > 1'000);
}

TEST_CASE("a_circuit_that_keeps_its_id_keeps_its_lasers_setpoint") {
  std::uint32_t kept = 0;
  for (std::uint64_t seed = 1'001; seed <= 1'200; ++seed) {
    std::string fault;
    const Walk made = walk(seed, 6, fault);
    for (const Accepted& one : made.accepted) {
      if (!one.base) {
        continue;
      }
      std::map<CircuitId, Circuit> before;
      for (const Circuit& circuit : one.base->plan.circuits) {
        before.emplace(circuit.id, circuit);
      }
      for (const Circuit& circuit : one.result->plan.circuits) {
        if (const auto found = before.find(circuit.id); found != before.end()) {
          ++kept;
          INFO("seed " << seed << " circuit " << circuit.id.value);
          CHECK(found->second == circuit);
          const DevicePlan& now = one.result->plan.nodes[circuit.source.value].devices.at(0);
          CHECK_FALSE(now.touched);
          CHECK(now.timeline == one.base->plan.nodes[circuit.source.value].devices.at(0).timeline);
        }
      }
    }
  }
  CHECK(kept > 1'000);
}

TEST_CASE("verify_accepts_every_plan_on_sip_fabrics_and_neighbours_keep_their_light") {
  std::uint32_t accepted = 0;
  std::uint32_t kept = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::string fault;
    const Walk made = walk_sip(seed, 8, fault);
    INFO("seed " << seed << ": " << fault);
    REQUIRE(fault.empty());
    accepted += static_cast<std::uint32_t>(made.accepted.size());
    for (const Accepted& one : made.accepted) {
      std::map<JobId, const Job*> before;
      for (std::size_t i = 0; one.base && !one.base->intent.lasers_off && i < one.base->intent.jobs.size(); ++i) {
        before.emplace(one.base->intent.jobs[i].id, &one.base->intent.jobs[i]);
      }
      std::map<CircuitId, Circuit> circuits;
      for (const Circuit& circuit : one.result->plan.circuits) {
        circuits.emplace(circuit.id, circuit);
      }
      for (const Job& job : one.result->intent.jobs) {
        if (!before.contains(job.id) || one.result->intent.lasers_off) {
          continue;
        }
        for (const Circuit& circuit : one.base->plan.circuits) {  // whatever else came or went
          if (circuit.job == job.id) {
            REQUIRE(circuits.contains(circuit.id));
            CHECK(circuits.at(circuit.id) == circuit);
            ++kept;
          }
        }
      }
    }
  }
  CHECK(accepted > 400);
  CHECK(kept > 1'000);
}

TEST_CASE("the_same_request_gives_the_same_plan") {
  std::string fault;
  const Walk first = walk(77, 8, fault);
  const Walk second = walk(77, 8, fault);
  REQUIRE(first.accepted.size() == second.accepted.size());
  for (std::size_t i = 0; i < first.accepted.size(); ++i) {
    CHECK(first.accepted[i].result->plan.nodes == second.accepted[i].result->plan.nodes);
    CHECK(first.accepted[i].result->plan.circuits == second.accepted[i].result->plan.circuits);
  }
}

}  // namespace
