// SPDX-License-Identifier: Apache-2.0
// Augmenting ways: a node that is first of too many links hands one on along links to a node that is first of too few.
#include "controller/architectures/topoopt/duplex.hpp"

#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "core/result.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

class Balance {
 public:
  Balance(std::uint32_t nodes, std::uint32_t most, std::vector<DuplexLink>& links)
      : most_(most), links_(links), firsts_(nodes), seconds_(nodes), links_of_(nodes) {
    for (std::uint32_t link = 0; link < links.size(); ++link) {
      ++firsts_[links[link].first];
      ++seconds_[links[link].second];
      links_of_[links[link].first].push_back(link);
      links_of_[links[link].second].push_back(link);
    }
  }

  void run() {
    for (std::uint32_t node = 0; node < firsts_.size(); ++node) {
      while (firsts_[node] > most_) {
        relieve(node, true);
      }
      while (seconds_[node] > most_) {
        relieve(node, false);
      }
    }
  }

 private:
  std::uint32_t end(const DuplexLink& link, bool first) const { return first ? link.first : link.second; }
  std::vector<std::uint32_t>& count(bool first) { return first ? firsts_ : seconds_; }

  /// 0-1 breadth-first: a held link costs 1, any other nothing. `first`: `from` is first of too many.
  void relieve(std::uint32_t from, bool first) {
    std::vector<std::uint32_t> cost(firsts_.size(), kNone);
    std::vector<std::uint32_t> by(firsts_.size(), kNone);
    std::deque<std::pair<std::uint32_t, std::uint32_t>> open{{0, from}};
    cost[from] = 0;
    std::optional<std::uint32_t> target;
    while (!open.empty() && !target) {
      const auto [at_cost, at] = open.front();
      open.pop_front();
      if (at_cost > cost[at]) {
        continue;
      }
      if (at != from && count(first)[at] < most_) {
        target = at;
        break;
      }
      for (const std::uint32_t link : links_of_[at]) {
        if (end(links_[link], first) != at) {
          continue;
        }
        const std::uint32_t to = end(links_[link], !first);
        const std::uint32_t sum = at_cost + (links_[link].is_held ? 1 : 0);
        if (sum < cost[to]) {
          cost[to] = sum;
          by[to] = link;
          links_[link].is_held ? open.emplace_back(sum, to) : open.emplace_front(sum, to);
        }
      }
    }
    LOOM_ASSERT(target.has_value());  // links leave the nodes reached to none beyond, so some node of them has room
    for (std::uint32_t at = *target; at != from;) {
      DuplexLink& link = links_[by[at]];
      at = end(link, first);
      turn(link);
    }
  }

  void turn(DuplexLink& link) {
    --firsts_[link.first];
    --seconds_[link.second];
    std::swap(link.first, link.second);
    ++firsts_[link.first];
    ++seconds_[link.second];
    link.is_held = false;
  }

  std::uint32_t most_;
  std::vector<DuplexLink>& links_;
  std::vector<std::uint32_t> firsts_;
  std::vector<std::uint32_t> seconds_;
  std::vector<std::vector<std::uint32_t>> links_of_;
};

}  // namespace

void balance(std::uint32_t nodes, std::uint32_t most, std::vector<DuplexLink>& links) { Balance(nodes, most, links).run(); }

}  // namespace loom
