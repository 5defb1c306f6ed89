// SPDX-License-Identifier: Apache-2.0
// TentativePlans: changes that are planned and verified before anything of them becomes intent: an operator's, what was found
// at a device, what a job's measured demand asks for. It only has them planned, candidate by candidate; whoever began one
// decides what its plan is worth.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/control/commit/found_state.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/jobs/desired_intent.hpp"
#include "controller/control/jobs/jobs.hpp"
#include "controller/control/requests/requester.hpp"
#include "controller/control/watch/unusable_watch.hpp"

namespace loom {

/// One of the intents that would do what is asked, made from the present one.
using Candidate = std::function<Result<Intent>(const Intent&)>;

/// An operator asked for it.
struct OperatorChange {
  Requester requester;
  bool only_asks = false;  ///< a dry run or a diff: nothing becomes intent
  bool safe = false;       ///< refused if it disturbs light
  Duration confirm_within{};
  JobId job{};
};
/// Nobody ordered it: the reconciler found this.
struct AdoptionChange {
  DeviceOverride found;
};
/// Nor here: the job's measured demand asks for it.
struct DemandChange {
  JobId job;
};
using ChangePurpose = std::variant<OperatorChange, AdoptionChange, DemandChange>;

struct TentativePlan {
  ChangePurpose purpose;
  std::vector<Candidate> candidates;  ///< tried in order until one can be planned
  std::string reason;                 ///< of the revision that carries it out
  std::optional<ComparisonRequest> compare{};

  Intent before{};  ///< what it was tried on
  std::size_t candidate = 0;
  std::uint32_t attempts = 0;
  std::optional<Error> first_refusal{};
  Revision number{};
};

struct TentativeOutcome {
  TentativePlan plan;
  Result<std::shared_ptr<const PlanResult>> result;  ///< error: no candidate could be planned; the first one's
  Duration elapsed{};
};

class TentativePlans {
 public:
  TentativePlans(const ControllerFacts& facts, const DesiredIntent& desired, const ConfirmedPlans& confirmed,
                 const FoundState& found, const Jobs& jobs, const UnusableWatch& unusable)
      : facts_(facts), desired_(desired), confirmed_(confirmed), found_(found), jobs_(jobs), unusable_(unusable) {}

  bool is_empty() const { return plans_.empty(); }
  bool has_adoption() const;
  /// Operators' plans that are made or wait for the planner: all of them, and of one principal those that only ask, or do not.
  std::size_t requested() const;
  std::size_t requested_by(const std::string& principal, bool only_asks) const;
  /// A dry run or a diff is being planned: others wait, so that an order waits behind one question at most.
  bool has_question() const;
  void wait(TentativePlan question) { waiting_.push_back(std::move(question)); }
  /// The next question, once none is being planned.
  std::optional<TentativePlan> take_waiting();

  /// Has the plan's present candidate planned on what is confirmed. Given back: no candidate is lawful, and why.
  std::optional<TentativeOutcome> begin(TentativePlan plan, CircuitId next_circuit, EffectSink& sink);
  /// Forgets what this principal asked for, dry runs too, and gives back whom to tell.
  std::vector<Requester> withdraw(const std::string& principal);
  /// A plan was made. Empty: it was nobody's, or another candidate is tried now.
  std::optional<TentativeOutcome> on_planned(const PlanOutcome& outcome, CircuitId next_circuit, EffectSink& sink);

 private:
  /// A job that would lose light by it which it has now, and why; nothing: none.
  std::optional<Error> costs_light(const PlanResult& made) const;

  const ControllerFacts& facts_;
  const DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  const FoundState& found_;
  const Jobs& jobs_;
  const UnusableWatch& unusable_;
  std::vector<TentativePlan> plans_;
  std::deque<TentativePlan> waiting_;  ///< questions that were not begun
  std::uint64_t made_ = 0;
};

}  // namespace loom
