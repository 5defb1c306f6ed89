// SPDX-License-Identifier: Apache-2.0
// Commit: carries one revision over the stages of agents/revision, on the devices of this node. It answers every request,
// and the same request with the same answer; it never moves a device before its stage, and never lights what has not settled.
// Real-time safe from T to the first transaction (fire(), for lasers); the rest may allocate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "agents/commit/edge_lighting.hpp"
#include "agents/commit/firing.hpp"
#include "agents/commit/pass_barrier.hpp"
#include "agents/commit/plan_check.hpp"
#include "agents/commit/revision.hpp"
#include "agents/commit/timelines.hpp"
#include "agents/devices/device_units.hpp"
#include "agents/envelope_sender.hpp"
#include "agents/grant/plane.hpp"

namespace loom {

struct CommitOptions {
  Duration arm_lead{};    ///< T - now must be at least this when the agent is armed
  Duration late_limit{};  ///< firing later than this after T is reported aloud
};

class AgentCommit {
 public:
  AgentCommit(const CommitOptions& options, const EnvelopeSender& envelopes, DeviceUnits& units, Timelines& timelines,
              GrantPlane& grants, PassBarrier& barrier);

  // Words of the controller, already fenced by term. `latch`: why nothing may be lit now.
  void prepare(StepContext context, Revision revision, const NodePlan& plan, const std::optional<Error>& latch);
  void arm(StepContext context, Revision revision, ClockId clock, Instant fire_at);
  /// An instant of another clock than this agent's is none: then it fires at T, which was on its own.
  void go(StepContext context, Revision revision, ClockId clock, const Go& go);
  void proceed(StepContext context, Revision revision, ClockId clock, const Proceed& proceed);
  void abandon(StepContext context, Revision revision);
  /// Also from Beat and Welcome, which repeat it.
  void confirm(StepContext context, Revision revision);

  /// A newer controller speaks. What the older one prepared and never let go is void, and so is its number: the newer one may
  /// give that to another plan. What has gone dark for it stays dark.
  void fence(StepContext context);

  /// Everything that time and the devices make possible now.
  void advance(StepContext context);
  /// Somebody above took the light away: the revision in hand fails.
  void trouble(StepContext context, const Error& error);

  RevisionState state() const { return state_; }
  Revision in_hand() const { return revision_; }
  /// The highest that was ever prepared: lower ones are old duplicates.
  Revision newest() const { return newest_; }
  Revision applied() const { return applied_; }
  /// The highest that was applied, or is on its way into light.
  Revision gone() const { return went_ ? std::max(applied_, revision_) : applied_; }
  Revision confirmed() const { return confirmed_; }
  std::uint64_t stale() const { return stale_; }  ///< requests refused as stale_revision
  std::uint64_t early() const { return early_; }  ///< requests dropped because their stage has not come

 private:
  /// One lane in this revision.
  struct Part {
    const DevicePlan* plan = nullptr;
    bool changes = false;   ///< takes part: goes dark if it is a laser, moves, is lit again
    bool is_asked = false;  ///< no laser: it is being read before it moves
    bool has_moved = false;
    bool tunes_at_once = false;  ///< a laser that was told at T where to stand
    const TimedSetpoint& first() const { return plan->timeline.front(); }
  };
  struct Answers {
    std::optional<Prepared> prepared;
    std::optional<Armed> armed;
    std::optional<Darkened> darkened;
    std::optional<Settled> settled;
    std::optional<Applied> applied;
  };

  // commit.cpp: words and answers
  std::optional<RevisionStep> receive(StepContext context, Revision revision, RevisionMessage revision_message);
  void answer(StepContext context, Revision revision, RevisionMessage revision_message, const Error& error) const;
  void answer_again(StepContext context, RevisionMessage revision_message) const;
  void forget(bool keep_answers);
  void withdraw_light(StepContext context);
  bool event(RevisionMessage revision_message);
  std::optional<Error> surprise(const NodePlan& plan) const;
  std::optional<Error> surprise(const DeviceUnit& unit, const DevicePlan& device, const Reading& reading) const;
  std::optional<Error> refusal_to_arm(StepContext context, ClockId clock, Instant fire_at) const;

  // commit_stages.cpp: what happens to the devices
  bool goes_on_as_laid(const DevicePlan& device) const;
  void begin_grants(StepContext context);
  void choose_parts();
  void claim_idle_parts();
  void read_ahead(StepContext context);
  void fire(StepContext context);
  void send_darkened(StepContext context);
  void move_in_dark(StepContext context);
  bool is_as_expected(StepContext context, std::size_t unit);
  bool move_expected(StepContext context);
  void send_settled(StepContext context);
  void light(StepContext context);
  void send_applied(StepContext context);
  bool advance_once(StepContext context);
  bool advance_moving(StepContext context);
  template <class Selects>
  bool all_proven(StepContext context, Selects selects, bool dark_will_do = false);
  bool all_lit(StepContext context);
  void device_trouble(StepContext context, std::size_t unit);
  void command(StepContext context, std::size_t unit, const Setpoint& setpoint);

  CommitOptions options_;
  const EnvelopeSender& envelopes_;
  DeviceUnits& units_;
  Timelines& timelines_;
  GrantPlane& grants_;
  PassBarrier& barrier_;

  RevisionState state_ = RevisionState::idle;
  Revision revision_;  ///< in hand or remembered; 0: none
  Revision newest_;    ///< the highest ever prepared: lower ones are old duplicates
  Revision fenced_;    ///< went under an older controller: who gives this number now means another plan
  Revision applied_;
  Revision confirmed_;
  Applied applied_answer_;
  std::shared_ptr<const NodePlan> plan_;
  std::vector<Part> parts_;                                ///< by lane
  std::vector<std::shared_ptr<const NodePlan>> replaced_;  ///< by this revision; let go when nobody is dark any more
  Answers answers_;
  std::optional<Error> error_;  ///< why the revision failed

  Firing fire_;
  Deadline relight_at_{kRelightTimer, Precision::exact};
  EdgeLighting edge_lighting_{envelopes_, units_};
  Instant read_since_{};  ///< what was read of devices from then on counts when they move
  Instant fired_at_{};
  Instant armed_for_{};     ///< T
  bool went_ = false;       ///< Go was heard
  bool may_steer_ = false;  ///< Proceed{move} was heard: everybody's light that meets what moves is proven dark
  bool light_given_ = false;
  FireReport report_;
  std::uint64_t writes_before_ = 0;

  std::uint64_t stale_ = 0;
  std::uint64_t early_ = 0;
};

}  // namespace loom
