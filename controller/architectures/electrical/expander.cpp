// SPDX-License-Identifier: Apache-2.0
// Stubs paired at random; loops and parallel links swapped away.
#include "controller/architectures/electrical/expander.hpp"

#include <algorithm>
#include <set>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kAttempts = 64;

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}
  std::uint32_t below(std::size_t limit) {
    state_ = network_paths::mixed(state_);
    return static_cast<std::uint32_t>(state_ % limit);
  }

 private:
  std::uint64_t state_;
};

NodePair ordered(std::uint32_t a, std::uint32_t b) { return a < b ? NodePair{a, b} : NodePair{b, a}; }

bool is_connected(std::uint32_t nodes, std::span<const NodePair> edges) {
  std::vector<std::vector<std::uint32_t>> neighbours(nodes);
  for (const auto& [a, b] : edges) {
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  std::vector<bool> seen(nodes, false);
  std::vector<std::uint32_t> queue{0};
  seen[0] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t next : neighbours[queue[i]]) {
      if (!seen[next]) {
        seen[next] = true;
        queue.push_back(next);
      }
    }
  }
  return queue.size() == nodes;
}

/// Edges of a simple graph, or nothing where swapping did not help.
std::vector<NodePair> attempt(std::uint32_t nodes, std::uint32_t degree, Chance& chance) {
  std::vector<std::uint32_t> stubs;
  for (std::uint32_t i = 0; i < nodes * degree; ++i) {
    stubs.push_back(i / degree);
  }
  for (std::size_t i = stubs.size(); i > 1; --i) {
    std::swap(stubs[i - 1], stubs[chance.below(i)]);
  }
  std::vector<NodePair> edges;
  for (std::size_t i = 0; i < stubs.size(); i += 2) {
    edges.push_back(ordered(stubs[i], stubs[i + 1]));
  }
  for (std::uint32_t round = 0; round < 100; ++round) {
    std::set<NodePair> seen;
    std::vector<std::size_t> bad;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].first == edges[i].second || !seen.insert(edges[i]).second) {
        bad.push_back(i);
      }
    }
    if (bad.empty()) {
      return edges;
    }
    for (const std::size_t i : bad) {
      const std::size_t other = chance.below(edges.size());
      const auto [a, b] = edges[i];
      const auto [c, d] = edges[other];
      edges[i] = ordered(a, c);
      edges[other] = ordered(b, d);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<NodePair>> random_regular_graph(std::uint32_t nodes, std::uint32_t degree, std::uint64_t seed) {
  if (degree < 2 || degree >= nodes || std::uint64_t{nodes} * degree % 2 != 0) {
    return fail(ErrorCode::invalid_argument,
                format_text("network 'expander': no graph of {} nodes with {} links each; 2 .. nodes-1, and nodes x links even",
                            nodes, degree));
  }
  if (std::uint64_t{nodes} * degree > limits::kElements) {
    return fail(ErrorCode::out_of_range, format_text("network 'expander': more than {} links (kElements)", limits::kElements));
  }
  Chance chance{seed};
  for (std::uint32_t i = 0; i < kAttempts; ++i) {
    std::vector<NodePair> edges = attempt(nodes, degree, chance);
    if (!edges.empty() && is_connected(nodes, edges)) {
      const std::size_t count = edges.size();
      for (std::size_t e = 0; e < count; ++e) {
        edges.emplace_back(edges[e].second, edges[e].first);
      }
      return edges;
    }
  }
  return fail(ErrorCode::infeasible,
              format_text("network 'expander': no connected graph of {} nodes with {} links each found; try another seed",
                          nodes, degree));
}

Result<Network> make_expander(const NetworkTerms& terms, const ExpanderShape& shape) {
  auto network = begin_network("expander", terms);
  if (!network) {
    return network;
  }
  auto edges = random_regular_graph(terms.nodes, shape.degree, shape.seed);
  if (!edges) {
    return std::unexpected(edges.error());
  }
  LOOM_TRY(connect(*network, std::move(*edges), terms, shape.routing));
  network->assumptions.push_back(format_text("expander: random {}-regular, seed {}; {} shortest ways a pair in equal shares",
                                             shape.degree, shape.seed, shape.routing.ways));
  return network;
}

}  // namespace loom
