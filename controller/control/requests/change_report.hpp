// SPDX-License-Identifier: Apache-2.0
// ChangeReport: how two sets of circuits, or two intents, differ, for operators. Pure.
#pragma once

#include <vector>

#include "core/demand.hpp"
#include "core/messages/report.hpp"

namespace loom {

enum class SameLight {
  by_id,    ///< equal ids are untouched light: what begins again is a change
  by_ends,  ///< ends and slot: what was dark for a moment in between and is the same light again does not differ
};

/// How two sets of circuits differ. Fills circuits, touched and changes.
ChangeReport change_between(const std::vector<Circuit>& before, const std::vector<Circuit>& after,
                            SameLight same = SameLight::by_id);

/// Ranks of jobs that are on another node.
std::vector<JobMove> moves_between(const Intent& before, const Intent& after);

}  // namespace loom
