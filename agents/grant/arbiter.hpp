// SPDX-License-Identifier: Apache-2.0
// ReceiverArbiter: grants the windows of one receive wavelength, oldest request first, the shortest of equals. A window is a
// lease that ends by itself, so a lost word or a dead peer costs time and never light upon light; a restarted arbiter grants
// nothing before every lease of its former incarnation has run out. It never sees a clock or another arbiter. oddl
// (reconstruction).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "agents/grant/effects.hpp"
#include "agents/grant/rules.hpp"
#include "core/digest.hpp"
#include "core/grant.hpp"

namespace loom {

/// When a window is over whose sender says nothing more.
enum class LeaseEnd : std::uint8_t {
  by_itself,   ///< with its lease: the sender's table goes on and darkens although its agent has died
  by_message,  ///< only when the sender, of this incarnation or the next, says that it is dark: a laser that a dead process had
               ///< lit is lit
};

struct ArbiterOptions {
  NodeId node;              ///< whose receiver
  std::uint64_t epoch = 1;  ///< > 0, rises with every incarnation of this node's agent
  std::uint32_t nodes = 0;  ///< sources are 0 .. nodes-1
  /// Nobody was ever granted this receiver, or a commit has proven all of its light dark: no former leases are waited for.
  /// Only whoever knows may say so; by_message nobody else may begin, since no wait is long enough.
  bool is_first_incarnation = false;
  GrantTimings timings;
  Duration quantum = std::chrono::milliseconds{1};      ///< Qmax: the longest stream that is granted whole
  Duration slack = std::chrono::microseconds{2};        ///< of a lease beyond its bytes: at least a sender's patience
  Duration repeat = std::chrono::nanoseconds{3'000};    ///< of a grant that nobody has answered
  Duration age_grain = std::chrono::microseconds{1};    ///< requests of one grain are of one age: the shorter goes first
  Duration starvation = std::chrono::milliseconds{20};  ///< the senders' own: whoever has asked for longer goes by age alone
  std::uint32_t iterations = 3;                         ///< refusals in a row until it pauses for a round trip
  std::uint32_t ahead = 2;  ///< standing grants: 1 = the next waits for the last to end, 2 = it is granted under its tail
  LeaseEnd lease_end = LeaseEnd::by_itself;  ///< by_message needs ahead = 1: nobody may be let in before the last is known dark
};

/// Of an exchange (streams of one collective), the one whose turn it is is waited for at most this part of a window, and what
/// is closer in age is of one age.
inline constexpr std::int64_t kTurnShare = 4;

constexpr Duration turn_of(const ArbiterOptions& options, Bytes remaining) {
  return std::min(options.quantum, time_of(remaining, options.timings.rate)) / kTurnShare;
}

/// How long before its window a grant is sent: it travels, is refused once, and the next one travels and tunes.
constexpr Duration lead_of(const ArbiterOptions& options) { return 3 * options.timings.control + tuning_of(options.timings); }

/// No grant that was sent by `t` permits light after `t` + this: the wait of a restarted arbiter.
constexpr Duration lease_reach_of(const ArbiterOptions& options) {
  const Duration turn = options.quantum / kTurnShare;
  return lead_of(options) + turn + guard_of(options.timings) + overhead_of(options.timings) + options.quantum + options.slack;
}

struct ArbiterCounters {
  std::uint64_t requests = 0;    ///< new ones
  std::uint64_t duplicates = 0;  ///< requests that were known
  std::uint64_t stale = 0;       ///< requests older than what is known, or served
  std::uint64_t grants = 0;      ///< repeats not counted
  std::uint64_t repeats = 0;
  std::uint64_t accepts = 0;
  std::uint64_t refusals = 0;
  std::uint64_t releases = 0;
  std::uint64_t unanswered = 0;  ///< windows that ended without a word
  std::uint64_t unreleased = 0;  ///< windows that were accepted and ended without a release
  std::uint64_t overdue = 0;     ///< by_message: windows that ended before their sender had said that it is dark
  std::uint64_t foreign = 0;     ///< answers to no standing grant, or not from its source, or of another incarnation of it
  std::uint64_t unlawful = 0;    ///< requests for another receiver, or beyond a limit
};

class ReceiverArbiter {
 public:
  /// Everything is allocated here. The first step is a GrantTick of its incarnation; from then the old leases are waited for.
  explicit ReceiverArbiter(const ArbiterOptions& options);

  /// Returns when to step next; not later than now: at once. Real-time safe; O(sources that wait).
  Instant step(Instant now, const GrantEvent& event, GrantSink& sink);

  const ArbiterCounters& counters() const { return counters_; }
  std::uint64_t epoch() const { return options_.epoch; }
  std::size_t waiting() const { return queue_.size(); }
  std::size_t standing() const { return standing_count_; }
  /// Whose darkness is waited for beyond its window; nobody under by_itself.
  std::optional<NodeId> overdue() const;
  /// What was to be waited for until before `now` is no state any more.
  void fold(Digest& digest, Instant now) const;

 private:
  static constexpr std::size_t kStandingMax = 2;
  /// What one source asks.
  struct Ask {
    AskState state = AskState::empty;
    std::uint64_t sender_epoch = 0;
    std::uint64_t number = 0;
    StreamId stream;
    Bytes remaining;
    Instant since{};
    Instant not_before{};  ///< the sender has no transmitter until then
    bool is_tuned = false;
  };
  struct Standing {
    StreamGrant grant;
    Instant busy_until{};  ///< end of the lease, or what the sender promised
    Instant answer_by{};   ///< until then the next grant waits for this one's answer
    Instant repeat_at{};
    bool is_promised = false;
    bool is_overdue = false;  ///< by_message: its time is over and its darkness unknown
  };

  void start(Instant now);
  void receive(Instant now, const GrantReceived& received, GrantSink& sink);
  void receive_request(Instant now, NodeId from, const StreamRequest& request, GrantSink& sink);
  void receive_accept(const StreamAccept& accept);
  void receive_refusal(Instant now, const StreamRefusal& refusal);
  void receive_release(Instant now, const StreamRelease& release);
  /// That an answer speaks of, from this incarnation of its sender or, without one, from any; null: counted as foreign.
  Standing* standing_of(const GrantKey& key, const StreamId& stream, std::optional<std::uint64_t> sender_epoch);
  void close(Standing& standing, AskState state);
  void free_from(Instant now, Instant dark_at, const Standing& standing);
  void close_ended(Instant now);
  void repeat_grants(Instant now, GrantSink& sink);
  bool grant_next(Instant now, GrantSink& sink);
  Instant clear_from() const;
  Instant window_start(Instant now, std::uint32_t source) const;
  Instant grant_at() const;
  enum class Among : std::uint8_t { free, all };
  /// Who goes next among all that wait, or among those whose senders are free in time.
  std::uint32_t pick(Instant now, Among among) const;
  std::uint32_t in_turn(Instant now, std::uint32_t first, Instant until) const;
  bool reports_next() const;
  void report_next(Instant now, GrantSink& sink);
  void send_queued(std::uint32_t source, GrantSink& sink) const;
  void grant(Instant now, std::uint32_t source, Instant start, GrantSink& sink);
  Instant wake(Instant now) const;

  ArbiterOptions options_;
  std::vector<Ask> asks_;             ///< by source
  std::vector<std::uint32_t> queue_;  ///< sources that wait; any order, never an output's
  Standing standing_[kStandingMax];   ///< in the order of their windows
  std::size_t standing_count_ = 0;
  std::uint64_t sequence_ = 0;
  Instant floor_{};  ///< no window before
  Instant pause_until_{};
  std::uint32_t refused_in_a_row_ = 0;
  bool started_ = false;
  std::optional<std::uint32_t> reported_next_;  ///< this source was told that it is next
  ArbiterCounters counters_;
};

}  // namespace loom
