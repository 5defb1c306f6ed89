// SPDX-License-Identifier: Apache-2.0
// Steering: makes a plan that is about to be committed fit for a fabric that is not quite as confirmed. It says what each
// device that moves may hold when it is found, and takes along the light that may meet what differs of it: whoever owns that
// light has to prove it dark before anything moves. Pure.
#pragma once

#include <vector>

#include "controller/plan/light/light_scope.hpp"
#include "core/fabric/fabric.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"

namespace loom {

/// A circuit switch that commits which were not confirmed may have left in any of these: its connections are ours.
struct LeftSwitch {
  DeviceId device;
  std::vector<CircuitSwitchSetpoint> states;
};

/// What is known of the fabric beside a plan.
struct KnownState {
  const Plan* confirmed = nullptr;               ///< or what was found before the first plan; null: a dark fabric
  std::vector<const Plan*> uncertain{};          ///< went, and were not confirmed: carried out nowhere, in part or in full
  std::vector<const Observation*> observations;  ///< by device; null: not read since it was last set
  std::vector<PossibleLight> lights{};           ///< of lasers that follow no order
  std::vector<LeftSwitch> left{};                ///< ascending device
};

/// Nothing that is known asks more of the plan than it says itself.
bool is_as_known(const Fabric& fabric, const KnownState& known, const Plan& plan);

/// Lasers, ascending, touched or not, whose light may meet what the plan moves.
std::vector<DeviceId> lasers_that_meet(const Fabric& fabric, const KnownState& known, const Plan& plan);

/// Those of them that follow no order (DevicePlan::left_alone): nobody can prove their light dark, so the plan must not go.
std::vector<DeviceId> unprovable_lasers(const Fabric& fabric, const KnownState& known, const Plan& plan);

/// What the plan moves of which the light of this laser may meet what differs; ascending.
std::vector<DeviceId> moved_in_light_of(const Fabric& fabric, const KnownState& known, const Plan& plan, DeviceId laser);

/// A switch that is left alone is told what it may hold, too, so that this lasts as long as the plan.
/// Precondition: what uncertain plans touched is touched by `plan`, and their nodes take part.
void see_to_steering(const Fabric& fabric, const KnownState& known, Plan& plan);

}  // namespace loom
