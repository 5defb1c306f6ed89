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

struct GrantWorldOptions {
  std::uint32_t nodes = 2;
  SenderOptions sender;    ///< node, epoch and nodes are set by the world
  ArbiterOptions arbiter;  ///< likewise
  Duration tick{1000};
  std::vector<Duration> clock_offset{};  ///< by node; empty = 0
  std::vector<Duration> flight{};        ///< true flight from a node; empty = as in the timings
  std::vector<GrantOffer> offers{};      ///< in the order of their instants
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
};

struct GrantTally {
  std::uint32_t sent = 0;
  std::uint32_t unreachable = 0;
  std::uint32_t refused = 0;
  Duration lit{};  ///< of all transmitters, light and lock
};

class GrantWorld {
 public:
  explicit GrantWorld(const GrantWorldOptions& options);

  Instant now() const { return now_; }
  const std::vector<FlyingGrant>& flying() const { return flying_; }
  const std::string& violation() const { return violation_; }
  const GrantTally& tally() const { return tally_; }
  bool is_alive(std::uint32_t node) const { return nodes_[node].is_alive; }
  const StreamSender& sender(std::uint32_t node) const { return nodes_[node].sender; }
  const ReceiverArbiter& arbiter(std::uint32_t node) const { return nodes_[node].arbiter; }

  /// One tick: offers, grant tables, then every machine whose time has come.
  void advance();
  void offer(const StreamId& stream, Bytes bytes);
  void deliver(std::size_t index);
  void lose(std::size_t index);
  void duplicate(std::size_t index);
  /// The agent is gone; its grant table goes on, as a NIC's would.
  void kill(std::uint32_t node);
  /// A new life of the agent: dark at once, epochs one higher, every stream forgotten.
  void restart(std::uint32_t node);
  /// Every message one tick after it was sent, no faults, until nothing is left to do or `limit` ticks have passed.
  /// Returns the ticks that it took; nothing if something was still waiting or standing.
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
  void obey(std::uint32_t node, const LaserOrder& order, const GrantRow& row);
  void darken(std::uint32_t node, std::uint32_t transmitter);
  void judge(const TrueLight& light);
  bool is_idle() const;

  GrantWorldOptions options_;
  Instant now_{};
  std::vector<Node> nodes_;
  std::vector<FlyingGrant> flying_;
  std::size_t next_offer_ = 0;
  std::vector<StreamGrant> issued_;
  std::vector<TrueLight> lights_;
  GrantTally tally_;
  std::string violation_;
};

}  // namespace loom::testing
