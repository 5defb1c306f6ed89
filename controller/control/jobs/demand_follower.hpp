// SPDX-License-Identifier: Apache-2.0
// DemandFollower: what agents report of their nodes' traffic becomes, for a job that asked for it, a tentative plan; and, where
// that is worth its dark time, an intent like an operator's. It runs no commit. docs/live_demand.md is its story.
#pragma once

#include <map>

#include "controller/control/commit/commit_runner.hpp"
#include "controller/control/jobs/demand_watch.hpp"
#include "controller/control/jobs/tentative_plans.hpp"
#include "core/adapt_policy.hpp"

namespace loom {

/// The parts that the follower works with.
struct DemandFollowerParts {
  const ControllerFacts& facts;
  DesiredIntent& desired;
  const ConfirmedPlans& confirmed;
  JournalQueue& journal;
  AlarmBoard& alarms;
  Jobs& jobs;
  const RevisionNumbers& numbers;
  CommitRunner& commits;
  TentativePlans& tentative;
};

class DemandFollower {
 public:
  DemandFollower(const DemandFollowerParts& parts, const AdaptPolicy& policy);

  void keep(NodeId node, const TrafficReport& report);
  /// The agent's process is another one.
  void forget(NodeId node) { traffic_.erase(node); }
  /// One reading and judgement of each job that adapts, now and then; what is to be followed is tried, one job at a time.
  void look(EffectSink& sink);
  /// The tentative plan for a measured demand was made, or refused.
  void on_tried(const TentativeOutcome& outcome, EffectSink& sink);

  const std::map<JobId, DemandWatch>& watches() const { return watches_; }
  /// Fills in what the report of a job says of its demand.
  void describe(const Job& job, JobReport& row) const;

 private:
  void look_at(const Job& job, EffectSink& sink);
  bool is_at_rest(JobId job) const;
  void begin(const Job& job, DemandWatch& watch, EffectSink& sink);
  void settle(const Job& job, DemandWatch& watch);
  Duration dark_time() const;

  const ControllerFacts& facts_;
  DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  JournalQueue& journal_;
  AlarmBoard& alarms_;
  Jobs& jobs_;
  const RevisionNumbers& numbers_;
  CommitRunner& commits_;
  TentativePlans& tentative_;
  AdaptPolicy policy_;

  std::map<NodeId, NodeTraffic> traffic_;  ///< what each node reported last
  Instant look_at_{};                      ///< the next look at measured demand
  std::map<JobId, DemandWatch> watches_;   ///< of the jobs that adapt
};

}  // namespace loom
