// SPDX-License-Identifier: Apache-2.0
// The literal tables of the fast plane: what a request is to an arbiter, and what a grant is to a sender. They know no
// clock and no queue; arbiter and sender carry out what they say. docs/oddl_fast_plane.md prints the same tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loom {

/// What an arbiter holds of one source.
enum class AskState : std::uint8_t {
  empty,    ///< nothing, or a grant ran out unanswered
  queued,   ///< waits for its window
  granted,  ///< its window stands
  closed,   ///< served, or no longer wanted
};
/// A request's number against the last one of its source. A newer incarnation of the sender is always newer.
enum class RequestAge : std::uint8_t { older, same, newer };
enum class RequestReaction : std::uint8_t { drop, queue, report_queued, repeat_grant };

/// Real-time safe.
constexpr RequestReaction react(AskState state, RequestAge age) {
  using enum RequestReaction;
  constexpr std::array<std::array<RequestReaction, 3>, 4> kTable{{
      // older, same, newer
      {drop, queue, queue},          // empty
      {drop, report_queued, queue},  // queued
      {drop, repeat_grant, queue},   // granted
      {drop, drop, queue},           // closed
  }};
  return kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(age)];
}

/// What a grant is to the sender that hears it; the first that fits.
enum class GrantKind : std::uint8_t {
  misdirected,         ///< for another source, or not from its destination
  unlawful,            ///< a window that ends before it starts, is longer or further ahead than any lawful one; or a number
  other_incarnation,   ///< of an incarnation of the sender that is yet to come: forged
  former_incarnation,  ///< of a former incarnation of the sender
  former_epoch,        ///< of a former incarnation of the arbiter
  standing,            ///< accepted already
  seen,                ///< answered already, and not standing: never to be lit again
  unwanted,            ///< no stream of ours asks with this number
  wanted,
};
constexpr std::string_view to_string(GrantKind kind) {
  constexpr std::array<std::string_view, 9> kWords{
      "for another source or not from its destination",
      "of a window that is none, or longer or further ahead than any lawful one",
      "for an incarnation of this sender that is yet to come",
      "for a former incarnation of this sender",
      "of a former incarnation of the arbiter",
      "of a row that stands",
      "answered already",
      "for a stream that does not ask",
      "wanted",
  };
  return kWords[static_cast<std::size_t>(kind)];
}
enum class GrantReaction : std::uint8_t { drop, refuse, accept_again, judge };

/// Real-time safe.
constexpr GrantReaction react(GrantKind kind) {
  using enum GrantReaction;
  constexpr std::array<GrantReaction, 9> kTable{
      drop,          // misdirected
      drop,          // unlawful
      drop,          // other_incarnation
      refuse,        // former_incarnation: our light of then is out
      drop,          // former_epoch
      accept_again,  // standing
      refuse,        // seen
      refuse,        // unwanted
      judge,         // wanted
  };
  return kTable[static_cast<std::size_t>(kind)];
}

}  // namespace loom
