// SPDX-License-Identifier: Apache-2.0
// PassBarrier: when the light of a job's next iteration begins, agreed upon by its nodes alone. A node is ready when its pass
// is over, its lasers are tuned for the first timeslot, and its training has computed: its model's compute time is over, or its
// training process says so. Its job's leader waits for all of them and names one instant. It lights nothing itself (Timelines,
// GrantPlane), and no controller is asked. Messages may be lost, come twice or late: whoever is ready says so until it is
// answered. A pass whose timeslots stayed dark somewhere is played again, at once, whoever has computed or not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "agents/commit/pass_gathering.hpp"
#include "agents/commit/timelines.hpp"
#include "agents/envelope_sender.hpp"
#include "agents/grant/plane.hpp"
#include "agents/training/training_pace.hpp"
#include "core/message.hpp"

namespace loom {

/// Since the light was laid.
struct PassCounters {
  std::uint64_t passes = 0;      ///< that began, the first included
  std::uint64_t iterations = 0;  ///< that began
  std::uint64_t replayed = 0;    ///< passes that were the one before once more; the leader's
  std::uint64_t late = 0;        ///< passes that were heard of when their light was to be there already
};

/// Since the agent started.
struct PassBarrierCounters {
  std::uint64_t passes = 0;          ///< that the leader began
  std::uint64_t missed = 0;          ///< timeslots that stayed dark
  std::uint64_t other_revision = 0;  ///< words about light that was laid by another revision
  std::uint64_t other_clock = 0;     ///< words whose instants mean nothing here
  std::uint64_t strangers = 0;       ///< readiness of no member, or an instant of somebody else than the leader
  std::uint64_t implausible = 0;     ///< a pass that is not the next one, an instant beyond limits::kPassLeadNs
  std::uint64_t repeated = 0;        ///< heard before
  std::uint64_t untimely = 0;        ///< of the training process: of an iteration that it may not speak of now
};

class PassBarrier {
 public:
  PassBarrier(const EnvelopeSender& envelopes, Timelines& timelines, GrantPlane& grants);

  /// The light of plan->iterations is laid: its first pass begins with it.
  void begin(std::shared_ptr<const NodePlan> plan);
  /// No pass after the one that plays.
  void end(StepContext context);
  void receive(StepContext context, NodeId from, const Envelope& envelope, const PassReady& ready);
  void receive(StepContext context, NodeId from, const Envelope& envelope, const PassBegin& begin);
  /// From this node's training process.
  void receive(StepContext context, const TrainingReady& ready);
  /// To the controller, from a leader; nobody acknowledges it.
  void report(StepContext context) const;
  /// Everything that time and the devices make possible now.
  void advance(StepContext context);

  bool is_on() const { return plan_ != nullptr; }
  /// What it works by; null: nothing.
  const IterationPlan* plan() const { return plan_ == nullptr ? nullptr : &*plan_->iterations; }
  std::uint64_t pass() const { return pass_; }  ///< the present one, from 1; 0: none
  const PassCounters& passes() const { return passes_; }
  const PassBarrierCounters& counters() const { return counters_; }

 private:
  enum class Phase : std::uint8_t { playing, over, ready };
  bool leads() const { return plan()->leader == envelopes_.node; }
  bool is_of_this_light(const Envelope& envelope);
  Duration first_guard() const;
  std::uint64_t phase_of(std::uint64_t pass) const { return (pass - 1) % plan()->phases; }
  bool is_paced_by_training() const { return plan()->paced_by == PacedBy::training && phase_of(pass_ + 1) == 0; }
  void report_unlawful(StepContext context, NodeId from, std::string_view what) const;
  void finish_pass(StepContext context);
  void prepare_next(StepContext context);
  void say(StepContext context, bool is_ready);
  void gather(StepContext context, NodeId from, const PassReady& ready);
  void begin_next(StepContext context);
  void play(StepContext context, const PassBegin& begin);

  const EnvelopeSender& envelopes_;
  Timelines& timelines_;
  GrantPlane& grants_;
  std::shared_ptr<const NodePlan> plan_;
  Phase phase_ = Phase::playing;
  std::uint64_t pass_ = 0;
  PassEnd end_;                         ///< of the pass before
  Instant ended_{};                     ///< when it was over here
  std::optional<DeviceId> tuned_last_;  ///< of the lasers that were not yet when it was over
  std::optional<Instant> tuned_at_;     ///< for the pass to come
  std::optional<Instant> computed_at_;  ///< likewise
  Deadline wake_{kPassTimer};           ///< the model has computed; or what was said is said again
  TrainingPace pace_;
  bool is_unsent_ = false;  ///< the training process has bytes left of the present pass
  // The leader's.
  PassGathering gathering_;
  PassBegin begun_;  ///< the last one
  PassCounters passes_;
  PassBarrierCounters counters_;
};

/// Errors: invalid_argument, out_of_range, naming value and limit.
Result<void> check_iteration_plan(const NodePlan& plan, NodeId node, std::uint32_t nodes);

}  // namespace loom
