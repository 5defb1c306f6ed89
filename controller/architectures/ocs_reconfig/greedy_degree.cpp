// A queue of demands, and what is done about those who are left out.
#include "controller/architectures/ocs_reconfig/greedy_degree.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

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

/// Links by halving; `ports` of the first and of the second end are counted in `first` and `second`, which may be one.
std::vector<Link> halve(const Demand& demand, std::uint32_t degree, std::vector<std::uint32_t>& first,
                        std::vector<std::uint32_t>& second) {
  using Entry = std::pair<double, NodePair>;
  const auto after = [](const Entry& a, const Entry& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  };
  std::priority_queue<Entry, std::vector<Entry>, decltype(after)> queue{after};
  for (const auto& [ends, bytes] : demand) {
    queue.push({bytes, ends});
  }
  std::vector<Link> links;
  while (!queue.empty()) {
    const auto [bytes, ends] = queue.top();
    queue.pop();
    if (first[ends.first] < degree && second[ends.second] < degree) {
      ++first[ends.first];
      ++second[ends.second];
      links.push_back({ends, bytes});
      if (bytes > 2) {
        queue.push({bytes / 2, ends});
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

/// Joins components one after the other to that of node 0, by exchanging ends of the links of least demand in each. Where both
/// are bridges two components stay two; with two links a node or more that is rare, and whoever is apart waits.
void join_components(std::vector<Link>& links, std::uint32_t nodes) {
  for (std::uint32_t turn = 0; turn < nodes; ++turn) {
    const auto root = components(nodes, links);
    const auto other = std::find_if(root.begin(), root.end(), [](std::uint32_t each) { return each != 0; });
    if (other == root.end()) {
      return;
    }
    const auto least_in = [&](std::uint32_t component) {
      auto least = links.end();
      for (auto link = links.begin(); link != links.end(); ++link) {
        if (root[link->ends.first] == component && (least == links.end() || link->demand < least->demand)) {
          least = link;
        }
      }
      return least;
    };
    const auto a = least_in(0);
    const auto b = least_in(*other);
    if (a == links.end() || b == links.end()) {
      return;  // somebody without any link: nothing to exchange
    }
    std::swap(a->ends.second, b->ends.second);
  }
}

Result<Network> duplex(const NetworkTerms& terms, std::uint32_t degree, const Demand& directed) {
  std::vector<std::uint32_t> count(terms.nodes, 0);
  std::vector<Link> links = halve(larger_direction(directed), degree, count, count);
  join_open(links, degree, count);
  join_components(links, terms.nodes);
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

Result<Network> simplex(const NetworkTerms& terms, std::uint32_t degree, const Demand& directed) {
  std::vector<std::uint32_t> sends(terms.nodes, 0);
  std::vector<std::uint32_t> receives(terms.nodes, 0);
  std::vector<NodePair> circuits;
  for (const Link& link : halve(directed, degree, sends, receives)) {
    circuits.push_back(link.ends);
  }
  return make_circuits("reconfigured", terms, std::move(circuits));
}

}  // namespace

TopologyPolicy greedy_degree_policy(const NetworkTerms& terms, std::uint32_t degree, bool is_forwarded) {
  return [=](double, std::span<const Transfers::Left> residual) {
    const Demand demand = directed_demand(residual);
    return is_forwarded ? duplex(terms, degree, demand) : simplex(terms, degree, demand);
  };
}

}  // namespace loom
