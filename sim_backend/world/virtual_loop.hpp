// SPDX-License-Identifier: Apache-2.0
// VirtualLoop: the TIME seam of the simulation. Time stands still while a task runs and jumps to the next one; equal instants
// run in the order of their arrival, so a run is a function of its inputs. It never asks a real clock.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/seams.hpp"

namespace loom {

/// Every simulated run begins at 2026-01-01T00:00:00Z, so that what people read is a function of the seed too.
inline constexpr Duration kVirtualEpoch = std::chrono::seconds{1'767'225'600};

class VirtualLoop final : public TimeSeam {
 public:
  /// `clock`: what it passes for; kTaiClock where a scenario has several hosts, so that the same is compared as there.
  explicit VirtualLoop(ClockId clock = kVirtualClock) : clock_(clock) {}

  Instant now() const override { return now_; }
  ClockId clock() const override { return clock_; }
  Duration wall_offset() const override { return kVirtualEpoch; }
  void call_at(Instant at, Precision precision, std::function<void()> task) override;

  /// Runs the next task. False: nothing is left, or the next one is later than `end`; time then stands where it stood.
  bool run_next(Instant end = kNever);
  /// Runs every task up to and including `end`, then time is `end`.
  void run_until(Instant end);
  /// When the next task is due; kNever: nothing is left.
  Instant next_due() const { return heap_.empty() ? kNever : heap_.front().at; }
  std::uint64_t tasks_run() const { return tasks_run_; }

 private:
  /// Keys move in the heap; tasks stay where they are.
  struct Key {
    Instant at{};
    std::uint64_t sequence = 0;
    std::uint32_t place = 0;
    bool operator<(const Key& other) const { return at != other.at ? at < other.at : sequence < other.sequence; }
  };
  void sift_up(std::size_t index);
  void sift_down(std::size_t index);

  ClockId clock_;
  Instant now_{};
  std::uint64_t sequence_ = 0;
  std::uint64_t tasks_run_ = 0;
  std::vector<Key> heap_;  ///< 4-ary: half the depth of a binary one, and four keys are close together in the cache
  std::vector<std::function<void()>> tasks_;
  std::vector<std::uint32_t> free_places_;
};

}  // namespace loom
