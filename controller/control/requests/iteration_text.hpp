// SPDX-License-Identifier: Apache-2.0
// What a leader reports of its job's iterations, as sentences for people.
#pragma once

#include <string>

#include "core/fabric/fabric.hpp"
#include "core/messages/iteration.hpp"

namespace loom {

/// "iteration 37 took 389.0 ms: node-2 computed for 282.0 ms"; empty: none was measured yet.
std::string slowest_text(const IterationReport& report, const Fabric& fabric);

/// "node-2, whose training is not ready, for 3200.0 ms now"; empty: nobody is waited for, or not for long.
std::string awaited_text(const IterationReport& report, const Fabric& fabric);

}  // namespace loom
