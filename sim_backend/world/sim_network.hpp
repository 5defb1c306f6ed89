// SPDX-License-Identifier: Apache-2.0
// SimNetwork: the MESSAGES seam of the simulation. Bytes between controller, agents and operators are delayed, lost, doubled,
// reordered and cut off by a seeded generator; they are never damaged. Time comes from any TimeSeam, chance from the seed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/seams.hpp"
#include "sim_backend/random.hpp"

namespace loom {

struct NetworkOptions {
  Duration delay_min = std::chrono::microseconds{20};
  Duration delay_max = std::chrono::microseconds{200};
  std::uint32_t loss_per_million = 0;
  std::uint32_t duplication_per_million = 0;
  /// Chance that a message is held back by up to `reorder_delay` while later ones of its link overtake it. The others keep
  /// their order, as over TCP.
  std::uint32_t reorder_per_million = 0;
  Duration reorder_delay = std::chrono::milliseconds{5};
};

struct NetworkCounters {
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;
  std::uint64_t doubled = 0;
  std::uint64_t reordered = 0;
  std::uint64_t cut = 0;       ///< dropped by a partition
  std::uint64_t orphaned = 0;  ///< its sender or its receiver died while it was under way
  std::uint64_t unknown = 0;   ///< for a peer that is not there
};

class SimNetwork {
 public:
  /// Do this peer's links suffer loss, duplication and reordering? An operator's are spared: what a person types over a
  /// connection that broke, a person types again.
  enum class Faults : std::uint8_t { suffered, spared };

  SimNetwork(TimeSeam& time, NetworkOptions options, std::uint64_t seed);
  ~SimNetwork();

  /// The seam of one peer, living as long as the network. `principal` and `role` are what its key would prove.
  /// Precondition: one endpoint a peer.
  MessageSeam& attach(Peer self, std::string principal, Role role, Faults faults = Faults::suffered);
  /// Cut off: nothing in, nothing out, messages under way included, until `joined` again.
  void set_joined(Peer peer, bool joined);
  bool is_joined(Peer peer);
  /// The peer's process died: nobody listens, what is under way to it is gone, and of what it sent and what has not arrived
  /// yet each message is gone with this chance (it stood in a buffer of the process). A new incarnation listens by on_receive.
  void crash(Peer peer, std::uint32_t lost_per_million);
  /// A second process speaks as this peer from now on, from elsewhere, while the first goes on: answers the second one's seam.
  /// What is sent to the peer reaches the second, except what agents send that are still connected to the first: each of them
  /// moves over at an instant of its own within `over`. The first may still send to anybody.
  MessageSeam& take_over(Peer peer, Duration over);
  /// The first one's process ends, as in crash.
  void end_first(Peer peer);
  /// The faults from now on; messages under way keep theirs.
  void set_options(NetworkOptions options) { options_ = options; }
  const NetworkOptions& options() const { return options_; }
  const NetworkCounters& counters() const { return counters_; }

 private:
  class Endpoint;
  struct InFlight {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::string bytes;
    bool orphaned = false;
  };
  void send(std::uint32_t from, Peer to, std::string_view bytes);
  void launch(std::uint32_t from, std::uint32_t to, std::string_view bytes);
  void deliver(std::uint32_t place);
  Endpoint* find(Peer peer);
  Endpoint& destination_of(const Endpoint& from, Endpoint& to);
  void orphan(Endpoint& dead, std::uint32_t lost_per_million);

  TimeSeam& time_;
  NetworkOptions options_;
  Random random_;
  NetworkCounters counters_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::map<Peer, std::uint32_t> index_;
  std::vector<std::uint32_t> agent_index_;  ///< by node id, so that the common peer costs no search
  std::vector<InFlight> in_flight_;         ///< the places of `free_places_` hold old messages
  std::vector<bool> flying_;                ///< by place
  std::vector<std::uint32_t> free_places_;
};

}  // namespace loom
