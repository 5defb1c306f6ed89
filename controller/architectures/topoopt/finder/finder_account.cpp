// SPDX-License-Identifier: Apache-2.0
// The finder's steps once more, each with what went into it; then every byte over its way.
#include "controller/architectures/topoopt/finder/finder_account.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Bytes over links, and at nodes.
class Wire {
 public:
  explicit Wire(const DirectTopology& topology) : topology_(topology), sent_(topology.nodes), received_(topology.nodes) {
    for (const DirectLink& link : topology.links()) {
      links_[{link.from, link.to}] = {link.count, 0};
    }
  }

  void carry(std::span<const std::uint32_t> path, double bytes) {
    for (std::size_t i = 1; i < path.size(); ++i) {
      links_[{path[i - 1], path[i]}].bytes += bytes;
      carried_ += bytes;
    }
  }
  void count(std::uint32_t source, std::uint32_t destination, double bytes) {
    sent_[source] += bytes;
    received_[destination] += bytes;
    total_ += bytes;
  }

  /// 2 (g - 1) / g of the buffer over each step of the ring, shared by the rings of the group's size.
  void add_reduce(const ReduceDemand& reduce) {
    const auto size = static_cast<std::uint32_t>(reduce.members.size());
    if (size < 2) {
      return;
    }
    const double bytes = 2.0 * (size - 1) / size * static_cast<double>(reduce.bytes);
    const auto rings = topology_.rings_of(size);
    if (stride_of_group(topology_.nodes, reduce.members) == 0 || rings.empty()) {
      for (std::size_t i = 0; i < size; ++i) {
        add_pair(reduce.members[i], reduce.members[(i + 1) % size], bytes);
      }
      return;
    }
    for (const RingPath& ring : rings) {
      for (const std::uint32_t member : reduce.members) {
        std::vector<std::uint32_t> path{member};
        for (const std::uint32_t jump : ring.jumps) {
          path.push_back((path.back() + jump) % topology_.nodes);
        }
        carry(path, bytes / static_cast<double>(rings.size()));
        count(member, path.back(), bytes / static_cast<double>(rings.size()));
      }
    }
  }

  void add_pair(std::uint32_t source, std::uint32_t destination, double bytes) {
    const auto paths = topology_.paths(source, destination);
    for (const auto& path : paths) {
      carry(path, bytes / static_cast<double>(paths.size()));
    }
    count(source, destination, bytes);
  }

  WireAccount account(std::uint32_t degree, BitRate link) const {
    const double rate = static_cast<double>(link.bits_per_second) / 8;
    WireAccount account;
    for (const auto& [ends, load] : links_) {
      const double seconds = load.bytes / (rate * std::max(1U, load.count));
      if (seconds > account.seconds) {
        account.seconds = seconds;
        account.from = ends.first;
        account.to = ends.second;
        account.parallel = load.count;
      }
    }
    for (const auto* bytes : {&sent_, &received_}) {
      account.bound = std::max(account.bound, *std::max_element(bytes->begin(), bytes->end()) / (rate * degree));
    }
    account.forwarded = total_ > 0 ? carried_ / total_ : 0;
    return account;
  }

 private:
  struct Load {
    std::uint32_t count = 0;
    double bytes = 0;
  };
  const DirectTopology& topology_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Load> links_;
  std::vector<double> sent_;
  std::vector<double> received_;
  double carried_ = 0;
  double total_ = 0;
};

void measure_hops(const DirectTopology& topology, FinderAccount& account) {
  const std::vector<DirectLink> links = topology.links();
  const Neighbours neighbours(topology.nodes, links);
  double sum = 0;
  std::vector<std::uint32_t> hops;
  for (std::uint32_t source = 0; source < topology.nodes; ++source) {
    hops.assign(topology.nodes, kUnreachable);
    hops[source] = 0;
    std::queue<std::uint32_t> front({source});
    for (; !front.empty(); front.pop()) {
      const std::uint32_t at = front.front();
      sum += hops[at];
      account.diameter = std::max(account.diameter, hops[at]);
      for (const std::uint32_t next : neighbours.of(at)) {
        if (hops[next] == kUnreachable) {
          hops[next] = hops[at] + 1;
          front.push(next);
        }
      }
    }
  }
  account.mean_hops = sum / (static_cast<double>(topology.nodes) * (topology.nodes - 1));
}

void account_rings(const FinderDemand& demand, const FinderOptions& options, FinderAccount& account) {
  for (const RingClass& each :
       share_rings(options.share, demand.nodes, account.shares.rings, ring_classes(demand), options.directions)) {
    RingAccountOfSize rings{each.size, each.traffic, each.rings, {}, {}};
    rings.candidates = ring_candidates(demand.nodes, each.size, options.primes_beyond);
    rings.selected = select_geometrically(rings.candidates, each.rings, options.directions);
    account.rings.push_back(std::move(rings));
  }
}

Result<void> account_rounds(const FinderDemand& demand, const std::vector<std::uint32_t>& jumps, const FinderOptions& options,
                            FinderAccount& account) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> both_ways;
  for (const PairDemand& each : demand.pairs) {
    both_ways[std::minmax(each.source, each.destination)] += each.bytes;
  }
  const bool sees_rings = options.sees == MatchingSees::rings;
  const WeighedDemand weighed = sees_rings ? weigh_beside_rings(demand, jumps, options) : WeighedDemand{};
  const auto rounds = match_rounds(demand.nodes, sees_rings ? weighed.pairs : demand.pairs,
                                   {account.shares.pairs, options.discount, options.matching});
  if (!rounds) {
    return std::unexpected(rounds.error());
  }
  for (const PairRound& round : *rounds) {
    RoundAccount row;
    row.weight = round.weight * weighed.unit;
    for (std::uint32_t u = 0; u < round.partner.size(); ++u) {
      const std::uint32_t v = round.partner[u];
      if (v >= demand.nodes || v < u) {
        continue;
      }
      ++row.pairs;
      const auto found = both_ways.find({u, v});
      if (found != both_ways.end() && found->second > row.bytes) {
        row.u = u;
        row.v = v;
        row.bytes = found->second;
      }
    }
    account.rounds.push_back(row);
  }
  return {};
}

}  // namespace

Result<FinderAccount> account_of(const FinderDemand& demand, const DirectTopology& topology, const FinderOptions& options,
                                 BitRate link) {
  if (link.bits_per_second <= 0) {
    return fail(ErrorCode::invalid_argument, format_text("topology finder: links of {} bit/s", link.bits_per_second));
  }
  FinderAccount account;
  account.shares = topology.shares;
  Wire wire(topology);
  for (const ReduceDemand& reduce : demand.reduces) {
    if (reduce.members.size() >= 2) {
      account.ring_traffic += static_cast<double>(reduce.bytes) * (2.0 * static_cast<double>(reduce.members.size()) - 1);
      account.irregular += stride_of_group(demand.nodes, reduce.members) == 0 ? 1 : 0;
    }
    wire.add_reduce(reduce);
  }
  for (const PairDemand& pair : demand.pairs) {
    account.pair_traffic += static_cast<double>(pair.bytes);
    wire.add_pair(pair.source, pair.destination, static_cast<double>(pair.bytes));
  }
  account_rings(demand, options, account);
  LOOM_TRY(account_rounds(demand, topology.jumps, options, account));
  measure_hops(topology, account);
  account.wire = wire.account(options.degree, link);
  return account;
}

}  // namespace loom
