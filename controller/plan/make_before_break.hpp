// SPDX-License-Identifier: Apache-2.0
// Make before break: where the light between two nodes is replaced by other light between them, and both have room beside each
// other, the old light stays until the new light stands. Says what such a plan has; lower and verify say whether it is lawful.
#pragma once

#include <optional>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/planning.hpp"
#include "core/schedule.hpp"

namespace loom {

struct Bridge {
  Schedule schedule;            ///< `target`'s, and the circuits of the base that stay for now (JobSchedule::waiting)
  std::vector<CircuitId> held;  ///< those, ascending
};

/// Circuits of a pair of nodes whose standing light of a job ends with `target`, and is followed by other standing light of
/// that job, stay where no new light needs their ends. Only of jobs whose schedule is pinned. Nothing: there are none.
/// Precondition: `target` was planned on `base`.
std::optional<Bridge> bridge_between(const Fabric& fabric, const Plan& base, const PlanResult& target);

}  // namespace loom
