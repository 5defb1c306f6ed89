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
  Session session;
  CHECK(session.on(SessionTrigger::word, at_ms(0)) == SessionAction::demand_hello);
  CHECK(session.state() == SessionState::absent);
  CHECK(session.on(SessionTrigger::hello, at_ms(1)) == SessionAction::welcome);
  CHECK(session.state() == SessionState::live);
  CHECK(session.on(SessionTrigger::word, at_ms(2)) == SessionAction::none);
}

TEST_CASE("silence makes an agent suspect, then dead once, and a word revives it") {
  Session session;
  session.on(SessionTrigger::hello, at_ms(0));
  CHECK(session.judge_silence(at_ms(149), kSuspect, kDead) == SessionAction::none);
  CHECK(session.state() == SessionState::live);
  CHECK(session.judge_silence(at_ms(150), kSuspect, kDead) == SessionAction::none);
  CHECK(session.state() == SessionState::suspect);
  CHECK(session.is_present());
  CHECK(session.judge_silence(at_ms(300), kSuspect, kDead) == SessionAction::report_dead);
  CHECK(session.judge_silence(at_ms(400), kSuspect, kDead) == SessionAction::none);
  CHECK_FALSE(session.is_present());
  session.on(SessionTrigger::word, at_ms(500));
  CHECK(session.state() == SessionState::live);
}

TEST_CASE("an agent that was never heard is not reported dead") {
  Session session;
  CHECK(session.judge_silence(at_ms(10'000), kSuspect, kDead) == SessionAction::none);
  CHECK(session.state() == SessionState::absent);
}

}  // namespace loom
