// SPDX-License-Identifier: Apache-2.0
// LightScope: whose light may meet what moves. Devices stand where the plan wants them, or where another plan that was carried
// out in part has put them, or where they were read to stand; light is what any of these say. Pure; it takes no light away.
#pragma once

#include <optional>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"

namespace loom {

/// Light that may be there, whatever plans and readings say.
struct PossibleLight {
  DeviceId laser;
  FrequencySlot slot;
};

/// What may be out there beside `target`, where devices shall be.
struct PossibleStates {
  const Fabric& fabric;
  const Plan& target;
  std::vector<const Plan*> others;               ///< confirmed, and whatever was carried out in part
  std::vector<const Observation*> observations;  ///< by device; null: not read since it was last set
  std::vector<PossibleLight> lights{};
};

/// Lasers, ascending, whose light may meet what differs of the `moving` devices (ascending) between any two states of them.
/// Light that would meet a moving device of which nothing at all is known meets what differs.
std::vector<DeviceId> lasers_that_meet(const PossibleStates& states, const std::vector<DeviceId>& moving);

/// What a device was read to be, as a plan would say it. Nothing: it was not read, or not all of it.
std::optional<Setpoint> found_setpoint(const Fabric& fabric, DeviceId device, const Reading& reading);

/// Devices of the fabric as they were read, before any plan: revision 0, no circuits. Where nothing was read: idle.
Plan plan_as_found(const Fabric& fabric, const std::vector<const Observation*>& observations);

}  // namespace loom
