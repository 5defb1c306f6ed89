// SPDX-License-Identifier: Apache-2.0
// A job's iteration on ODDL's fast plane: every collective's streams are offered to the senders and arbiters themselves, in
// virtual time, and what they take stands where the ideal switch's time stands. It plays no device, no map and no ring step:
// a ring is one stream an edge, as the plane grants it. oddl (reconstruction).
#pragma once

#include <cstdint>

#include "core/demand.hpp"
#include "core/grant.hpp"
#include "core/result.hpp"

namespace loom {

struct GrantedOptions {
  GrantTimings timings;
  Duration quantum = std::chrono::milliseconds{1};  ///< Qmax
  std::uint32_t loss_per_million = 0;               ///< of every message
  std::uint32_t transmitters = 1;                   ///< k
  std::uint64_t seed = 1;
  bool is_staggered = true;  ///< SenderOptions::stagger
  Duration apart{};          ///< nodes begin each collective up to so much apart
};

struct GrantedIteration {
  Duration ideal{};    ///< on the ideal switch, closed forms, as far away as the fibre is long
  Duration granted{};  ///< every wire time replaced by what the machines took
  Bytes stream_least;  ///< sizes of the streams that were granted, all collectives together
  Bytes stream_most;
  std::uint64_t streams = 0;  ///< equal collectives are played once and counted once
  std::uint64_t messages = 0;
  std::uint64_t unreachable = 0;  ///< given up: 0, or the figure is worth nothing
  std::uint64_t collisions = 0;   ///< two transmitters on one receiver: a bug
  std::uint64_t digest = 0;       ///< of everything delivered

  /// Longer than on the ideal switch, as a part of that.
  double slower() const;
};

/// Collectives of equal shape are played once. Errors: unsupported (broadcasts and reductions: a pipeline of pieces is no
/// stream), and those of predict() and run_grant_lab().
Result<GrantedIteration> play_granted(const JobSpec& job, const GrantedOptions& options);

}  // namespace loom
