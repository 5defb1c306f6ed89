// SPDX-License-Identifier: Apache-2.0
// The session table, row by row.
#include <catch2/catch.hpp>

#include "controller/control/session.hpp"

namespace loom {
namespace {

constexpr Duration kSuspect = std::chrono::milliseconds{150};
constexpr Duration kDead = std::chrono::milliseconds{300};

Instant at_ms(std::int64_t ms) { return Instant{std::chrono::milliseconds{ms}}; }

}  // namespace

TEST_CASE("an agent that was never greeted is asked for its hello") {
  AgentSession session;
  CHECK(session.on(AgentSessionTrigger::word, at_ms(0)) == AgentSessionAction::demand_hello);
  CHECK(session.state() == AgentSessionState::absent);
  CHECK(session.on(AgentSessionTrigger::hello, at_ms(1)) == AgentSessionAction::welcome);
  CHECK(session.state() == AgentSessionState::live);
  CHECK(session.on(AgentSessionTrigger::word, at_ms(2)) == AgentSessionAction::none);
}

TEST_CASE("silence makes an agent suspect, then dead once, and a word revives it") {
  AgentSession session;
  session.on(AgentSessionTrigger::hello, at_ms(0));
  CHECK(session.judge_silence(at_ms(149), kSuspect, kDead) == AgentSessionAction::none);
  CHECK(session.state() == AgentSessionState::live);
  CHECK(session.judge_silence(at_ms(150), kSuspect, kDead) == AgentSessionAction::none);
  CHECK(session.state() == AgentSessionState::suspect);
  CHECK(session.is_present());
  CHECK(session.judge_silence(at_ms(300), kSuspect, kDead) == AgentSessionAction::report_dead);
  CHECK(session.judge_silence(at_ms(400), kSuspect, kDead) == AgentSessionAction::none);
  CHECK_FALSE(session.is_present());
  session.on(AgentSessionTrigger::word, at_ms(500));
  CHECK(session.state() == AgentSessionState::live);
}

TEST_CASE("an agent that was never received is not reported dead") {
  AgentSession session;
  CHECK(session.judge_silence(at_ms(10'000), kSuspect, kDead) == AgentSessionAction::none);
  CHECK(session.state() == AgentSessionState::absent);
}

}  // namespace loom
