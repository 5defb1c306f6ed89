// TopoOpt as a scheduler (docs/systems/topoopt.md#architecture, #topology-finder): each job's servers get a static
// direct-connect topology of their own from the topology finder, every link of it a circuit on the switch of its interface, and
// servers forward for pairs without one.
#pragma once

#include "controller/architectures/registry.hpp"
#include "controller/architectures/topoopt/finder/topology_finder.hpp"

namespace loom {

/// One stage a job, lit until the next revision. Jobs share no server, so none touches another's circuits; a job whose topology
/// is as before keeps every circuit, and one whose topology changes keeps the links that both have, but for those that Koenig's
/// colouring must move. Finder: as in the paper, rings both ways (one way where servers have one interface).
/// Look-ahead panels: a running job's new links are wired on the panel that is dark for their interfaces while its light stays
/// (JobSchedule::wires, waiting); planned again once that is there, the circuits take them.
/// objective: seconds that the busiest link needs for one iteration, of all jobs the worst; bound: those of the server that
/// sends most, on all of its interfaces.
/// Errors: unsupported (no TopoOpt fabric), infeasible (servers of two blocks; one server; no traffic; more than a ring's
/// interfaces are needed), out_of_range, timed_out. Each names the job and the nearest feasible request.
Result<Schedule> schedule_topoopt(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget);

}  // namespace loom
