// Reports: questions of operators, answered from what the other parts know, as many rows as one message carries. It changes
// nothing.
#pragma once

#include <string>
#include <vector>

#include "controller/control/commit_runner.hpp"
#include "controller/control/demand_follower.hpp"
#include "controller/control/light_watch.hpp"
#include "controller/control/reconciler.hpp"

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
  const JournalQueue& journal;
};

class Reports {
 public:
  explicit Reports(const ReportSources& from) : from_(from) {}

  OperatorReply answer(const Query& query) const;
  std::vector<JobReport> job_rows(const Query& query) const;
  std::vector<DeviceReport> device_rows(const Query& query) const;

 private:
  // reports.cpp
  ReplyRows all_rows(const Query& query) const;
  StatusReport status() const;
  std::vector<NodeReport> node_rows(const Query& query) const;
  JobReport job_row(JobId id, const JobRecord& record) const;
  std::vector<CircuitReport> circuit_rows(const Query& query) const;

  // reports_explain.cpp
  OperatorReply explain(const Query& query) const;
  HopReport describe(const Circuit& circuit, const LitHop& lit) const;
  void add_forwarded(CircuitExplanation& it) const;
  void conclude(CircuitExplanation& it, Dbm sensitivity) const;

  ReportSources from_;
};

}  // namespace loom
