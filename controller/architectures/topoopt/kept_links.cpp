// SPDX-License-Identifier: Apache-2.0
// Held links first, then whole jumps.
#include "controller/architectures/topoopt/kept_links.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/result.hpp"

namespace loom {

KeptLinks::KeptLinks(const DirectTopology& topology, std::uint32_t degree, const std::vector<PlacedLink>& held)
    : nodes_(topology.nodes),
      degree_(degree),
      sends_(std::size_t{topology.nodes} * degree),
      receives_(std::size_t{topology.nodes} * degree) {
  for (const DirectLink& link : topology.links()) {
    pairs_.push_back({link.from, link.to, 1});
    counts_.push_back(link.count);
  }
  granted_.resize(pairs_.size());
  for (const PlacedLink& link : held) {
    const std::size_t pair = pair_of(link.from, link.to);
    if (link.out == link.in && pair < pairs_.size() && granted_[pair] < counts_[pair]) {
      grant(pair, link.out);
    }
  }
}

std::size_t KeptLinks::pair_of(std::uint32_t from, std::uint32_t to) const {
  const auto ends = [](const SwitchPair& pair) { return std::pair{pair.source, pair.destination}; };
  const auto found = std::lower_bound(pairs_.begin(), pairs_.end(), std::pair{from, to},
                                      [&](const SwitchPair& pair, const auto& wanted) { return ends(pair) < wanted; });
  return found != pairs_.end() && ends(*found) == std::pair{from, to} ? static_cast<std::size_t>(found - pairs_.begin())
                                                                      : pairs_.size();
}

bool KeptLinks::is_free(std::uint32_t from, std::uint32_t to, std::uint32_t on) const {
  return !sends_[std::size_t{from} * degree_ + on] && !receives_[std::size_t{to} * degree_ + on];
}

void KeptLinks::grant(std::size_t pair, std::uint32_t on) {
  LOOM_ASSERT(is_free(pairs_[pair].source, pairs_[pair].destination, on));
  sends_[std::size_t{pairs_[pair].source} * degree_ + on] = true;
  receives_[std::size_t{pairs_[pair].destination} * degree_ + on] = true;
  ++granted_[pair];
  grants_.push_back({static_cast<std::uint32_t>(pair), on});
}

/// Greedily by how many of a jump's links are lit there; every jump one of its own.
std::vector<std::uint32_t> KeptLinks::interfaces_of(const std::vector<std::uint32_t>& jumps) const {
  using Votes = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;  // minus lit links, jump, interface
  std::vector<Votes> votes;
  for (std::uint32_t jump = 0; jump < jumps.size(); ++jump) {
    std::vector<std::int64_t> lit(degree_);
    for (const SwitchGrant& each : grants_) {
      const SwitchPair& pair = pairs_[each.pair];
      lit[each.on] += (pair.source + jumps[jump]) % nodes_ == pair.destination ? 1 : 0;
    }
    for (std::uint32_t on = 0; on < degree_; ++on) {
      votes.emplace_back(-lit[on], jump, on);
    }
  }
  std::sort(votes.begin(), votes.end());
  std::vector<std::uint32_t> chosen(jumps.size(), degree_);
  std::vector<bool> used(degree_);
  for (const auto& [lit, jump, on] : votes) {
    if (chosen[jump] == degree_ && !used[on]) {
      chosen[jump] = on;
      used[on] = true;
    }
  }
  return chosen;
}

void KeptLinks::place_jumps(const std::vector<std::uint32_t>& jumps) {
  const std::vector<std::uint32_t> interfaces = interfaces_of(jumps);
  for (std::size_t i = 0; i < jumps.size(); ++i) {
    for (std::uint32_t from = 0; from < nodes_ && interfaces[i] < degree_; ++from) {
      const std::uint32_t to = (from + jumps[i]) % nodes_;
      const std::size_t pair = pair_of(from, to);
      if (granted_[pair] < counts_[pair] && is_free(from, to, interfaces[i])) {
        grant(pair, interfaces[i]);
      }
    }
  }
}

}  // namespace loom
