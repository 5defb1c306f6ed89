// SPDX-License-Identifier: Apache-2.0
// OCS-reconfig, TopoOpt's baseline: circuit switches set anew again and again by what is queued.
#pragma once

#include "controller/schedule/architecture.hpp"

namespace loom {

extern const Architecture kOcsReconfig;

}  // namespace loom
