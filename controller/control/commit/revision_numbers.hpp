// SPDX-License-Identifier: Apache-2.0
// RevisionNumbers: the next revision and the next circuit. A number is given once, and never one that an agent may know
// already from a journal that this controller has not read: after a start the first plan waits for what agents say. It neither
// plans nor sends.
#pragma once

#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/watch/alarm_board.hpp"
#include "core/journal/journal.hpp"

namespace loom {

class RevisionNumbers {
 public:
  RevisionNumbers(const ControllerFacts& facts, const ConfirmedPlans& confirmed, AlarmBoard& alarms)
      : facts_(facts), confirmed_(confirmed), alarms_(alarms) {}

  Revision next() const { return next_; }
  CircuitId next_circuit() const { return next_circuit_; }
  /// An agent may know another revision of this number: the journal learned of it after the number was given.
  bool is_taken(Revision revision) const { return revision < first_above_unknown_; }

  /// The next one, for a plan.
  Revision take();
  /// A plan has numbered its circuits up to here.
  void take_circuits(CircuitId next);
  /// Its `going` is on the way to the journal.
  void went(Revision revision);
  /// An agent says which revision it has applied, or has on its way into light. True: the journal knows nothing of it, as it
  /// was restored from an older copy, so numbers go on above it.
  bool go_beyond(NodeId node, Revision gone, EffectSink& sink);
  void restore(const SnapshotRecord& state);
  /// Whether a journal is the newest copy nobody knows before every agent has said what it applied: who has not greeted this
  /// controller may still be lit and steered by another one. No plan is made before, or before all are given up.
  Instant known_by() const { return known_by_; }
  /// An agent was commanded by another controller since this journal was written: so may be who has not greeted yet.
  void others_commanded();
  void all_are_known() { known_by_ = {}; }

 private:
  const ControllerFacts& facts_;
  const ConfirmedPlans& confirmed_;
  AlarmBoard& alarms_;
  Revision next_{1};
  CircuitId next_circuit_{1};
  Revision gone_;                 ///< the highest that ever went
  Revision first_unknown_;        ///< the journal knows nothing of what agents applied from here on ...
  Revision first_above_unknown_;  ///< ... to here; 0: there is no such revision
  Instant known_by_{};            ///< in the past: nobody is waited for
};

}  // namespace loom
