// SPDX-License-Identifier: Apache-2.0
// Jobs under grants in a plan: what each node may do (its GrantMap), the wavelength sets of its lasers, and what routing their
// light anew means. Pure; it decides no grant, agents/grant does. oddl (reconstruction).
#pragma once

#include <map>
#include <vector>

#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/schedule.hpp"

namespace loom {

/// The fabric's worst cases as the machines' times, over these circuits: a driver's command may take control_max, so the light
/// comes and goes that much later than it was ordered.
/// `fire_skew`: how late agents were measured to fire; where the guard would be shorter, tables may be so much later.
GrantTimings grant_timings(const Fabric& fabric, const std::vector<Circuit>& circuits, Duration fire_skew = {});

/// How much longer the guard of this job's grants is than the fabric promises; 0: none.
Duration widened_by(const Fabric& fabric, const Plan& plan, JobId job);

/// One colour of a laser under grants: dark for as long as a retune takes, lit for one window at most.
TimedSetpoint wavelength_entry(const Fabric& fabric, const Circuit& circuit, const TransmitterSetpoint& light, Duration offset);

/// One map a node of the job, in the order of job.nodes; `routed_by` is left to the caller.
std::vector<GrantMap> grant_maps(const Fabric& fabric, const Job& job, const Stage& stage, const std::vector<Circuit>& circuits,
                                 Duration fire_skew = {});

bool is_same_but_routed_by(const GrantMap& a, const GrantMap& b);

/// One iteration plan a node that sends in this stage, by node; `routed_by` is left to the caller. Of a stage that ends,
/// without another one after it: the agents repeat it without the controller. Else nothing.
std::map<NodeId, IterationPlan> iteration_plans(const Fabric& fabric, const Job& job, const JobSchedule& schedule);

bool is_same_but_routed_by(const IterationPlan& a, const IterationPlan& b);

/// A commit that touches one laser of a job whose nodes light by each other's word (grants, iterations), or gives one of these
/// nodes its plan anew, lays the light of the whole job anew: all of it goes dark, every arbiter of the job begins a new
/// incarnation, and passes are counted anew. `restored`: nodes whose agent has forgotten its plan. `plan`: widened accordingly.
void reroute_touched_jobs(const Fabric& fabric, const std::vector<NodeId>& restored, Plan& plan);

/// Lasers, ascending, that follow no order and are to go on in the light of a job which `wide`, made of `plan`, lays anew and
/// `plan` does not: theirs would begin at another instant than the others'.
std::vector<DeviceId> left_behind(const Fabric& fabric, const Plan& plan, const Plan& wide);

}  // namespace loom
