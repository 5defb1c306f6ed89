// SPDX-License-Identifier: Apache-2.0
// The light of one iteration under grants, as it would be if streams rotated over their receivers and every laser and every
// word took its worst time. An estimate: who is granted first is decided while it runs (agents/grant).
#pragma once

#include <cstdint>

#include "controller/predict/predict.hpp"
#include "core/limits.hpp"

namespace loom {

/// What a grant's window has for bytes, at most; a longer stream asks again. The other half is for what it has beside them.
inline constexpr Duration kGrantQuantum{limits::kGrantWindowNs / 2};

/// One stage under grants: its streams are offered phase after phase, as its nodes agree (core/messages/iteration.hpp).
bool is_granted(const JobSchedule& schedule);

/// Streams of the first phase are offered at `start`. Precondition: is_granted(schedule).
LightTimeline granted_light(const JobSchedule& schedule, std::uint32_t nodes, Instant start, const ScheduleTimings& timings);

}  // namespace loom
