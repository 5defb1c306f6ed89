// SPDX-License-Identifier: Apache-2.0
// A scheduler of one's own, as short as one can be: each pair of nodes that sends gets one circuit, the busiest pair first, on
// the first circuit switch on which both its ends are free (docs/tutorials/add_a_scheduler.md).
#pragma once

#include "controller/schedule/architecture.hpp"

namespace loom::examples {

/// For fabrics of the template sip_ocs: every node has one transmitter and one receiver on each switch, in the same order.
/// Errors: infeasible (a pair finds no switch), timed_out (the budget), those of traffic_of.
Result<Schedule> schedule_first_fit(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget);

/// What the house knows of it.
extern const Architecture kFirstFit;

}  // namespace loom::examples
