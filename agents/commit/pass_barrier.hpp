// PassBarrier: when the light of a job's next iteration begins, agreed upon by its nodes alone. A node is ready when its pass
// is over, its model has computed, and its lasers are tuned for the first timeslot. Its job's leader waits for all of them and
// names one instant. It lights nothing itself (Timelines, GrantPlane), and no controller is asked. Messages may be lost, come
// twice or late: whoever is ready says so until it is answered. A pass whose timeslots stayed dark somewhere is played again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "agents/commit/timelines.hpp"
#include "agents/envelope_sender.hpp"
#include "agents/grant/plane.hpp"
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
};

class PassBarrier {
 public:
  PassBarrier(const EnvelopeSender& envelopes, Timelines& timelines, GrantPlane& grants);

  /// The light of plan->iterations is laid: its first pass begins with it.
  void begin(std::shared_ptr<const NodePlan> plan);
  /// No pass after the one that plays.
  void end();
  void receive(StepContext context, NodeId from, const Envelope& envelope, const PassReady& ready);
  void receive(StepContext context, NodeId from, const Envelope& envelope, const PassBegin& begin);
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
  enum class Phase : std::uint8_t { playing, computing, ready };
  bool leads() const { return plan()->leader == envelopes_.node; }
  bool is_of_this_light(const Envelope& envelope);
  bool is_tuned() const { return plan_->grants || timelines_.is_tuned(); }
  Duration first_guard() const;
  std::uint64_t phase_of(std::uint64_t pass) const { return (pass - 1) % plan()->phases; }
  void report_unlawful(StepContext context, NodeId from, std::string_view what) const;
  void keep(std::vector<Duration>& into, Duration length) const;
  void say_ready(StepContext context);
  void gather(StepContext context, NodeId from, const PassReady& ready);
  void begin_next(StepContext context);
  void play(StepContext context, const PassBegin& begin);

  const EnvelopeSender& envelopes_;
  Timelines& timelines_;
  GrantPlane& grants_;
  std::shared_ptr<const NodePlan> plan_;
  Phase phase_ = Phase::playing;
  std::uint64_t pass_ = 0;
  std::uint32_t missed_ = 0;  ///< of the pass before
  Instant ready_since_{};
  Deadline wake_{kPassTimer};  ///< the model has computed; readiness is said again
  // The leader's.
  std::vector<bool> is_ready_;  ///< by member, for the pass after begun_
  std::size_t ready_ = 0;
  std::uint64_t missed_sum_ = 0;
  PassBegin begun_;  ///< the last one
  std::uint64_t missed_of_all_ = 0;
  Instant began_{};                ///< light of the present iteration
  std::vector<Duration> lengths_;  ///< of the last iterations, a ring of limits::kIterationsKept
  std::vector<Duration> waits_;    ///< likewise
  PassCounters passes_;
  PassBarrierCounters counters_;
};

/// Errors: invalid_argument, out_of_range, naming value and limit.
Result<void> check_iteration_plan(const NodePlan& plan, NodeId node, std::uint32_t nodes);

}  // namespace loom
