// SPDX-License-Identifier: Apache-2.0
// A thread that others of the machine do not delay: SCHED_FIFO, memory that is never paged out, a processor of its own. Each
// where the system permits it; where it does not, it says so and the program runs as before.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace loom {

/// Behind the kernel's threads of interrupts (50) and the threads that make edges (drivers/bus/trigger), before everything
/// else.
inline constexpr int kLoopPriority = 10;

struct RealtimeWish {
  bool is_wanted = false;
  std::optional<unsigned> cpu{};  ///< of which the thread is to run on no other; also without the rest
};

struct RealtimeGrant {
  int priority = 0;  ///< of SCHED_FIFO; 0: it shares its time
  bool is_memory_locked = false;
  std::optional<unsigned> cpu{};
  std::vector<std::string> refused{};  ///< a sentence each, with what permits it
};

/// For the thread that calls it; threads that it makes afterwards share their time as before, but stay on its processor, so
/// call it last. Memory is the whole process's.
RealtimeGrant run_in_real_time(const RealtimeWish& wish);

/// "SCHED_FIFO 10, memory locked, processor 3"; empty: nothing was granted.
std::string text_of(const RealtimeGrant& grant);

}  // namespace loom
