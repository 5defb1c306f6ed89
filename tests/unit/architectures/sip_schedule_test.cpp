// SPDX-License-Identifier: Apache-2.0
// SiP-Ring and SiP-OCS: golden figures of docs/systems/sipml.md#closed-tours, exactness on small cases, and the way through
// lower and verify.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <set>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/architectures/sip_ring/shape.hpp"
#include "controller/architectures/sip_ring/waves.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/schedule/permutations.hpp"
#include "controller/schedule/traffic.hpp"
#include "tests/oracle/small_rings.hpp"

namespace {

using namespace loom;
using namespace loom::small_rings;

double granted(std::uint32_t nodes, std::uint32_t channels, const std::vector<RingPair>& pairs, bool repair) {
  WavelengthUse map(nodes, both_ways(channels));
  WavelengthLimits limits;
  limits.repair = repair;
  return worst_served(pairs, grant_wavelengths(map, pairs, limits).served);
}

TEST_CASE("closed_tours_give_the_published_figures") {  // docs/systems/sipml.md#closed-tours, before repair
  CHECK(granted(4, 4, neighbours(4), false) == 5);
  CHECK(granted(4, 4, everybody(4), false) == 2);
  CHECK(granted(8, 32, neighbours(8), false) == 36);
  CHECK(granted(8, 8, everybody(8), false) == 0);
  CHECK(granted(8, 16, everybody(8), false) == 1);
  CHECK(granted(8, 32, everybody(8), false) == 3);
}

TEST_CASE("repair_never_serves_anybody_worse_than_the_worst_before") {
  for (std::uint32_t channels : {2U, 3U, 5U, 8U, 9U, 10U}) {
    CHECK(granted(6, channels, everybody(6), true) >= granted(6, channels, everybody(6), false));
  }
}

std::vector<RingPair> random_pairs(std::mt19937_64& engine, std::uint32_t nodes) {
  std::vector<RingPair> pairs;
  for (const RingPair& pair : everybody(nodes)) {
    if (engine() % 3 == 0) {
      pairs.push_back({pair.source, pair.destination, static_cast<double>(1 + engine() % 4)});
    }
  }
  return pairs;
}

TEST_CASE("no_wavelength_lies_twice_on_a_segment") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 engine(seed);
    const auto nodes = static_cast<std::uint32_t>(3 + engine() % 8);
    const auto channels = static_cast<std::uint32_t>(1 + engine() % 5);
    const auto pairs = random_pairs(engine, nodes);
    WavelengthUse map(nodes, both_ways(channels));
    map.set(0, 0, {1, 1}, true);  // somebody else's
    const WavelengthGrants got = grant_wavelengths(map, pairs, {});
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> taken{{0, 0, 1}};
    std::vector<std::uint32_t> served(pairs.size());
    for (const WavelengthGrant& grant : got.grants) {
      ++served[grant.pair];
      const RingPair& pair = pairs[grant.pair];
      for (std::uint32_t at = pair.source; at != pair.destination;) {
        const std::uint32_t next = grant.bus == 0 ? (at + 1) % nodes : (at + nodes - 1) % nodes;
        CHECK(taken.insert({grant.bus, grant.channel, grant.bus == 0 ? at : next}).second);
        at = next;
      }
    }
    CHECK(served == got.served);
  }
}

/// All ways to fill one wavelength of one direction with disjoint arcs, tried for each wavelength in turn.
class RingOracle {
 public:
  RingOracle(std::uint32_t nodes, std::uint32_t channels, const std::vector<RingPair>& pairs)
      : nodes_(nodes), channels_(channels), pairs_(pairs), served_(pairs.size()) {}
  double best() {
    fill(0, 0, 0);
    return best_;
  }

 private:
  void fill(std::uint32_t wave, std::size_t pair, std::uint32_t taken) {
    if (wave == 2 * channels_) {
      best_ = std::max(best_, worst_served(pairs_, served_));
      return;
    }
    if (pair == pairs_.size()) {
      fill(wave + 1, 0, 0);
      return;
    }
    fill(wave, pair + 1, taken);
    const auto direction = wave < channels_ ? RingDirection::clockwise : RingDirection::counter_clockwise;
    const RingArc arc = arc_of(nodes_, direction, pairs_[pair].source, pairs_[pair].destination);
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < arc.length; ++i) {
      mask |= 1U << ((arc.first + i) % nodes_);
    }
    if ((mask & taken) == 0) {
      ++served_[pair];
      fill(wave, pair + 1, taken | mask);
      --served_[pair];
    }
  }

  std::uint32_t nodes_;
  std::uint32_t channels_;
  const std::vector<RingPair>& pairs_;
  std::vector<std::uint32_t> served_;
  double best_ = 0;
};

TEST_CASE("granted_wavelengths_come_within_one_of_the_optimum_of_small_rings") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 engine(seed);
    const auto nodes = static_cast<std::uint32_t>(3 + engine() % 3);
    std::vector<RingPair> pairs = random_pairs(engine, nodes);
    pairs.resize(std::min<std::size_t>(pairs.size(), 6));
    for (RingPair& pair : pairs) {
      pair.demand = 1;
    }
    const double optimum = RingOracle(nodes, 2, pairs).best();
    const double ours = granted(nodes, 2, pairs, true);
    CHECK(ours <= optimum);
    CHECK(ours >= optimum - 1);
  }
}

TEST_CASE("switch_ports_are_shared_max_min") {
  const std::vector<SwitchPair> pairs{{0, 1, 300}, {0, 2, 100}, {1, 2, 100}, {2, 0, 7}};
  const auto counts = share_ports(3, 4, pairs);
  REQUIRE(counts);
  CHECK(*counts == std::vector<std::uint32_t>{3, 1, 3, 4});
  CHECK_FALSE(share_ports(3, 1, pairs));  // node 0 has two peers
}

/// The best least share that any counts reach, by trying all.
double best_share(std::uint32_t switches, const std::vector<SwitchPair>& pairs, std::size_t at,
                  std::vector<std::uint32_t>& counts) {
  if (at == pairs.size()) {
    std::uint32_t sends[4] = {};
    std::uint32_t receives[4] = {};
    double worst = HUGE_VAL;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      sends[pairs[i].source] += counts[i];
      receives[pairs[i].destination] += counts[i];
      worst = std::min(worst, counts[i] / static_cast<double>(pairs[i].demand));
    }
    const bool fits = *std::max_element(sends, sends + 4) <= switches && *std::max_element(receives, receives + 4) <= switches;
    return fits ? worst : 0;
  }
  double best = 0;
  for (counts[at] = 0; counts[at] <= switches; ++counts[at]) {
    best = std::max(best, best_share(switches, pairs, at + 1, counts));
  }
  return best;
}

TEST_CASE("switch_shares_are_optimal_and_every_switch_a_matching") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 engine(seed);
    std::vector<SwitchPair> pairs;
    for (const RingPair& pair : random_pairs(engine, 4)) {
      pairs.push_back({pair.source, pair.destination, static_cast<std::int64_t>(1 + engine() % 9)});
    }
    pairs.resize(std::min<std::size_t>(pairs.size(), 5));
    std::vector<std::uint32_t> trial(pairs.size());
    const double optimum = pairs.empty() ? 0 : best_share(3, pairs, 0, trial);
    const auto counts = share_ports(4, 3, pairs);
    REQUIRE(counts.has_value() == (pairs.empty() || optimum > 0));
    if (!counts || pairs.empty()) {
      continue;
    }
    double worst = HUGE_VAL;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      worst = std::min(worst, (*counts)[i] / static_cast<double>(pairs[i].demand));
    }
    CHECK(worst == Approx(optimum));
    std::set<std::pair<std::uint32_t, std::uint32_t>> sends;
    std::set<std::pair<std::uint32_t, std::uint32_t>> receives;
    std::vector<std::uint32_t> placed(pairs.size());
    for (const SwitchGrant& grant : into_permutations(4, 3, pairs, *counts)) {
      ++placed[grant.pair];
      CHECK(grant.on < 3);
      CHECK(sends.insert({pairs[grant.pair].source, grant.on}).second);
      CHECK(receives.insert({pairs[grant.pair].destination, grant.on}).second);
    }
    CHECK(placed == *counts);
  }
}

Job job_of(std::uint64_t id, std::vector<std::uint32_t> nodes, CollectiveKind kind) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = static_cast<std::uint32_t>(nodes.size());
  for (const std::uint32_t node : nodes) {
    job.spec.placement.push_back(NodeId{node});
  }
  job.spec.collectives = {{kind, {}, Bytes{1'000'000}, 1}};
  return job;
}

/// The controller's part: confirmed plan and intent go into the next request.
struct Pipeline {
  std::shared_ptr<const Fabric> fabric;
  PlanRequest request{};

  explicit Pipeline(Fabric built) : fabric(std::make_shared<const Fabric>(std::move(built))) {
    request.fabric = fabric;
    request.algorithm = fabric->architecture;
  }

  std::shared_ptr<const PlanResult> next() {
    request.revision.value += 1;
    const auto made = make_plan(all_architectures(), request);
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    request.base = {*made, &(*made)->plan};
    request.intent = (*made)->intent;
    request.next_circuit = (*made)->next_circuit;
    return *made;
  }
};

bool keeps(const Plan& before, const Plan& after) {
  return std::all_of(before.circuits.begin(), before.circuits.end(), [&](const Circuit& circuit) {
    return std::find(after.circuits.begin(), after.circuits.end(), circuit) != after.circuits.end();
  });
}

TEST_CASE("the_shape_of_a_sip_ring_is_read_off_its_graph") {
  SipRingParameters parameters;
  const Fabric fabric = make_sip_ring(parameters);
  REQUIRE(check_fabric(fabric).empty());
  const auto shape = read_sip_ring(fabric);
  REQUIRE(shape);
  CHECK(shape->buses.size() == 4);
  CHECK(shape->buses[0].direction == RingDirection::clockwise);
  CHECK(shape->buses[1].direction == RingDirection::counter_clockwise);
  CHECK(shape->buses[3].channels == 8);
  CHECK(shape->nodes[5] == NodeId{5});
  CHECK(shape->reach >= 15);
  const auto other = read_sip_ring(make_oddl({16, 4, 6}));
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::unsupported);
}

TEST_CASE("a_job_on_the_whole_ring_gets_every_wavelength_it_can_use") {
  Pipeline pipeline{make_sip_ring({})};
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < 16; ++i) {
    all.push_back(i);
  }
  pipeline.request.intent.jobs = {job_of(1, all, CollectiveKind::all_reduce)};
  const auto made = pipeline.next();
  CHECK(made->plan.circuits.size() == 16 * 16 + 16);  // 16 clockwise each; counter-clockwise 15 hops, one a wavelength
  CHECK(switches_moved_by(made->plan) == 0);
  CHECK(made->schedule.objective >= made->schedule.bound);
}

TEST_CASE("ring_jobs_come_and_go_and_leave_each_other_alone") {
  Pipeline pipeline{make_sip_ring({})};
  pipeline.request.intent.jobs = {job_of(1, {0, 1, 2, 3, 4, 5, 6, 7}, CollectiveKind::all_reduce)};
  const auto first = pipeline.next();
  pipeline.request.intent.jobs.push_back(job_of(2, {10, 11, 12, 13}, CollectiveKind::all_to_all));
  const auto second = pipeline.next();
  CHECK(keeps(first->plan, second->plan));
  CHECK(second->plan.touched.size() == second->plan.circuits.size() - first->plan.circuits.size());
  CHECK(second->plan.changed == std::vector<NodeId>{NodeId{10}, NodeId{11}, NodeId{12}, NodeId{13}});
  CHECK(second->plan.certificate.physically_isolated);
  const auto third = pipeline.next();
  CHECK(third->plan.changed.empty());
  pipeline.request.intent.jobs.erase(pipeline.request.intent.jobs.begin());
  const auto alone = pipeline.next();
  CHECK(alone->plan.circuits.size() == second->plan.circuits.size() - first->plan.circuits.size());
  CHECK(keeps(alone->plan, second->plan));
  CHECK(alone->plan.changed.size() == 8);
}

TEST_CASE("interleaved_ring_jobs_share_the_wavelengths") {
  Pipeline pipeline{make_sip_ring({})};
  pipeline.request.intent.jobs = {job_of(1, {0, 2, 4, 6, 8, 10, 12, 14}, CollectiveKind::all_reduce)};
  const auto first = pipeline.next();
  pipeline.request.intent.jobs.push_back(job_of(2, {1, 3, 5, 7, 9, 11, 13, 15}, CollectiveKind::all_reduce));
  const auto second = pipeline.next();
  CHECK(keeps(first->plan, second->plan));
  CHECK_FALSE(second->plan.certificate.physically_isolated);
  CHECK(second->plan.certificate.wavelength_isolated);
}

TEST_CASE("an_all_to_all_of_more_peers_than_wavelengths_is_refused_before_a_pair_is_listed") {
  SipRingParameters parameters;
  parameters.rings = 1;
  parameters.wavelengths = 4;
  Pipeline pipeline{make_sip_ring(parameters)};
  std::vector<std::uint32_t> all(16);
  std::iota(all.begin(), all.end(), 0U);
  pipeline.request.intent.jobs = {job_of(1, all, CollectiveKind::all_to_all)};
  const auto made = make_plan(all_architectures(), pipeline.request);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::infeasible);
  CHECK_THAT(made.error().message, Catch::Matchers::Contains("no wavelength for each of the 15 peers that node 0 sends to") &&
                                       Catch::Matchers::Contains("nearest:"));
  // A matrix of a million ranks would not fit any memory.
  JobDemand vast;
  vast.nodes.resize(1'000'000);
  vast.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1}}, {CollectiveKind::all_to_all, {}, Bytes{1'000'000'000}}};
  CHECK(all_to_all_peers(vast) == 999'999);
  vast.collectives.back().bytes = Bytes{999'999};  // not a byte for each
  CHECK(all_to_all_peers(vast) == 0);
}

TEST_CASE("a_ring_without_wavelengths_enough_says_which_pair_has_none") {
  SipRingParameters parameters;
  parameters.rings = 1;
  parameters.wavelengths = 16;
  Pipeline pipeline{make_sip_ring(parameters)};
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < 16; ++i) {
    all.push_back(i);
  }
  pipeline.request.intent.jobs = {job_of(1, all, CollectiveKind::all_to_all)};
  const auto made = make_plan(all_architectures(), pipeline.request);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::infeasible);
  CHECK_THAT(made.error().message, Catch::Matchers::Contains("no wavelength from node"));
}

TEST_CASE("switch_jobs_come_and_go_and_leave_each_other_alone") {
  Pipeline pipeline{make_sip_ocs({})};
  REQUIRE(check_fabric(*pipeline.fabric).empty());
  pipeline.request.intent.jobs = {job_of(1, {0, 1, 2, 3, 4, 5, 6, 7}, CollectiveKind::all_reduce)};
  const auto first = pipeline.next();
  CHECK(first->plan.circuits.size() == 32);  // four switches, each with all of the ring
  CHECK(first->plan.moved_steering.size() == 4);
  pipeline.request.intent.jobs.push_back(job_of(2, {8, 9, 10, 11, 12}, CollectiveKind::all_to_all));
  const auto second = pipeline.next();
  CHECK(keeps(first->plan, second->plan));
  CHECK(second->plan.circuits.size() == 32 + 20);
  pipeline.request.intent.jobs.erase(pipeline.request.intent.jobs.begin());
  const auto third = pipeline.next();
  CHECK(third->plan.circuits.size() == 20);
  CHECK(keeps(third->plan, second->plan));
}

TEST_CASE("more_peers_than_switches_are_refused_by_name") {
  Pipeline pipeline{make_sip_ocs({})};
  pipeline.request.intent.jobs = {job_of(1, {3, 4, 5, 6, 7, 8}, CollectiveKind::all_to_all)};
  const auto made = make_plan(all_architectures(), pipeline.request);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::infeasible);
  CHECK_THAT(made.error().message, Catch::Matchers::Contains("node 3 sends to 5 peers") && Catch::Matchers::Contains("Q = 4"));
}

}  // namespace
