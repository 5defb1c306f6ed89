// SPDX-License-Identifier: Apache-2.0
// Mordia as SiP-ML compares itself with it: no wavelength twice in the whole network.
#pragma once

#include "controller/schedule/architecture.hpp"

namespace loom {

extern const Architecture kMordia;

}  // namespace loom
