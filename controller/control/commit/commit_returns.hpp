// SPDX-License-Identifier: Apache-2.0
// CommitReturns: what commits that failed have left behind, and how often and how soon the last good plan is committed again
// instead. It says what is to be wanted next; it runs no commit, asks for no plan and changes no intent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "controller/control/agent_sessions.hpp"
#include "controller/control/commit/commit.hpp"
#include "controller/control/commit/uncertain_state.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/jobs/desired_intent.hpp"
#include "controller/control/jobs/jobs.hpp"
#include "controller/control/watch/alarm_board.hpp"

namespace loom {

/// The parts that returns are made with.
struct CommitReturnParts {
  const ControllerFacts& facts;
  const DesiredIntent& desired;
  const ConfirmedPlans& confirmed;
  AlarmBoard& alarms;
  const AgentSessions& sessions;
  const Jobs& jobs;
};

class CommitReturns {
 public:
  explicit CommitReturns(const CommitReturnParts& parts);

  /// What was found in the journal, after ConfirmedPlans has. A revision that was going and never confirmed leaves its agents
  /// in an uncertain state.
  void restore(const SnapshotRecord& state);

  const UncertainState& uncertain() const { return uncertain_; }
  /// A job waits, or the confirmed plan does without something that is wanted, or has light that nobody wants.
  bool misses_something() const;
  /// The node's light is on its way back after a commit that failed.
  bool is_returning(NodeId node) const;
  /// What devices of an agent that failed hold now was not read yet.
  bool awaits_reading() const;
  /// No plan before: the backoff of a return.
  Instant not_before() const { return not_before_; }
  /// How many times the usual margin the next commit's lead gets.
  std::int64_t lead_growth() const;

  /// A commit begins: what was to be read first has been waited for.
  void begin_commit() { uncertain_.forget_unread(); }
  /// A commit of all that was uncertain is confirmed.
  void end();
  /// A commit failed that changed circuits: an alarm, and what it leaves behind.
  void add(const FabricCommit& failed, EffectSink& sink);
  /// The same may be tried again. `is_contained`: it failed at a device that plans do without from now on.
  bool may_try_again(const FabricCommit& failed, bool is_contained) const;
  /// The next attempt will not be one too many.
  bool has_attempts() const { return attempts_ < facts_.timings.return_attempts; }
  /// Begins the next attempt: the reason of its plan; nothing: so many have failed that it is given up, aloud.
  std::optional<std::string> begin_attempt(const FabricCommit& failed, bool is_wanted_again, EffectSink& sink);

 private:
  const ControllerFacts& facts_;
  const DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  AlarmBoard& alarms_;
  const AgentSessions& sessions_;
  const Jobs& jobs_;

  UncertainState uncertain_;
  std::uint32_t attempts_ = 0;
  Instant not_before_{};
};

}  // namespace loom
