// SPDX-License-Identifier: Apache-2.0
// Electrical fabrics, which optical ones are compared with.
#pragma once

#include "controller/schedule/architecture.hpp"

namespace loom {

extern const Architecture kIdealSwitch;
extern const Architecture kFatTree;
extern const Architecture kFatTreeOversubscribed;
extern const Architecture kExpander;
extern const Architecture kElectricalRing;

}  // namespace loom
