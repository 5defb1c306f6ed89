// SPDX-License-Identifier: Apache-2.0
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

/// Architecture::forward_over: the given table while each of its ways is lit, every pair of the demand has a circuit or a row
/// in it, and every group a ring of such; else shortest ways over what is lit, groups round the rings that the light has.
Result<ForwardingTable> forward_over_given(const JobDemand& job, const JobSchedule& given);

/// A topology that somebody else found (a search), as one stage that stays lit: what may be pinned (Intent::pinned). Its links
/// on the interfaces of the job's nodes as schedule_topoopt would place its own; who forwards is left to forward_over_given.
/// Errors: invalid_argument (not the job's number of nodes), infeasible (more links at a node than it has interfaces; servers
/// of two blocks), unsupported (no TopoOpt fabric; look-ahead panels, whose robot only the scheduler leads).
Result<JobSchedule> lay_topology(const Fabric& fabric, const JobDemand& job, const DirectTopology& topology);

}  // namespace loom
