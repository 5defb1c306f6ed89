// SPDX-License-Identifier: Apache-2.0
// Commit: one revision on its way into the light: prepare, arm, go, darken, move, relight. It repeats what is not answered,
// judges deadlines and measures every stage. It decides nothing about intent and writes no journal: the controller does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/control/commit/commit_measures.hpp"
#include "controller/control/commit/commit_pace.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/dark_forecast.hpp"
#include "core/message.hpp"
#include "core/messages/report.hpp"
#include "core/planning.hpp"
#include "core/step.hpp"
#include "core/timings.hpp"

namespace loom {

/// How far one agent has come; an answer never takes it back.
enum class CommitProgress : std::uint8_t { asked, prepared, armed, dark, settled, applied };

struct Participant {
  NodeId node;
  const NodePlan* plan = nullptr;  ///< inside the PlanResult that the commit keeps alive
  CommitProgress progress = CommitProgress::asked;
  Instant sent_at{};      ///< the request of the present stage, first time
  bool repeated = false;  ///< that request was
  Duration lead{};
};

enum class CommitVerdict : std::uint8_t {
  running,
  wants_going,  ///< all armed: make CommitRecord{going} durable, then call go()
  applied,      ///< all applied: make CommitRecord{confirmed} durable, then confirm()
  failed,       ///< see failure() and may_have_moved()
};

/// Why a commit failed: whether the same may be tried again.
enum class CommitFailureKind : std::uint8_t {
  fault,        ///< of what was asked for, or of a device
  interrupted,  ///< an agent's process died under it: no fault of what was asked for
  late,         ///< an agent was too late for an instant: likewise, unless it happens again and again
  surprised,    ///< a device was found other than the plan took it for: it was read, and with that the same may be planned
};

struct CommitFailure {
  std::string why{};  ///< empty: it has not failed
  CommitFailureKind kind = CommitFailureKind::fault;
  NodeId node{~0U};                  ///< beyond the fabric: no agent's
  std::optional<DeviceId> device{};  ///< that a failed driver of a participant named; none: it failed for another reason
  std::vector<NodeId> nodes{};       ///< all at which it failed, ascending; empty: `node` alone, if that is one
};

/// Where a commit comes from, for its report.
struct CommitOrigin {
  std::string reason{};
  std::string ordered_by{};  ///< a principal; empty: the controller itself
  WallTime started_wall{};
  Duration plan_time{};
  CertificateReport certificate{};
  CommitForecast forecast{};
};

/// How long the slowest of the devices that a plan moves may take.
struct MoveTimes {
  Duration lasers{};  ///< to tune: ahead, or while they are dark
  Duration switches{};
  Duration least{};  ///< of switches whose agents can only wait for them, from the word to move on
};

class FabricCommit {
 public:
  /// `move_times`: a stage in which devices move lasts so much longer, which is minutes where a robot does it.
  FabricCommit(std::shared_ptr<const PlanResult> plan, ControllerTimings timings, CommitPaceOptions pace, CommitOrigin origin,
               Instant now, MoveTimes move_times = {});

  /// Sends Prepare to every participant.
  void begin(Instant now, const EnvelopeHeader& header, EffectSink& sink);
  /// An answer of an agent about this revision. Answers that repeat are harmless.
  void on_answer(NodeId node, const Body& answer, Instant now, const EnvelopeHeader& header, EffectSink& sink);
  /// `going` is durable.
  void go(Instant now, const EnvelopeHeader& header, EffectSink& sink);
  /// Repeats unanswered requests and judges the stage's deadline.
  void on_tick(Instant now, const EnvelopeHeader& header, EffectSink& sink);
  /// Tells everybody to forget it.
  void abandon(const EnvelopeHeader& header, EffectSink& sink) const;
  void confirm(const EnvelopeHeader& header, EffectSink& sink) const;
  /// The first failure stays.
  void fail_with(CommitFailure failure);
  /// An agent's process started again, and has forgotten it.
  void interrupt(NodeId node);

  CommitVerdict verdict() const;
  const CommitFailure& failure() const { return failure_; }
  /// Something may have gone dark or moved: the fabric needs a return.
  bool may_have_moved() const { return armed_sent_; }
  Instant next_tick() const { return next_tick_; }
  CommitState stage() const { return stage_; }
  Revision revision() const { return plan_->plan.revision; }
  const PlanResult& plan() const { return *plan_; }
  std::shared_ptr<const PlanResult> shared_plan() const { return plan_; }
  std::uint32_t done() const { return done_; }
  std::uint32_t total() const { return static_cast<std::uint32_t>(participants_.size()); }
  bool takes_part(NodeId node) const;
  /// The measured stages so far.
  CommitReport report(Instant now) const { return measures_.report(now); }

 private:
  void enter(CommitState stage, Instant now, const EnvelopeHeader& header, EffectSink& sink);
  void set_deadline(Instant now);
  void request(const Participant& participant, const EnvelopeHeader& header, EffectSink& sink) const;
  void complete_stage(Instant now, const EnvelopeHeader& header, EffectSink& sink);

  std::shared_ptr<const PlanResult> plan_;
  ControllerTimings timings_;
  CommitPace pace_;
  std::vector<Participant> participants_;  ///< ascending node
  CommitMeasures measures_;
  CommitState stage_ = CommitState::idle;
  std::uint32_t done_ = 0;
  Instant stage_began_{};
  Instant deadline_ = kNever;
  Instant next_tick_ = kNever;
  Instant fire_at_{};
  Instant relight_at_{};
  Instant lit_at_{};     ///< the earliest light of that
  Duration patience_{};  ///< until what is unanswered is repeated
  Duration lead_{};
  const MoveTimes move_times_;
  bool has_timeline_ = false;
  bool armed_sent_ = false;
  CommitFailure failure_;
};

}  // namespace loom
