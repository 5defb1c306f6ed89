// SPDX-License-Identifier: Apache-2.0
// How long light still changes after a commit has ended.
#pragma once

#include "core/time.hpp"

namespace loom {

/// From a commit's last answer: a ring whose heater is warm still follows its chip, of which light a hundredth is told after
/// five of its time constants of some 3 ms [K]. Monitors are read then, and what was read before tells of another light.
inline constexpr Duration kLightSettles = std::chrono::milliseconds{15};

}  // namespace loom
