// SPDX-License-Identifier: Apache-2.0
// ODDL as we reconstruct it: isolation by wavelength switches, tunable lasers, light granted by flow.
#pragma once

#include "controller/schedule/architecture.hpp"

namespace loom {

extern const Architecture kOddl;

}  // namespace loom
