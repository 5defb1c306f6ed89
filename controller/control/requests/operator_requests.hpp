// SPDX-License-Identifier: Apache-2.0
// OperatorRequests: what operators ask: who may ask what, and what change of the intent each request is (OperatorChanges tries
// it and makes it durable). It never touches light or an agent's device itself. docs/life_of_a_command.md is its story.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/control/commit/reconciler.hpp"
#include "controller/control/measure/calibration_requests.hpp"
#include "controller/control/requests/operator_changes.hpp"
#include "controller/control/requests/reports.hpp"
#include "controller/control/requests/request_answers.hpp"
#include "controller/control/requests/reset_requests.hpp"

namespace loom {

/// The parts that requests work with.
struct OperatorRequestParts {
  const ControllerFacts& facts;
  DesiredIntent& desired;
  const ConfirmedPlans& confirmed;
  JournalQueue& journal;
  AlarmBoard& alarms;
  AgentSessions& sessions;
  Jobs& jobs;
  const RevisionNumbers& numbers;
  CommitRunner& commits;
  Reconciler& reconciler;
  RequestAnswers& answers;
  ResetRequests& resets;
  CalibrationRequests& calibrations;
  AuditTrail& audit;
  const Reports& reports;
  UnusableWatch& unusable;
  Refusals& refusals;
  OperatorChanges& changes;
};

/// "circuit 3 (job 1)" and so on, in the confirmed plan; or nothing. A switch is used by every circuit whose slot it routes.
std::string circuits_using(const Device& device, const ConfirmedPlans& confirmed, const Fabric& fabric);

class OperatorRequests {
 public:
  explicit OperatorRequests(const OperatorRequestParts& parts);

  void on_request(Peer from, const Envelope& envelope, const OperatorRequest& request, EffectSink& sink);
  /// A key of this principal may no longer order: what it asked for and is still being planned is refused, and the jobs that it
  /// attends are attended no more. What was accepted stays.
  void on_key_lost(const std::string& principal, EffectSink& sink);
  /// The time of a schedule that nobody confirmed may be over: what was pinned before is pinned again.
  void watch_probation(EffectSink& sink);

 private:
  // operator_requests.cpp
  void refuse(const Requester& requester, Error error, EffectSink& sink) { answers_.refuse(requester, std::move(error), sink); }
  /// Rows of the audit for it: questions are counted, as is a launcher that goes on attending and whoever goes on
  /// measuring.
  void open_audit(const Requester& requester, const Envelope& envelope, const OperatorAsk& ask);

  // requests_jobs.cpp
  void handle(const Requester& requester, const SubmitJob& request, EffectSink& sink);
  void handle(const Requester& requester, const CancelJob& request, EffectSink& sink);
  void handle(const Requester& requester, const ChangeJob& request, EffectSink& sink);
  void handle(const Requester& requester, const ResizeJob& request, EffectSink& sink);
  void handle(const Requester& requester, const AdaptJob& request, EffectSink& sink);
  void handle(const Requester& requester, const AttendJob& request, EffectSink& sink);

  // requests_nodes.cpp: lasers, nodes
  void handle(const Requester& requester, const LasersRequest& request, EffectSink& sink);
  void handle(const Requester& requester, const NodeRequest& request, EffectSink& sink);
  void undrain(const Requester& requester, const NodeRequest& request, EffectSink& sink);
  void drain(const Requester& requester, const NodeRequest& request, EffectSink& sink);
  void release(const Requester& requester, const NodeRequest& request, EffectSink& sink);

  // requests_devices.cpp: devices, alarms
  void handle(const Requester& requester, const DeviceRequest& request, EffectSink& sink);
  void handle(const Requester& requester, const ResetRequest& request, EffectSink& sink);
  void handle(const Requester& requester, const AcknowledgeAlarm& request, EffectSink& sink);

  // requests_schedule.cpp
  void handle(const Requester& requester, const ApplySchedule& request, EffectSink& sink);
  void handle(const Requester& requester, const ConfirmSchedule& request, EffectSink& sink);
  void handle(const Requester& requester, const RollBackSchedule& request, EffectSink& sink);
  void handle(const Requester& requester, const DiffSchedule& request, EffectSink& sink);
  Candidate pinning(std::vector<ScheduledCircuit> circuits, ApplyMode mode) const;

  const ControllerFacts& facts_;
  DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  JournalQueue& journal_;
  AlarmBoard& alarms_;
  AgentSessions& sessions_;
  Jobs& jobs_;
  const RevisionNumbers& numbers_;
  CommitRunner& commits_;
  Reconciler& reconciler_;
  RequestAnswers& answers_;
  ResetRequests& resets_;
  CalibrationRequests& calibrations_;
  AuditTrail& audit_;
  const Reports& reports_;
  UnusableWatch& unusable_;
  Refusals& refusals_;
  OperatorChanges& changes_;
};

}  // namespace loom
