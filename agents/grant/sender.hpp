// SPDX-License-Identifier: Apache-2.0
// StreamSender: the transmitting half of ODDL's fast plane at one node. A virtual output queue per destination, whose head
// asks its receiver's arbiter; at most k grants at an instant are accepted, each becomes a row of the grant table. It never
// lights without a standing grant, never decides for a receiver, and never asks what time it is. oddl (reconstruction).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "agents/grant/effects.hpp"
#include "agents/grant/rules.hpp"
#include "agents/grant/table.hpp"
#include "core/digest.hpp"
#include "core/grant.hpp"

namespace loom {

struct SenderOptions {
  NodeId node;
  std::uint64_t epoch = 1;         ///< > 0, rises with every incarnation of this node's agent
  std::uint32_t nodes = 0;         ///< destinations are 0 .. nodes-1
  std::uint32_t transmitters = 1;  ///< k
  std::uint32_t streams_max = 1024;
  GrantTimings timings;
  Duration repeat = std::chrono::microseconds{3};       ///< of a request that nobody has heard; doubles up to `keepalive`
  Duration keepalive = std::chrono::milliseconds{1};    ///< of a request that waits: a restarted arbiter learns of it
  Duration give_up = std::chrono::milliseconds{20};     ///< silence of an arbiter until a stream is given up aloud
  Duration patience = std::chrono::microseconds{2};     ///< lateness that is better than a refusal: its round trip
  Duration starvation = std::chrono::milliseconds{20};  ///< a stream that has asked for longer goes before all younger ones
  /// Of streams that are offered at one instant each asks so much later than the one before it (kStaggersMax at most). Longer
  /// than a round trip: the first has its grant before the second asks, so no receiver waits for a refusal. 0: all at once.
  Duration stagger{};
};

struct SenderCounters {
  std::uint64_t requests = 0;
  std::uint64_t accepts = 0;
  std::uint64_t refusals = 0;
  std::uint64_t repeats = 0;
  std::array<std::uint64_t, 9> grants{};  ///< by GrantKind
  std::uint64_t unexpected = 0;           ///< other messages: for another, or only arbiters hear them
};

class StreamSender {
 public:
  /// Everything is allocated here. The first step is a GrantTick of its incarnation; its transmitters are dark before it.
  explicit StreamSender(const SenderOptions& options);

  /// Returns when to step next; not later than now: at once. Real-time safe; O(destinations that are asked + k).
  Instant step(Instant now, const GrantEvent& event, GrantSink& sink);

  const SenderCounters& counters() const { return counters_; }
  std::uint32_t queued() const { return queued_; }  ///< streams that are not over
  std::uint64_t epoch() const { return options_.epoch; }
  /// Whether a row of this key stands: the one licence to emit.
  bool has_standing(const GrantKey& key, NodeId destination) const;
  void fold(Digest& digest) const;

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffffU;
  struct Stream {
    StreamId id;
    Bytes remaining;
    Instant since{};
    std::uint32_t next = kNone;  ///< in its queue or in the free list
  };
  struct Destination {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
    std::uint64_t number = 0;         ///< of the last request
    std::uint64_t arbiter_epoch = 0;  ///< newest one seen
    std::uint64_t last_sequence = 0;  ///< newest grant seen of that epoch
    bool is_asking = false;
    bool is_next = false;  ///< its arbiter says that we are
    Instant repeat_at{};
    Duration interval{};
    Instant received_at{};
  };
  /// Where a transmitter without a row is tuned to.
  struct Tuning {
    std::optional<NodeId> to;
    bool is_known = false;  ///< it is there; else on its way
  };
  /// A stream that left its queue for a row.
  struct Promise {
    std::uint32_t stream = kNone;
    GrantRow row;
    Bytes granted;
  };
  /// Where a granted window would fall.
  struct Fit {
    std::uint32_t transmitter = 0;
    Instant from{};   ///< of the light, at the receiver
    Duration late{};  ///< behind what an idle transmitter could do
    Bytes bytes;
    Instant free_at{};
    bool is_tuned = false;  ///< the transmitter will be on this wavelength without tuning
  };

  void offer(Instant now, const StreamOffered& offered, GrantSink& sink);
  bool is_known(const StreamId& stream) const;
  void enqueue(std::uint32_t stream);
  std::uint32_t dequeue(Destination& destination);
  void recycle(std::uint32_t stream);
  void ask_next(Instant now, NodeId to, GrantSink& sink, Duration wait = {});
  void send_request(Instant now, NodeId to, GrantSink& sink, bool is_update = false);
  void report_busy(Instant now, GrantSink& sink);
  Instant free_at(Instant now, NodeId to) const;
  void stop_asking(NodeId to);
  bool is_tuned(NodeId to) const;
  Duration ahead_of(std::uint32_t transmitter, NodeId to) const;
  void pre_tune(Instant now, GrantSink& sink);
  void report_retuned(Instant now, const Tuning& before, GrantSink& sink);
  void receive_tuned(Instant now, const TunedAhead& tuned, GrantSink& sink);
  void receive(Instant now, const GrantReceived& received, GrantSink& sink);
  void receive_queued(Instant now, NodeId from, const StreamQueued& queued);
  void receive_grant(Instant now, NodeId from, const StreamGrant& grant, GrantSink& sink);
  GrantKind kind_of(Instant now, NodeId from, const StreamGrant& grant) const;
  bool is_lawful(Instant now, const StreamGrant& grant) const;
  void judge(Instant now, const StreamGrant& grant, GrantSink& sink);
  Fit fit(Instant now, const StreamGrant& grant, Bytes remaining) const;
  bool yields(Instant now, const Stream& stream) const;
  void accept(Instant now, const StreamGrant& grant, const Fit& fit, GrantSink& sink);
  void send_accept(const StreamGrant& grant, const GrantRow& row, GrantSink& sink);
  void refuse(Instant now, const StreamGrant& grant, RefusalReason reason, Instant free_at, GrantSink& sink);
  void end_row(Instant now, const RowEnded& ended, GrantSink& sink);
  void repeat_requests(Instant now, GrantSink& sink);
  void give_up(Instant now, NodeId to, GrantSink& sink);
  const Promise* standing(const GrantKey& key, NodeId destination) const;
  std::uint32_t rows_of(std::uint32_t transmitter) const;
  Instant free_from(Instant now, std::uint32_t transmitter) const;
  Instant wake() const;

  SenderOptions options_;
  std::vector<Stream> streams_;
  std::uint32_t free_ = kNone;
  std::uint32_t queued_ = 0;
  std::vector<Destination> destinations_;
  std::vector<std::uint32_t> asked_;  ///< destinations with a request under way; any order, never an output's
  std::vector<Promise> promises_;     ///< oldest first
  std::vector<Tuning> tunings_;       ///< by transmitter
  SenderCounters counters_;
};

}  // namespace loom
