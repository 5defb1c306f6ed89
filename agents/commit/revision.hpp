// SPDX-License-Identifier: Apache-2.0
// Revision: the life of one revision on an agent as a literal table, state x word -> reaction. It knows no device and no
// clock; agents/commit carries out what the table says. docs/life_of_an_update.md tells the same as a road.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loom {

enum class RevisionState : std::uint8_t {
  idle,        ///< nothing in hand, or the one in hand is confirmed
  preparing,   ///< checked; devices that can hold the next setpoint ready are being made to
  prepared,    ///< Prepared is said; nothing has moved
  armed,       ///< T is known
  going,       ///< T and Go are known, T is to come
  dark,        ///< T has passed without Go: touched transmitters are dark, nothing else moves
  darkening,   ///< T has passed with Go: waiting for the proof that all is dark
  moving,      ///< Darkened is said; lasers and heaters move, switches once they may
  settled,     ///< Settled is said
  relighting,  ///< from Proceed{relight} until light is proven
  lit,         ///< Applied is said
  failed,      ///< one answer was an error: nothing more happens for this revision
};
inline constexpr std::size_t kRevisionStates = 12;
std::string_view to_string(RevisionState state);

enum class RevisionMessage : std::uint8_t {
  arm,
  go,
  move,
  relight,
  abandon,
  confirm,  ///< of the controller
  all_ready,
  fire,
  all_dark,
  all_settled,
  all_lit,
  trouble,  ///< of time and of the devices
};
inline constexpr std::size_t kRevisionMessages = 12;

enum class Reaction : std::uint8_t {
  handle,  ///< go to `next` and do what belongs to it
  again,   ///< the same answer again, if it was given already
  early,   ///< ahead of its stage: dropped and counted, it will be repeated
  drop,    ///< means nothing now
};

struct RevisionStep {
  Reaction reaction = Reaction::drop;
  RevisionState next = RevisionState::idle;
  bool operator==(const RevisionStep&) const = default;
};

/// Real-time safe.
RevisionStep react(RevisionState state, RevisionMessage message);

}  // namespace loom
