// SPDX-License-Identifier: Apache-2.0
// A finished plan in the numbers that an operator compares plans by: how good, how near the bound, how much light it moves,
// and what may be said of isolation. Reads a PlanResult and judges nothing; verify did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/demand.hpp"
#include "core/plan.hpp"
#include "core/planning.hpp"

namespace loom {

struct JobSummary {
  JobId job;
  std::string name;
  std::string workload;
  std::uint32_t nodes = 0;
  std::uint32_t circuits = 0;  ///< of its desired stage, all timeslots
  std::uint32_t touched = 0;   ///< of its circuits, old or new
  std::uint32_t stages = 0;
  std::uint32_t timeslots = 0;  ///< of all stages
};

struct PlanSummary {
  std::string algorithm;
  double objective = 0;       ///< s on the wire of one iteration, the worst job's
  double bound = 0;           ///< s; no schedule is better
  std::optional<double> gap;  ///< objective / bound - 1; nothing where the bound is 0
  std::uint32_t circuits = 0;
  std::uint32_t touched = 0;  ///< that go dark for it, old or new
  std::uint32_t kept = 0;     ///< of the base's, lit without a break
  std::uint32_t slots = 0;    ///< distinct frequency slots
  IsolationCertificate certificate;
  std::vector<JobSummary> jobs;  ///< ascending id, jobs that end last
};

/// nothing for a bound of 0.
std::optional<double> gap_of(double objective, double bound);

/// `base`: what the plan was made against, null = darkness.
PlanSummary summary_of(const PlanResult& result, const Plan* base);

}  // namespace loom
