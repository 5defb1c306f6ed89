// SPDX-License-Identifier: Apache-2.0
// Differences of plans, slice by slice and circuit by circuit.
#include "core/journal/plan_change.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// The device does what it did, and nothing is asked of it for this revision.
bool rests(const DevicePlan& before, const DevicePlan& device) {
  return device.device == before.device && !device.touched && device.may_hold.empty() &&
         device.left_alone == before.left_alone && device.timeline == before.timeline;
}

bool rests(const NodePlan& before, const NodePlan& slice, const Plan& plan) {
  return slice.revision == plan.revision && slice.base == plan.base && slice.node == before.node &&
         slice.cycle == before.cycle && slice.cycles == before.cycles && slice.compute_after == before.compute_after &&
         slice.ends == before.ends && slice.grants == before.grants && slice.iterations == before.iterations &&
         std::ranges::equal(before.devices, slice.devices,
                            [](const DevicePlan& a, const DevicePlan& b) { return rests(a, b); });
}

NodePlan at_rest(NodePlan slice, Revision revision, Revision base) {
  slice.revision = revision;
  slice.base = base;
  for (DevicePlan& device : slice.devices) {
    device.touched = false;
    device.may_hold.clear();
  }
  return slice;
}

constexpr auto kById = [](const Circuit& a, const Circuit& b) { return a.id < b.id; };

void compare_circuits(const std::vector<Circuit>& before, const std::vector<Circuit>& after, PlanChange& change) {
  auto old = before.begin();
  for (const Circuit& circuit : after) {
    for (; old != before.end() && old->id < circuit.id; ++old) {
      change.ended.push_back(old->id);
    }
    if (old == before.end() || *old != circuit) {
      change.circuits.push_back(circuit);
    }
    old += old != before.end() && old->id == circuit.id ? 1 : 0;
  }
  std::transform(old, before.end(), std::back_inserter(change.ended), [](const Circuit& circuit) { return circuit.id; });
}

}  // namespace

std::optional<PlanChange> change_of(const Plan& before, const Plan& plan) {
  const bool are_ordered = std::ranges::is_sorted(before.circuits, kById) && std::ranges::is_sorted(plan.circuits, kById);
  if (!are_ordered || before.nodes.size() != plan.nodes.size()) {
    return std::nullopt;
  }
  PlanChange change{before.revision,     plan.revision, plan.base,       {}, {}, {}, plan.changed,
                    plan.moved_steering, plan.touched,  plan.certificate};
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    if (before.nodes[i].node != plan.nodes[i].node || 2 * change.nodes.size() > plan.nodes.size()) {
      return std::nullopt;
    }
    if (!rests(before.nodes[i], plan.nodes[i], plan)) {
      change.nodes.push_back(plan.nodes[i]);
    }
  }
  compare_circuits(before.circuits, plan.circuits, change);
  return change;
}

std::string misfit_of(const Plan& before, const PlanChange& change) {
  if (change.of != before.revision) {
    return format_text("revision {} is recorded as a change of revision {}; confirmed is {}", change.revision.value,
                       change.of.value, before.revision.value);
  }
  for (const NodePlan& slice : change.nodes) {
    if (!std::ranges::binary_search(before.nodes, slice.node, {}, &NodePlan::node)) {
      return format_text("revision {} is recorded as a change of revision {}, which has no node {}", change.revision.value,
                         change.of.value, slice.node.value);
    }
  }
  return {};
}

Plan changed_plan(const Plan& before, const PlanChange& change) {
  Plan plan{change.revision, change.base, {}, {}, change.changed, change.moved_steering, change.touched, change.certificate};
  plan.nodes.reserve(before.nodes.size());
  auto next = change.nodes.begin();
  for (const NodePlan& slice : before.nodes) {
    const bool is_named = next != change.nodes.end() && next->node == slice.node;
    plan.nodes.push_back(is_named ? *next++ : at_rest(slice, change.revision, change.base));
  }
  std::vector<Circuit> kept;
  std::ranges::copy_if(before.circuits, std::back_inserter(kept), [&](const Circuit& circuit) {
    return !std::ranges::binary_search(change.ended, circuit.id) &&
           !std::binary_search(change.circuits.begin(), change.circuits.end(), circuit, kById);
  });
  std::ranges::merge(kept, change.circuits, std::back_inserter(plan.circuits), kById);
  return plan;
}

}  // namespace loom
