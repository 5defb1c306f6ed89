// SPDX-License-Identifier: Apache-2.0
// One sender or one arbiter on the bench, and the words that it hears.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "agents/grant/arbiter.hpp"
#include "agents/grant/sender.hpp"

namespace loom::testing {

inline constexpr NodeId kSource{1};
inline constexpr NodeId kOther{2};
inline constexpr NodeId kReceiver{0};
inline constexpr Instant kStart{std::chrono::seconds{1}};

inline StreamId stream_to_receiver(NodeId source, std::uint64_t collective = 1) {
  return {JobId{7}, collective, source, kReceiver};
}

inline Instant after_us(std::int64_t us) { return kStart + std::chrono::microseconds{us}; }

/// Runs one step and keeps its effects.
template <class Machine>
struct GrantRig {
  Machine machine;
  std::vector<GrantEffect> effects{};
  Instant wake{};

  void step(Instant now, const GrantEvent& event) {
    GrantSink sink;
    wake = machine.step(now, event, sink);
    effects.assign(sink.effects().begin(), sink.effects().end());
  }
  void receive(Instant now, NodeId from, const GrantMessage& message) { step(now, GrantReceived{from, message}); }

  template <class Body>
  std::vector<Body> delivered() const {
    std::vector<Body> bodies;
    for (const GrantEffect& effect : effects) {
      const auto* send = std::get_if<SendGrant>(&effect);
      const auto* body = send == nullptr ? nullptr : std::get_if<Body>(&send->message);
      if (body != nullptr) {
        bodies.push_back(*body);
      }
    }
    return bodies;
  }
  template <class Kind>
  std::vector<Kind> asked() const {
    std::vector<Kind> kinds;
    for (const GrantEffect& effect : effects) {
      if (const auto* kind = std::get_if<Kind>(&effect)) {
        kinds.push_back(*kind);
      }
    }
    return kinds;
  }
};

inline GrantRig<StreamSender> sender_rig(std::uint32_t transmitters = 1) {
  SenderOptions options;
  options.node = kSource;
  options.epoch = 5;
  options.nodes = 4;
  options.transmitters = transmitters;
  options.streams_max = 4;
  return {StreamSender(options)};
}

inline GrantRig<ReceiverArbiter> arbiter_rig(ArbiterOptions options = {}) {
  options.node = kReceiver;
  options.is_first_incarnation = options.epoch == 1;
  options.nodes = 4;
  return {ReceiverArbiter(options)};
}

inline StreamRequest request_of(NodeId source, std::uint64_t number, std::int64_t bytes, Instant since = kStart) {
  return {stream_to_receiver(source), 1, number, Bytes{bytes}, since};
}

/// What an arbiter of epoch 3 would grant the sender's first request.
inline StreamGrant lawful_grant(std::uint64_t sequence = 1, std::uint64_t number = 1) {
  return {stream_to_receiver(kSource), 5, number, {3, sequence}, after_us(10), after_us(20), Bytes{100'000}};
}

}  // namespace loom::testing
