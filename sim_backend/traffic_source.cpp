// SPDX-License-Identifier: Apache-2.0
// Collectives of an iteration, rank by rank.
#include "sim_backend/traffic_source.hpp"

#include <algorithm>

#include "controller/workload/import/flows.hpp"
#include "core/digest.hpp"

namespace loom {
namespace {

/// A rank that has nothing to tell looks at its job again after this.
constexpr Duration kLook = std::chrono::milliseconds{100};

/// The same group is the same communicator, whenever it is used.
std::uint64_t communicator_of(const std::string& job, const std::vector<std::uint32_t>& ranks) {
  Digest digest;
  digest.add(job);
  for (const std::uint32_t rank : ranks) {
    digest.add(rank);
  }
  return digest.value();
}

}  // namespace

TrafficSource::Iteration TrafficSource::play(const std::string& job, Instant submitted, Instant now) {
  const std::vector<PlayedTraffic>& entries = jobs_.at(job);
  const auto next =
      std::find_if(entries.begin(), entries.end(), [&](const PlayedTraffic& each) { return submitted + each.at > now; });
  if (next == entries.begin()) {
    return {{}, kLook};
  }
  const PlayedTraffic& present = *std::prev(next);
  Iteration iteration{std::vector<TrafficReported>(std::size_t{present.ranks} * present.groups), present.every};
  for (std::uint32_t group = 0; group < present.groups; ++group) {
    for (const Collective& collective : present.collectives) {
      std::vector<std::uint32_t> members = ranks_of(collective, present.ranks);
      std::for_each(members.begin(), members.end(), [&](std::uint32_t& rank) { rank += group * present.ranks; });
      const std::uint64_t id = communicator_of(job, members);
      for (std::uint32_t repeat = 0; repeat < collective.count; ++repeat) {
        const std::uint64_t sequence = ++sequences_[{id, collective.kind}];
        for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
          iteration.by_rank[members[rank]].records.push_back({id, rank, static_cast<std::uint32_t>(members.size()), sequence,
                                                              collective.kind, collective.bytes, now.time_since_epoch()});
        }
      }
    }
  }
  return iteration;
}

}  // namespace loom
