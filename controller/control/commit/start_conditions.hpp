// SPDX-License-Identifier: Apache-2.0
// StartConditions: what a commit waits for before it begins: jobs that it darkens are quiet, agents that take part are there.
// It keeps nothing; how long is waited is the commit's to say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/control/agent_sessions.hpp"
#include "controller/control/commit/commit.hpp"
#include "controller/control/commit/commit_returns.hpp"
#include "controller/control/commit/revision_numbers.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/jobs/jobs.hpp"
#include "controller/control/watch/alarm_board.hpp"

namespace loom {

/// The parts that know who is quiet, and who is there.
struct StartConditionParts {
  const ControllerFacts& facts;
  const ConfirmedPlans& confirmed;
  AlarmBoard& alarms;
  const AgentSessions& sessions;
  const Jobs& jobs;
  const RevisionNumbers& numbers;
  const CommitReturns& returns;
};

class StartConditions {
 public:
  explicit StartConditions(const StartConditionParts& parts) : parts_(parts) {}

  /// The revision that darkens light of the job, now or next: `commit`, if it touches its circuits (null: none is under way),
  /// or the one that will bring back what a failed commit left dark. None for a job that has no light to lose.
  Revision quiesce_of(JobId job, const FabricCommit* commit) const;
  /// Is there an attended job that has not been quiet yet for the commit? Nobody is waited for after `until`, aloud.
  bool await_quiet(const FabricCommit& commit, Instant until, EffectSink& sink) const;
  /// The first such job; none: all are quiet, or nobody attends them.
  std::optional<JobId> unquiet_job(const FabricCommit& commit) const;
  /// Who takes part and is not ready, ascending.
  std::vector<NodeId> absent_agents(const FabricCommit& commit) const;

 private:
  StartConditionParts parts_;
};

}  // namespace loom
