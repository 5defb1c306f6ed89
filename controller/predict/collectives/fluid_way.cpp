// SPDX-License-Identifier: Apache-2.0
// Loads of links by transfers, then what each transfer costs alone.
#include "controller/predict/collectives/fluid_way.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace loom {
namespace {

constexpr std::uint32_t kGroups = 8;
constexpr double kGroupStep = 0.2;  ///< natural logarithm of what transfers of one fluid may differ by in cost

class Loads {
 public:
  explicit Loads(const Network& network) : network_(network), of_link_(network.links.size(), 0) {}

  /// false: not connected.
  bool add(std::uint32_t source, std::uint32_t destination, std::uint32_t lane, double weight) {
    bool is_connected = false;
    each_path(source, destination, lane, [&](std::span<const std::uint32_t> path, double share) {
      is_connected = true;
      for (const std::uint32_t link : path) {
        if (of_link_[link] == 0) {
          used_.push_back(link);
        }
        of_link_[link] += weight * share;
      }
    });
    return is_connected;
  }

  /// ns a byte of the largest transfer, and the latency.
  std::pair<double, double> cost(std::uint32_t source, std::uint32_t destination, std::uint32_t lane) const {
    double cost = 0;
    double latency = 0;
    each_path(source, destination, lane, [&](std::span<const std::uint32_t> path, double) {
      latency = std::max(latency, path_latency_ns(network_, path));
      for (const std::uint32_t link : path) {
        cost = std::max(cost, of_link_[link] / network_.links[link].bytes_per_ns);
      }
    });
    return {cost, latency + network_.step_latency_ns};
  }

  FluidWay way() {
    std::sort(used_.begin(), used_.end());
    FluidWay way{used_, {}};
    for (const std::uint32_t link : used_) {
      way.weights.push_back(static_cast<float>(of_link_[link]));
    }
    return way;
  }

 private:
  /// Messages that are hashed anew are on all equal ways in the mean.
  template <class Each>
  void each_path(std::uint32_t source, std::uint32_t destination, std::uint32_t lane, const Each& each) const {
    if (segment_bytes(network_) > 0) {
      TreeRoutes all = std::get<TreeRoutes>(network_.routes);
      all.sprayed = true;
      network_paths::each_in_tree(all, source, destination, lane, each);
      return;
    }
    for_each_path(network_, source, destination, lane, each);
  }

  const Network& network_;
  std::vector<double> of_link_;
  std::vector<std::uint32_t> used_;
};

/// Transfers of a run of rounds, between nodes.
struct Transfer {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  double weight = 0;
  double cost = 0;
};

std::vector<Transfer> transfers_of(const RoundPlan& plan, const RoundPlan::Run& run, std::span<const std::uint32_t> nodes) {
  const double largest = largest_of(run);
  std::vector<Transfer> transfers;
  for (std::uint32_t rank = 0; rank < plan.size; ++rank) {
    for_each_sent(plan, run, rank, [&](std::uint32_t to, double bytes) {
      if (bytes > 0 || largest == 0) {
        transfers.push_back({nodes[rank], nodes[to], largest > 0 ? bytes / largest : 1, 0});
      }
    });
  }
  return transfers;
}

/// Which fluid of those sent directly: each ends when its own way has let it.
std::uint32_t group_of(double cost, double slowest) {
  return std::min(kGroups - 1, static_cast<std::uint32_t>(std::log(slowest / cost) / kGroupStep));
}

/// Adds the ways of one run. false: two nodes that talk are not connected.
bool add_run(const Network& network, std::vector<Transfer> transfers, const RoundPlan::Run& run, std::uint32_t lane,
             FluidRun& made, std::vector<FluidWay>& ways) {
  Loads all(network);
  for (const Transfer& each : transfers) {
    if (!all.add(each.source, each.destination, lane, each.weight)) {
      return false;
    }
  }
  double longest = 0;
  double latencies = 0;
  for (Transfer& each : transfers) {
    const auto [cost, latency] = all.cost(each.source, each.destination, lane);
    each.cost = cost;
    made.slowest = std::max(made.slowest, cost);
    made.mean += cost / static_cast<double>(transfers.size());
    latencies += latency;
    longest = std::max(longest, latency);
  }
  const bool is_ring = run.pattern == RoundPattern::shift;
  made.mean = is_ring ? made.mean : made.slowest;
  made.latency_ns = is_ring ? latencies / static_cast<double>(transfers.size()) : longest;
  made.first_way = static_cast<std::uint32_t>(ways.size());
  made.ways = 1;
  if (is_ring) {
    ways.push_back(all.way());
    return true;
  }
  std::array<std::optional<Loads>, kGroups> groups;
  for (const Transfer& each : transfers) {
    std::optional<Loads>& group = groups[group_of(each.cost, made.slowest)];
    if (!group) {
      group.emplace(network);
    }
    group->add(each.source, each.destination, lane, each.weight);
  }
  for (std::optional<Loads>& group : groups) {
    if (group) {
      ways.push_back(group->way());
    }
  }
  made.ways = static_cast<std::uint32_t>(ways.size()) - made.first_way;
  return true;
}

}  // namespace

std::optional<std::vector<FluidRun>> fluid_runs(const Network& network, const RoundPlan& plan,
                                                std::span<const std::uint32_t> nodes, std::vector<FluidWay>& ways) {
  std::vector<FluidRun> runs;
  for (std::uint32_t lane = 0; lane < plan.lanes.size(); ++lane) {
    for (const RoundPlan::Run& run : plan.lanes[lane].runs) {
      std::vector<Transfer> transfers = transfers_of(plan, run, nodes);
      FluidRun made;
      if (transfers.empty() || !add_run(network, std::move(transfers), run, lane, made, ways)) {
        return std::nullopt;
      }
      runs.push_back(made);
    }
  }
  return runs;
}

double largest_of(const RoundPlan::Run& run) {
  double most = run.pattern == RoundPattern::pairs ? 0 : run.bytes;
  for (const RoundTransfer& pair : run.pairs) {
    most = std::max(most, pair.bytes);
  }
  return most;
}

double latency_beside(const FluidRun& run, double on_wire) {
  return std::max(0.0, run.latency_ns - on_wire * (run.slowest - run.mean));
}

}  // namespace loom
