// Commit: one revision on its way into the light: prepare, arm, go, darken, move, relight. It repeats what is not answered,
// judges deadlines and measures every stage. It decides nothing about intent and writes no journal: the controller does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/control/facts.hpp"
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
  Instant sent_at{};  ///< the request of the present stage, first time
  Duration lead{};
  FireReport fire;
};

enum class CommitVerdict : std::uint8_t {
  running,
  wants_going,  ///< all armed: make CommitRecord{going} durable, then call go()
  applied,      ///< all applied: make CommitRecord{confirmed} durable, then confirm()
  failed,       ///< see failure() and may_have_moved()
};

class FabricCommit {
 public:
  FabricCommit(std::shared_ptr<const PlanResult> plan, ControllerTimings timings, std::string reason, Instant now);

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
  void fail_with(std::string why);
  /// An agent's process died under it: no fault of what was asked for, so that may be tried again.
  void interrupt(NodeId node);
  bool was_interrupted() const { return interrupted_; }
  /// An agent was too late for an instant: no fault of what was asked for either, unless it happens again and again.
  bool was_late() const { return late_; }
  /// A device was found other than the plan took it for: it was read, and with that the same may be planned again.
  bool was_surprised() const { return surprised_; }
  /// What it took to plan, for the report.
  void set_plan_time(Duration elapsed) { report_.plan = elapsed; }
  /// How long the slowest switch that moves may take beyond the stage's deadline: minutes where a robot does it.
  void set_move_time(Duration longest) { move_time_ = longest; }
  void certify(CertificateReport certificate) { report_.certificate = std::move(certificate); }

  CommitVerdict verdict() const;
  const std::string& failure() const { return failure_; }
  NodeId failed_node() const { return failed_node_; }
  /// That a failed driver of a participant named; nothing: it failed for another reason.
  std::optional<DeviceId> failed_device() const { return failed_device_; }
  void set_ordered_by(std::string principal) { report_.ordered_by = std::move(principal); }
  void set_wall(WallTime started) { report_.started_wall = started; }
  /// Something may have gone dark or moved: the fabric needs a return.
  bool may_have_moved() const { return armed_sent_; }
  Instant next_tick() const { return next_tick_; }
  CommitState stage() const { return stage_; }
  Revision revision() const { return plan_->plan.revision; }
  const PlanResult& plan() const { return *plan_; }
  std::shared_ptr<const PlanResult> shared_plan() const { return plan_; }
  std::uint32_t done() const { return done_; }
  std::uint32_t total() const { return static_cast<std::uint32_t>(participants_.size()); }
  bool takes_part(NodeId node) const { return find(node) != nullptr; }
  /// The measured stages so far.
  CommitReport report(Instant now) const;

 private:
  const Participant* find(NodeId node) const;
  void enter(CommitState stage, Instant now, const EnvelopeHeader& header, EffectSink& sink);
  void set_deadline(Instant now);
  void request(const Participant& participant, const EnvelopeHeader& header, EffectSink& sink) const;
  void advance(Participant& participant, CommitProgress reached, Instant now, const EnvelopeHeader& header, EffectSink& sink);
  void complete_stage(Instant now, const EnvelopeHeader& header, EffectSink& sink);
  void measure_stage(Instant now);
  std::string silent_agents() const;

  std::shared_ptr<const PlanResult> plan_;
  ControllerTimings timings_;
  std::vector<Participant> participants_;  ///< ascending node
  CommitReport report_;
  CommitState stage_ = CommitState::idle;
  std::uint32_t done_ = 0;
  Instant stage_began_{};
  Instant deadline_ = kNever;
  Instant next_tick_ = kNever;
  Instant fire_at_{};
  Instant relight_at_{};
  Duration lead_{};
  Duration move_time_{};
  bool has_timeline_ = false;
  bool armed_sent_ = false;
  bool interrupted_ = false;
  bool late_ = false;
  bool surprised_ = false;
  std::string failure_;
  NodeId failed_node_{~0U};
  std::optional<DeviceId> failed_device_;
  std::vector<Duration> prepare_acks_;
  std::vector<Duration> arm_acks_;
  std::vector<Duration> slacks_;
  std::vector<Duration> latenesses_;
};

}  // namespace loom
