// SPDX-License-Identifier: Apache-2.0
// How long light is away while a commit changes it: a fact of a fabric and of the controller's periods.
#pragma once

#include <functional>
#include <optional>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/time.hpp"
#include "core/timings.hpp"

namespace loom {

/// Of what moves in an element, worst case: a switch, a gain. Lasers and heaters have times of their own.
Duration settle_time_of(const Element& element);

/// How long a device may need by itself for a setpoint, worst case: a laser to tune and to come on, a switch or a gain to
/// settle. Heaters have no time of their own in a fabric. `before`: what it holds; null: nobody knows.
Duration own_time_of(const Fabric& fabric, const Device& device, const Setpoint* before, const Setpoint& after);

struct SlowestDevice {
  DeviceId device;
  Duration time{};
};
/// Of all devices that the plan touches, the one that needs longest by itself: no controller brings the light back sooner than
/// that one promises. `before`: what a device holds, null if nobody knows. Nothing: none needs any time.
std::optional<SlowestDevice> slowest_of(const Fabric& fabric, const Plan& plan,
                                        const std::function<const Setpoint*(DeviceId)>& before);

/// How long a commit leaves the light dark that it touches, at worst: the waits that let every agent hear T and the relight,
/// and the slowest switch or gain stage and laser of the fabric. Devices that need longer than they promise are not in it.
Duration dark_time_of(const Fabric& fabric, const ControllerTimings& timings);

}  // namespace loom
