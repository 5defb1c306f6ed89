// SPDX-License-Identifier: Apache-2.0
// Whole groups, then the tightest partial group, then whatever is free.
#include "controller/schedule/placement.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "controller/schedule/usable_nodes.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string describe(const Job& job) {
  return format_text("job {}{}", job.id.value, job.spec.name.empty() ? "" : format_text(" ({})", job.spec.name));
}

constexpr std::size_t kHoldersNamed = 3;

bool is_resized(const Job& job) {
  return !job.nodes.empty() && job.spec.placement.empty() && job.spec.node_count != 0 &&
         job.nodes.size() != job.spec.node_count;
}

class Placer {
 public:
  Placer(const Fabric& fabric, const Architecture* architecture, const Intent& intent, const PlaceChoice& choice)
      : fabric_(fabric),
        architecture_(architecture),
        attempt_(choice.attempt),
        taken_(fabric.nodes.size()),
        drained_(fabric.nodes.size()),
        emitting_(fabric.nodes.size()),
        fitness_(fitness_of(fabric, choice.unusable)) {
    for (const NodeId node : intent.drained) {
      if (node.value < drained_.size()) {
        drained_[node.value] = true;
      }
    }
    for (const DeviceOverride& override : intent.overrides) {
      if (override.is_adopted() && emits(override.setpoint) && override.device.value < fabric.devices.size()) {
        emitting_[fabric.device(override.device).agent.value] = true;
      }
    }
    for (const Node& node : fabric.nodes) {
      if (node.group >= groups_.size()) {
        groups_.resize(node.group + 1);
      }
      groups_[node.group].push_back(node.id);
    }
  }

  Result<void> keep(const Job& job) { return claim(job, job.nodes); }

  /// Of a job that is not planned now: where nobody who is has them already.
  void reserve(const Job& job) {
    for (const NodeId node : job.nodes) {
      if (node.value < taken_.size() && !taken_[node.value].owner) {
        taken_[node.value].owner = job.id;
      }
    }
  }

  Result<std::vector<NodeId>> follow(const Job& job) {
    const std::vector<NodeId>& wanted = job.spec.placement;
    if (job.spec.node_count != 0 && job.spec.node_count != wanted.size()) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}: asks for {} nodes but names {}", describe(job), job.spec.node_count, wanted.size()));
    }
    for (const NodeId node : wanted) {
      if (node.value < drained_.size() && drained_[node.value]) {
        return fail(ErrorCode::infeasible, format_text("{}: node {} is drained", describe(job), node.value));
      }
    }
    LOOM_TRY(claim(job, wanted));
    return wanted;
  }

  Result<std::vector<NodeId>> find(const Job& job) {
    const std::size_t needed = job.spec.node_count;
    if (needed == 0) {
      return fail(ErrorCode::invalid_argument, describe(job) + ": asks for 0 nodes");
    }
    if (needed > fabric_.nodes.size()) {
      return fail(ErrorCode::infeasible, format_text("infeasible: {} needs {} nodes, fabric {} has {}{}", describe(job), needed,
                                                     fabric_.name, fabric_.nodes.size(), nearest(job)));
    }
    if (needed > count_free()) {
      return fail(ErrorCode::infeasible, format_text("infeasible: {} needs {} nodes, {} free{}{}", describe(job), needed,
                                                     count_free(), holders(), nearest(job)));
    }
    const std::vector<NodeId> chosen = choose_sound(needed);
    const bool has_order = architecture_ != nullptr && architecture_->order_ranks != nullptr;
    const std::vector<NodeId> nodes = has_order ? architecture_->order_ranks(fabric_, chosen, taken_) : chosen;
    LOOM_TRY(claim(job, nodes));
    return nodes;
  }

  /// More nodes for a job whose own are claimed: of its own groups first, so that its light stays in their spectrum.
  Result<std::vector<NodeId>> grow(const Job& job) {
    const std::size_t more = job.spec.node_count - job.nodes.size();
    if (more > count_free()) {
      return fail(ErrorCode::infeasible, format_text("infeasible: {} needs {} nodes more, {} free{}{}", describe(job), more,
                                                     count_free(), holders(), nearest(job)));
    }
    std::vector<NodeId> added;
    std::vector<bool> seen(groups_.size());
    for (auto own = job.nodes.rbegin(); own != job.nodes.rend(); ++own) {
      const std::uint32_t group = fabric_.nodes[own->value].group;
      for (const NodeId node : seen[group] ? std::vector<NodeId>{} : free_of(groups_[group])) {
        if (added.size() < more) {
          added.push_back(node);
        }
      }
      seen[group] = true;
    }
    LOOM_TRY(claim(job, added));
    const std::vector<NodeId> rest = choose_sound(more - added.size());
    LOOM_TRY(claim(job, rest));
    added.insert(added.end(), rest.begin(), rest.end());
    return added;
  }

 private:
  bool is_free(NodeId node) const {
    const bool is_avoided = (avoided_ != Avoid::nothing && fitness_.unfit[node.value]) ||
                            (avoided_ == Avoid::impaired && fitness_.impaired[node.value]);
    return !taken_[node.value].owner && !drained_[node.value] && !emitting_[node.value] && !is_avoided;
  }

  /// Of nodes with all of their light as long as there are enough; then of those with some; then of any.
  std::vector<NodeId> choose_sound(std::size_t needed) {
    for (const Avoid avoided : {Avoid::impaired, Avoid::unfit}) {
      avoided_ = avoided;
      if (count_free() >= needed) {
        std::vector<NodeId> nodes = choose(needed);
        avoided_ = Avoid::nothing;
        return nodes;
      }
    }
    avoided_ = Avoid::nothing;
    return choose(needed);
  }

  std::size_t count_free() const {
    return static_cast<std::size_t>(
        std::count_if(fabric_.nodes.begin(), fabric_.nodes.end(), [&](const Node& node) { return is_free(node.id); }));
  }

  /// The most that the job could have.
  std::string nearest(const Job& job) const { return format_text("; nearest: {} nodes", count_free() + job.nodes.size()); }

  /// Who has the nodes: the largest few.
  std::string holders() const {
    std::map<JobId, std::size_t> counts;
    for (const NodeUse& use : taken_) {
      if (use.owner) {
        ++counts[*use.owner];
      }
    }
    std::vector<std::pair<std::size_t, JobId>> largest;
    for (const auto& [job, count] : counts) {
      largest.emplace_back(count, job);
    }
    std::sort(largest.begin(), largest.end(),
              [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    std::string text;
    for (std::size_t i = 0; i < largest.size() && i < kHoldersNamed; ++i) {
      text += format_text("{}job {} has {}", i == 0 ? " (" : ", ", largest[i].second.value, largest[i].first);
    }
    return text.empty() ? text : text + (largest.size() > kHoldersNamed ? ", ...)" : ")");
  }

  std::vector<NodeId> free_of(const std::vector<NodeId>& group) const {
    std::vector<NodeId> free;
    std::copy_if(group.begin(), group.end(), std::back_inserter(free), [&](NodeId node) { return is_free(node); });
    return free;
  }

  /// Groups in the order in which they are tried: from another one on with each attempt after the second.
  std::vector<std::size_t> order_of_groups(std::size_t needed) const {
    std::vector<std::size_t> order(groups_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t size = groups_.empty() || groups_[0].empty() ? 1 : groups_[0].size();
    const std::size_t skipped = attempt_ < 2 ? 0 : (attempt_ - 1) * ((needed + size - 1) / size) % groups_.size();
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(skipped), order.end());
    return order;
  }

  /// So many free nodes of a group that it does not fill: the first ones, and further on with each attempt after the second.
  std::vector<NodeId> some_of(std::size_t group, std::size_t count) const {
    std::vector<NodeId> free = free_of(groups_[group]);
    count = std::min(count, free.size());
    const std::size_t room = free.size() - count;
    const std::size_t skipped = attempt_ < 2 ? 0 : std::min((attempt_ - 1) * count, room);
    return {free.begin() + static_cast<std::ptrdiff_t>(skipped), free.begin() + static_cast<std::ptrdiff_t>(skipped + count)};
  }

  /// Precondition: at least `needed` nodes are free.
  std::vector<NodeId> choose(std::size_t needed) const {
    std::vector<NodeId> nodes;
    std::vector<bool> used(groups_.size());
    for (const std::size_t g : order_of_groups(needed)) {
      const std::vector<NodeId> free = free_of(groups_[g]);
      if (!free.empty() && free.size() == groups_[g].size() && nodes.size() + free.size() <= needed) {
        nodes.insert(nodes.end(), free.begin(), free.end());
        used[g] = true;
      }
    }
    // The rest in as few groups as there can be, the last of them the one that it fills best.
    while (nodes.size() < needed) {
      const std::size_t rest = needed - nodes.size();
      const std::size_t group = attempt_ == 0 ? tightest(rest, used).value_or(emptiest(used)) : emptiest(used);
      const std::vector<NodeId> some = some_of(group, rest);
      nodes.insert(nodes.end(), some.begin(), some.end());
      used[group] = true;
    }
    return nodes;
  }

  /// The group with the fewest free nodes that has enough of them.
  std::optional<std::size_t> tightest(std::size_t rest, const std::vector<bool>& used) const {
    std::optional<std::size_t> best;
    std::size_t best_free = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::size_t free = used[g] ? 0 : free_of(groups_[g]).size();
      if (free >= rest && (!best || free < best_free)) {
        best = g;
        best_free = free;
      }
    }
    return best;
  }

  /// The group with the most free nodes.
  std::size_t emptiest(const std::vector<bool>& used) const {
    std::size_t best = 0;
    std::size_t best_free = 0;
    for (const std::size_t g : order_of_groups(1)) {
      if (const std::size_t free = used[g] ? 0 : free_of(groups_[g]).size(); free > best_free) {
        best = g;
        best_free = free;
      }
    }
    LOOM_ASSERT(best_free > 0);
    return best;
  }

  Result<void> claim(const Job& job, const std::vector<NodeId>& nodes) {
    for (const NodeId node : nodes) {
      if (node.value >= taken_.size()) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{}: node {} does not exist; nodes are 0..{}", describe(job), node.value, taken_.size() - 1));
      }
      if (taken_[node.value].owner) {
        const bool itself = *taken_[node.value].owner == job.id;
        return fail(
            itself ? ErrorCode::invalid_argument : ErrorCode::conflict,
            format_text("{}: node {}{}", describe(job), node.value,
                        itself ? " is named twice" : format_text(" belongs to job {}", taken_[node.value].owner->value)));
      }
      const auto is_before = [&](NodeId other) { return fabric_.nodes[other.value].group == fabric_.nodes[node.value].group; };
      taken_[node.value] = {job.id, std::find_if(nodes.begin(), nodes.end(), is_before)->value == node.value};
    }
    return {};
  }

  enum class Avoid : std::uint8_t { nothing, unfit, impaired };

  const Fabric& fabric_;
  const Architecture* architecture_;
  std::uint32_t attempt_ = 0;
  Avoid avoided_ = Avoid::nothing;
  std::vector<NodeUse> taken_;
  std::vector<bool> drained_;
  std::vector<bool> emitting_;  ///< with adopted light, which no job may take away
  NodeFitness fitness_;
  std::vector<std::vector<NodeId>> groups_;
};

}  // namespace

Result<Intent> place(const Fabric& fabric, const Architecture* architecture, const Intent& intent, const PlaceChoice& choice) {
  Placer placer(fabric, architecture, intent, choice);
  Intent placed = intent;
  for (Job& job : placed.jobs) {
    if (is_resized(job) && job.nodes.size() > job.spec.node_count) {
      job.nodes.resize(job.spec.node_count);
    }
    LOOM_TRY(placer.keep(job));
  }
  for (std::size_t i = 0; choice.wanted != nullptr && i < choice.wanted->jobs.size(); ++i) {
    const Job& other = choice.wanted->jobs[i];
    if (std::ranges::find(intent.jobs, other.id, &Job::id) == intent.jobs.end()) {
      placer.reserve(other);
    }
  }
  std::vector<JobId> arrived;
  for (Job& job : placed.jobs) {
    if (is_resized(job)) {
      const auto more = placer.grow(job);
      if (!more) {
        return std::unexpected(more.error());
      }
      job.nodes.insert(job.nodes.end(), more->begin(), more->end());
    }
    if (!job.nodes.empty()) {
      continue;
    }
    auto nodes = job.spec.placement.empty() ? placer.find(job) : placer.follow(job);
    if (!nodes) {
      return std::unexpected(std::move(nodes).error());
    }
    job.nodes = *std::move(nodes);
    arrived.push_back(job.id);
  }
  if (architecture != nullptr && architecture->share_out != nullptr) {
    architecture->share_out(fabric, arrived, placed);
  }
  return placed;
}

}  // namespace loom
