// SPDX-License-Identifier: Apache-2.0
// Rounds of matching. Exact matchings of a dense demand are found on few edges and proved on all: a matching that is best among
// the heaviest edges of each node is best among all when its dual values leave no other edge a gain; edges with a gain are
// added, and the matching is found anew.
#include "controller/architectures/topoopt/finder/pair_links.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <string>

#include "controller/schedule/general_matching.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::int64_t kHeaviest = 1LL << 40;  ///< of a scaled weight: room for the matching's sums
constexpr std::size_t kEdgesOfNode = 12;       ///< of the first attempt

using Edge = MatchingEdge;  ///< its weight is scaled, and discounted from the first link on

/// What a pair that has links once wanted.
struct Linked {
  std::int64_t whole = 0;
  std::uint32_t links = 0;
};

/// Heaviest first; of equal ones the first edge.
struct Candidate {
  std::int64_t weight = 0;
  std::uint32_t at = 0;
  bool operator<(const Candidate& other) const { return weight != other.weight ? weight > other.weight : at < other.at; }
};

class Rounds {
 public:
  Rounds(std::uint32_t nodes, std::vector<Edge> edges, double unit, const PairLinkOptions& options)
      : nodes_(nodes), edges_(std::move(edges)), unit_(unit), options_(options) {
    if (options_.method == MatchingMethod::exact) {
      choose_first();
    }
  }

  PairRound next() {
    PairRound round{options_.method == MatchingMethod::exact ? exact() : greedy(), 0};
    for (const std::uint32_t at : matched_) {
      Edge& edge = edges_[at];
      round.weight += static_cast<double>(edge.weight) / unit_;
      Linked& linked = linked_.try_emplace(at, Linked{edge.weight, 0}).first->second;
      ++linked.links;
      edge.weight = options_.discount == LinkDiscount::harmonic ? linked.whole / (linked.links + 1)
                                                                : linked.whole >> std::min(linked.links, 62U);
    }
    join_the_rest(round.partner);
    return round;
  }

 private:
  void choose_first() {
    if (edges_.size() <= kEdgesOfNode * nodes_) {
      is_chosen_.assign(edges_.size(), true);
      chosen_.resize(edges_.size());
      std::iota(chosen_.begin(), chosen_.end(), 0U);
      return;
    }
    is_chosen_.resize(edges_.size());
    std::vector<std::vector<std::uint32_t>> by_node(nodes_);
    const auto keep = [&](std::uint32_t node, std::uint32_t at) {  // a min-heap of the node's heaviest
      std::vector<std::uint32_t>& heap = by_node[node];
      const auto heavier = [&](std::uint32_t a, std::uint32_t b) { return edges_[a].weight > edges_[b].weight; };
      if (heap.size() == kEdgesOfNode) {
        if (edges_[at].weight <= edges_[heap.front()].weight) {
          return;
        }
        std::pop_heap(heap.begin(), heap.end(), heavier);
        heap.back() = at;
      } else {
        heap.push_back(at);
      }
      std::push_heap(heap.begin(), heap.end(), heavier);
    };
    for (std::uint32_t at = 0; at < edges_.size(); ++at) {
      keep(edges_[at].u, at);
      keep(edges_[at].v, at);
    }
    for (const std::vector<std::uint32_t>& kept : by_node) {
      for (const std::uint32_t at : kept) {
        if (!is_chosen_[at]) {
          is_chosen_[at] = true;
          chosen_.push_back(at);
        }
      }
    }
    std::sort(chosen_.begin(), chosen_.end());
  }

  std::vector<std::uint32_t> exact() {
    for (;;) {
      std::vector<Edge> edges;
      edges.reserve(chosen_.size());
      for (const std::uint32_t at : chosen_) {
        edges.push_back(edges_[at]);
      }
      GeneralMatching matching = max_weight_matching(nodes_, edges);
      const std::size_t before = chosen_.size();
      for (std::uint32_t at = 0; at < edges_.size(); ++at) {
        const Edge& edge = edges_[at];
        if (matching.value[edge.u] + matching.value[edge.v] < 4 * edge.weight && !is_chosen_[at]) {
          is_chosen_[at] = true;
          chosen_.push_back(at);
        }
      }
      if (chosen_.size() == before) {
        matched_.clear();
        for (const std::uint32_t at : chosen_) {
          if (matching.mate[edges_[at].u] == edges_[at].v) {
            matched_.push_back(at);
          }
        }
        return matching.mate;
      }
    }
  }

  /// Sorts no more than it needs: the heaviest of the edges whose ends are free, again and again.
  std::vector<std::uint32_t> greedy() {
    std::vector<Candidate>& left = candidates_;
    left.clear();
    left.reserve(edges_.size());
    for (std::uint32_t at = 0; at < edges_.size(); ++at) {
      left.push_back({edges_[at].weight, at});
    }
    matched_.clear();
    std::vector<std::uint32_t> partner(nodes_, kUnmatched);
    const auto is_free = [&](const Candidate& each) {
      return partner[edges_[each.at].u] == kUnmatched && partner[edges_[each.at].v] == kUnmatched;
    };
    while (!left.empty()) {
      const auto end = left.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(left.size(), 4 * std::size_t{nodes_}));
      if (end != left.end()) {
        std::nth_element(left.begin(), end, left.end());
      }
      std::sort(left.begin(), end);
      for (auto each = left.begin(); each != end; ++each) {
        if (is_free(*each)) {
          const Edge& edge = edges_[each->at];
          partner[edge.u] = edge.v;
          partner[edge.v] = edge.u;
          matched_.push_back(each->at);
        }
      }
      left.erase(std::remove_if(left.begin(), left.end(), [&](const Candidate& each) { return !is_free(each); }), left.end());
    }
    return partner;
  }

  void join_the_rest(std::vector<std::uint32_t>& partner) const {
    std::uint32_t waiting = kUnmatched;
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      if (partner[node] != kUnmatched) {
        continue;
      }
      if (waiting == kUnmatched) {
        waiting = node;
      } else {
        partner[waiting] = node;
        partner[node] = waiting;
        waiting = kUnmatched;
      }
    }
  }

  std::uint32_t nodes_;
  std::vector<Edge> edges_;  ///< ascending (u, v)
  double unit_;
  PairLinkOptions options_;
  std::vector<bool> is_chosen_;        ///< by edge
  std::vector<std::uint32_t> chosen_;  ///< exact: the edges that LEMON sees
  std::vector<Candidate> candidates_;  ///< greedy
  std::map<std::uint32_t, Linked> linked_;
  std::vector<std::uint32_t> matched_;  ///< edges of the last round
};

Result<void> check_demand(std::uint32_t nodes, const std::vector<PairDemand>& demand) {
  for (const PairDemand& each : demand) {
    if (each.source >= nodes || each.destination >= nodes) {
      return fail(ErrorCode::invalid_argument,
                  format_text("demand from node {} to {}: there are {} nodes", each.source, each.destination, nodes));
    }
    if (each.source == each.destination) {
      return fail(ErrorCode::invalid_argument, format_text("demand of node {} on itself", each.source));
    }
    if (each.bytes < 0 || each.bytes > limits::kTrafficBytes) {
      return fail(ErrorCode::out_of_range, format_text("demand from node {} to {} is {} bytes; 0 to {} are lawful", each.source,
                                                       each.destination, each.bytes, limits::kTrafficBytes));
    }
  }
  return {};
}

/// The demand of pairs, both ways together; pairs without any are left out.
class Folded {
 public:
  Folded(std::uint32_t nodes, const std::vector<PairDemand>& demand) : nodes_(nodes) {
    if (demand.size() >= std::size_t{nodes} * nodes / 16) {  // dense: a table is quicker than sorting
      table_.resize(std::size_t{nodes} * nodes / 2);
      for (const PairDemand& each : demand) {
        const auto [u, v] = std::minmax(each.source, each.destination);
        table_[row(u) + v] += static_cast<double>(each.bytes);
      }
    } else {
      for (const PairDemand& each : demand) {
        sums_.push_back({std::minmax(each.source, each.destination), static_cast<double>(each.bytes)});
      }
      std::sort(sums_.begin(), sums_.end());  // by bytes too: the sum does not depend on the order of the demand
      std::size_t kept = 0;
      for (std::size_t i = 1; i < sums_.size(); ++i) {
        if (sums_[i].first == sums_[kept].first) {
          sums_[kept].second += sums_[i].second;
        } else {
          sums_[++kept] = sums_[i];
        }
      }
      sums_.resize(sums_.empty() ? 0 : kept + 1);
    }
  }

  /// Calls `each(u, v, bytes)`, ascending (u, v).
  template <class Each>
  void for_each(const Each& each) const {
    for (const auto& [ends, bytes] : sums_) {
      if (bytes > 0) {
        each(ends.first, ends.second, bytes);
      }
    }
    for (std::uint32_t u = 0; u < nodes_ && !table_.empty(); ++u) {
      for (std::uint32_t v = u + 1; v < nodes_; ++v) {
        if (const double bytes = table_[row(u) + v]; bytes > 0) {
          each(u, v, bytes);
        }
      }
    }
  }

 private:
  /// Of the upper triangle without its diagonal; plus v, the place of (u, v). Wraps below zero and back.
  std::size_t row(std::uint32_t u) const { return std::size_t{u} * nodes_ - std::size_t{u} * (u + std::size_t{1}) / 2 - u - 1; }

  std::uint32_t nodes_;
  std::vector<double> table_;
  std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, double>> sums_;
};

}  // namespace

Result<std::vector<PairRound>> match_rounds(std::uint32_t nodes, const std::vector<PairDemand>& demand,
                                            const PairLinkOptions& options) {
  LOOM_TRY(check_demand(nodes, demand));
  std::vector<PairRound> result;
  if (options.rounds == 0) {
    return result;
  }
  const Folded pairs(nodes, demand);
  double most = 1;
  std::size_t count = 0;
  pairs.for_each([&](std::uint32_t, std::uint32_t, double bytes) {
    most = std::max(most, bytes);
    ++count;
  });
  const double unit = static_cast<double>(kHeaviest) / most;
  std::vector<Edge> edges;
  edges.reserve(count);
  pairs.for_each([&](std::uint32_t u, std::uint32_t v, double bytes) {
    edges.push_back({u, v, static_cast<std::int64_t>(bytes * unit + 0.5)});
  });
  Rounds rounds(nodes, std::move(edges), unit, options);
  for (std::uint32_t i = 0; i < options.rounds; ++i) {
    result.push_back(rounds.next());
  }
  return result;
}

Result<std::vector<PairLinks>> match_pairs(std::uint32_t nodes, const std::vector<PairDemand>& demand,
                                           const PairLinkOptions& options) {
  auto rounds = match_rounds(nodes, demand, options);
  if (!rounds) {
    return std::unexpected(std::move(rounds).error());
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> counts;
  for (const PairRound& round : *rounds) {
    for (std::uint32_t u = 0; u < nodes; ++u) {
      if (round.partner[u] != kUnmatched && u < round.partner[u]) {
        ++counts[{u, round.partner[u]}];
      }
    }
  }
  std::vector<PairLinks> links;
  for (const auto& [ends, count] : counts) {
    links.push_back({ends.first, ends.second, count});
  }
  return links;
}

}  // namespace loom
