// Iterations: how the light of a job repeats without the controller. Its nodes play one pass over their timeslots, or send
// their streams once, for each training iteration. A pass begins for all of them at one instant, which the job's leader names
// once every node is ready: its model has computed, and its lasers are tuned for the first timeslot.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.hpp"
#include "core/time.hpp"

namespace loom {

/// Until every member of a job has its leader's word, repeated once or twice, and what a member more costs the leader's loop.
constexpr Duration pass_lead(std::size_t members) {
  return std::chrono::milliseconds{6} + std::chrono::microseconds{20} * static_cast<std::int64_t>(members);
}
/// One way between two nodes of a job, as expected. Nothing rests on it but predictions.
inline constexpr Duration kPassTrip = std::chrono::milliseconds{1};

/// What one node knows of its job's iterations.
struct IterationPlan {
  JobId job;
  Revision routed_by;           ///< the revision that laid this light; passes are counted from there
  NodeId leader;                ///< gathers who is ready, and says when a pass begins
  std::vector<NodeId> members;  ///< the leader's: whom it waits for, ascending, itself included; elsewhere empty
  std::uint32_t phases = 1;     ///< passes an iteration; under grants each sends the streams of one number
  Duration compute{};           ///< of the model: from the end of an iteration's last pass until its node is ready for the next
  Duration lead{};              ///< from the last word of readiness to the light: time for the leader's word, and to repeat it
  bool operator==(const IterationPlan&) const = default;
};

/// To the leader, until it is answered: the pass before has ended here, `pass` may begin.
struct PassReady {
  JobId job;
  std::uint64_t pass = 0;    ///< > 1: the first one begins with the commit
  std::uint32_t missed = 0;  ///< timeslots of the pass before that stayed dark here
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

/// What a leader tells the controller now and then of the light that the envelope's revision laid. Soft state.
struct IterationReport {
  JobId job;
  std::uint64_t iterations = 0;  ///< that began
  std::uint64_t replayed = 0;    ///< passes that were an iteration once more
  std::uint64_t missed = 0;      ///< timeslots that stayed dark, of all members
  Duration p50{};                ///< from one beginning to the next, of the last limits::kIterationsKept; 0: none yet
  Duration p99{};
  Duration waited{};  ///< the leader's, from its own readiness to the light, p50
  bool operator==(const IterationReport&) const = default;
};

}  // namespace loom
