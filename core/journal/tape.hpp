// SPDX-License-Identifier: Apache-2.0
// Tape: everything that one machine heard, in order, with the digest of everything heard and answered so far. Played back into
// the same machine it must give the same digests; where it does not, the machine was not a function of what it heard. Only what
// a controller hears has a place here: no bus replies, no interlock contacts.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/step.hpp"

namespace loom {

/// Begins an incarnation of the machine on the tape, or goes on with it in another segment.
struct TapeHead {
  std::string software;
  std::string scenario;             ///< path, as the daemon was given it
  std::uint64_t setup_digest = 0;   ///< of the fabric and the algorithm, see setup_digest()
  std::uint32_t part = 0;           ///< 0: an incarnation begins; else which segment of its incarnation this is
  std::uint64_t events_before = 0;  ///< of this incarnation, in its earlier parts
  bool operator==(const TapeHead&) const = default;
};

struct TapedEvent {
  Instant at{};
  /// Of a Started `records` stay empty, of a MessageArrived the envelope has principal and role alone, of a Planned the result
  /// is the error "no plan was made": the first two are decoded again from `bytes`, the last is planned again.
  Event event;
  std::vector<std::string> bytes;  ///< Started: the journal's rows; MessageArrived: one, the envelope
  std::uint64_t digest = 0;        ///< of the machine's host, after this event's effects
};

using TapeEntry = std::variant<TapeHead, TapedEvent>;

}  // namespace loom
