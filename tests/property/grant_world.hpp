// SPDX-License-Identifier: Apache-2.0
// A small world of the fast plane: N nodes, every message in flight visible, time in ticks. Whoever drives it decides what
// is delivered, lost or doubled, and who dies or restarts. It keeps the light as ground truth, with each node's clock error
// and flight error, and judges it: never two transmitters on one receiver, never light outside a grant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/grant/arbiter.hpp"
#include "agents/grant/sender.hpp"
#include "agents/grant/table.hpp"

namespace loom::testing {

struct GrantOffer {
  Instant at{};
  StreamId stream;
  Bytes bytes;
};

/// A pair that always has a stream to send: what one more of them may do to the others.
struct GrantRival {
  NodeId source;
  NodeId destination;
  Bytes bytes;
};

struct GrantWorldOptions {
  std::uint32_t nodes = 2;
  SenderOptions sender;    ///< node, epoch and nodes are set by the world
  ArbiterOptions arbiter;  ///< likewise
  Duration tick{1000};
  std::vector<Duration> clock_offset{};  ///< by node; empty = 0
  std::vector<Duration> flight{};        ///< true flight from a node; empty = as in the timings
  std::vector<GrantOffer> offers{};      ///< in the order of their instants
  std::vector<GrantRival> rivals{};      ///< one stream of each is open at any instant
  bool is_exchange = false;              ///< the rivals' streams are of one collective
  int proof_ticks = 0;                   ///< by_message: so long may a laser shine on after its order to be dark
  int commit_ticks = 0;                  ///< by_message: within so long of an agent's return its light is routed anew
};

/// Light at a receiver, true time.
struct TrueLight {
  NodeId source;
  std::uint32_t transmitter = 0;
  NodeId destination;
  GrantKey key;
  Instant on{};
  std::optional<Instant> off{};
};

struct FlyingGrant {
  NodeId from;
  NodeId to;
  GrantMessage message;
  Instant sent{};
  std::uint64_t routed_by = 1;  ///< the revision of the light that it is about
};

/// by_message: a row is over, and its laser is not proven dark yet.
struct Darkening {
  NodeId node;
  std::uint32_t transmitter = 0;
  RowEnded ended;
};

struct GrantTally {
  std::uint32_t sent = 0;
  std::uint32_t unreachable = 0;
  std::uint32_t refused = 0;
  Duration lit{};  ///< of all transmitters, light and lock
};

/// Does the message go to its receiver's arbiter, or to its sender?
bool is_to_arbiter(const GrantMessage& message);

class GrantWorld {
 public:
  explicit GrantWorld(const GrantWorldOptions& options);

  Instant now() const { return now_; }
  const std::vector<FlyingGrant>& flying() const { return flying_; }
  const std::string& violation() const { return violation_; }
  const GrantTally& tally() const { return tally_; }
  bool is_alive(std::uint32_t node) const { return nodes_[node].is_alive; }
  bool is_on(std::uint32_t node) const { return nodes_[node].is_on; }
  bool is_by_message() const { return options_.arbiter.lease_end == LeaseEnd::by_message; }
  const StreamSender& sender(std::uint32_t node) const { return nodes_[node].sender; }
  const ReceiverArbiter& arbiter(std::uint32_t node) const { return nodes_[node].arbiter; }

  /// One tick: offers, grant tables, then every machine whose time has come.
  void advance();
  void offer(const StreamId& stream, Bytes bytes);
  void deliver(std::size_t index);
  void lose(std::size_t index);
  void duplicate(std::size_t index);
  /// The agent is gone. Its grant table goes on, as a NIC's would; by_message, what it had lit stays lit.
  void kill(std::uint32_t node);
  /// A new incarnation of the agent: dark at once, epochs one higher, every stream forgotten. By_word it has no plan: it is
  /// silent until the light of all is routed anew.
  void restart(std::uint32_t node);

  // By_word only; grant_world_laid.cpp.
  const std::vector<Darkening>& darkening() const { return darkening_; }
  /// The longest that a stream, over or not, has asked for its light; a row ends the wait, so what is left over waits on.
  Duration longest_wait() const;
  void stop_rivals() { options_.rivals.clear(); }
  /// A laser is dark, and its driver has proven it.
  void prove_dark(std::size_t index);
  /// The lasers of this node are latched off; its arbiter goes on.
  void halt(std::uint32_t node);
  /// A commit: needs every agent, leaves everything dark and silent; each begins anew by itself.
  bool may_reroute() const;
  void reroute();
  bool may_begin(std::uint32_t node) const { return nodes_[node].is_alive && nodes_[node].routed_by < routed_by_; }
  void begin(std::uint32_t node);
  /// Something that has its time is due by now at the latest: a proof, a commit, a beginning.
  bool is_due() const;
  /// Every message one tick after it was sent, no faults, until nothing is left to do or `limit` ticks have passed.
  /// Returns the ticks that it took; nothing if something was still waiting or standing. By_word: first with the dead as they
  /// are, when nobody may wait but for a receiver that is closed; then they return and all is routed anew.
  std::optional<int> settle(int limit);
  std::uint64_t fingerprint() const;
  std::string describe() const;

 private:
  struct Node {
    StreamSender sender;
    ReceiverArbiter arbiter;
    GrantTable table;
    Instant sender_wake{};  ///< of the node's own clock
    Instant arbiter_wake{};
    bool is_alive = true;
    bool is_on = true;       ///< works by a plan; by_message only it may not
    bool is_halted = false;  ///< its lasers are latched off
    std::uint64_t routed_by = 1;

    bool may_send() const { return is_alive && is_on && !is_halted; }
    bool is_at_rest() const {
      return !is_alive || !is_on || ((is_halted || sender.queued() == 0) && arbiter.standing() == 0 && arbiter.waiting() == 0);
    }
  };
  Duration offset(std::uint32_t node) const;
  Duration flight(std::uint32_t node) const;
  Instant local(std::uint32_t node) const { return now_ + offset(node); }
  Node make_node(std::uint32_t node, std::uint64_t epoch) const;
  void run_tables();
  void run_machines();
  void step_sender(std::uint32_t node, const GrantEvent& event);
  void step_arbiter(std::uint32_t node, const GrantEvent& event);
  void carry_out(std::uint32_t node, const GrantSink& sink);
  void handle(std::uint32_t node, const LaserCommand& order, const GrantRow& row);
  void darken(std::uint32_t node, std::uint32_t transmitter);
  void judge(const TrueLight& light);
  void judge_lit(const TrueLight& light);
  bool is_idle() const;
  bool answers_dark(std::uint32_t node, const FlyingGrant& flying);
  std::optional<int> settle_alive(int limit);
  bool waits_for_the_dead_only() const;
  void fold_routed_by(Digest& digest) const;

  GrantWorldOptions options_;
  Instant now_{};
  std::vector<Node> nodes_;
  std::vector<FlyingGrant> flying_;
  std::size_t next_offer_ = 0;
  std::vector<StreamGrant> issued_;
  std::vector<TrueLight> lights_;
  struct Waiting {
    StreamId stream;
    Instant since{};
  };
  struct Ahead {
    NodeId node;
    TunedAhead tuned;
    Instant at{};
  };
  void report_tuned();
  std::vector<Ahead> aheads_;  ///< idle transmitters on their way
  void offer_rivals();
  std::vector<Waiting> waiting_;               ///< of rivals, open
  std::vector<std::uint64_t> rivals_offered_;  ///< by rival
  Duration longest_wait_{};
  std::vector<Darkening> darkening_;
  std::uint64_t routed_by_ = 1;
  Instant changed_at_{};  ///< the last return or commit
  GrantTally tally_;
  std::string violation_;
};

}  // namespace loom::testing
