// SPDX-License-Identifier: Apache-2.0
// The controller's timers by name.
#pragma once

#include "core/ids.hpp"

namespace loom::timers {

inline constexpr TimerId kTick{1};       ///< the commit's repeats and deadlines
inline constexpr TimerId kSweep{2};      ///< silences
inline constexpr TimerId kBeat{3};       ///< the controller's sign of life
inline constexpr TimerId kPlan{4};       ///< debounce and backoff
inline constexpr TimerId kReconcile{5};  ///< drift
inline constexpr TimerId kReset{6};      ///< repeats of device resets
inline constexpr TimerId kProbation{7};  ///< a schedule on trial must be confirmed by then

}  // namespace loom::timers
