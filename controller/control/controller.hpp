// SPDX-License-Identifier: Apache-2.0
// Controller: the step machine that turns intent into light. It owns the parts, gives each event to the part that it is for,
// and lets happen what waited for the journal; everything else the parts do. docs/life_of_an_update.md is its story.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/control/agent_messages.hpp"
#include "controller/control/clock_guard.hpp"
#include "controller/control/requests/operator_requests.hpp"
#include "core/adapt_policy.hpp"
#include "core/drift_policy.hpp"
#include "core/step.hpp"
#include "core/timings.hpp"

namespace loom {

struct ControllerOptions {
  std::shared_ptr<const Fabric> fabric;
  std::string algorithm{};  ///< of the scheduler; empty: the fabric's architecture
  ControllerTimings timings;
  DriftPolicy drift{};
  AdaptPolicy adapt{};
  RecordBytes record_bytes{};  ///< of the journal's codec
};

class Controller {
 public:
  explicit Controller(ControllerOptions options);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Thread: the host's. Never blocks, never plans.
  void step(Instant now, const Event& event, EffectSink& sink);

  /// What `loom status` shows, for whoever publishes it elsewhere (controller_metrics.hpp).
  StatusReport status() const { return reports_.status(); }

  // What tests and the simulation's script may look at.
  Term term() const { return facts_.header.term; }
  bool is_idle() const { return commits_.is_idle(); }
  std::uint32_t present_agents() const { return loom::present_agents(sessions_); }
  Revision confirmed() const { return confirmed_.revision(); }
  std::shared_ptr<const PlanResult> confirmed_plan() const { return confirmed_.present(); }
  const std::deque<CommitReport>& history() const { return commits_.history(); }
  OperatorReply answer(const Query& query) const { return reports_.answer(query); }
  const Jobs& jobs() const { return jobs_; }
  const Intent& intent() const { return desired_.intent(); }
  const DriftWatch& drift() const { return reconciler_.drift(); }
  const std::map<JobId, DemandWatch>& demand_watches() const { return demand_.watches(); }
  const std::deque<StandingAlarm>& alarms() const { return alarms_.rows(); }

 private:
  void on(const Started& started, EffectSink& sink);
  void on(const MessageArrived& message, EffectSink& sink);
  void on(const MessageRefused& refused, EffectSink& sink);
  void on(const TimerFired& timer, EffectSink& sink);
  void on(const Appended& appended, EffectSink& sink);
  void on(const AppendFailed& failed, EffectSink& sink);
  void on(const Planned& planned, EffectSink& sink);
  void on(const KeysChanged& changed, EffectSink& sink);
  void restore(const std::vector<Record>& records);
  void sweep(EffectSink& sink);

  ControllerFacts facts_;
  DesiredIntent desired_;
  ConfirmedPlans confirmed_;
  JournalQueue journal_;
  AuditTrail audit_;
  AlarmBoard alarms_;
  Refusals refusals_;
  std::optional<AlarmId> keyring_alarm_;  ///< the keyring file cannot be taken over
  DeviceReadings readings_;
  AgentSessions sessions_;
  UnusableWatch unusable_;
  Jobs jobs_;
  LightWatch light_;
  DriftWatch drift_;
  FoundState found_;
  RevisionNumbers numbers_;
  DarkForecast dark_forecast_;
  CommitReturns returns_;
  CommitRunner commits_;
  ClockGuard clock_;
  TentativePlans tentative_;
  Reconciler reconciler_;
  DemandFollower demand_;
  Reports reports_;
  RequestAnswers answers_;
  ResetRequests resets_;
  AgentMessages agents_;
  OperatorChanges changes_;
  CalibrationRequests calibrations_;
  OperatorRequests requests_;
};

}  // namespace loom
