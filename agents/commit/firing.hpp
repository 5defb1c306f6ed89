// SPDX-License-Identifier: Apache-2.0
// The instant at which a revision's light goes dark, and a look ahead at what that will need.
#pragma once

#include <chrono>

#include "agents/commit/deadline.hpp"

namespace loom {

/// Long enough for hundreds of agents of a process to rehearse one after the other [K].
inline constexpr Duration kRehearsal = std::chrono::milliseconds{3};

struct Firing {
  Deadline at{kFireTimer, Precision::exact};
  Deadline rehearsal{kRehearsalTimer};
  Instant planned{};  ///< T, or sooner as Go said, not before that was heard; kept when it has fired

  void set(StepContext context, Instant instant) {
    planned = instant;
    at.set(context, instant);
    rehearsal.forget();
    if (const Instant before = later(instant, -kRehearsal); before > context.now) {
      rehearsal.set(context, before);
    }
  }
  void forget() {
    at.forget();
    rehearsal.forget();
  }
};

}  // namespace loom
