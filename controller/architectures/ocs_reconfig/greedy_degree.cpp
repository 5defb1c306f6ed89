// SPDX-License-Identifier: Apache-2.0
// A queue of demands, and what is done about those who are left out.
#include "controller/architectures/ocs_reconfig/greedy_degree.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "controller/predict/networks/graph_routes.hpp"

namespace loom {
namespace {

using Demand = std::map<NodePair, double>;

struct Link {
  NodePair ends;
  double demand = 0;  ///< when it was given
};

Demand directed_demand(std::span<const Transfers::Left> residual) {
  Demand demand;
  for (const Transfers::Left& each : residual) {
    demand[{each.source, each.destination}] += each.bytes;
  }
  return demand;
}

/// The larger direction of each pair.
Demand larger_direction(const Demand& directed) {
  Demand demand;
  for (const auto& [ends, bytes] : directed) {
    double& most = demand[{std::min(ends.first, ends.second), std::max(ends.first, ends.second)}];
    most = std::max(most, bytes);
  }
  return demand;
}

/// Links by halving; `ports` of the first and of the second end are counted in `first` and `second`, which may be one. Equal
/// demands come in the order of a hash: in that of the nodes, uniform demand becomes cliques of neighbours.
std::vector<Link> halve(const Demand& demand, std::uint32_t degree, std::uint64_t seed, std::vector<std::uint32_t>& first,
                        std::vector<std::uint32_t>& second) {
  using network_paths::mixed;
  using Entry = std::tuple<double, std::uint64_t, NodePair>;  // demand, hash, ends
  std::priority_queue<Entry> queue;
  for (const auto& [ends, bytes] : demand) {
    queue.push({bytes, mixed(mixed(seed) ^ (std::uint64_t{ends.first} << 32 | ends.second)), ends});
  }
  std::vector<Link> links;
  while (!queue.empty()) {
    const auto [bytes, hash, ends] = queue.top();
    queue.pop();
    if (first[ends.first] < degree && second[ends.second] < degree) {
      ++first[ends.first];
      ++second[ends.second];
      links.push_back({ends, bytes});
      if (bytes > 2) {
        queue.push({bytes / 2, hash, ends});
      }
    }
  }
  return links;
}

/// Whoever has links to spare, in a ring.
void join_open(std::vector<Link>& links, std::uint32_t degree, std::vector<std::uint32_t>& count) {
  std::vector<std::uint32_t> open;
  for (std::uint32_t node = 0; node < count.size(); ++node) {
    if (count[node] < degree) {
      open.push_back(node);
    }
  }
  for (std::size_t i = 0; open.size() > 1 && i < open.size(); ++i) {
    const std::uint32_t next = open[(i + 1) % open.size()];
    if (count[open[i]] < degree && count[next] < degree && open[i] != next) {
      ++count[open[i]];
      ++count[next];
      links.push_back({{open[i], next}, 0});
    }
  }
}

/// By node: the least node of its component.
std::vector<std::uint32_t> components(std::uint32_t nodes, const std::vector<Link>& links) {
  std::vector<std::uint32_t> root(nodes);
  std::iota(root.begin(), root.end(), 0U);
  const auto find = [&](std::uint32_t node) {
    while (root[node] != node) {
      root[node] = root[root[node]];
      node = root[node];
    }
    return node;
  };
  for (const Link& link : links) {
    const std::uint32_t a = find(link.ends.first);
    const std::uint32_t b = find(link.ends.second);
    root[std::max(a, b)] = std::min(a, b);
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    root[node] = find(node);
  }
  return root;
}

/// Two components, while one is joined to the other.
class Joint {
 public:
  Joint(std::vector<Link>& links, std::vector<std::uint32_t>& count, std::uint32_t degree, std::vector<std::uint32_t> root)
      : links_(links), count_(count), degree_(degree), root_(std::move(root)) {}

  /// By a link between two that have one to spare; else in the middle of a link of the one's, for two to spare of the other's;
  /// else by exchanging ends of a link of each. False: links do not suffice.
  bool join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t of_a = most_spare_in(a);
    const std::uint32_t of_b = most_spare_in(b);
    if (spare(of_a) > 0 && spare(of_b) > 0) {
      add({of_a, of_b});
      return true;
    }
    const auto in_a = least_in(a);
    const auto in_b = least_in(b);
    if (spare(of_b) > 1 && in_a != links_.end()) {
      return put_between(*in_a, of_b);
    }
    if (spare(of_a) > 1 && in_b != links_.end()) {
      return put_between(*in_b, of_a);
    }
    if (in_a == links_.end() || in_b == links_.end()) {
      return false;
    }
    std::swap(in_a->ends.second, in_b->ends.second);
    return true;
  }

 private:
  std::uint32_t spare(std::uint32_t node) const { return degree_ - count_[node]; }

  std::uint32_t most_spare_in(std::uint32_t component) const {
    std::uint32_t most = component;  // its least node
    for (std::uint32_t node = 0; node < count_.size(); ++node) {
      most = root_[node] == component && spare(node) > spare(most) ? node : most;
    }
    return most;
  }

  std::vector<Link>::iterator least_in(std::uint32_t component) {
    auto least = links_.end();
    for (auto link = links_.begin(); link != links_.end(); ++link) {
      if (root_[link->ends.first] == component && (least == links_.end() || link->demand < least->demand)) {
        least = link;
      }
    }
    return least;
  }

  void add(NodePair ends) {
    ++count_[ends.first];
    ++count_[ends.second];
    links_.push_back({ends, 0});
  }

  bool put_between(Link& link, std::uint32_t node) {
    const std::uint32_t far = std::exchange(link.ends.second, node);
    --count_[far];
    ++count_[node];
    add({node, far});
    return true;
  }

  std::vector<Link>& links_;
  std::vector<std::uint32_t>& count_;
  std::uint32_t degree_;
  std::vector<std::uint32_t> root_;  ///< of every node, before
};

/// Joins components one after the other to that of node 0. Where ends of two bridges are exchanged two components stay two;
/// with two links a node or more that is rare, and whoever is apart waits.
void join_components(std::vector<Link>& links, std::uint32_t degree, std::vector<std::uint32_t>& count) {
  for (std::size_t turn = 0; turn < count.size(); ++turn) {
    auto root = components(static_cast<std::uint32_t>(count.size()), links);
    const auto other = std::find_if(root.begin(), root.end(), [](std::uint32_t each) { return each != 0; });
    if (other == root.end()) {
      return;
    }
    const std::uint32_t apart = *other;
    if (!Joint(links, count, degree, std::move(root)).join(0, apart)) {
      return;
    }
  }
}

Result<Network> duplex(const NetworkTerms& terms, std::uint32_t degree, std::uint64_t seed, const Demand& directed) {
  std::vector<std::uint32_t> count(terms.nodes, 0);
  std::vector<Link> links = halve(larger_direction(directed), degree, seed, count, count);
  join_open(links, degree, count);
  join_components(links, degree, count);
  std::vector<NodePair> circuits;
  for (const Link& link : links) {
    circuits.insert(circuits.end(), {link.ends, {link.ends.second, link.ends.first}});
  }
  auto network = begin_network("reconfigured", terms);
  if (!network) {
    return network;
  }
  network->waits_for_path = true;
  LOOM_TRY(connect(*network, std::move(circuits), terms, {}));
  return network;
}

Result<Network> simplex(const NetworkTerms& terms, std::uint32_t degree, std::uint64_t seed, const Demand& directed) {
  std::vector<std::uint32_t> sends(terms.nodes, 0);
  std::vector<std::uint32_t> receives(terms.nodes, 0);
  std::vector<NodePair> circuits;
  for (const Link& link : halve(directed, degree, seed, sends, receives)) {
    circuits.push_back(link.ends);
  }
  return make_circuits("reconfigured", terms, std::move(circuits));
}

}  // namespace

TopologyPolicy greedy_degree_policy(const NetworkTerms& terms, std::uint32_t degree, bool is_forwarded, std::uint64_t seed) {
  return [=](double, std::span<const Transfers::Left> residual) {
    const Demand demand = directed_demand(residual);
    return is_forwarded ? duplex(terms, degree, seed, demand) : simplex(terms, degree, seed, demand);
  };
}

}  // namespace loom
