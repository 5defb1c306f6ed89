// SPDX-License-Identifier: Apache-2.0
// Expectation: what a scenario's author says will happen to a job, as plain values. A job that is refused or dark without it is
// a failure of the run, and so is an expectation that did not come true. Judged by sim_backend/job_verdict.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/time.hpp"

namespace loom {

/// Darkness that no commit of the job's own accounts for lies inside such a window. Times count from the start of the run.
struct DarkWindow {
  Duration from{};
  Duration to = kForever;
  bool operator==(const DarkWindow&) const = default;
};

struct JobExpectation {
  std::string state;                        ///< the controller's word at the job's end; empty: any but refused
  std::string why;                          ///< part of what is said about that state
  std::vector<DarkWindow> dark;             ///< some darkness in each
  std::optional<Duration> dark_at_most;     ///< of all darkness that no window of `dark` has; it need not be
  std::optional<std::uint32_t> iterations;  ///< that its light carries at least; fewer than asked for
  bool operator==(const JobExpectation&) const = default;
};

}  // namespace loom
