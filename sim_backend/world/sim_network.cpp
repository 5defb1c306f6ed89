// SPDX-License-Identifier: Apache-2.0
// The road of one message: lost? cut off? when? once or twice? Each question is one draw, asked in this order for every
// message.
#include "sim_backend/world/sim_network.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

constexpr std::uint32_t kNobody = 0xffff'ffff;

}  // namespace

class SimNetwork::Endpoint final : public MessageSeam {
 public:
  Endpoint(SimNetwork& network, std::uint32_t index, Peer self, std::string principal, Role role, Faults faults)
      : network_(network), index_(index), self_(self), principal_(std::move(principal)), role_(role), faults_(faults) {}

  void on_receive(Receive receive) override { receive_ = std::move(receive); }
  void on_refuse(Refuse) override {}  // every simulated key is right
  void send(Peer to, std::string_view bytes) override { network_.send(index_, to, bytes); }

  SimNetwork& network_;
  std::uint32_t index_;
  Peer self_;
  std::string principal_;
  Role role_;
  Faults faults_;
  bool joined_ = true;
  Receive receive_;
  Endpoint* first_ = nullptr;    ///< of a second process that speaks as the same peer: the one that it took over from
  Instant moves_over_{};         ///< of an agent: until then it is connected to the first
  std::vector<Instant> latest_;  ///< by destination: when the last message in order arrives there
};

SimNetwork::SimNetwork(TimeSeam& time, NetworkOptions options, std::uint64_t seed)
    : time_(time), options_(options), random_(Random::of_part(seed, 0x6e657477)) {}

SimNetwork::~SimNetwork() = default;

MessageSeam& SimNetwork::attach(Peer self, std::string principal, Role role, Faults faults) {
  LOOM_ASSERT(find(self) == nullptr);
  const auto index = static_cast<std::uint32_t>(endpoints_.size());
  endpoints_.push_back(std::make_unique<Endpoint>(*this, index, self, std::move(principal), role, faults));
  index_[self] = index;
  if (self.kind == Peer::Kind::agent) {
    agent_index_.resize(std::max<std::size_t>(agent_index_.size(), self.id + 1), kNobody);
    agent_index_[self.id] = index;
  }
  return *endpoints_.back();
}

SimNetwork::Endpoint* SimNetwork::find(Peer peer) {
  if (peer.kind == Peer::Kind::agent) {
    const bool known = peer.id < agent_index_.size() && agent_index_[peer.id] != kNobody;
    return known ? endpoints_[agent_index_[peer.id]].get() : nullptr;
  }
  const auto found = index_.find(peer);
  return found == index_.end() ? nullptr : endpoints_[found->second].get();
}

void SimNetwork::set_joined(Peer peer, bool joined) {
  Endpoint* endpoint = find(peer);
  LOOM_ASSERT(endpoint != nullptr);
  endpoint->joined_ = joined;
}

bool SimNetwork::is_joined(Peer peer) {
  const Endpoint* endpoint = find(peer);
  return endpoint != nullptr && endpoint->joined_;
}

void SimNetwork::crash(Peer peer, std::uint32_t lost_per_million) {
  Endpoint* dead = find(peer);
  LOOM_ASSERT(dead != nullptr);
  orphan(*dead, lost_per_million);
}

MessageSeam& SimNetwork::take_over(Peer peer, Duration over) {
  Endpoint* first = find(peer);
  LOOM_ASSERT(first != nullptr && peer.kind != Peer::Kind::agent && first->first_ == nullptr);
  for (const auto& endpoint : endpoints_) {
    endpoint->moves_over_ = time_.now() + random_.between(Duration{}, over);
  }
  const auto index = static_cast<std::uint32_t>(endpoints_.size());
  endpoints_.push_back(std::make_unique<Endpoint>(*this, index, peer, first->principal_, first->role_, first->faults_));
  endpoints_.back()->first_ = first;
  index_[peer] = index;
  return *endpoints_.back();
}

void SimNetwork::end_first(Peer peer) {
  Endpoint* second = find(peer);
  LOOM_ASSERT(second != nullptr && second->first_ != nullptr);
  orphan(*second->first_, 0);
  second->first_ = nullptr;
}

SimNetwork::Endpoint& SimNetwork::destination_of(const Endpoint& from, Endpoint& to) {
  const bool to_first = to.first_ != nullptr && from.self_.kind == Peer::Kind::agent && time_.now() < from.moves_over_;
  return to_first ? *to.first_ : to;
}

void SimNetwork::orphan(Endpoint& dead, std::uint32_t lost_per_million) {
  dead.receive_ = nullptr;
  for (std::size_t place = 0; place < in_flight_.size(); ++place) {
    InFlight& message = in_flight_[place];
    if (!flying_[place]) {
      continue;
    }
    const bool unsent = message.from == dead.index_ && random_.chance(lost_per_million);
    message.orphaned = message.orphaned || unsent || message.to == dead.index_;
  }
}

void SimNetwork::send(std::uint32_t from, Peer to, std::string_view bytes) {
  ++counters_.sent;
  Endpoint* destination = find(to);
  if (destination == nullptr) {
    ++counters_.unknown;
    return;
  }
  destination = &destination_of(*endpoints_[from], *destination);
  const bool lost = random_.chance(options_.loss_per_million);
  const bool doubled = random_.chance(options_.duplication_per_million);
  if (!endpoints_[from]->joined_ || !destination->joined_) {
    ++counters_.cut;
    return;
  }
  const bool spared = endpoints_[from]->faults_ == Faults::spared || destination->faults_ == Faults::spared;
  if (lost && !spared) {
    ++counters_.lost;
    return;
  }
  launch(from, destination->index_, bytes);
  if (doubled && !spared) {
    ++counters_.doubled;
    launch(from, destination->index_, bytes);
  }
}

void SimNetwork::launch(std::uint32_t from, std::uint32_t to, std::string_view bytes) {
  const Duration delay = random_.between(options_.delay_min, options_.delay_max);
  const bool reordered = random_.chance(options_.reorder_per_million);
  Instant arrival = time_.now() + delay;
  const bool spared = endpoints_[from]->faults_ == Faults::spared || endpoints_[to]->faults_ == Faults::spared;
  if (reordered && !spared) {
    ++counters_.reordered;
    arrival += random_.between(Duration{0}, options_.reorder_delay);
  } else {
    std::vector<Instant>& latest = endpoints_[from]->latest_;
    if (latest.size() <= to) {
      latest.resize(to + 1);
    }
    arrival = std::max(arrival, latest[to]);
    latest[to] = arrival;
  }
  std::uint32_t place = 0;
  if (free_places_.empty()) {
    place = static_cast<std::uint32_t>(in_flight_.size());
    in_flight_.emplace_back();
    flying_.push_back(false);
  } else {
    place = free_places_.back();
    free_places_.pop_back();
  }
  in_flight_[place].from = from;
  in_flight_[place].to = to;
  in_flight_[place].bytes.assign(bytes);
  in_flight_[place].orphaned = false;
  flying_[place] = true;
  time_.call_at(arrival, Precision::ordinary, [this, place] { deliver(place); });
}

void SimNetwork::deliver(std::uint32_t place) {
  // Out of the table first: receiving may send, and sending may grow the table.
  InFlight message = std::move(in_flight_[place]);
  flying_[place] = false;
  Endpoint& from = *endpoints_[message.from];
  Endpoint& to = *endpoints_[message.to];
  if (message.orphaned) {
    ++counters_.orphaned;
  } else if (!from.joined_ || !to.joined_) {
    ++counters_.cut;
  } else if (to.receive_) {
    ++counters_.delivered;
    to.receive_(from.self_, from.principal_, from.role_, message.bytes);
  }
  in_flight_[place].bytes = std::move(message.bytes);  // its memory serves the next message
  free_places_.push_back(place);
}

}  // namespace loom
