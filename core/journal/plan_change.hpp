// SPDX-License-Identifier: Apache-2.0
// PlanChange: a plan as what it changes of another one, so that the row of a plan in which little changes is short.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"

namespace loom {

/// Every slice that is not named is the one of before, at rest: none of its devices is touched.
struct PlanChange {
  Revision of;  ///< the plan that it changes
  Revision revision;
  Revision base;
  std::vector<NodePlan> nodes;    ///< ascending node; whole
  std::vector<Circuit> circuits;  ///< ascending id; new, or otherwise than before
  std::vector<CircuitId> ended;   ///< ascending; of before
  std::vector<NodeId> changed;    ///< this and the rest as in Plan
  std::vector<DeviceId> moved_steering;
  std::vector<CircuitId> touched;
  IsolationCertificate certificate;
  bool operator==(const PlanChange&) const = default;
};

/// Nothing: the two are not of the same nodes, or so many slices differ that `plan` itself is about as short.
std::optional<PlanChange> change_of(const Plan& before, const Plan& plan);

/// Why this is no change of `before`; empty: it is one.
std::string misfit_of(const Plan& before, const PlanChange& change);

/// The plan of which change_of() was made. Precondition: misfit_of() is empty.
Plan changed_plan(const Plan& before, const PlanChange& change);

}  // namespace loom
