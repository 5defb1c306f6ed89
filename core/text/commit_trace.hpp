// SPDX-License-Identifier: Apache-2.0
// A commit for TraceEvents: the whole of it, its plan before it, its stages one after the other, and how late the last agents
// answered in them. Times are the controller's, as the revision's report has them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/messages/report.hpp"
#include "core/text/trace_events.hpp"

namespace loom {

/// What a commit does, step by step; each begins when the one before it is over.
struct CommitStage {
  std::string_view name;
  Duration CommitReport::* length;
};
inline constexpr std::array<CommitStage, 6> kCommitStages{{{"prepare", &CommitReport::prepare},
                                                           {"arm", &CommitReport::arm},
                                                           {"wait for the instant", &CommitReport::wait},
                                                           {"darken", &CommitReport::darken},
                                                           {"move", &CommitReport::move},
                                                           {"relight", &CommitReport::relight}}};

void name_commits(std::uint64_t process, TraceEvents& trace);
void add_commit(const CommitReport& report, std::uint64_t process, TraceEvents& trace);

/// What of a commit's total no stage accounts for: the controller's own steps between two of them.
Duration between_stages(const CommitReport& report);

}  // namespace loom
