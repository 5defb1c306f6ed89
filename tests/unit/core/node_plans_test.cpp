// SPDX-License-Identifier: Apache-2.0
// Slices of nodes: who shares one, and what writing to it does to the others.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/plan.hpp"

namespace {

using namespace loom;

NodePlan slice_of(std::uint32_t node, bool touched) {
  NodePlan slice;
  slice.revision = Revision{3};
  slice.base = Revision{2};
  slice.node = NodeId{node};
  slice.devices = {{DeviceId{node}, touched, {{{}, {}, kForever, CircuitSwitchSetpoint{}}}}};
  return slice;
}

Plan plan_of(std::initializer_list<bool> touched) {
  Plan plan;
  plan.revision = Revision{3};
  plan.base = Revision{2};
  for (const bool each : touched) {
    plan.nodes.push_back(slice_of(static_cast<std::uint32_t>(plan.nodes.size()), each));
  }
  return plan;
}

TEST_CASE("a_copy_of_a_plan_shares_its_slices_until_one_is_edited") {
  const Plan plan = plan_of({false, false});
  Plan copy = plan;
  CHECK(copy.nodes.shares(plan.nodes, 0));
  CHECK(copy.nodes == plan.nodes);
  copy.nodes.edit(0).cycle = Duration{5};
  CHECK_FALSE(copy.nodes.shares(plan.nodes, 0));
  CHECK(copy.nodes.shares(plan.nodes, 1));
  CHECK(plan.nodes[0].cycle == Duration{});
  CHECK(copy.nodes[0].cycle == Duration{5});
  CHECK_FALSE(copy.nodes == plan.nodes);
  const NodePlan* own = &copy.nodes[0];
  CHECK(&copy.nodes.edit(0) == own);  // nobody else has it: it is not copied again
}

TEST_CASE("slices_that_are_equal_are_equal_plans_whoever_has_them") {
  CHECK(plan_of({false, true}).nodes == plan_of({false, true}).nodes);
  CHECK_FALSE(plan_of({false, true}).nodes == plan_of({false, false}).nodes);
  CHECK_FALSE(plan_of({false, true}).nodes == plan_of({false}).nodes);
}

TEST_CASE("slices_are_walked_and_searched_like_a_row_of_nodes") {
  const Plan plan = plan_of({false, true, false});
  CHECK(plan.nodes.size() == 3);
  CHECK(plan.nodes.front().node == NodeId{0});
  CHECK(plan.nodes.back().node == NodeId{2});
  CHECK(std::ranges::lower_bound(plan.nodes, NodeId{1}, {}, &NodePlan::node) - plan.nodes.begin() == 1);
  CHECK(std::ranges::count_if(plan.nodes, is_at_rest) == 2);
  CHECK(plan.nodes.end() - plan.nodes.begin() == 3);
  CHECK((plan.nodes.begin() + 2)->node == NodeId{2});
}

TEST_CASE("what_was_at_rest_is_shared_and_what_was_touched_is_put_to_rest") {
  const Plan before = plan_of({false, true});
  Plan plan;
  plan.revision = Revision{4};
  plan.base = Revision{3};
  add_at_rest(before.nodes, 0, plan);
  add_at_rest(before.nodes, 1, plan);
  CHECK(plan.nodes.shares(before.nodes, 0));
  CHECK(plan.nodes[0].revision == Revision{3});
  CHECK_FALSE(plan.nodes.shares(before.nodes, 1));
  CHECK(plan.nodes[1].revision == Revision{4});
  CHECK(plan.nodes[1].base == Revision{3});
  CHECK(is_at_rest(plan.nodes[1]));
  CHECK_FALSE(is_at_rest(before.nodes[1]));
}

TEST_CASE("who_takes_part_gets_a_slice_of_this_plan") {
  const Plan before = plan_of({false, false, false});
  Plan plan = before;
  plan.revision = Revision{9};
  plan.base = Revision{3};
  take_part(NodeId{2}, plan);
  take_part(NodeId{0}, plan);
  take_part(NodeId{2}, plan);
  CHECK(plan.changed == std::vector{NodeId{0}, NodeId{2}});
  CHECK(plan.nodes[2].revision == Revision{9});
  CHECK(plan.nodes[2].base == Revision{3});
  CHECK(plan.nodes.shares(before.nodes, 1));
  CHECK(before.nodes[2].revision == Revision{3});
}

}  // namespace
