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

/// As add_at_rest() has it.
bool rests(const NodePlan& before, const NodePlan& slice, const Plan& plan) {
  const bool is_as_it_is = is_at_rest(before);
  return slice.revision == (is_as_it_is ? before.revision : plan.revision) &&
         slice.base == (is_as_it_is ? before.base : plan.base) && slice.node == before.node && slice.cycle == before.cycle &&
         slice.cycles == before.cycles && slice.compute_after == before.compute_after && slice.ends == before.ends &&
         slice.grants == before.grants && slice.iterations == before.iterations &&
         std::ranges::equal(before.devices, slice.devices,
                            [](const DevicePlan& a, const DevicePlan& b) { return rests(a, b); });
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
    const bool is_same = plan.nodes.shares(before.nodes, i) && is_at_rest(plan.nodes[i]);
    if (!is_same && !rests(before.nodes[i], plan.nodes[i], plan)) {
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
  for (std::size_t i = 0; i < before.nodes.size(); ++i) {
    if (next != change.nodes.end() && next->node == before.nodes[i].node) {
      plan.nodes.push_back(*next++);
    } else {
      add_at_rest(before.nodes, i, plan);
    }
  }
  for (const NodeId node : change.changed) {  // a row of before slices were shared names none that is at rest
    take_part(node, plan);
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
