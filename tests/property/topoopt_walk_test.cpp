// SPDX-License-Identifier: Apache-2.0
// Random jobs that come, change their traffic and go on random TopoOpt fabrics: every plan is verified (make_plan refuses what
// is not), shards are disjoint, and whoever did not change keeps every circuit. Panels: light waits for wires, never the other
// way.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "controller/architectures/registry.hpp"
#include "controller/architectures/topoopt/fabric.hpp"
#include "controller/plan/pipeline.hpp"
#include "tests/property/plan_worlds.hpp"

namespace {

using namespace loom;
using loom::testing::Chance;

std::shared_ptr<const Fabric> random_topoopt(Chance& chance) {
  TopooptParameters parameters;
  parameters.nodes = 4 + chance.below(16);
  parameters.interfaces_per_switch = 1 + chance.below(2);
  parameters.degree = parameters.interfaces_per_switch * (1 + chance.below(3));
  parameters.layer = chance.one_in(2) ? TopooptLayer::look_ahead_panels : TopooptLayer::circuit_switches;
  parameters.switch_ports = chance.one_in(3) ? 2 * parameters.interfaces_per_switch * (2 + chance.below(4)) : 384;
  Fabric fabric = make_topoopt(parameters);
  fabric.return_path = chance.one_in(2) && parameters.degree > 1 ? ReturnPath::optical : ReturnPath::electrical;
  return std::make_shared<const Fabric>(std::move(fabric));
}

std::vector<Collective> random_traffic(Chance& chance, std::uint32_t nodes) {
  std::vector<Collective> traffic;
  for (std::uint32_t i = 1 + chance.below(3); i > 0; --i) {
    Collective collective;
    collective.kind = static_cast<CollectiveKind>(chance.below(8));
    collective.bytes = Bytes{1 + chance.below(1'000'000'000)};
    collective.count = 1 + chance.below(4);
    if (collective.kind == CollectiveKind::point_to_point) {
      const std::uint32_t first = chance.below(nodes);
      collective.ranks = {first, (first + 1 + chance.below(nodes - 1)) % nodes};
    } else if (chance.one_in(2)) {
      const std::uint32_t first = chance.below(nodes - 1);
      for (std::uint32_t rank = first; rank < first + 2 + chance.below(nodes - first - 1) && rank < nodes; ++rank) {
        collective.ranks.push_back(rank);
      }
    }
    traffic.push_back(std::move(collective));
  }
  return traffic;
}

void change(Chance& chance, Intent& intent, std::uint64_t& next_job, std::uint32_t nodes) {
  const std::uint32_t what = chance.below(6);
  if (what < 3 || intent.jobs.empty()) {
    Job job;
    job.id = JobId{next_job++};
    job.spec.node_count = 2 + chance.below(nodes - 1);
    job.spec.collectives = random_traffic(chance, job.spec.node_count);
    intent.jobs.push_back(std::move(job));
    return;
  }
  const auto chosen = chance.below(static_cast<std::uint32_t>(intent.jobs.size()));
  if (what == 3) {
    intent.jobs.erase(intent.jobs.begin() + chosen);
  } else {
    intent.jobs[chosen].spec.collectives = random_traffic(chance, intent.jobs[chosen].spec.node_count);
  }
}

std::map<JobId, std::vector<Circuit>> by_job(const Plan& plan) {
  std::map<JobId, std::vector<Circuit>> jobs;
  for (const Circuit& circuit : plan.circuits) {
    jobs[circuit.job].push_back(circuit);
  }
  return jobs;
}

/// Servers, transmitters and receivers of one job are no other's; circuits join servers of their job.
void check_shards(const PlanResult& result) {
  std::map<NodeId, JobId> owner;
  for (const Job& job : result.intent.jobs) {
    for (const NodeId node : job.nodes) {
      CHECK(owner.emplace(node, job.id).second);
    }
  }
  std::set<ElementId> used;
  for (const Circuit& circuit : result.plan.circuits) {
    CHECK(owner.at(circuit.source) == circuit.job);
    CHECK(owner.at(circuit.destination) == circuit.job);
    CHECK(used.insert(circuit.transmitter).second);
    CHECK(used.insert(circuit.receiver).second);
  }
  CHECK(result.plan.certificate.physically_isolated);
}

void check_untouched(const PlanResult& base, const PlanResult& result) {
  const auto before = by_job(base.plan);
  const auto after = by_job(result.plan);
  for (const Job& job : result.intent.jobs) {
    const bool is_same = std::find(base.intent.jobs.begin(), base.intent.jobs.end(), job) != base.intent.jobs.end();
    const auto waits = [&](const PlanResult& of) {
      return std::any_of(of.schedule.jobs.begin(), of.schedule.jobs.end(),
                         [&](const JobSchedule& each) { return each.job == job.id && each.waiting > 0; });
    };
    if (is_same && !waits(base)) {
      CHECK(after.at(job.id) == before.at(job.id));
    }
    if (waits(result)) {
      CHECK(after.at(job.id) == before.at(job.id));  // its light stays while panels are wired
    }
  }
}

/// Every forwarded pair goes over circuits that are lit.
void check_routes(const PlanResult& result) {
  for (const JobSchedule& job : result.schedule.jobs) {
    std::set<std::pair<NodeId, NodeId>> lit;
    for (const Circuit& circuit : job.stages[0].timeslots[0].circuits) {
      lit.emplace(circuit.source, circuit.destination);
    }
    const std::vector<NodeId>& nodes = job.forwarding.nodes;
    job.forwarding.for_each([&](std::uint32_t source, std::uint32_t destination, std::span<const std::uint32_t> through) {
      std::uint32_t at = source;
      for (const std::uint32_t next : through) {
        CHECK(lit.contains({nodes[at], nodes[next]}));
        at = next;
      }
      CHECK(lit.contains({nodes[at], nodes[destination]}));
    });
  }
}

TEST_CASE("random_jobs_on_topoopt_fabrics_are_verified_disjoint_and_leave_each_other_alone") {
  std::uint32_t accepted = 0;
  std::uint32_t waited = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Chance chance(seed);
    PlanRequest request;
    request.fabric = random_topoopt(chance);
    request.algorithm = "topoopt";
    std::shared_ptr<const PlanResult> base;
    std::uint64_t next_job = 1;
    std::uint32_t replans = 0;
    for (std::uint32_t step = 0; step < 14; ++step) {
      const Intent before = request.intent;
      const bool waits = base != nullptr && std::any_of(base->schedule.jobs.begin(), base->schedule.jobs.end(),
                                                        [](const JobSchedule& job) { return job.waiting > 0; });
      if (!waits) {
        change(chance, request.intent, next_job, static_cast<std::uint32_t>(request.fabric->nodes.size()));
      }
      replans = waits ? replans + 1 : 0;
      REQUIRE(replans < 2);  // wired once, then flipped
      ++request.revision.value;
      const auto made = make_plan(all_architectures(), request);
      if (!made) {
        INFO(made.error().message);
        REQUIRE((made.error().code == ErrorCode::infeasible || made.error().code == ErrorCode::conflict));
        request.intent = before;
        continue;
      }
      ++accepted;
      waited += waits ? 1 : 0;
      check_shards(**made);
      check_routes(**made);
      if (base != nullptr) {
        check_untouched(*base, **made);
      }
      base = *made;
      request.base = {base, &base->plan};
      request.intent = base->intent;
      request.next_circuit = base->next_circuit;
    }
  }
  CHECK(accepted > 300);
  CHECK(waited > 10);
}

}  // namespace
