// SPDX-License-Identifier: Apache-2.0
// The small world behind executors in software: proofs of darkness, agents that return without a plan, commits that lay the
// light of all anew.
#include <algorithm>

#include "tests/property/grant_world.hpp"

namespace loom::testing {

void GrantWorld::prove_dark(std::size_t index) {
  const Darkening proven = darkening_[index];
  darkening_.erase(darkening_.begin() + static_cast<std::ptrdiff_t>(index));
  const std::uint32_t node = proven.node.value;
  darken(node, proven.transmitter);
  if (nodes_[node].may_send()) {
    step_sender(node, proven.ended);
    run_tables();
    run_machines();
  }
}

void GrantWorld::halt(std::uint32_t node) {
  Node& self = nodes_[node];
  self.is_halted = true;
  self.table.clear();
  for (const TrueLight& light : lights_) {
    const bool is_known = std::any_of(darkening_.begin(), darkening_.end(), [&](const Darkening& each) {
      return each.node == light.source && each.transmitter == light.transmitter;
    });
    if (light.source == NodeId{node} && !light.off && !is_known) {
      darkening_.push_back({light.source, light.transmitter, {{}, local(node), local(node)}});
    }
  }
}

/// A node whose lasers are latched off says so to whoever grants it, once it is true.
bool GrantWorld::answers_dark(std::uint32_t node, const FlyingGrant& flying) {
  const auto* grant = std::get_if<StreamGrant>(&flying.message);
  const bool is_for_sender = grant != nullptr || std::holds_alternative<StreamQueued>(flying.message);
  if (!nodes_[node].is_halted || !is_for_sender) {
    return false;
  }
  const bool is_dark =
      std::none_of(darkening_.begin(), darkening_.end(), [&](const Darkening& each) { return each.node == NodeId{node}; });
  if (grant != nullptr && is_dark) {
    const Instant dark_at = local(node) + options_.sender.timings.flight;
    const StreamRefusal refusal{grant->stream, grant->sender_epoch, grant->key, RefusalReason::unknown, dark_at, dark_at};
    flying_.push_back({NodeId{node}, flying.from, refusal, now_, nodes_[node].routed_by});
  }
  return true;
}

bool GrantWorld::may_reroute() const {
  const bool all_live = std::all_of(nodes_.begin(), nodes_.end(), [](const Node& each) { return each.is_alive; });
  return all_live && std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& each) {
           return !each.is_on && each.routed_by != routed_by_ && each.routed_by == 0;
         });
}

void GrantWorld::reroute() {
  ++routed_by_;
  changed_at_ = now_;
  darkening_.clear();
  aheads_.clear();
  flying_.clear();  // words of a former revision, which nobody receives any more
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].is_on = false;
    nodes_[i].routed_by = routed_by_ - 1;
    nodes_[i].table.clear();
    for (std::uint32_t t = 0; t < nodes_[i].table.transmitters(); ++t) {
      darken(i, t);
    }
  }
  for (TrueLight& light : lights_) {
    light.off = std::min(*light.off, now_ + flight(light.source.value));  // the commit's barrier has proven it
  }
}

void GrantWorld::begin(std::uint32_t node) {
  nodes_[node] = make_node(node, routed_by_);
  nodes_[node].routed_by = routed_by_;
  for (std::size_t i = 0; i < next_offer_; ++i) {
    const GrantOffer& each = options_.offers[i];
    if (each.stream.source == NodeId{node}) {
      step_sender(node, StreamOffered{each.stream, each.bytes});
    }
  }
  run_machines();
}

bool GrantWorld::is_due() const {
  const auto is_unproven = [&](const Darkening& each) {
    return nodes_[each.node.value].is_alive &&
           each.ended.dark_from + options_.proof_ticks * options_.tick <= local(each.node.value);
  };
  bool may_change = may_reroute();
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    may_change = may_change || may_begin(i);
  }
  return std::any_of(darkening_.begin(), darkening_.end(), is_unproven) ||
         (may_change && changed_at_ + options_.commit_ticks * options_.tick <= now_);
}

/// Whoever waits does so for a receiver that is closed because a dead agent was granted it.
bool GrantWorld::waits_for_the_dead_only() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& each) {
    const auto overdue = each.arbiter.overdue();
    return each.is_at_rest() || (overdue && !nodes_[overdue->value].is_on) || (overdue && !nodes_[overdue->value].is_alive) ||
           (each.arbiter.standing() == 0 && each.arbiter.waiting() == 0);
  });
}

std::optional<int> GrantWorld::settle(int limit) {
  const bool is_whole = std::all_of(nodes_.begin(), nodes_.end(), [](const Node& each) { return each.is_alive && each.is_on; });
  if (!is_by_message() || is_whole) {
    return settle_alive(limit);
  }
  settle_alive(limit / 3);
  if (!violation_.empty()) {
    return limit;
  }
  if (!waits_for_the_dead_only()) {
    return std::nullopt;
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].is_alive) {
      restart(i);
    }
  }
  reroute();
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    begin(i);
  }
  return settle_alive(limit);
}

void GrantWorld::fold_routed_by(Digest& digest) const {
  if (!is_by_message()) {
    return;
  }
  digest.add(routed_by_);
  digest.add(static_cast<std::uint64_t>(ns_of(changed_at_)));
  for (const Node& each : nodes_) {
    digest.add((each.is_on ? 1U : 0U) + (each.is_halted ? 2U : 0U));
    digest.add(each.routed_by);
  }
  for (const Darkening& each : darkening_) {
    digest.add(each.node.value * 64 + each.transmitter);
    digest.add(each.ended.row.key.sequence);
    digest.add(static_cast<std::uint64_t>(ns_of(each.ended.dark_from)));
  }
}

}  // namespace loom::testing
