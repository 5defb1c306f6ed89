// SPDX-License-Identifier: Apache-2.0
// JobAdmission: what a plan means for the jobs that it is about: placed where it says, left out of it, still wanted after it
// failed, or refused. It keeps nothing, journals nothing and asks for no plan.
#pragma once

#include <string>
#include <vector>

#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/jobs/desired_intent.hpp"
#include "controller/control/jobs/jobs.hpp"
#include "controller/control/watch/alarm_board.hpp"

namespace loom {

struct TakenBack {
  bool is_refused = false;           ///< a job was
  bool is_spared = false;            ///< a job that is still to come into light was not
  std::vector<NodeId> maintained{};  ///< nodes whose maintenance was taken back
};

class JobAdmission {
 public:
  JobAdmission(const ControllerFacts& facts, DesiredIntent& desired, const ConfirmedPlans& confirmed, AlarmBoard& alarms,
               Jobs& jobs)
      : facts_(facts), desired_(desired), confirmed_(confirmed), alarms_(alarms), jobs_(jobs) {}

  /// A commit of this plan begins: its jobs are where it has placed them.
  void place(const PlanResult& plan);
  /// Jobs that the plan is without: whoever waits for something that may come back goes on waiting, as does whoever had light
  /// before; any other job is refused, aloud.
  void leave_out(const PlanResult& plan, EffectSink& sink);
  /// A commit of this plan failed through no fault of its jobs. `elsewhere`: it failed at what follows no order, which is not
  /// needed everywhere, so jobs that never had light are placed anew.
  void want_again(const PlanResult& plan, bool elsewhere);
  /// What was asked for cannot be had: jobs that were not in light before are refused, the others keep what they had, and what
  /// operators ordered is as in the last good intent: a node that light needs is in maintenance no more. `innocent`
  /// (ascending): what failed is not for these to bear, and their light is still to come.
  TakenBack take_back(const Intent& asked, const std::string& why, EffectSink& sink, const std::vector<JobId>& innocent = {});
  /// A job waits for its first light, or for its next stage.
  bool has_unlit_jobs() const;

 private:
  std::vector<NodeId> take_back_maintenance(const Intent& asked, const std::string& why, EffectSink& sink);

  const ControllerFacts& facts_;
  DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  AlarmBoard& alarms_;
  Jobs& jobs_;
};

}  // namespace loom
