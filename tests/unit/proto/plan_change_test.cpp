// SPDX-License-Identifier: Apache-2.0
// A plan that is written as what it changes of the confirmed one is read as that plan.
#include "core/journal/plan_change.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/journal/journal_state.hpp"
#include "core/planning.hpp"
#include "proto/codec.hpp"
#include "tests/unit/proto/proto_random_values.hpp"

namespace loom {
namespace {

bool are_equal(const Plan& a, const Plan& b) {
  const auto row = [](const Plan& plan) {
    return Record{CommitRecord{CommitDecision::planned, plan.revision, {}, std::make_shared<const Plan>(plan)}};
  };
  return test::equal(row(a), row(b));
}

Plan wide_plan(test::Random& random, Revision revision, std::uint32_t nodes) {
  Plan plan = test::plan(random, revision);
  plan.nodes = {};
  for (std::uint32_t node = 0; node < nodes; ++node) {
    NodePlan slice = test::node_plan(random, {2 * node}, revision);
    slice.base = plan.base;
    plan.nodes.push_back(std::move(slice));
  }
  return plan;
}

/// What a later revision might be: most slices at rest, some of them other ones.
Plan next_plan(test::Random& random, const Plan& before, std::int64_t one_in) {
  Plan plan = wide_plan(random, {before.revision.value + 1}, static_cast<std::uint32_t>(before.nodes.size()));
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    if (random.between(1, one_in) == 1) {
      continue;  // as it was made, of other devices
    }
    Plan rested{plan.revision, plan.base, {}, {}, {}, {}, {}, {}};
    add_at_rest(before.nodes, i, rested);
    NodePlan slice = rested.nodes[0];
    for (DevicePlan& device : slice.devices) {
      device.touched = random.between(1, 40) == 1;
    }
    if (!is_at_rest(slice)) {
      slice.revision = plan.revision;
      slice.base = plan.base;
    }
    plan.nodes.edit(i) = std::move(slice);
  }
  for (const Circuit& circuit : before.circuits) {
    if (random.coin()) {
      plan.circuits.push_back(circuit);
      plan.circuits.back().rate.bits_per_second -= random.between(1, 4) == 1 ? 1 : 0;
    }
  }
  for (const NodeId node : std::vector<NodeId>(plan.changed)) {
    take_part(node, plan);
  }
  std::ranges::sort(plan.circuits, {}, &Circuit::id);
  const auto again = std::ranges::unique(plan.circuits, {}, &Circuit::id);
  plan.circuits.erase(again.begin(), again.end());
  return plan;
}

std::shared_ptr<const PlanResult> result_of(Plan plan) {
  PlanResult result;
  result.plan = std::move(plan);
  return std::make_shared<const PlanResult>(std::move(result));
}

/// A journal that says that `before` is confirmed.
SnapshotRecord confirmed(const Plan& before) {
  SnapshotRecord state;
  apply(state, CommitRecord{CommitDecision::going, before.revision, {}, std::make_shared<const Plan>(before)});
  apply(state, CommitRecord{CommitDecision::confirmed, before.revision, {}, nullptr});
  return state;
}

}  // namespace

TEST_CASE("a_plan_recorded_as_a_change_is_read_as_that_plan") {
  std::size_t changes = 0;
  std::size_t slices = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    test::Random random(seed);
    const Plan before = wide_plan(random, {7}, random.number<std::uint32_t>(0, 40));
    const Plan after = next_plan(random, before, random.between(1, 12));
    SnapshotRecord state = confirmed(before);
    const CommitRecord row = planned_row(result_of(after), {1}, state.confirmed);
    const auto read = decode_record(encode(Record{row}));
    REQUIRE(read.has_value());
    REQUIRE(misfit_of(state, *read).empty());
    apply(state, *read);
    REQUIRE(state.planned != nullptr);
    CHECK(are_equal(*state.planned, after));
    changes += row.change != nullptr ? 1 : 0;
    slices += row.change != nullptr ? row.change->nodes.size() : 0;
  }
  CHECK(changes > 100);
  CHECK(slices > 100);
}

TEST_CASE("a_change_has_only_the_slices_and_circuits_that_it_changes") {
  test::Random random(3);
  Plan before = wide_plan(random, {7}, 8);
  before.circuits.clear();
  for (std::uint64_t id = 1; id <= 4; ++id) {
    before.circuits.push_back(test::circuit(random, {id}));
  }
  Plan after = next_plan(random, before, 1'000'000);
  after.nodes = {};
  after.changed.clear();
  for (std::size_t i = 0; i < before.nodes.size(); ++i) {
    add_at_rest(before.nodes, i, after);
  }
  after.circuits = before.circuits;
  after.circuits.erase(after.circuits.begin());
  after.circuits.push_back(test::circuit(random, {9}));
  after.nodes.edit(5).cycle += Duration{1};
  const auto change = change_of(before, after);
  REQUIRE(change.has_value());
  REQUIRE(change->nodes.size() == 1);
  CHECK(change->nodes[0] == after.nodes[5]);
  CHECK(change->ended == std::vector<CircuitId>{{1}});
  REQUIRE(change->circuits.size() == 1);
  CHECK(change->circuits[0].id == CircuitId{9});
}

TEST_CASE("a_row_that_names_no_slice_of_a_node_that_took_part_has_one_of_its_own_revision") {
  test::Random random(11);
  Plan before = wide_plan(random, {7}, 8);
  for (NodePlan& slice : before.nodes.edit_all()) {
    for (DevicePlan& device : slice.devices) {
      device.touched = false;
      device.may_hold.clear();
    }
  }
  PlanChange change;  // as rows were written when every slice had its plan's revision
  change.of = {7};
  change.revision = {8};
  change.base = {7};
  change.changed = {{3}, before.nodes[2].node};  // there is no node 3
  const Plan plan = changed_plan(before, change);
  CHECK(plan.nodes[2].revision == Revision{8});
  CHECK(plan.nodes[2].base == Revision{7});
  CHECK(plan.nodes[2].devices == before.nodes[2].devices);
  CHECK(plan.nodes.shares(before.nodes, 1));
  CHECK(plan.changed.size() == 2);
}

TEST_CASE("a_plan_in_which_most_changes_or_of_other_nodes_is_written_whole") {
  test::Random random(5);
  const Plan before = wide_plan(random, {7}, 8);
  CHECK_FALSE(change_of(before, wide_plan(random, {8}, 8)).has_value());
  CHECK_FALSE(change_of(before, wide_plan(random, {8}, 9)).has_value());
  CHECK(planned_row(result_of(wide_plan(random, {8}, 8)), {}, std::make_shared<const Plan>(before)).change == nullptr);
  CHECK(planned_row(result_of(wide_plan(random, {8}, 8)), {}).change == nullptr);
}

TEST_CASE("a_change_of_what_is_not_confirmed_is_damage") {
  test::Random random(9);
  const Plan before = wide_plan(random, {7}, 8);
  PlanChange change;
  change.of = {7};
  change.revision = {8};
  const auto row = [&] {
    return Record{CommitRecord{CommitDecision::planned, {8}, {}, {}, {}, std::make_shared<const PlanChange>(change)}};
  };
  CHECK(misfit_of(SnapshotRecord{}, row()) == "revision 8 is recorded as a change of revision 7; nothing is confirmed");
  SnapshotRecord state = confirmed(before);
  CHECK(misfit_of(state, row()).empty());
  change.nodes.emplace_back().node = {3};
  CHECK(misfit_of(state, row()) == "revision 8 is recorded as a change of revision 7, which has no node 3");
  change.of = {6};
  CHECK(misfit_of(state, row()) == "revision 8 is recorded as a change of revision 6; confirmed is 7");
  apply(state, row());  // whoever reads on all the same has no plan of it
  CHECK(state.planned == nullptr);
}

}  // namespace loom
