// SPDX-License-Identifier: Apache-2.0
// SiP-Ring: rings of fibre whose micro-rings re-use each wavelength on every segment.
#pragma once

#include "controller/schedule/architecture.hpp"

namespace loom {

extern const Architecture kSipRing;

}  // namespace loom
