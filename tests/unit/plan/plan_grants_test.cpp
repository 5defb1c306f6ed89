// SPDX-License-Identifier: Apache-2.0
// Plans of jobs under grants: what each node may do, what is laid when, and which tables verify lets through.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/grants.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/plan/verify/verify.hpp"

namespace {

using namespace loom;

std::shared_ptr<const Fabric> oddl(std::uint32_t nodes, std::uint32_t group_size) {
  OddlParameters parameters;
  parameters.nodes = nodes;
  parameters.group_size = group_size;
  parameters.channels = static_cast<std::int32_t>(2 * group_size);
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

Job job_of(std::uint64_t id, std::uint32_t nodes, CollectiveKind kind, Transmit transmit = Transmit::grants) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = nodes;
  job.spec.collectives = {{kind, {}, Bytes{1'000'000}, 1}};
  job.spec.transmit = transmit;
  return job;
}

std::shared_ptr<const PlanResult> plan_of(PlanRequest& request) {
  request.revision.value += 1;
  const auto made = make_plan(all_architectures(), request);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  request.base = {*made, &(*made)->plan};
  request.intent = (*made)->intent;
  request.next_circuit = (*made)->next_circuit;
  return *made;
}

struct Granted {
  Granted() {
    request.fabric = oddl(8, 4);
    request.intent.jobs = {job_of(1, 4, CollectiveKind::all_to_all)};
    made = plan_of(request);
  }
  std::vector<PlanViolation> verdict(const Plan& plan) const { return verify(*request.fabric, plan, nullptr, made->intent); }
  bool breaks(const Plan& plan, std::string_view rule) const {
    const auto found = verdict(plan);
    return std::any_of(found.begin(), found.end(), [&](const PlanViolation& each) { return each.rule == rule; });
  }
  PlanRequest request;
  std::shared_ptr<const PlanResult> made;
};

}  // namespace

TEST_CASE("a_job_under_grants_gets_a_table_of_every_wavelength_and_a_palette_to_match") {
  const Granted world;
  const Plan& plan = world.made->plan;
  std::size_t streams = 0;
  for (const NodeId node : world.made->intent.jobs.front().nodes) {
    const NodePlan& slice = plan.nodes[node.value];
    REQUIRE(slice.grants);
    CHECK(slice.grants->routed_by == plan.revision);
    CHECK(slice.grants->wavelengths.size() == 3);
    CHECK(slice.grants->sources.size() == 3);
    streams += slice.grants->sends.size();
    const auto device = std::find_if(slice.devices.begin(), slice.devices.end(), [&](const DevicePlan& each) {
      return each.device == slice.grants->wavelengths.front().laser;
    });
    REQUIRE(device != slice.devices.end());
    CHECK(device->timeline.size() == 3);
    CHECK(device->touched);
  }
  CHECK(streams == 12);
  CHECK(plan.circuits.size() == 12);
  CHECK(world.verdict(plan).empty());
}

TEST_CASE("nodes_outside_a_job_under_grants_have_no_table") {
  const Granted world;
  std::size_t tables = 0;
  for (const NodePlan& slice : world.made->plan.nodes) {
    tables += slice.grants ? 1 : 0;
  }
  CHECK(tables == 4);
}

TEST_CASE("a_ring_under_grants_is_one_stream_an_edge") {
  PlanRequest request;
  request.fabric = oddl(4, 4);
  request.intent.jobs = {job_of(1, 4, CollectiveKind::all_reduce)};
  const auto made = plan_of(request);
  for (const NodePlan& slice : made->plan.nodes) {
    REQUIRE(slice.grants);
    REQUIRE(slice.grants->sends.size() == 1);
    // 2 (n-1)/n of the buffer, and what 30.101 ms of light carry: so far apart the edges' lights may begin. And the way of
    // each of six steps, 2 us; rounded up.
    CHECK(slice.grants->sends.front().bytes.count == 1'500'000 + 376'262'500 + 150'000 + 1);
  }
}

TEST_CASE("a_guard_is_no_shorter_than_what_was_measured_of_agents_that_fire") {
  Granted world;
  const auto timings_of = [](const Plan& plan) {
    const auto slice = std::ranges::find_if(plan.nodes, [](const NodePlan& each) { return each.grants.has_value(); });
    REQUIRE(slice != plan.nodes.end());
    return slice->grants->timings;
  };
  const GrantTimings promised = timings_of(world.made->plan);
  CHECK(widened_by(*world.request.fabric, world.made->plan, JobId{1}) == Duration{});
  world.request.fire_skew = guard_of(promised);  // within what the fabric promises: nothing changes, nobody is touched
  const auto same = plan_of(world.request);
  CHECK(timings_of(same->plan) == promised);
  CHECK(same->plan.changed.empty());
  world.request.fire_skew = guard_of(promised) + Duration{1'000'000};
  const auto wider = plan_of(world.request);
  CHECK(guard_of(timings_of(wider->plan)) == world.request.fire_skew);
  CHECK(widened_by(*world.request.fabric, wider->plan, JobId{1}) == Duration{1'000'000});
  CHECK(check_fire_skew(*world.request.fabric, wider->plan, world.request.fire_skew).has_value());
  CHECK_FALSE(check_fire_skew(*world.request.fabric, wider->plan, world.request.fire_skew + Duration{1}).has_value());
  world.request.fire_skew = Duration{limits::kGrantWindowNs};  // later than any window is long
  world.request.revision.value += 1;
  const auto refused = make_plan(all_architectures(), world.request);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("were measured to fire up to 1000000000 ns late") != std::string::npos);
}

TEST_CASE("another_job_leaves_light_under_grants_as_it_was_laid") {
  Granted world;
  world.request.intent.jobs.push_back(job_of(2, 4, CollectiveKind::all_to_all));
  const auto second = plan_of(world.request);
  for (const NodeId node : world.made->intent.jobs.front().nodes) {
    CHECK(second->plan.nodes[node.value].grants == world.made->plan.nodes[node.value].grants);
    CHECK(std::find(second->plan.changed.begin(), second->plan.changed.end(), node) == second->plan.changed.end());
  }
}

TEST_CASE("touching_one_laser_lays_the_light_of_its_whole_job_anew_and_of_no_other") {
  Granted world;
  world.request.intent.jobs.push_back(job_of(2, 4, CollectiveKind::all_to_all));
  (void)plan_of(world.request);
  Plan plan = plan_of(world.request)->plan;  // nothing new
  REQUIRE(plan.touched.empty());
  const NodeId restarted = world.made->intent.jobs.front().nodes[1];
  reroute_touched_jobs(*world.request.fabric, {restarted}, plan);
  CHECK(plan.changed.size() == 4);
  CHECK(plan.touched.size() == 12);
  for (const NodePlan& slice : plan.nodes) {
    REQUIRE(slice.grants);
    CHECK((slice.grants->routed_by == plan.revision) == (slice.grants->job == JobId{1}));
  }
}

TEST_CASE("verify_refuses_tables_in_which_light_could_meet") {
  const Granted world;
  const NodeId node = world.made->intent.jobs.front().nodes[0];
  const auto broken = [&](auto change) {
    Plan plan = world.made->plan;
    change(plan, plan.nodes.edit(node.value));
    return plan;
  };
  CHECK(world.breaks(broken([](Plan&, NodePlan& slice) { slice.grants->wavelengths[0].slot.n += 16; }), rules::kGrantTable));
  CHECK(world.breaks(broken([](Plan&, NodePlan& slice) { slice.grants->wavelengths.pop_back(); }), rules::kGrantTable));
  CHECK(world.breaks(broken([](Plan&, NodePlan& slice) { slice.grants->sources.pop_back(); }), rules::kGrantTable));
  CHECK(world.breaks(broken([](Plan&, NodePlan& slice) { slice.grants.reset(); }), rules::kGrantTable));
  CHECK(world.breaks(broken([](Plan&, NodePlan& slice) { slice.grants->timings.blank = Duration{1}; }), rules::kGrantTable));
  CHECK(world.breaks(broken([](Plan&, NodePlan& slice) { slice.grants->routed_by = Revision{}; }), rules::kGrantTable));
  CHECK(world.breaks(broken([](Plan& plan, NodePlan&) {
                       plan.circuits[0].job = JobId{2};
                       for (NodePlan& each : plan.nodes.edit_all()) {
                         for (CircuitEnd& end : each.ends) {
                           end.job = end.circuit == plan.circuits[0].id ? JobId{2} : end.job;
                         }
                       }
                     }),
                     rules::kJobIsolation));
  CHECK(world.breaks(broken([](Plan&, NodePlan& slice) {
                       for (DevicePlan& device : slice.devices) {
                         device.touched = device.touched && device.device != slice.grants->wavelengths[0].laser;
                       }
                     }),
                     rules::kGrantTable));
}

TEST_CASE("a_scheduler_without_maps_refuses_grants_and_says_what_would_do") {
  PlanRequest request;
  request.fabric = oddl(4, 4);
  request.algorithm = "sip-ocs";
  request.revision = Revision{1};
  request.intent.jobs = {job_of(1, 4, CollectiveKind::all_to_all)};
  const auto made = make_plan(all_architectures(), request);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::unsupported);
  CHECK(made.error().message.find("nearest: transmit slots") != std::string::npos);
}
