// SPDX-License-Identifier: Apache-2.0
// TopoOpt: topology, routes and strategy chosen together, servers that forward.
#pragma once

#include "controller/schedule/architecture.hpp"

namespace loom {

extern const Architecture kTopoopt;

}  // namespace loom
