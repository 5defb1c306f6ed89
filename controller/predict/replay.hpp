// SPDX-License-Identifier: Apache-2.0
// Replay: a job's bytes sent only over light that really was there. The judge of a run: where predict says what a schedule
// would give, replay says what the devices gave. Never sees a plan; only who reached whom, when, at which rate.
#pragma once

#include <optional>
#include <vector>

#include "controller/predict/predict.hpp"
#include "core/fabric/light.hpp"
#include "core/schedule.hpp"

namespace loom {

struct ReplayOptions {
  Instant start{};  ///< see TransferOrder
  Duration latency = std::chrono::microseconds{1};
  TransferOrder order = TransferOrder::issue;
  const JobSchedule* schedule = nullptr;   ///< who forwards for whom; none: all light is direct. Order forwarded needs it
  Duration forward{};                      ///< order forwarded: at each server that passes traffic on
  std::optional<std::uint32_t> watched{};  ///< rank whose lane is kept; not with order forwarded
};

struct Replay {
  Duration iteration{};
  Duration compute{};
  Duration exposed{};
  Duration dark{};    ///< what the iteration would save if its pairs were always lit; part of exposed
  Duration waited{};  ///< longest that one circuit had bytes to send and no light
  std::vector<Phase> phases;
  NodeLane lane{};  ///< of the watched rank: dark while it has bytes for another rank, or another has some for it, and no light
};

/// One iteration of `job`, whose placement names every rank's node, over `light`. Rings: the recurrence of 2(n-1) rounds with
/// each link's own windows, in one pass where all links are lit at one rate throughout; direct transfers: each pair's bytes
/// through its windows. Where servers forward, the engine plays the job over links that are there while they are lit
/// (replay_forwarded); `waited` then is `dark`. Errors: invalid_argument (no placement, unlawful collective), infeasible,
/// naming the first transfer that never gets light.
Result<Replay> replay(const JobSpec& job, const LightTimeline& light, const ReplayOptions& options);

}  // namespace loom
