// SPDX-License-Identifier: Apache-2.0
// The session's transition table.
#include "controller/control/session.hpp"

#include <array>

#include "core/result.hpp"

namespace loom {
namespace {

using S = AgentSessionState;
using T = AgentSessionTrigger;
using A = AgentSessionAction;

constexpr std::array<AgentSessionRow, 16> kTable{{
    {S::absent, T::hello, S::live, A::welcome},
    {S::absent, T::word, S::absent, A::demand_hello},
    {S::absent, T::short_silence, S::absent, A::none},
    {S::absent, T::long_silence, S::absent, A::none},
    {S::live, T::hello, S::live, A::welcome},
    {S::live, T::word, S::live, A::none},
    {S::live, T::short_silence, S::suspect, A::none},
    {S::live, T::long_silence, S::dead, A::report_dead},
    {S::suspect, T::hello, S::live, A::welcome},
    {S::suspect, T::word, S::live, A::none},
    {S::suspect, T::short_silence, S::suspect, A::none},
    {S::suspect, T::long_silence, S::dead, A::report_dead},
    {S::dead, T::hello, S::live, A::welcome},
    {S::dead, T::word, S::live, A::none},
    {S::dead, T::short_silence, S::dead, A::none},
    {S::dead, T::long_silence, S::dead, A::none},
}};

}  // namespace

std::string_view to_string(AgentSessionState state) {
  static constexpr std::array<std::string_view, 4> kWords{"absent", "live", "suspect", "dead"};
  return kWords[static_cast<std::size_t>(state)];
}

AgentSessionAction AgentSession::on(AgentSessionTrigger trigger, Instant now) {
  const std::size_t index = static_cast<std::size_t>(state_) * 4 + static_cast<std::size_t>(trigger);
  const AgentSessionRow& row = kTable[index];
  LOOM_ASSERT(row.state == state_ && row.trigger == trigger);
  state_ = row.next;
  if (trigger == T::hello || trigger == T::word) {
    last_received_ = now;
  }
  return row.action;
}

AgentSessionAction AgentSession::judge_silence(Instant now, Duration suspect_after, Duration dead_after) {
  if (!is_present()) {
    return A::none;
  }
  const Duration silence = now - last_received_;
  if (silence >= dead_after) {
    return on(T::long_silence, now);
  }
  return silence >= suspect_after ? on(T::short_silence, now) : A::none;
}

}  // namespace loom
