// SPDX-License-Identifier: Apache-2.0
// Collectives into rings and pairs.
#include "controller/schedule/traffic.hpp"

#include <algorithm>
#include <string>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Uneven all-to-all: each pair its own bytes, nobody any to itself.
void add_splits(PairTraffic& pairs, const Collective& collective, const std::vector<std::uint32_t>& members) {
  const std::size_t size = members.size();
  for (std::size_t from = 0; from < size; ++from) {
    for (std::size_t to = 0; to < size; ++to) {
      const std::int64_t bytes = collective.splits[from * size + to].count;
      if (from != to && bytes > 0) {
        pairs.add_pair({members[from], members[to]}, bytes * collective.count);
      }
    }
  }
}

Result<std::vector<std::uint32_t>> members_of(const JobDemand& job, std::size_t index) {
  const Collective& collective = job.collectives[index];
  const auto ranks = static_cast<std::uint32_t>(job.nodes.size());
  std::vector<std::uint32_t> members = collective.ranks;
  if (members.empty()) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      members.push_back(rank);
    }
  }
  std::vector<bool> seen(ranks);
  for (const std::uint32_t rank : members) {
    if (rank >= ranks || seen[rank]) {
      return fail(ErrorCode::out_of_range,
                  format_text("job {}: collective {} ({}): rank {}{}", job.job.value, index, to_string(collective.kind), rank,
                              rank >= ranks ? format_text(" is not below {}", ranks) : " is named twice"));
    }
    seen[rank] = true;
  }
  if (collective.bytes.count < 0) {
    return fail(ErrorCode::out_of_range,
                format_text("job {}: collective {} moves {} bytes, below 0", job.job.value, index, collective.bytes.count));
  }
  return members;
}

}  // namespace

void PairTraffic::add_all_to_all(const std::vector<std::uint32_t>& members, std::int64_t bytes) {
  if (members.size() < 2) {
    return;
  }
  const auto share = (bytes + static_cast<std::int64_t>(members.size()) - 1) / static_cast<std::int64_t>(members.size());
  if (members.size() == ranks_) {
    uniform_ += share;
    return;
  }
  Subset subset{std::vector<bool>(ranks_), share};
  for (const std::uint32_t member : members) {
    subset.member[member] = true;
  }
  subsets_.push_back(std::move(subset));
}

std::int64_t PairTraffic::bytes(RankPair pair) const {
  if (pair.source == pair.destination) {
    return 0;
  }
  std::int64_t sum = uniform_;
  for (const Subset& subset : subsets_) {
    if (subset.member[pair.source] && subset.member[pair.destination]) {
      sum += subset.bytes;
    }
  }
  if (!pairs_.empty()) {
    if (const auto found = pairs_.find(pair); found != pairs_.end()) {
      sum += found->second;
    }
  }
  return sum;
}

std::uint32_t all_to_all_peers(const JobDemand& job) {
  std::size_t most = 0;
  for (const Collective& each : job.collectives) {
    const std::size_t ranks = each.ranks.empty() ? job.nodes.size() : each.ranks.size();
    const bool is_even = each.kind == CollectiveKind::all_to_all && each.splits.empty() &&
                         each.bytes.count >= static_cast<std::int64_t>(ranks) && each.count > 0;
    most = is_even && ranks > 0 ? std::max(most, ranks - 1) : most;
  }
  return static_cast<std::uint32_t>(most);
}

Result<JobTraffic> traffic_of(const JobDemand& job) {
  JobTraffic traffic;
  const auto ranks = static_cast<std::uint32_t>(job.nodes.size());
  traffic.pairs = PairTraffic(ranks);
  for (std::size_t i = 0; i < job.collectives.size(); ++i) {
    const Collective& collective = job.collectives[i];
    auto members = members_of(job, i);
    if (!members) {
      return std::unexpected(std::move(members).error());
    }
    const std::int64_t bytes = collective.bytes.count * static_cast<std::int64_t>(collective.count);
    if (members->size() < 2 || collective.kind == CollectiveKind::barrier || bytes == 0) {
      continue;
    }
    if (collective.kind == CollectiveKind::all_to_all && !collective.splits.empty()) {
      if (collective.splits.size() != members->size() * members->size()) {
        return fail(ErrorCode::out_of_range,
                    format_text("collective {} has {} splits among {} ranks", i, collective.splits.size(), members->size()));
      }
      add_splits(traffic.pairs, collective, *members);
    } else if (collective.kind == CollectiveKind::all_to_all) {
      traffic.pairs.add_all_to_all(*members, bytes);
    } else if (collective.kind == CollectiveKind::point_to_point) {
      for (std::size_t next = 1; next < members->size(); ++next) {
        traffic.pairs.add_pair({(*members)[next - 1], (*members)[next]}, bytes);
      }
    }
  }
  traffic.rings = ring_groups_of(job.collectives, ranks);
  return traffic;
}

std::vector<PairLoad> loads_of(const JobTraffic& traffic, std::uint32_t ranks) {
  std::map<RankPair, double> bits;
  for (const RingGroup& ring : traffic.rings) {
    for (std::size_t i = 0; i < ring.edges.size(); ++i) {
      bits[ring.edges[i]] += ring.bits[i];
    }
  }
  for (std::uint32_t source = 0; source < ranks && !traffic.pairs.empty(); ++source) {
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      if (const std::int64_t bytes = traffic.pairs.bytes({source, destination}); bytes > 0) {
        bits[{source, destination}] += static_cast<double>(bytes) * 8;
      }
    }
  }
  std::vector<PairLoad> loads;
  for (const auto& [pair, sum] : bits) {
    loads.push_back({pair, sum});
  }
  return loads;
}

}  // namespace loom
