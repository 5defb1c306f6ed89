// SPDX-License-Identifier: Apache-2.0
// GrantPlane: the fast plane of one node, as its agent runs it: StreamSender, ReceiverArbiter and GrantExecutor of the light
// that was laid last. It offers the streams that the plan names, speaks with its peers, and needs no controller for any of it.
// It begins and ends with the light of a commit, never lights anything without a grant, and decides for its own receiver only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/envelope_sender.hpp"
#include "agents/grant/arbiter.hpp"
#include "agents/grant/executor.hpp"
#include "agents/grant/sender.hpp"
#include "core/message.hpp"

namespace loom {

/// When one stream got its light. Instants of this agent's clock.
struct GrantTimes {
  StreamId stream;
  Instant asked{};            ///< first request with its number
  Instant received = kNever;  ///< first message of the arbiter about it: queued, or the grant itself
  Instant granted{};          ///< the grant that was accepted
  Instant lit_from{};         ///< proven
  Instant dark_from{};        ///< ordered dark; equal to lit_from: it never lit
  Bytes sent;                 ///< of this grant
  bool operator==(const GrantTimes&) const = default;
};

struct GrantPlaneCounters {
  std::uint64_t other_revision = 0;  ///< words about light that was laid by another revision
  std::uint64_t other_clock = 0;     ///< words whose instants mean nothing here
  std::uint64_t strangers = 0;       ///< from nodes that the plan does not name
  std::uint64_t implausible = 0;     ///< words about an epoch that is yet to come
  std::uint64_t forged = 0;          ///< grants that no arbiter gives, requests and answers that no sender makes
  std::uint64_t answered_dark = 0;   ///< grants refused because our lasers are latched off
  std::uint64_t unreachable = 0;     ///< streams whose arbiter was silent for too long; offered again
  std::uint64_t times_lost = 0;      ///< GrantTimes that nobody took in time
};

class GrantPlane {
 public:
  /// `nodes`: of the fabric. `executor`: outlives the plane.
  GrantPlane(const EnvelopeSender& envelopes, GrantExecutor& executor, std::uint32_t nodes);

  /// The light of `plan` was routed and is proven dark: machines of a new incarnation. plan.grants is set; its map is lawful.
  void begin(StepContext context, std::shared_ptr<const NodePlan> plan);
  /// Nothing is granted, asked or lit any more; somebody else darkens the lasers.
  void end();
  /// Our lasers are latched off: we send nothing, and tell who grants us that we are dark. Our receiver goes on being granted.
  void halt();

  /// The streams of this number, from `at` on. Precondition: all that was offered before was sent.
  void begin_pass(StepContext context, Instant at, std::uint64_t number);
  /// Of a plan with iterations: all was sent; once each. Nothing of it stayed dark: grants are asked for again.
  bool take_pass_end();

  /// A word of an agent; what is wrong with it is counted, and named aloud if it is a forgery.
  void receive(StepContext context, NodeId from, const Envelope& envelope, const GrantPlaneMessage& grant_message);
  /// Everything that time and the devices make possible now.
  void advance(StepContext context);
  /// CycleDone once more, until the cap: nobody acknowledges it.
  void repeat_done(StepContext context);
  /// A new incarnation of the controller asks who we are: see Timelines.
  void send_again() { repeats_left_ = is_done() && !plan_->iterations && !done_at_.is_set() ? kDoneRepeats : repeats_left_; }

  bool is_on() const { return plan_ != nullptr; }
  /// The map that it works by; null: none.
  const GrantMap* map() const { return plan_ == nullptr ? nullptr : &*plan_->grants; }
  bool works(DeviceId laser) const;
  /// All that was offered was sent.
  bool is_done() const { return is_on() && sent_ == offered_; }
  const GrantPlaneCounters& counters() const { return counters_; }
  const StreamSender* sender() const { return sender_ ? &*sender_ : nullptr; }
  const ReceiverArbiter* arbiter() const { return arbiter_ ? &*arbiter_ : nullptr; }
  /// What became of the grants since the last call, in order of their ends.
  std::vector<GrantTimes> take_times();

 private:
  struct Asked {
    std::uint64_t number = 0;
    Instant at{};
    Instant received = kNever;
  };
  struct Again {
    OfferedStream stream;
    Instant at{};
  };
  void step_sender(StepContext context, const GrantEvent& event);
  void step_arbiter(StepContext context, const GrantEvent& event);
  void carry_out(StepContext context, const GrantSink& sink);
  void send(StepContext context, const SendGrant& order);
  void note_sent(StepContext context, const SendGrant& order);
  void note_received(StepContext context, const GrantMessage& message);
  void note_ended(const RowEnded& ended);
  void write(StepContext context, const GrantRow& row);
  void finish(StepContext context, const StreamOver& over);
  void offer(StepContext context, const OfferedStream& stream);
  void offer_again(StepContext context);
  void offer_all(StepContext context);
  void finish_all(StepContext context);
  void say_done(StepContext context);
  void answer_dark(StepContext context, NodeId from, const StreamGrant& grant);
  bool advance_once(StepContext context);
  void report_forgery(StepContext context, NodeId from, const StreamGrant& grant);
  void report_unlawful(StepContext context, NodeId from, const GrantMessage& message, std::uint64_t before);
  void report_overdue(StepContext context);
  void send_done(StepContext context) const;
  void reset();

  const EnvelopeSender& envelopes_;
  GrantExecutor& executor_;
  std::uint32_t nodes_ = 0;
  std::shared_ptr<const NodePlan> plan_;
  std::optional<StreamSender> sender_;
  std::optional<ReceiverArbiter> arbiter_;
  Instant sender_wake_ = kNever;
  Instant arbiter_wake_ = kNever;
  Deadline wake_{kGrantTimer};
  Deadline edge_{kGrantEdgeTimer, Precision::exact};
  std::vector<RowEnded> ended_;
  std::vector<TunedAhead> tuned_;
  std::vector<RowEnded> unwritten_;   ///< rows that the executor would not take
  std::vector<Bytes> left_;           ///< of map()->sends
  std::vector<std::size_t> nearest_;  ///< indices of map()->sends, in the order in which they are offered
  std::vector<Again> again_;
  std::uint64_t number_ = 0;  ///< of the streams that are offered
  std::size_t offered_ = 0;
  std::size_t sent_ = 0;  ///< of them
  bool is_pass_over_ = false;
  Deadline pass_at_{kPassStartTimer};  ///< when the streams of the next pass are offered
  Deadline done_at_{kPassTimer};       ///< the model has computed: the controller may go on to the next stage
  static constexpr int kDoneRepeats = 20;
  int repeats_left_ = 0;
  std::vector<Asked> asked_;                 ///< by destination
  std::vector<GrantTimes> lit_;              ///< accepted, not over
  std::vector<GrantTimes> times_;            ///< over
  std::array<std::uint64_t, 9> reported_{};  ///< grants by kind, up to which forgeries were told
  std::optional<NodeId> reported_overdue_;
  Instant overdue_since_ = kNever;
  GrantPlaneCounters counters_;
};

/// The machines' options under a map. Multiples of the control latency and of the quantum; ours.
SenderOptions sender_options(const GrantMap& map, NodeId node, std::uint32_t nodes);
ArbiterOptions arbiter_options(const GrantMap& map, NodeId node, std::uint32_t nodes, LeaseEnd lease_end);
/// Whether machines can be made of it. Errors: invalid_argument, out_of_range, naming value and limit.
Result<void> check_grant_map(const GrantMap& map, NodeId node, std::uint32_t nodes);

}  // namespace loom
