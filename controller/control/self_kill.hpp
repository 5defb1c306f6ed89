// SPDX-License-Identifier: Apache-2.0
// SelfKill: a testing aid of lightloomd (--kill-self-at). Wraps the controller's step and ends the process at one kill point,
// counted as the simulation counts them (sim_backend/world/world_crash.cpp). It changes nothing before that point; the machine
// does not know of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/step.hpp"

namespace loom {

using ControllerStep = std::function<void(Instant now, const Event& event, EffectSink& sink)>;

/// A step of m effects has m + 1 kill points: before each effect, and behind the last. Counting begins with the step that hears
/// the first order of this incarnation to submit or cancel a job; every step after it counts, whatever it hears. The step at
/// `point` keeps only the effects before it; then `die` is told where that was, and no event reaches `step` any more.
ControllerStep cut_at_kill_point(ControllerStep step, std::uint64_t point, std::function<void(std::string place)> die);

}  // namespace loom
