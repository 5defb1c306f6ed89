// SPDX-License-Identifier: Apache-2.0
// SiP-ML's episodes (docs/systems/sipml.md#ring-programme, #circuits-over-switches): every interval the bytes that are still
// queued decide the next light, on the rings or on the circuit switches. These are policies for
// controller/predict/engine/reconfiguration.hpp, which plays them: all-stop as in the authors' code, or only what changes goes
// dark. Reactive control at 100 us exists in such play only. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/predict/engine/reconfiguration.hpp"
#include "controller/workload/task_graph.hpp"

namespace loom {

struct ArenaBuilder;

struct SipRingEpisodes {
  NetworkTerms terms;              ///< its rate is one wavelength's; nodes in their order round the ring
  std::uint32_t rings = 5;         ///< each in both directions
  std::uint32_t wavelengths = 80;  ///< of a node, at least 2 x rings: spread_wavelengths()
  std::uint32_t reach = ~0U;       ///< hops
  /// True: light that still serves goes on and only the rest is decided anew (for play that is not all-stop). False: every
  /// episode is decided from nothing, as the authors do.
  bool keeps_light = false;
  std::uint64_t repair_steps = 50'000;  ///< of one episode
};

/// Demands are bytes queued, max-min by grant_wavelengths; a pair's rate is its wavelengths'. Pairs that get none wait. With
/// nothing queued the light stays. Errors of the policy: those of the network; infeasible (somebody has bytes to send and
/// nobody got light, as when no pair is in reach), so that a play ends instead of turning for ever.
TopologyPolicy sip_ring_policy(const SipRingEpisodes& episodes);

struct SipOcsEpisodes {
  NetworkTerms terms;  ///< its rate is one port's on one switch
  std::uint32_t switches = 20;
  std::int64_t carried = 0;  ///< bytes of one circuit in an interval, as in most_throughput; 0: as in the authors' code
};

/// Multi-shot: most_throughput on the bytes queued. Errors of the policy: those of the network.
TopologyPolicy sip_ocs_policy(const SipOcsEpisodes& episodes);

struct SipLoop {
  Duration interval = std::chrono::microseconds{100};
  Duration reconfiguration = std::chrono::microseconds{20};  ///< the authors' code; their text has 25 us
  bool all_stop = true;
};

/// The machine for one iteration of `graph`, its first light decided from all that the iteration sends. Errors: those of the
/// policy and of Reconfiguration::make.
Result<Reconfiguration> sip_episodes(const TaskGraph& graph, const TopologyPolicy& policy, const SipLoop& loop);

inline constexpr double kSipWavelength = 25e9;          ///< bit/s; SiP-ML, docs/systems/sipml.md#constants
inline constexpr std::uint32_t kEpisodeNodesMost = 64;  ///< beyond, an iteration of many episodes takes minutes to play

/// Wavelengths that a node of that rate has.
double wavelengths_of(BitRate rate);

/// The entry's network changes by episodes of `policy`: the iteration's traffic decides the first light, what is queued every
/// later one.
void play_episodes(ArenaBuilder& builder, const TopologyPolicy& policy, const SipLoop& loop);

}  // namespace loom
