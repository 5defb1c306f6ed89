// SPDX-License-Identifier: Apache-2.0
// Random arrivals, growth, shrinkage and ends of jobs on ODDL: every plan is verified, and whoever is not asked keeps his
// light.
#include <array>
#include <catch2/catch.hpp>
#include <set>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/plan/verify/verify.hpp"
#include "tests/property/plan_worlds.hpp"

namespace {

using namespace loom;
using loom::testing::Chance;

std::shared_ptr<const Fabric> random_fabric(Chance& chance) {
  OddlParameters parameters;
  parameters.group_size = 2U << chance.below(3);
  parameters.nodes = parameters.group_size * (2 + chance.below(4));
  parameters.channels = static_cast<std::int32_t>(parameters.group_size + chance.below(2 * parameters.group_size + 1));
  parameters.planes = 1 + chance.below(3);
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

Job random_job(Chance& chance, std::uint64_t id, std::uint32_t nodes) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = 1 + chance.below(nodes);
  const auto kind = chance.one_in(3) ? CollectiveKind::all_to_all : CollectiveKind::all_reduce;
  job.spec.collectives = {{kind, {}, Bytes{1 + chance.below(10'000'000)}, 1}};
  constexpr std::array<const char*, 3> kMaps{"cheapest", "maps", "latin"};
  job.spec.options["map"] = kMaps.at(chance.below(3));
  return job;
}

/// The job that the change is about.
JobId change(Chance& chance, Intent& intent, std::uint64_t& next_job, std::uint32_t nodes) {
  const std::uint32_t what = chance.below(6);
  if (what < 2 || intent.jobs.empty()) {
    intent.jobs.push_back(random_job(chance, next_job++, std::max(2U, nodes / 2)));
    return intent.jobs.back().id;
  }
  const std::uint32_t which = chance.below(static_cast<std::uint32_t>(intent.jobs.size()));
  const JobId about = intent.jobs[which].id;
  if (what == 2) {
    intent.jobs.erase(intent.jobs.begin() + which);
  } else {
    intent.jobs[which].spec.node_count = 1 + chance.below(nodes);
    intent.jobs[which].stage = 0;
  }
  return about;
}

std::vector<Circuit> light_of_others(const Plan& plan, JobId about) {
  std::vector<Circuit> circuits;
  std::copy_if(plan.circuits.begin(), plan.circuits.end(), std::back_inserter(circuits),
               [&](const Circuit& circuit) { return circuit.job != about; });
  return circuits;
}

/// Circuits that only one of the plans has are exactly the touched ones.
void check_touched(const Plan& before, const Plan& after) {
  std::set<std::uint64_t> ids;
  for (const Plan* plan : {&before, &after}) {
    for (const Circuit& circuit : plan->circuits) {
      if (!ids.insert(circuit.id.value).second) {
        ids.erase(circuit.id.value);
      }
    }
  }
  std::set<std::uint64_t> touched;
  for (const CircuitId id : after.touched) {
    touched.insert(id.value);
  }
  CHECK(touched == ids);
}

TEST_CASE("whoever_is_not_asked_keeps_his_light_bit_for_bit") {
  std::uint32_t accepted = 0;
  std::uint32_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Chance chance(seed);
    PlanRequest request;
    request.fabric = random_fabric(chance);
    auto base = std::make_shared<const PlanResult>();
    std::uint64_t next_job = 1;
    const auto nodes = static_cast<std::uint32_t>(request.fabric->nodes.size());
    for (std::uint32_t step = 0; step < 12; ++step) {
      INFO("seed " << seed << ", step " << step);
      const Intent before = request.intent;
      const JobId about = change(chance, request.intent, next_job, nodes);
      request.revision.value += 1;
      const auto made = make_plan(all_architectures(), request);
      if (!made) {
        INFO(made.error().message);
        REQUIRE(made.error().code == ErrorCode::infeasible);
        CHECK(made.error().message.find("job ") != std::string::npos);
        request.intent = before;
        ++refused;
        continue;
      }
      ++accepted;
      const Plan& plan = (*made)->plan;
      CHECK(light_of_others(plan, about) == light_of_others(base->plan, about));
      check_touched(base->plan, plan);
      CHECK(verify(*request.fabric, plan, request.base.get(), (*made)->intent).empty());
      base = *made;
      request.base = {base, &base->plan};
      request.intent = base->intent;
      request.next_circuit = base->next_circuit;
    }
  }
  CHECK(accepted > 200);
  CHECK(refused > 10);
}

}  // namespace
