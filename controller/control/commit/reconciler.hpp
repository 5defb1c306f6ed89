// SPDX-License-Identifier: Apache-2.0
// Reconciler: desired against observed: what drifted, what is said about it, what a repair takes part in, what was found and
// becomes desired, and what is left to people, aloud. It wants plans and never runs a commit.
#pragma once

#include <optional>
#include <vector>

#include "controller/control/commit/commit_runner.hpp"
#include "controller/control/jobs/tentative_plans.hpp"
#include "controller/control/watch/drift_watch.hpp"
#include "controller/control/watch/left_moving.hpp"
#include "controller/control/watch/light_watch.hpp"
#include "controller/control/watch/monitor_drift.hpp"
#include "controller/plan/reconcile/reconcile.hpp"

namespace loom {

/// The parts that the reconciler works with.
struct ReconcilerParts {
  const ControllerFacts& facts;
  DesiredIntent& desired;
  const ConfirmedPlans& confirmed;
  JournalQueue& journal;
  AlarmBoard& alarms;
  AgentSessions& sessions;
  const RevisionNumbers& numbers;
  const CommitReturns& returns;
  CommitRunner& commits;
  TentativePlans& tentative;
  const UnusableWatch& unusable;
  const LightWatch& light;
  DriftWatch& drift;
};

class Reconciler {
 public:
  Reconciler(const ReconcilerParts& parts, const DriftPolicy& policy);

  /// Says again which adoptions stand.
  void start(EffectSink& sink);
  /// The agent's process is another one: what was known of its devices says nothing.
  void forget(NodeId node);
  /// The node's lasers are not latched off any more: what was dark for that is repaired now, and without counting how often
  /// that was so before.
  void relight(NodeId node, EffectSink& sink);
  /// The device's newest reading.
  void judge(DeviceId device, EffectSink& sink);
  /// Judges what nobody has reported, and repairs or adopts when nothing else is under way.
  void reconcile(EffectSink& sink);
  /// Takes the end of a commit, if one has come. After every event that may have ended one, and before anything else is wanted.
  void follow_commits(EffectSink& sink);
  /// The tentative plan of an adoption was made, or refused.
  void on_adoption(const TentativeOutcome& outcome, EffectSink& sink);

  const DriftWatch& drift() const { return drift_; }
  DriftCounts counts() const { return judges() ? drift_.counts() : DriftCounts{}; }
  Drift drift_of(DeviceId device) const { return judges() ? drift_.drift_of(device) : Drift::none; }

 private:
  // reconciler.cpp: judging, repairing
  /// While the lasers are ordered off nothing is judged: desired is darkness then, whatever the confirmed plan says.
  bool judges() const { return !desired_.intent().lasers_off; }
  const Plan& desired_plan() const { return confirmed_.exists() ? confirmed_.plan() : dark_; }
  const DevicePlan* desired_of(DeviceId device) const;
  bool is_judged(NodeId node) const;
  void judge_all(EffectSink& sink);
  void alarm_of_drift(const DevicePlan& plan, Drift drift, EffectSink& sink);
  void alarm_of_given_up(EffectSink& sink);
  std::optional<RepairScope> scope_of(const std::vector<DeviceId>& devices, const std::vector<NodeId>& restored);
  void want_repair(RepairScope scope, EffectSink& sink);
  void on_commit_end(const CommitEnd& end, EffectSink& sink);
  void alarm_of_failed_repair(const FabricCommit& failed, EffectSink& sink);

  // reconciler_adopt.cpp: what was found becomes desired
  bool adopt(EffectSink& sink);
  void cannot_adopt(DeviceId device, const Error& error, EffectSink& sink);
  void alarm_of_adopted(const DeviceOverride& override, EffectSink& sink);

  const ControllerFacts& facts_;
  DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  JournalQueue& journal_;
  AlarmBoard& alarms_;
  AgentSessions& sessions_;
  const RevisionNumbers& numbers_;
  const CommitReturns& returns_;
  CommitRunner& commits_;
  TentativePlans& tentative_;
  const UnusableWatch& unusable_;
  const LightWatch& light_;
  DriftPolicy policy_;
  const Plan dark_;  ///< what is desired before anything was confirmed

  DriftWatch& drift_;
  MonitorDrift measured_;
  bool judge_everything_ = false;    ///< a commit ended since
  std::vector<DeviceId> repairing_;  ///< the drifted ones of the repair wanted last, ascending
  LeftMoving left_moving_;           ///< forgets what has been read
};

}  // namespace loom
