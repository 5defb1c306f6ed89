// SPDX-License-Identifier: Apache-2.0
// Predict: a job's iteration time over a schedule, whose stages and timeslots are played as agents would play them; the
// engine's front door is predict_graph.hpp. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/predict/node_lane.hpp"
#include "core/demand.hpp"
#include "core/fabric/light.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"

namespace loom {

/// One collective (all its repetitions) within the iteration.
struct Phase {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 0;
  Bytes bytes;
  std::uint32_t count = 1;
  Duration start{};  ///< since the iteration's start
  Duration finish{};
  /// Of finish - start, at most: with light always there. From the engine: while one at least of those that are counted
  /// together is under way, be it that it waits for links that others hold or, where light changes, for light.
  Duration wire{};
  Duration dark{};  ///< of finish - start: guards, map changes, waiting for light; wire + dark is no more than it
};

struct Prediction {
  std::string workload;
  std::string fabric;
  std::string qualifier;  ///< printed behind the fabric's name: "reconstruction"; empty: none
  std::uint32_t nodes = 0;
  BitRate rate;
  Duration iteration{};
  Duration compute{};
  Duration exposed{};  ///< iteration - compute
  Duration dark{};     ///< part of exposed: what the same iteration would save if light were always there
  std::vector<Phase> phases;
  std::vector<std::string> assumptions;
  std::optional<Duration> bound{};  ///< no network of this rate is faster, where it was looked at
  NodeLane lane{};                  ///< of its busiest node, where it was asked for
};

/// "oddl (reconstruction)", "fat-tree".
std::string label_of(std::string_view fabric, std::string_view qualifier);

/// How light is meant to be used. issue: each collective when it is ready, in issue order, `start` = the iteration's start.
/// merged: a schedule with timeslots moves the bytes of all direct transfers of an iteration together, pair by pair, then the
/// rings; compute comes before, without overlap, and `start` = compute is done. forwarded: as issue, over a direct-connect
/// topology whose servers forward (forwarded_light.hpp).
enum class TransferOrder : std::uint8_t { issue, merged, forwarded };

/// What fits the schedule: forwarded if its servers forward, merged if any timeslot ends, else issue.
TransferOrder order_of(const JobSchedule& schedule);

struct ScheduleTimings {
  Duration latency = std::chrono::microseconds{1};  ///< of a circuit, one way
  Duration stage_change{};                          ///< from one stage's last light to the next one's first guard
  Duration trip = std::chrono::milliseconds{1};     ///< one way between two agents; InstallationTimes says it
  Duration forward{};                               ///< at each server that passes traffic on
  Duration granted_late{};                          ///< under grants: from an order to a laser until it is carried out
  Duration granted_dark{};                          ///< likewise: until the laser is dark
  std::string fabric{};                             ///< whose schedule it is
  std::string qualifier{};                          ///< of it, see Prediction
  bool wants_lane = false;                          ///< Prediction::lane
};

/// The light of a job's schedule if every device keeps its worst case: stages in order from `start`, guards dark, holds lit.
/// A stage that agents repeat for ever (cycles = 0) is played out 16 times.
LightTimeline light_of(const JobSchedule& schedule, Instant start, const ScheduleTimings& timings);

/// One pass over the job's stages. `job.placement` must name every rank's node. Errors: invalid_argument, infeasible (a
/// transfer that the schedule gives no light, by name).
Result<Prediction> predict_schedule(const JobSpec& job, const JobSchedule& schedule, const ScheduleTimings& timings);

}  // namespace loom
