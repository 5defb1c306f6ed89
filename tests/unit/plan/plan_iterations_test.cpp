// SPDX-License-Identifier: Apache-2.0
// Plans of jobs whose nodes repeat their light: who leads, what is laid when, and what verify refuses of it.
#include <catch2/catch.hpp>

#include <algorithm>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/grants.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/plan/verify/verify.hpp"

namespace {

using namespace loom;

Job exchange(std::uint64_t id, Transmit transmit = Transmit::slots) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = 4;
  job.spec.compute = std::chrono::milliseconds{5};
  job.spec.collectives = {{CollectiveKind::all_to_all, {}, Bytes{1'000'000}, 1}};
  job.spec.transmit = transmit;
  return job;
}

struct Repeated {
  explicit Repeated(std::vector<Job> jobs) {
    OddlParameters parameters;
    parameters.nodes = 8;
    parameters.group_size = 4;
    parameters.channels = 8;
    request.fabric = std::make_shared<const Fabric>(make_oddl(parameters));
    request.intent.jobs = std::move(jobs);
    made = plan();
  }
  std::shared_ptr<const PlanResult> plan() {
    request.revision.value += 1;
    const auto planned = make_plan(all_architectures(), request);
    INFO((planned ? "" : planned.error().message));
    REQUIRE(planned);
    request.base = {*planned, &(*planned)->plan};
    request.intent = (*planned)->intent;
    request.next_circuit = (*planned)->next_circuit;
    return *planned;
  }
  const std::vector<NodeId>& nodes() const { return made->intent.jobs.front().nodes; }
  std::size_t refusals(const Plan& plan) const {
    const auto found = verify(*request.fabric, plan, nullptr, made->intent);
    return static_cast<std::size_t>(std::ranges::count(found, rules::kIterations, &PlanViolation::rule));
  }

  PlanRequest request;
  std::shared_ptr<const PlanResult> made;
};

}  // namespace

TEST_CASE("one node leads a job in timeslots and waits for all of them") {
  const Repeated world({exchange(1)});
  std::vector<NodeId> nodes = world.nodes();
  std::ranges::sort(nodes);
  for (const NodePlan& slice : world.made->plan.nodes) {
    if (!std::ranges::binary_search(nodes, slice.node)) {
      CHECK_FALSE(slice.iterations);
      continue;
    }
    REQUIRE(slice.iterations);
    CHECK(slice.iterations->job == JobId{1});
    CHECK(slice.iterations->routed_by == world.made->plan.revision);
    CHECK(slice.iterations->leader == nodes.front());
    CHECK(slice.iterations->members == (slice.node == nodes.front() ? nodes : std::vector<NodeId>{}));
    CHECK(slice.iterations->compute == std::chrono::milliseconds{5});
    CHECK(slice.iterations->phases == 1);
  }
  CHECK(world.refusals(world.made->plan) == 0);
}

TEST_CASE("light that stands, and light that moves between stages, is not repeated by its nodes") {
  Job ring = exchange(1);
  ring.spec.collectives.front().kind = CollectiveKind::all_reduce;
  const Repeated standing({ring});
  CHECK(std::ranges::none_of(standing.made->plan.nodes, [](const NodePlan& slice) { return slice.iterations.has_value(); }));
  Job maps = exchange(1);
  maps.spec.node_count = 8;
  maps.spec.options["map"] = "maps";
  Repeated moving({maps});
  REQUIRE(moving.made->schedule.jobs.front().stages.size() > 1);
  CHECK(std::ranges::none_of(moving.made->plan.nodes, [](const NodePlan& slice) { return slice.iterations.has_value(); }));
  CHECK(std::ranges::none_of(moving.made->plan.nodes, [](const NodePlan& slice) { return slice.compute_after > Duration{}; }));
  const auto stages = static_cast<std::uint32_t>(moving.made->schedule.jobs.front().stages.size());
  moving.request.intent.jobs.front().stage = stages - 1;
  for (const NodePlan& slice : moving.plan()->plan.nodes) {  // the model computes before the first stage comes again
    CHECK(slice.compute_after == std::chrono::milliseconds{5});
  }
}

TEST_CASE("under grants a ring waits for what goes directly, in a pass of its own") {
  Job job = exchange(1, Transmit::grants);
  job.spec.collectives.push_back({CollectiveKind::all_reduce, {}, Bytes{1'000'000}, 1});
  const Repeated world({job});
  REQUIRE(world.made->schedule.jobs.front().stages.size() == 1);
  CHECK(world.made->plan.circuits.size() == 12);  // a pair of the ring is a pair of the exchange as well
  for (const NodeId node : world.nodes()) {
    const NodePlan& slice = world.made->plan.nodes[node.value];
    REQUIRE(slice.iterations);
    CHECK(slice.iterations->phases == 2);
    CHECK(slice.grants->sends.size() == 4);
    CHECK(std::ranges::count(slice.grants->sends, std::uint64_t{1}, &OfferedStream::collective) == 1);
  }
  CHECK(world.refusals(world.made->plan) == 0);
}

TEST_CASE("another job leaves repeated light as it was laid, and one laser of it lays all of it anew") {
  Repeated world({exchange(1)});
  world.request.intent.jobs.push_back(exchange(2));
  const auto second = world.plan();
  for (const NodeId node : world.nodes()) {
    CHECK(second->plan.nodes[node.value].iterations == world.made->plan.nodes[node.value].iterations);
    CHECK_FALSE(std::ranges::binary_search(second->plan.changed, node));
  }
  Plan plan = world.plan()->plan;  // nothing new
  REQUIRE(plan.touched.empty());
  const DeviceId laser = plan.nodes[world.nodes()[1].value].devices.front().device;
  REQUIRE(world.request.fabric->device(laser).role == DeviceRole::transmitter);
  plan.nodes.edit(world.nodes()[1].value).devices.front().touched = true;
  reroute_touched_jobs(*world.request.fabric, {}, plan);
  CHECK(plan.changed.size() == 4);
  CHECK(plan.touched.size() == 12);
  for (const NodePlan& slice : plan.nodes) {
    REQUIRE(slice.iterations);
    CHECK((slice.iterations->routed_by == plan.revision) == (slice.iterations->job == JobId{1}));
  }
}

TEST_CASE("a laser that follows no order is left behind where the others of its job begin anew") {
  Repeated world({exchange(1)});
  world.request.intent.jobs.push_back(exchange(2));
  (void)world.plan();
  const auto quiet = world.plan();
  const DeviceId silent = quiet->plan.nodes[world.nodes()[1].value].devices.front().device;
  Plan plan = quiet->plan;
  plan.nodes.edit(world.nodes()[1].value).devices.front().left_alone = true;
  Plan wide = plan;
  CHECK(left_behind(*world.request.fabric, plan, wide).empty());
  wide.nodes.edit(world.nodes()[2].value).devices.front().touched = true;  // it began again
  reroute_touched_jobs(*world.request.fabric, {}, wide);
  CHECK(left_behind(*world.request.fabric, plan, wide) == std::vector{silent});
  CHECK(left_behind(*world.request.fabric, wide, Plan(wide)).empty());  // whoever made the plan knew
  Plan other = plan;
  for (const NodeId node : world.request.intent.jobs[1].nodes) {
    other.nodes.edit(node.value).devices.front().touched = true;
  }
  CHECK(left_behind(*world.request.fabric, plan, other).empty());
}

TEST_CASE("verify refuses nodes that would not count from one instant") {
  const Repeated world({exchange(1)});
  std::vector<NodeId> nodes = world.nodes();
  std::ranges::sort(nodes);
  const auto broken = [&](NodeId node, auto change) {
    Plan plan = world.made->plan;
    change(plan.nodes.edit(node.value));
    return world.refusals(plan) > 0;
  };
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.iterations.reset(); }));
  CHECK(broken(nodes[0], [](NodePlan& slice) { slice.iterations.reset(); }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.iterations->leader = slice.node; }));
  CHECK(broken(nodes[0], [](NodePlan& slice) { slice.iterations->members.pop_back(); }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.iterations->members = {slice.node}; }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.iterations->routed_by = Revision{}; }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.iterations->routed_by.value += 1; }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.iterations->phases = 2; }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.iterations->paced_by = PacedBy::training; }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.iterations->lead = Duration{}; }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.cycles = 2; }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.cycle += Duration{1}; }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.devices.front().touched = false; }));
  CHECK(broken(nodes[1], [](NodePlan& slice) { slice.iterations->job = JobId{2}; }));
}
