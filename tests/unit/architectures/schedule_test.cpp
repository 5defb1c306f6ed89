// SPDX-License-Identifier: Apache-2.0
// Placement, the registry and ODDL's scheduler on small fabrics.
#include <catch2/catch.hpp>
#include <set>

#include "controller/architectures/oddl/architecture.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/oddl/schedule.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/schedule/placement.hpp"

namespace {

using namespace loom;

Fabric fabric_of(std::uint32_t nodes, std::uint32_t group_size) {
  OddlParameters parameters;
  parameters.nodes = nodes;
  parameters.group_size = group_size;
  parameters.channels = static_cast<std::int32_t>(group_size + group_size / 2);
  return make_oddl(parameters);
}

Job job_of(std::uint64_t id, std::uint32_t nodes, CollectiveKind kind) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = nodes;
  job.spec.collectives = {{kind, {}, Bytes{1'000'000}, 1}};
  return job;
}

Demand demand_of(const Intent& intent) {
  Demand demand;
  for (const Job& job : intent.jobs) {
    demand.jobs.push_back({job.id, job.nodes, job.spec.collectives, job.stage, {}, job.spec.options});
  }
  return demand;
}

Result<Schedule> schedule(const Fabric& fabric, const Intent& intent) {
  auto placed = place(fabric, &kOddl, intent);
  REQUIRE(placed);
  return schedule_oddl(fabric, demand_of(*placed), *placed, {});
}

std::vector<NodeId> nodes_of(std::vector<std::uint32_t> numbers) {
  std::vector<NodeId> nodes;
  for (const std::uint32_t number : numbers) {
    nodes.push_back(NodeId{number});
  }
  return nodes;
}

TEST_CASE("names_the_nearest_scheduler_when_one_does_not_exist") {
  const auto found = all_architectures().find_scheduler("odl");
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::not_found);
  CHECK(found.error().message.find("nearest: oddl") != std::string::npos);
}

TEST_CASE("places_whole_groups_and_never_moves_a_placed_job") {
  const Fabric fabric = fabric_of(16, 4);
  Intent intent;
  intent.jobs = {job_of(1, 2, CollectiveKind::all_reduce), job_of(2, 8, CollectiveKind::all_reduce)};
  auto first = place(fabric, &kOddl, intent);
  REQUIRE(first);
  CHECK(first->jobs[0].nodes == nodes_of({0, 1}));
  CHECK(first->jobs[1].nodes == nodes_of({4, 5, 6, 7, 8, 9, 10, 11}));
  first->jobs.erase(first->jobs.begin());
  first->jobs.push_back(job_of(3, 3, CollectiveKind::all_reduce));
  const auto second = place(fabric, &kOddl, *first);
  REQUIRE(second);
  CHECK(second->jobs[0].nodes == nodes_of({4, 5, 6, 7, 8, 9, 10, 11}));
  CHECK(second->jobs[1].nodes == nodes_of({0, 1, 2}));
}

TEST_CASE("refuses_a_job_that_does_not_fit_and_says_how_many_are_free") {
  const Fabric fabric = fabric_of(16, 4);
  Intent intent;
  intent.jobs = {job_of(1, 15, CollectiveKind::all_reduce)};
  intent.drained = nodes_of({3, 9});
  const auto placed = place(fabric, &kOddl, intent);
  REQUIRE_FALSE(placed);
  CHECK(placed.error().code == ErrorCode::infeasible);
  CHECK(placed.error().message.find("needs 15 nodes, 14 free") != std::string::npos);
}

TEST_CASE("refuses_two_jobs_that_want_one_node") {
  const Fabric fabric = fabric_of(8, 4);
  Intent intent;
  intent.jobs = {job_of(1, 2, CollectiveKind::all_reduce), job_of(2, 2, CollectiveKind::all_reduce)};
  intent.jobs[0].spec.placement = nodes_of({2, 3});
  intent.jobs[1].spec.placement = nodes_of({3, 4});
  const auto placed = place(fabric, &kOddl, intent);
  REQUIRE_FALSE(placed);
  CHECK(placed.error().code == ErrorCode::conflict);
  CHECK(placed.error().message.find("node 3 belongs to job 1") != std::string::npos);
}

TEST_CASE("ring_of_whole_groups_uses_the_published_map") {
  const Fabric fabric = fabric_of(16, 4);
  Intent intent;
  intent.jobs = {job_of(1, 16, CollectiveKind::all_reduce)};
  const auto made = schedule(fabric, intent);
  REQUIRE(made);
  const Stage& stage = made->jobs[0].stages.at(0);
  REQUIRE(stage.timeslots.size() == 1);
  CHECK(stage.timeslots[0].hold == kForever);
  REQUIRE(stage.timeslots[0].circuits.size() == 16);
  const ChannelPlan plan = std::get<Transmitter>(fabric.element(fabric.nodes[0].transmitters[0]).kind).channels;
  for (const Circuit& circuit : stage.timeslots[0].circuits) {
    CHECK(circuit.destination.value == (circuit.source.value + 1) % 16);
    CHECK(plan.channel_of(circuit.slot) == static_cast<std::int32_t>(circuit.destination.value % 4));
  }
  // 2 x 15/16 x 1 MB at 100 Gb/s
  CHECK(made->objective == Approx(2.0 * 15 / 16 * 8e6 / 1e11));
  CHECK(made->bound <= made->objective);
}

TEST_CASE("all_to_all_meets_every_pair_once_in_matchings") {
  const Fabric fabric = fabric_of(16, 4);
  Intent intent;
  intent.jobs = {job_of(1, 12, CollectiveKind::all_to_all)};
  intent.jobs[0].spec.options["map"] = "maps";
  const auto made = schedule(fabric, intent);
  REQUIRE(made);
  CHECK(made->jobs[0].stages.size() == 3);
  std::set<std::pair<NodeId, NodeId>> pairs;
  for (const Stage& stage : made->jobs[0].stages) {
    for (const Timeslot& timeslot : stage.timeslots) {
      std::set<NodeId> sources;
      std::set<NodeId> destinations;
      for (const Circuit& circuit : timeslot.circuits) {
        CHECK(sources.insert(circuit.source).second);
        CHECK(destinations.insert(circuit.destination).second);
        CHECK(pairs.insert({circuit.source, circuit.destination}).second);
      }
      CHECK(timeslot.guard >= std::chrono::milliseconds{10});
      // The bytes' time, and room for a gate that opens late: control_max and blank_max of OddlParameters.
      CHECK(timeslot.hold == Duration{(1'000'000 / 12 + 1) * 8 / 100 + 1} + OddlParameters{}.laser_control_max +
                                 OddlParameters{}.laser_blank_max);
    }
  }
  CHECK(pairs.size() == 12 * 11);
}

TEST_CASE("a ring after an all-to-all is a timeslot of the same map where that lets its light through, and ends") {
  const Fabric fabric = fabric_of(16, 4);
  Intent intent;
  intent.jobs = {job_of(1, 4, CollectiveKind::all_to_all)};
  intent.jobs[0].spec.collectives.push_back({CollectiveKind::all_reduce, {}, Bytes{1'000}, 1});
  const auto made = schedule(fabric, intent);
  REQUIRE(made);
  REQUIRE(made->jobs[0].stages.size() == 1);
  REQUIRE(made->jobs[0].stages[0].timeslots.size() == 4);
  const Timeslot& ring = made->jobs[0].stages[0].timeslots.back();
  CHECK(ring.circuits.size() == 4);
  // 2 x 3/4 x 1,000 B at 100 Gb/s, 6 steps, and room for a gate that opens late.
  CHECK(ring.hold == Duration{120} + 6 * std::chrono::microseconds{2} + OddlParameters{}.laser_control_max +
                         OddlParameters{}.laser_blank_max);
  CHECK(made->jobs[0].note.find("a ring in a timeslot of the same map") != std::string::npos);
}

TEST_CASE("a ring whose light no map before it lets through has a map of its own, and ends") {
  const Fabric fabric = fabric_of(16, 4);
  Intent intent;
  intent.jobs = {job_of(1, 12, CollectiveKind::all_to_all)};
  intent.jobs[0].spec.options["map"] = "maps";
  intent.jobs[0].spec.collectives.push_back({CollectiveKind::all_reduce, {}, Bytes{1'000}, 1});
  const auto made = schedule(fabric, intent);
  REQUIRE(made);
  REQUIRE(made->jobs[0].stages.size() == 4);
  CHECK(made->jobs[0].stages[3].timeslots.size() == 1);
  CHECK(made->jobs[0].stages[3].timeslots[0].hold < std::chrono::seconds{1});
}

TEST_CASE("names_both_jobs_and_the_wavelength_when_they_collide") {
  const Fabric fabric = fabric_of(12, 4);  // 6 channels: ports 2 and 3 have one order only
  Intent intent;
  intent.jobs = {job_of(1, 2, CollectiveKind::all_reduce), job_of(2, 2, CollectiveKind::all_reduce)};
  intent.jobs[0].spec.placement = nodes_of({0, 6});   // group 0 -> (1, port 2)
  intent.jobs[1].spec.placement = nodes_of({1, 10});  // group 0 -> (2, port 2)
  const auto made = schedule(fabric, intent);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::infeasible);
  CHECK(made.error().message.find("job 2 needs light of group 0") != std::string::npos);
  CHECK(made.error().message.find("belongs to job 1") != std::string::npos);
  CHECK(made.error().message.find("nearest: 4 nodes in 1 whole group") != std::string::npos);
}

TEST_CASE("second_order_of_the_grating_serves_when_the_first_is_taken") {
  const Fabric fabric = fabric_of(12, 4);
  Intent intent;
  intent.jobs = {job_of(1, 2, CollectiveKind::all_reduce), job_of(2, 2, CollectiveKind::all_reduce)};
  intent.jobs[0].spec.placement = nodes_of({2, 5});  // group 0 -> (1, port 1)
  intent.jobs[1].spec.placement = nodes_of({3, 9});  // group 0 -> (2, port 1)
  const auto made = schedule(fabric, intent);
  REQUIRE(made);
  const ChannelPlan plan = std::get<Transmitter>(fabric.element(fabric.nodes[0].transmitters[0]).kind).channels;
  CHECK(plan.channel_of(made->jobs[0].stages[0].timeslots[0].circuits[0].slot) == 1);
  CHECK(plan.channel_of(made->jobs[1].stages[0].timeslots[0].circuits[0].slot) == 5);
}

TEST_CASE("scheduler_stops_when_its_budget_is_used_up") {
  const Fabric fabric = fabric_of(16, 4);
  Intent intent;
  intent.jobs = {job_of(1, 16, CollectiveKind::all_reduce)};
  const auto placed = place(fabric, &kOddl, intent);
  const auto made = schedule_oddl(fabric, demand_of(*placed), *placed, Budget{8, {}});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::timed_out);
}

TEST_CASE("single_node_job_has_no_circuits") {
  const Fabric fabric = fabric_of(8, 4);
  Intent intent;
  intent.jobs = {job_of(1, 1, CollectiveKind::all_reduce)};
  const auto made = schedule(fabric, intent);
  REQUIRE(made);
  CHECK(made->jobs[0].stages.at(0).timeslots.at(0).circuits.empty());
}

}  // namespace
