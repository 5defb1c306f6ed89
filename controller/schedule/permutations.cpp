// SPDX-License-Identifier: Apache-2.0
// Bottleneck by binary search over the finitely many z that matter; edge colouring by alternating paths.
#include "controller/schedule/permutations.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include "controller/schedule/general_matching.hpp"
#include "core/result.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kNone = ~0U;

__extension__ using Wide = __int128;

/// z = circuits / demand, compared exactly.
struct Ratio {
  std::int64_t circuits = 0;
  std::int64_t demand = 1;
  bool operator<(const Ratio& other) const { return Wide{circuits} * other.demand < Wide{other.circuits} * demand; }
};

/// ceil(z x demand).
std::int64_t need(const Ratio& z, std::int64_t demand) {
  return static_cast<std::int64_t>((static_cast<Wide>(z.circuits) * demand + z.demand - 1) / z.demand);
}

class Ports {
 public:
  Ports(std::uint32_t nodes, std::uint32_t switches) : switches_(switches), sends_(nodes), receives_(nodes) {}
  bool add(const SwitchPair& pair, std::int64_t circuits) {
    sends_[pair.source] += circuits;
    receives_[pair.destination] += circuits;
    return sends_[pair.source] <= switches_ && receives_[pair.destination] <= switches_;
  }
  bool has_room(const SwitchPair& pair) const {
    return sends_[pair.source] < switches_ && receives_[pair.destination] < switches_;
  }

 private:
  std::int64_t switches_;
  std::vector<std::int64_t> sends_;
  std::vector<std::int64_t> receives_;
};

bool fits(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs, const Ratio& z) {
  Ports ports(nodes, switches);
  return std::all_of(pairs.begin(), pairs.end(), [&](const SwitchPair& pair) { return ports.add(pair, need(z, pair.demand)); });
}

void fill(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs,
          std::vector<std::uint32_t>& counts) {
  Ports ports(nodes, switches);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ports.add(pairs[i], counts[i]);
  }
  struct Waiting {
    Ratio share;
    std::size_t pair = 0;
    bool operator<(const Waiting& other) const {  // the worst-served on top, of equal ones the first
      return other.share < share || (!(share < other.share) && other.pair < pair);
    }
  };
  std::priority_queue<Waiting> waiting;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    waiting.push({{counts[i], pairs[i].demand}, i});
  }
  while (!waiting.empty()) {
    const std::size_t worst = waiting.top().pair;
    waiting.pop();
    if (ports.has_room(pairs[worst])) {  // else never again: ports only fill up
      ports.add(pairs[worst], 1);
      ++counts[worst];
      waiting.push({{counts[worst], pairs[worst].demand}, worst});
    }
  }
}

class Colouring {
 public:
  Colouring(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs)
      : nodes_(nodes), switches_(switches), pairs_(pairs), at_(2 * std::size_t{nodes} * switches, kNone) {}

  /// A circuit that is lit there.
  void keep(const SwitchGrant& held) {
    LOOM_ASSERT(at(pairs_[held.pair].source, held.on) == kNone && at(nodes_ + pairs_[held.pair].destination, held.on) == kNone);
    put(held.pair, held.on);
    kept_.resize(at_.size());
    kept_[place(pairs_[held.pair].source, held.on)] = true;
  }

  void add(std::uint32_t pair) {
    const std::uint32_t u = pairs_[pair].source;
    const std::uint32_t v = nodes_ + pairs_[pair].destination;
    const auto [a, b] = kept_.empty() ? std::pair{free_at(u), free_at(v)} : gentlest(u, v);
    if (at(v, a) != kNone) {
      flip(v, a, b);  // a-b path from v: it never ends in u, which lacks a, so a comes free at v
    }
    put(pair, a);
  }

  std::vector<SwitchGrant> grants() const {
    std::vector<SwitchGrant> result;
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      for (std::uint32_t on = 0; on < switches_; ++on) {
        if (at(node, on) != kNone) {
          result.push_back({at(node, on), on});
        }
      }
    }
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  std::size_t place(std::uint32_t end, std::uint32_t on) const { return std::size_t{end} * switches_ + on; }
  std::uint32_t& at(std::uint32_t end, std::uint32_t on) { return at_[place(end, on)]; }
  std::uint32_t at(std::uint32_t end, std::uint32_t on) const { return at_[place(end, on)]; }

  /// A switch free at u and one free at v, between which the fewest kept circuits would have to change places.
  std::pair<std::uint32_t, std::uint32_t> gentlest(std::uint32_t u, std::uint32_t v) const {
    std::optional<std::pair<std::uint32_t, std::uint32_t>> best;
    std::size_t least = 0;
    for (std::uint32_t a = 0; a < switches_; ++a) {
      for (std::uint32_t b = 0; b < switches_ && at(u, a) == kNone; ++b) {
        if (at(v, b) != kNone) {
          continue;
        }
        const std::size_t moved = a == b ? 0 : 1 + kept_on_path(v, a, b);
        if (!best || moved < least) {
          best = {a, b};
          least = moved;
        }
      }
    }
    LOOM_ASSERT(best.has_value());
    return *best;
  }

  std::size_t kept_on_path(std::uint32_t end, std::uint32_t a, std::uint32_t b) const {
    std::size_t kept = 0;
    for (std::uint32_t on = a; at(end, on) != kNone; on = on == a ? b : a) {
      const SwitchPair& pair = pairs_[at(end, on)];
      kept += kept_[place(pair.source, on)] ? 1 : 0;
      end = end < nodes_ ? nodes_ + pair.destination : pair.source;
    }
    return kept;
  }

  std::uint32_t free_at(std::uint32_t end) const {
    for (std::uint32_t on = 0; on < switches_; ++on) {
      if (at(end, on) == kNone) {
        return on;
      }
    }
    LOOM_ASSERT(false);
    return 0;
  }

  void put(std::uint32_t pair, std::uint32_t on) {
    at(pairs_[pair].source, on) = pair;
    at(nodes_ + pairs_[pair].destination, on) = pair;
  }

  /// Swaps switches a and b along the path of alternating circuits from `end`.
  void flip(std::uint32_t end, std::uint32_t a, std::uint32_t b) {
    std::vector<std::uint32_t> path;
    for (std::uint32_t on = a; at(end, on) != kNone; on = on == a ? b : a) {
      const std::uint32_t pair = at(end, on);
      path.push_back(pair);
      end = end < nodes_ ? nodes_ + pairs_[pair].destination : pairs_[pair].source;
    }
    for (std::size_t i = 0; i < path.size(); ++i) {
      const std::uint32_t on = i % 2 == 0 ? a : b;
      at(pairs_[path[i]].source, on) = kNone;
      if (!kept_.empty()) {
        kept_[place(pairs_[path[i]].source, on)] = false;  // it moves in any case
      }
      at(nodes_ + pairs_[path[i]].destination, on) = kNone;
    }
    for (std::size_t i = 0; i < path.size(); ++i) {
      put(path[i], i % 2 == 0 ? b : a);
    }
  }

  std::uint32_t nodes_;
  std::uint32_t switches_;
  const std::vector<SwitchPair>& pairs_;
  std::vector<std::uint32_t> at_;  ///< [source or nodes + destination][switch]: the pair there
  std::vector<bool> kept_;         ///< as at_, by source: a circuit that is lit there; empty: none is
};

}  // namespace

std::optional<std::vector<std::uint32_t>> share_ports(std::uint32_t nodes, std::uint32_t switches,
                                                      const std::vector<SwitchPair>& pairs) {
  if (pairs.empty()) {
    return std::vector<std::uint32_t>{};
  }
  std::vector<Ratio> candidates;  // the need of a pair changes at these z only
  for (const SwitchPair& pair : pairs) {
    for (std::uint32_t circuits = 1; circuits <= switches; ++circuits) {
      candidates.push_back({circuits, pair.demand});
    }
  }
  std::sort(candidates.begin(), candidates.end());
  const auto beyond = std::partition_point(candidates.begin(), candidates.end(),
                                           [&](const Ratio& z) { return fits(nodes, switches, pairs, z); });
  if (beyond == candidates.begin()) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> counts;
  for (const SwitchPair& pair : pairs) {
    counts.push_back(static_cast<std::uint32_t>(need(*(beyond - 1), pair.demand)));
  }
  fill(nodes, switches, pairs, counts);
  return counts;
}

std::vector<SwitchGrant> into_permutations(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs,
                                           const std::vector<std::uint32_t>& counts, const std::vector<SwitchGrant>& held) {
  Colouring colouring(nodes, switches, pairs);
  std::vector<std::uint32_t> missing = counts;
  for (const SwitchGrant& each : held) {
    if (missing[each.pair] > 0) {
      colouring.keep(each);
      --missing[each.pair];
    }
  }
  for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) {
    for (; missing[pair] > 0; --missing[pair]) {
      colouring.add(pair);
    }
  }
  return colouring.grants();
}

std::vector<SwitchGrant> most_throughput(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs,
                                         std::int64_t carried) {
  std::vector<std::int64_t> left;
  left.reserve(pairs.size());
  for (const SwitchPair& pair : pairs) {
    left.push_back(pair.demand);
  }
  std::vector<SwitchGrant> grants;
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t on = 0; on < switches; ++on) {
    if (on == 0 || carried > 0) {
      std::vector<MatchingEdge> edges;  // sources on one side, destinations on the other
      std::vector<std::uint32_t> pair_of_edge;
      for (std::uint32_t i = 0; i < pairs.size(); ++i) {
        if (left[i] > 0 && pairs[i].source != pairs[i].destination) {
          edges.push_back({pairs[i].source, nodes + pairs[i].destination, left[i]});
          pair_of_edge.push_back(i);
        }
      }
      chosen.clear();
      const GeneralMatching found = max_weight_matching(2 * nodes, edges);
      for (std::size_t edge = 0; edge < edges.size(); ++edge) {
        if (found.mate[edges[edge].u] == edges[edge].v) {
          chosen.push_back(pair_of_edge[edge]);
        }
      }
    }
    for (const std::uint32_t pair : chosen) {
      grants.push_back({pair, on});
      left[pair] -= carried;
    }
  }
  std::sort(grants.begin(), grants.end());
  return grants;
}

}  // namespace loom
