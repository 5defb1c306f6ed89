// SPDX-License-Identifier: Apache-2.0
// What the machines of the fast plane hear and ask for. A sink of fixed size: a step of theirs never allocates, so no effect
// here owns memory. Stands beside core/step.hpp, whose effects carry envelopes and may allocate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "core/grant.hpp"
#include "core/result.hpp"

namespace loom {

// --- events --------------------------------------------------------------------------------------------------------------

/// The transport has proven that `from` said it.
struct GrantReceived {
  NodeId from;
  GrantMessage message;
};
/// The collective library has `bytes` for a destination.
struct StreamOffered {
  StreamId stream;
  Bytes bytes;
};
/// A row of the grant table was carried out or dropped: lit in [lit_from, dark_from), which is empty if it never was.
struct RowEnded {
  GrantRow row;
  Instant lit_from{};
  Instant dark_from{};
};
/// An idle transmitter is on a receiver's wavelength, dark, as PreTuneRequest asked.
struct TunedAhead {
  std::uint32_t transmitter = 0;
  NodeId destination;
};
/// The instant that the last step returned has come, or the first step of an incarnation.
struct GrantTick {};

using GrantEvent = std::variant<GrantTick, GrantReceived, StreamOffered, RowEnded, TunedAhead>;

// --- effects -------------------------------------------------------------------------------------------------------------

struct SendGrant {
  NodeId to;
  GrantChannel channel = GrantChannel::supervisory;
  GrantMessage message;
};
/// Into the grant table; rows of one transmitter come in the order of their triggers.
struct WriteRow {
  GrantRow row;
};
/// An idle transmitter may go to this wavelength in the dark, before anything is granted. Permits no light.
struct PreTuneRequest {
  std::uint32_t transmitter = 0;
  NodeId destination;
};

enum class StreamEnd : std::uint8_t {
  sent,         ///< every byte has left
  unreachable,  ///< the arbiter has been silent for too long
  refused,      ///< unlawful, known already, or no room: never asked for
};

struct StreamOver {
  StreamId stream;
  StreamEnd end = StreamEnd::sent;
};

using GrantEffect = std::variant<SendGrant, WriteRow, PreTuneRequest, StreamOver>;

/// Collects the effects of one step in order. Real-time safe.
class GrantSink {
 public:
  static constexpr std::size_t kCapacity = 48;

  void emit(const GrantEffect& effect) {
    LOOM_ASSERT(count_ < kCapacity);
    effects_[count_++] = effect;
  }
  std::span<const GrantEffect> effects() const { return {effects_.data(), count_}; }
  void clear() { count_ = 0; }

 private:
  std::array<GrantEffect, kCapacity> effects_{};
  std::size_t count_ = 0;
};

}  // namespace loom
