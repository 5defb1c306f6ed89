// SPDX-License-Identifier: Apache-2.0
// FoundState: devices as agents read them, where that is not what is confirmed: the base of the first plan, light that a plan
// has to go around or darken first, and what a commit must reckon with. It keeps nothing, judges no drift, and asks for no
// plan.
#pragma once

#include <memory>
#include <vector>

#include "controller/control/agent_sessions.hpp"
#include "controller/control/commit/uncertain_state.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/jobs/desired_intent.hpp"
#include "controller/control/watch/drift_watch.hpp"
#include "controller/plan/reconcile/reconcile.hpp"
#include "controller/plan/steering.hpp"
#include "core/drift_policy.hpp"
#include "core/planning.hpp"

namespace loom {

class FoundState {
 public:
  FoundState(const ControllerFacts& facts, const DesiredIntent& desired, const ConfirmedPlans& confirmed,
             const AgentSessions& sessions, const DriftWatch& drift, const DriftPolicy& policy)
      : facts_(facts), desired_(desired), confirmed_(confirmed), sessions_(sessions), drift_(drift), policy_(policy) {}

  /// Fills base and observed light of a plan that is asked for now.
  void add_to(PlanRequest& request) const;
  /// Some of this light may be darkened as soon as its agent is heard again, or is planned around once nobody waits for that.
  bool is_for_now(const std::vector<ObservedLight>& observed) const;
  /// `uncertain`: what went and was not confirmed. Good as long as it, and no event has come.
  KnownState known(const std::vector<std::shared_ptr<const Plan>>& uncertain) const;
  /// The plan as it is committed: widened to what is uncertain, to what is repaired and to what its agents were read to hold
  /// otherwise; without nodes in maintenance that are switched off.
  std::shared_ptr<const PlanResult> widen(std::shared_ptr<const PlanResult> plan, const UncertainState& uncertain,
                                          const RepairScope& repaired, const KnownState& known) const;

 private:
  RepairScope scope_of(std::vector<DeviceId> drifted, const Plan& plan,
                       const std::vector<const Observation*>& observations) const;
  RepairScope in_new_light(const Plan& plan, const std::vector<const Observation*>& observations) const;
  RepairScope otherwise(const Plan& plan, const std::vector<const Observation*>& observations) const;
  RepairScope strangers() const;
  RepairScope reachable(RepairScope scope, const Plan& plan) const;
  std::vector<NodeId> unproven_nodes(const KnownState& known, const Plan& plan) const;
  std::shared_ptr<const PlanResult> without_absent(std::shared_ptr<const PlanResult> plan, const KnownState& known) const;
  std::vector<const Observation*> fresh() const;
  bool may_darken(DeviceId laser) const;
  bool is_left_to_itself(NodeId node) const;
  void add_light_of(DeviceId laser, const Observation* seen, std::vector<ObservedLight>& observed) const;
  std::shared_ptr<const Plan> first_base(std::vector<const Observation*> observations,
                                         std::vector<ObservedLight>& observed) const;

  const ControllerFacts& facts_;
  const DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  const AgentSessions& sessions_;
  const DriftWatch& drift_;
  const DriftPolicy policy_;
};

}  // namespace loom
