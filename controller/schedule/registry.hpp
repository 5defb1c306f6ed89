// Schedulers by name. A scheduler turns a demand into matchings with hold and guard times; it is a pure function, so the same
// request gives the same schedule on every machine. It never sees a device, a setpoint or a clock.
#pragma once

#include <string_view>
#include <vector>

#include "core/demand.hpp"
#include "core/fabric.hpp"
#include "core/planning.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"

namespace loom {

/// Every job of the demand is placed. Errors: infeasible (no schedule serves it: who is in the way, and what would fit),
/// unsupported (the fabric is not of the scheduler's kind), timed_out (the budget is used up).
using Scheduler = Result<Schedule>(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget);

/// Errors: not_found, naming the nearest name that exists.
Result<Scheduler*> find_scheduler(std::string_view name);

/// Ascending.
std::vector<std::string_view> scheduler_names();

}  // namespace loom
