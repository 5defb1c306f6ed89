// SPDX-License-Identifier: Apache-2.0
// Reports: questions of operators, answered from what the other parts know, as many rows as one message carries. It changes
// nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/control/commit/commit_runner.hpp"
#include "controller/control/commit/reconciler.hpp"
#include "controller/control/jobs/demand_follower.hpp"
#include "controller/control/requests/refusals.hpp"
#include "controller/control/watch/light_watch.hpp"

namespace loom {

struct LitHop;  // controller/plan/explain.hpp

/// What reports are made of.
struct ReportSources {
  const ControllerFacts& facts;
  const DesiredIntent& desired;
  const ConfirmedPlans& confirmed;
  const AlarmBoard& alarms;
  const AgentSessions& sessions;
  const Jobs& jobs;
  const CommitRunner& commits;
  const Reconciler& reconciler;
  const DemandFollower& demand;
  const LightWatch& light;
  const UnusableWatch& unusable;
  const Refusals& refusals;
  const JournalQueue& journal;
};

/// The rows of one page, and how many there are in all.
template <class Row>
struct ReportPage {
  std::vector<Row> rows{};
  std::uint32_t total = 0;
};

class Reports {
 public:
  explicit Reports(const ReportSources& from) : from_(from) {}

  OperatorReply answer(const Query& query) const;
  StatusReport status() const;
  ReportPage<JobReport> job_rows(const Query& query) const;
  ReportPage<DeviceReport> device_rows(const Query& query) const;

 private:
  // reports.cpp
  ReportPage<NodeReport> node_rows(const Query& query) const;
  DeviceReport device_row(const Device& device) const;
  JobReport job_row(JobId id, const JobRecord& record) const;
  ReportPage<CircuitReport> circuit_rows(const Query& query) const;
  ReportPage<CommitReport> history_rows(const Query& query) const;
  ReportPage<SchedulePart> schedule_rows(const Query& query) const;
  ReportPage<RingReport> ring_rows(const Query& query) const;
  ReportPage<CalibrationReport> calibration_rows(const Query& query) const;
  ReportPage<ReceiverReport> receiver_rows(const Query& query) const;
  ReportPage<WayReport> way_rows(const Query& query) const;
  std::optional<CalibrationAge> calibration_age(DeviceId device) const;
  std::optional<Dbm> received_at(const Device& device) const;
  ReportPage<AuditRecord> audit_rows(const Query& query) const;
  ReportPage<StandingAlarm> alarm_rows(const Query& query) const;
  const std::vector<std::uint32_t>& lit_ways_of_confirmed() const;

  // reports_explain.cpp
  OperatorReply explain(const Query& query) const;
  HopReport describe(const Circuit& circuit, const LitHop& lit) const;
  void add_forwarded(CircuitExplanation& it) const;
  void conclude(CircuitExplanation& it, Dbm sensitivity) const;

  ReportSources from_;
  mutable std::shared_ptr<const PlanResult> lit_ways_of_;  ///< the plan that lit_ways_ is of; null: none
  mutable std::vector<std::uint32_t> lit_ways_;
};

}  // namespace loom
