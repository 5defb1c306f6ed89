// SPDX-License-Identifier: Apache-2.0
// Proportional shares of planes and orders.
#include "controller/architectures/oddl/allotment.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/architectures/oddl/options.hpp"
#include "controller/architectures/oddl/planes.hpp"
#include "controller/schedule/traffic.hpp"

namespace loom {
namespace {

/// More than one helps a job only where receivers hear several.
bool has_orders(const OddlShape& shape) { return shape.is_open && shape.orders() > 1; }

class Allotter {
 public:
  Allotter(const OddlShape& shape, const std::vector<Job>& jobs) : shape_(shape), jobs_(jobs), weights_(jobs.size()) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      weights_[i] = weight_of(jobs[i]);
    }
  }

  std::vector<std::uint32_t> planes_of(std::size_t index) const {
    const std::size_t count = share_of(index, shape_.planes);
    std::vector<std::uint32_t> order(shape_.planes);  // least used in its groups first
    std::vector<std::uint32_t> used(shape_.planes);
    for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
      order[plane] = plane;
    }
    for (std::size_t other = 0; other < jobs_.size(); ++other) {
      for (const std::uint32_t plane :
           other != index && meet(other, index) ? numbers_of(jobs_[other].share, kPlanesShare) : none_) {
        used[plane] += plane < used.size() ? 1 : 0;
      }
    }
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return used[a] != used[b] ? used[a] < used[b] : a < b; });
    order.resize(count);
    std::sort(order.begin(), order.end());
    return order;
  }

  std::vector<std::uint32_t> orders_of(std::size_t index) const {
    if (!has_orders(shape_)) {
      return {};
    }
    std::vector<std::uint32_t> free;  // whole ones first, as the last may lack ports
    for (std::uint32_t order = 0; order < shape_.orders(); ++order) {
      if (shape_.uplink || !is_taken(order, index)) {
        free.push_back(order);  // behind routers no two nodes share a channel before the WSS
      }
    }
    const std::size_t reserved = shape_.uplink || fills_its_groups(jobs_[index]) ? 0 : 1;
    const std::size_t most = std::min<std::size_t>(free.size(), shape_.orders() - reserved);
    free.resize(std::min(most, shape_.uplink ? most : share_of(index, shape_.orders())));
    return free.size() > 1 ? free : std::vector<std::uint32_t>{};
  }

 private:
  /// So many of `all` as its traffic is of the heaviest job's, at least one.
  std::size_t share_of(std::size_t index, std::uint32_t all) const {
    const double heaviest = *std::max_element(weights_.begin(), weights_.end());
    const double share = heaviest > 0 ? weights_[index] / heaviest : 1;
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(share * all)), 1, all);
  }

  bool is_taken(std::uint32_t order, std::size_t index) const {
    for (std::size_t other = 0; other < jobs_.size(); ++other) {
      const std::vector<std::uint32_t>& orders = numbers_of(jobs_[other].share, kOrdersShare);
      if (other != index && std::binary_search(orders.begin(), orders.end(), order) && meet(other, index)) {
        return true;
      }
    }
    return false;
  }

  bool fills_its_groups(const Job& job) const {
    std::vector<std::size_t> its(shape_.groups);
    for (const NodeId node : job.nodes) {
      ++its[shape_.positions[node.value].group];
    }
    return std::all_of(its.begin(), its.end(), [&](std::size_t nodes) { return nodes == 0 || nodes == shape_.ports; });
  }

  /// Seconds of its iteration at 1 bit/s: rings, and what the busiest rank sends to others.
  static double weight_of(const Job& job) {
    const auto traffic = traffic_of({job.id, job.nodes, job.spec.collectives, 0, {}});
    if (!traffic) {
      return 0;
    }
    double weight = 0;
    for (const RingGroup& ring : traffic->rings) {
      weight += ring.seconds_at_1_bps;
    }
    double busiest = 0;
    const auto ranks = static_cast<std::uint32_t>(traffic->pairs.empty() ? 0 : job.nodes.size());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      double sent = 0;
      for (std::uint32_t peer = 0; peer < ranks; ++peer) {
        sent += 8.0 * static_cast<double>(traffic->pairs.bytes({rank, peer}));
      }
      busiest = std::max(busiest, sent);
    }
    return weight + busiest;
  }

  std::vector<bool> groups_of(const Job& job) const {
    std::vector<bool> groups(shape_.groups);
    for (const NodeId node : job.nodes) {
      groups[shape_.positions[node.value].group] = true;
    }
    return groups;
  }

  bool meet(std::size_t a, std::size_t b) const {
    const std::vector<bool> groups = groups_of(jobs_[a]);
    return std::any_of(jobs_[b].nodes.begin(), jobs_[b].nodes.end(),
                       [&](NodeId node) { return groups[shape_.positions[node.value].group]; });
  }

  const OddlShape& shape_;
  const std::vector<Job>& jobs_;
  std::vector<double> weights_;
  std::vector<std::uint32_t> none_;
};

void share(Job& job, std::string_view name, std::vector<std::uint32_t> numbers) {
  if (!numbers.empty()) {
    job.share.insert_or_assign(std::string(name), std::move(numbers));
  }
}

}  // namespace

void allot(const Fabric& fabric, const std::vector<JobId>& arrived, Intent& placed) {
  const bool has_planes = !fabric.nodes.empty() && fabric.nodes[0].transmitters.size() > 1;
  const auto lacks_planes = [&](const Job& job) { return has_planes && numbers_of(job.share, kPlanesShare).empty(); };
  if (arrived.empty() && std::none_of(placed.jobs.begin(), placed.jobs.end(), lacks_planes)) {
    return;
  }
  const auto shape = read_oddl(fabric);
  if (!shape || (shape->planes < 2 && !has_orders(*shape))) {
    return;  // nothing to choose from, or the scheduler says what is wrong
  }
  const Allotter allotter(*shape, placed.jobs);
  for (std::size_t i = 0; i < placed.jobs.size(); ++i) {
    Job& job = placed.jobs[i];
    if (shape->planes > 1 && lacks_planes(job)) {
      share(job, kPlanesShare, allotter.planes_of(i));
    }
    if (numbers_of(job.share, kOrdersShare).empty() && std::binary_search(arrived.begin(), arrived.end(), job.id)) {
      share(job, kOrdersShare, allotter.orders_of(i));
    }
  }
}

}  // namespace loom
