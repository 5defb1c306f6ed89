// SPDX-License-Identifier: Apache-2.0
// Everything that changes while an iteration is played: a value, so that a copy of it is a checkpoint from which the very same
// play goes on. What is laid out once (order, rounds, links of groups) is the Predictor's.
#pragma once

#include <deque>
#include <vector>

#include "controller/predict/collectives/collective_run.hpp"
#include "controller/predict/collectives/lockstep.hpp"
#include "controller/predict/engine/medium.hpp"

namespace loom {

/// When a part of a task began and ended, ns since the iteration's start.
struct PartTime {
  double start = -1;
  double finish = -1;
};

/// What one node did, ns; they add up to the iteration (overlap is compute that hides communication).
struct NodeTimes {
  double compute = 0;
  double overlap = 0;  ///< of compute: some of its communication was under way
  double exposed = 0;  ///< communication under way, no compute
  double idle = 0;
  double dark = 0;  ///< without light, whatever it did
};

struct PlayCounts {
  std::uint64_t closed_forms = 0;
  std::uint64_t recurrences = 0;
  std::uint64_t in_step = 0;   ///< came onto the links of others that all do the same
  std::uint64_t played = 0;    ///< collectives whose transfers were events
  std::uint64_t replayed = 0;  ///< of these: computed first, then joined by others
};

/// Between two instants of a play. Members are the Predictor's, which inherits them.
struct PlayState {
  static constexpr std::uint32_t kInStep = 0x80000000;
  enum class Mode : std::uint8_t { waiting, gathering, computed, played, done };
  struct Timed {
    double time = 0;
    std::uint32_t order = 0;  ///< task, so that ties go by issue order
    std::uint32_t index = 0;  ///< part, or run
    std::uint32_t stamp = 0;
    bool is_run = false;  ///< all parts of a run end here
    bool operator>(const Timed& other) const {
      return time != other.time ? time > other.time : order != other.order ? order > other.order : index > other.index;
    }
  };
  struct Queued {
    double ready = 0;
    std::uint32_t part = 0;
    bool operator>(const Queued& other) const { return ready != other.ready ? ready > other.ready : part > other.part; }
  };
  struct Worker {
    bool is_busy = false;
    bool is_poked = false;
    std::vector<Queued> queue;
  };
  struct Run {
    Mode mode = Mode::waiting;
    std::uint32_t started = 0;
    std::uint32_t last_part = 0;
    std::uint32_t stamp = 0;
    std::uint32_t left = 0;  ///< computed: ranks that have not ended
    bool was_computed = false;
    bool began_together = false;       ///< computed: all ranks at once, and may be in step with others
    std::uint32_t slot = 0xffffffff;   ///< in runs_ played
    std::vector<double> starts;        ///< by rank, gathering and computed
    std::vector<std::uint32_t> fresh;  ///< ranks that start at this instant
  };
  struct NodeState {
    double since = 0;
    std::uint32_t computing = 0;
    std::uint32_t communicating = 0;
  };
  struct Bundle {
    Lockstep members;
    std::uint32_t set = 0;
    bool is_used = false;
  };

  double now_ = 0;
  std::size_t work_ = 0;     ///< instants played and parts that have ended
  std::uint64_t looks_ = 0;  ///< Medium::settle()
  std::size_t spacing_ = 0;  ///< of checkpoints, in work
  std::size_t next_checkpoint_ = 0;
  std::vector<PartTime> parts_;
  std::vector<std::uint32_t> cause_;  ///< by part: the part whose end let it start
  std::vector<std::uint32_t> slot_waits_;
  std::vector<std::uint32_t> slot_left_;
  std::vector<std::uint32_t> task_waits_;
  std::vector<std::uint32_t> task_left_;
  std::vector<std::uint32_t> next_in_queue_;
  std::vector<bool> is_ready_;
  std::vector<Worker> workers_;
  std::vector<Run> runs_;
  std::deque<CollectiveRun> played_;
  std::vector<Bundle> bundles_;
  std::size_t bundles_used_ = 0;
  std::vector<std::uint32_t> free_played_;
  std::vector<Timed> timed_;
  std::vector<std::uint32_t> poked_;
  std::vector<std::uint32_t> touched_;  ///< runs with fresh ranks
  std::vector<std::uint32_t> owner_;    ///< by link: run + 1 of the computed collective that holds it, or kInStep + bundle
  std::vector<std::uint32_t> users_;    ///< by link: played collectives over it
  std::size_t parts_left_ = 0;
  std::vector<NodeTimes> node_times_;
  std::vector<NodeState> node_states_;
  Medium medium_;
  PlayCounts counts_;
  std::vector<double> replayed_bytes_;  ///< by link: what computed collectives had carried when they were joined
  double end_ = 0;
  std::uint32_t last_part_ = 0;
};

}  // namespace loom
