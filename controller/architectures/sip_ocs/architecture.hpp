// SPDX-License-Identifier: Apache-2.0
// SiP-OCS: parallel circuit switches, set once before a job.
#pragma once

#include "controller/schedule/architecture.hpp"

namespace loom {

extern const Architecture kSipOcs;

}  // namespace loom
