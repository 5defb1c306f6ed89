// SPDX-License-Identifier: Apache-2.0
// Queued bytes to pairs, pairs to light, light to links.
#include "controller/architectures/sip_ml/episode.hpp"

#include <map>
#include <optional>

#include "controller/architectures/sip_ring/waves.hpp"
#include "controller/schedule/arena_entry.hpp"
#include "controller/schedule/pair_bytes.hpp"
#include "controller/schedule/permutations.hpp"
#include "controller/schedule/queued_pairs.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

class RingPolicy {
 public:
  explicit RingPolicy(const SipRingEpisodes& episodes)
      : episodes_(episodes), buses_(spread_wavelengths(episodes.wavelengths, episodes.rings)) {}

  Result<Network> operator()(double, std::span<const Transfers::Left> residual) {
    const std::map<NodePair, double> bytes = queued(residual);
    if (bytes.empty() && network_) {
      return *network_;
    }
    std::vector<RingPair> pairs;
    std::map<NodePair, std::uint32_t> index;
    for (const auto& [ends, count] : bytes) {
      if (ends.first >= episodes_.terms.nodes || ends.second >= episodes_.terms.nodes) {
        return fail(ErrorCode::invalid_argument, format_text("sip-ring episode: bytes from node {} to {} on a ring of {}",
                                                             ends.first, ends.second, episodes_.terms.nodes));
      }
      index[ends] = static_cast<std::uint32_t>(pairs.size());
      pairs.push_back({ends.first, ends.second, count});
    }
    std::vector<WavelengthGrant> before;
    for (std::size_t i = 0; episodes_.keeps_light && i < grants_.size(); ++i) {
      if (const auto still = index.find(ends_[i]); still != index.end()) {
        before.push_back({still->second, grants_[i].bus, grants_[i].channel});
      }
    }
    WavelengthUse map(episodes_.terms.nodes, buses_);
    WavelengthLimits limits;
    limits.reach = episodes_.reach;
    limits.repair_steps = episodes_.repair_steps;
    grants_ = grant_wavelengths(map, pairs, limits, before).grants;
    if (grants_.empty() && !pairs.empty()) {
      return fail(ErrorCode::infeasible,
                  format_text("sip-ring episode: {} pairs have bytes to send and none can be lit; the first is node {} to {}",
                              pairs.size(), pairs[0].source, pairs[0].destination));
    }
    ends_.clear();
    for (const WavelengthGrant& grant : grants_) {
      ends_.emplace_back(pairs[grant.pair].source, pairs[grant.pair].destination);
    }
    auto network = make_circuits("sip-ring episode", episodes_.terms, ends_);
    if (network) {
      network_ = *network;
    }
    return network;
  }

 private:
  SipRingEpisodes episodes_;
  std::vector<RingBus> buses_;
  std::vector<WavelengthGrant> grants_;  ///< of the last episode, `pair` as it was then
  std::vector<NodePair> ends_;           ///< of them
  std::optional<Network> network_;
};

}  // namespace

TopologyPolicy sip_ring_policy(const SipRingEpisodes& episodes) { return RingPolicy(episodes); }

TopologyPolicy sip_ocs_policy(const SipOcsEpisodes& episodes) {
  return [episodes, before = std::optional<Network>{}](double,
                                                       std::span<const Transfers::Left> residual) mutable -> Result<Network> {
    const std::map<NodePair, double> bytes = queued(residual);
    if (bytes.empty() && before) {
      return *before;
    }
    for (const auto& [ends, count] : bytes) {
      if (ends.first >= episodes.terms.nodes || ends.second >= episodes.terms.nodes) {
        return fail(ErrorCode::invalid_argument, format_text("sip-ocs episode: bytes from node {} to {} among {}", ends.first,
                                                             ends.second, episodes.terms.nodes));
      }
    }
    const std::vector<SwitchPair> pairs = whole_bytes(bytes);
    std::vector<NodePair> circuits;
    for (const SwitchGrant& grant : most_throughput(episodes.terms.nodes, episodes.switches, pairs, episodes.carried)) {
      circuits.emplace_back(pairs[grant.pair].source, pairs[grant.pair].destination);
    }
    auto network = make_circuits("sip-ocs episode", episodes.terms, std::move(circuits));
    if (network) {
      before = *network;
    }
    return network;
  };
}

Result<Reconfiguration> sip_episodes(const TaskGraph& graph, const TopologyPolicy& policy, const SipLoop& loop) {
  std::vector<Transfers::Left> all;
  for (const auto& [ends, bytes] : pair_bytes(graph)) {
    all.push_back({ends.first, ends.second, 0, 0, bytes});
  }
  TopologyPolicy own = policy;  // it remembers its light; the caller's stays as it is
  auto first = own(0, all);
  if (!first) {
    return std::unexpected(std::move(first).error());
  }
  ReconfigurationTerms terms = periodic_terms(loop.interval, loop.reconfiguration);
  terms.all_stop = loop.all_stop;
  return Reconfiguration::make(terms, std::move(*first), std::move(own));
}

double wavelengths_of(BitRate rate) { return std::floor(static_cast<double>(rate.bits_per_second) / kSipWavelength); }

void play_episodes(ArenaBuilder& builder, const TopologyPolicy& policy, const SipLoop& loop) {
  auto changing = sip_episodes(builder.entry.graph, policy, loop);
  if (!changing) {
    builder.error = std::move(changing).error();
    return;
  }
  builder.entry.network = changing->network();
  builder.entry.changing.emplace(std::move(*changing));
}

}  // namespace loom
