// SPDX-License-Identifier: Apache-2.0
// make_plan from an intent to setpoints: what is lit, what is kept, what is touched.
#include <catch2/catch.hpp>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"

namespace {

using namespace loom;

std::shared_ptr<const Fabric> fabric_of(std::uint32_t nodes, std::uint32_t group_size) {
  OddlParameters parameters;
  parameters.nodes = nodes;
  parameters.group_size = group_size;
  parameters.channels = static_cast<std::int32_t>(group_size + group_size / 2);
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

Job job_of(std::uint64_t id, std::uint32_t nodes, CollectiveKind kind) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = nodes;
  job.spec.collectives = {{kind, {}, Bytes{1'000'000}, 1}};
  return job;
}

/// The controller's part: confirmed plan and intent go into the next request.
struct Pipeline {
  std::shared_ptr<const Fabric> fabric;
  PlanRequest request{};

  std::shared_ptr<const PlanResult> next() {
    request.fabric = fabric;
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

TEST_CASE("empty_intent_on_a_dark_fabric_changes_nothing") {
  Pipeline pipeline{fabric_of(16, 4)};
  const auto made = pipeline.next();
  CHECK(made->plan.nodes.size() == 16);
  CHECK(made->plan.changed.empty());
  CHECK(made->plan.circuits.empty());
  CHECK(made->plan.moved_steering.empty());
}

TEST_CASE("ring_lights_every_node_and_moves_every_switch") {
  Pipeline pipeline{fabric_of(16, 4)};
  pipeline.request.intent.jobs = {job_of(1, 16, CollectiveKind::all_reduce)};
  const auto made = pipeline.next();
  CHECK(made->plan.circuits.size() == 16);
  CHECK(made->plan.changed.size() == 16);
  CHECK(made->plan.touched.size() == 16);
  CHECK(switches_moved_by(made->plan) == 8);
  for (const NodePlan& node : made->plan.nodes) {
    CHECK(node.ends.size() == 2);
    CHECK(node.cycle == Duration{});
    CHECK(emits(node.devices.at(0).timeline.at(0).setpoint));
    CHECK(node.devices.at(0).touched);
  }
  CHECK(made->plan.certificate.physically_isolated);
}

TEST_CASE("same_intent_again_touches_nothing_and_keeps_every_id") {
  Pipeline pipeline{fabric_of(16, 4)};
  pipeline.request.intent.jobs = {job_of(1, 16, CollectiveKind::all_reduce)};
  const auto first = pipeline.next();
  const auto second = pipeline.next();
  CHECK(second->plan.circuits == first->plan.circuits);
  CHECK(second->plan.changed.empty());
  CHECK(second->plan.touched.empty());
  CHECK(second->plan.moved_steering.empty());
  CHECK(second->next_circuit == first->next_circuit);
}

TEST_CASE("a_second_job_leaves_the_first_ones_light_alone") {
  Pipeline pipeline{fabric_of(16, 4)};
  pipeline.request.intent.jobs = {job_of(1, 2, CollectiveKind::all_reduce)};
  const auto first = pipeline.next();
  pipeline.request.intent.jobs.push_back(job_of(2, 2, CollectiveKind::all_reduce));
  const auto second = pipeline.next();
  REQUIRE(second->plan.circuits.size() == 4);
  CHECK(second->plan.circuits[0] == first->plan.circuits[0]);
  CHECK(second->plan.circuits[1] == first->plan.circuits[1]);
  CHECK(second->plan.touched.size() == 2);
  CHECK_FALSE(second->plan.nodes[0].devices.at(0).touched);
  CHECK_FALSE(second->plan.nodes[1].devices.at(0).touched);
  CHECK(second->plan.nodes[2].devices.at(0).touched);
  CHECK_FALSE(second->plan.certificate.physically_isolated);
  CHECK(second->plan.certificate.wavelength_isolated);
  CHECK(second->plan.certificate.shared_amplifiers.size() == 2);
}

TEST_CASE("a_neighbour_that_leaves_does_not_shift_a_wavelength") {
  Pipeline pipeline{fabric_of(12, 4)};
  pipeline.request.intent.jobs = {job_of(1, 2, CollectiveKind::all_reduce), job_of(2, 2, CollectiveKind::all_reduce)};
  pipeline.request.intent.jobs[0].spec.placement = {NodeId{2}, NodeId{5}};
  pipeline.request.intent.jobs[1].spec.placement = {NodeId{3}, NodeId{9}};
  const auto first = pipeline.next();
  pipeline.request.intent.jobs.erase(pipeline.request.intent.jobs.begin());
  const auto second = pipeline.next();
  REQUIRE(second->plan.circuits.size() == 2);
  CHECK(second->plan.circuits[0] == first->plan.circuits[2]);
  CHECK(second->plan.circuits[1] == first->plan.circuits[3]);
  CHECK_FALSE(second->plan.nodes[3].devices.at(0).touched);
  CHECK_FALSE(emits(second->plan.nodes[2].devices.at(0).timeline.at(0).setpoint));
}

TEST_CASE("all_to_all_plays_its_timeslots_with_lasers_only") {
  Pipeline pipeline{fabric_of(16, 4)};
  pipeline.request.intent.jobs = {job_of(1, 8, CollectiveKind::all_to_all)};
  pipeline.request.intent.jobs[0].spec.options["map"] = "maps";
  const auto first = pipeline.next();
  CHECK(first->plan.circuits.size() == 8 * 3);  // the first map keeps each group to itself
  for (const NodePlan& node : first->plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      const bool laser = std::holds_alternative<TransmitterSetpoint>(device.timeline.front().setpoint);
      CHECK((laser || device.timeline.size() == 1));
    }
    CHECK((node.cycle > Duration{}) == (node.node.value < 8));
  }
  pipeline.request.intent.jobs[0].stage = 1;
  const auto second = pipeline.next();
  CHECK(switches_moved_by(second->plan) == 4);
  CHECK(second->plan.circuits.front().id > first->plan.circuits.back().id);
  pipeline.request.intent.jobs[0].stage = 2;
  pipeline.request.fabric = pipeline.fabric;
  const auto third = make_plan(all_architectures(), pipeline.request);
  REQUIRE_FALSE(third);
  CHECK(third.error().code == ErrorCode::out_of_range);
}

TEST_CASE("lasers_off_darkens_everything_and_leaves_switches_where_they_are") {
  Pipeline pipeline{fabric_of(16, 4)};
  pipeline.request.intent.jobs = {job_of(1, 16, CollectiveKind::all_reduce)};
  const auto first = pipeline.next();
  pipeline.request.intent.lasers_off = true;
  const auto off = pipeline.next();
  CHECK(off->plan.circuits.empty());
  CHECK(off->plan.moved_steering.empty());
  CHECK(off->plan.touched.size() == 16);
  for (const NodePlan& node : off->plan.nodes) {
    CHECK_FALSE(emits(node.devices.at(0).timeline.at(0).setpoint));
  }
  pipeline.request.intent.lasers_off = false;
  const auto on = pipeline.next();
  CHECK(on->plan.circuits.size() == 16);
  CHECK(on->plan.circuits.front().id > first->plan.circuits.back().id);
}

}  // namespace
