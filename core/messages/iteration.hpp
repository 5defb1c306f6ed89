// SPDX-License-Identifier: Apache-2.0
// Iterations: how the light of a job repeats without the controller. Its nodes play one pass over their timeslots, or send
// their streams once, for each training iteration. A pass begins for all of them at one instant, which the job's leader names
// once every node is ready: its model has computed, and its lasers are tuned for the first timeslot.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "core/messages/training.hpp"
#include "core/time.hpp"

namespace loom {

/// Until every member of a job has its leader's word, repeated once or twice, and what a member more costs the leader's loop.
/// `trip`: one way between two nodes of the job, as expected.
constexpr Duration pass_lead(std::size_t members, Duration trip) {
  return 6 * trip + trip / 50 * static_cast<std::int64_t>(members);
}

/// What one node knows of its job's iterations.
struct IterationPlan {
  JobId job;
  Revision routed_by;           ///< the revision that laid this light; passes are counted from there
  NodeId leader;                ///< gathers who is ready, and says when a pass begins
  std::vector<NodeId> members;  ///< the leader's: whom it waits for, ascending, itself included; elsewhere empty
  std::uint32_t phases = 1;     ///< passes an iteration; under grants each sends the streams of one number
  Duration compute{};           ///< of the model: from the end of an iteration's last pass until its node is ready for the next
  PacedBy paced_by =
      PacedBy::model;  ///< who says that the node is ready: `compute` from the light's end on, or its training process
  Duration lead{};     ///< from the last word of readiness to the light: time for the leader's word, and to repeat it
  bool operator==(const IterationPlan&) const = default;
};

/// To the leader, first when the pass before is over here and the lasers are tuned, so that it could be played again; then, and
/// until it is answered, when the node is ready for `pass`.
struct PassReady {
  JobId job;
  std::uint64_t pass = 0;    ///< > 1: the first one begins with the commit
  std::uint32_t missed = 0;  ///< timeslots of the pass before that stayed dark here
  bool is_ready = true;      ///< its training has computed as well
  Duration computed_in{};    ///< from the end of the pass before, if it has
  Duration tuned_in{};       ///< from the end of the pass before
  /// The first whose timeslot stayed dark, or none did: the last one to be tuned.
  std::optional<DeviceId> device{};
  bool operator==(const PassReady&) const = default;
};

/// The leader's answer, to every member.
struct PassBegin {
  JobId job;
  std::uint64_t pass = 0;
  std::uint64_t iteration = 0;  ///< the pass before once more, where timeslots of it stayed dark
  Instant at{};                 ///< timeslots count from here; the first guard may have gone by, for lasers that are tuned
  bool operator==(const PassBegin&) const = default;
};

/// Where the time of an iteration went, as its leader saw it. The parts add up to its length.
struct IterationLedger {
  Duration light{};    ///< its passes, each from its light until it is over at the last node
  Duration compute{};  ///< of the node that was ready first
  Duration waited{};   ///< for the others: to compute, to tune, to be heard
  Duration dark{};     ///< passes that were played again
  Duration lead{};     ///< until everybody has the leader's word
  Duration total() const { return light + compute + waited + dark + lead; }
  bool operator==(const IterationLedger&) const = default;
};

/// Why an iteration took longer than others.
enum class DelayCause : std::uint8_t {
  none,
  training,  ///< a node computed for longer than the others
  tuning,    ///< a laser was tuned late for the first timeslot
  words,     ///< a node's word was late
  dark,      ///< timeslots had stayed dark, and the pass was played again
};

struct SlowIteration {
  std::uint64_t iteration = 0;  ///< 0: none
  Duration length{};
  DelayCause cause = DelayCause::none;
  NodeId node;                       ///< whose it is
  std::optional<DeviceId> device{};  ///< of tuning and darkness
  Duration took{};                   ///< of that cause: computed, tuned, waited or dark for so long
  bool operator==(const SlowIteration&) const = default;
};

/// Whom a job stands still for.
struct AwaitedNode {
  NodeId node;
  bool is_over = false;  ///< its last light is over, so that its training is waited for
  Duration since{};      ///< so long
  bool operator==(const AwaitedNode&) const = default;
};

/// What a leader tells the controller now and then of the light that the envelope's revision laid. Soft state.
struct IterationReport {
  JobId job;
  std::uint64_t iterations = 0;  ///< that were carried
  std::uint64_t replayed = 0;    ///< passes that were an iteration once more
  std::uint64_t missed = 0;      ///< timeslots that stayed dark, of all members
  Duration p50{};                ///< from one beginning to the next, of the last limits::kIterationsKept; 0: none yet
  Duration p99{};
  IterationLedger ledger{};              ///< the mean of the same iterations
  SlowIteration slowest{};               ///< of the same
  std::optional<AwaitedNode> awaited{};  ///< nothing: its light plays
  bool operator==(const IterationReport&) const = default;
};

}  // namespace loom
