// SPDX-License-Identifier: Apache-2.0
// What no network of a given rate beats: printed beside every prediction.
#pragma once

#include "controller/workload/task_graph.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// The greatest of: the work of the busiest worker; what the busiest node sends, and what it receives, at `rate` each way; and,
/// where every part of a task waits for all of the one before, the longest chain of compute. No latency, no contention, no dark
/// time. Collectives count as `graph` carries them. Precondition: the graph passed check().
Duration lower_bound(const TaskGraph& graph, BitRate rate);

}  // namespace loom
