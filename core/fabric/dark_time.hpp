// SPDX-License-Identifier: Apache-2.0
// How long light is away while a commit changes it: a fact of a fabric and of the controller's periods.
#pragma once

#include "core/fabric/fabric.hpp"
#include "core/time.hpp"
#include "core/timings.hpp"

namespace loom {

/// Of what moves in an element, worst case: a switch, a gain. Lasers and heaters have times of their own.
Duration settle_time_of(const Element& element);

/// How long a commit leaves the light dark that it touches, at worst: the waits that let every agent hear T and the relight,
/// and the slowest switch or gain stage and laser of the fabric. Devices that need longer than they promise are not in it.
Duration dark_time_of(const Fabric& fabric, const ControllerTimings& timings);

}  // namespace loom
