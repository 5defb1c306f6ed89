// SPDX-License-Identifier: Apache-2.0
// Every row of the controller's table of one agent, by what it leads to.
#include <catch2/catch.hpp>
#include <vector>

#include "controller/control/session.hpp"

namespace loom {
namespace {

using S = AgentSessionState;
using T = AgentSessionTrigger;
using A = AgentSessionAction;

Instant at_ms(std::int64_t ms) { return Instant{std::chrono::milliseconds{ms}}; }

AgentSession in(S state) {
  AgentSession session;
  if (state != S::absent) {
    session.on(T::hello, at_ms(10));
  }
  if (state == S::suspect) {
    session.on(T::short_silence, at_ms(20));
  } else if (state == S::dead) {
    session.on(T::long_silence, at_ms(20));
  }
  REQUIRE(session.state() == state);
  return session;
}

TEST_CASE("session: every state answers every trigger as docs/life_of_an_update.md says") {
  struct Row {
    S state;
    T trigger;
    S next;
    A action;
  };
  const std::vector<Row> rows{
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
  };
  for (const Row& row : rows) {
    INFO(to_string(row.state) << " and trigger " << static_cast<int>(row.trigger));
    AgentSession session = in(row.state);
    CHECK(session.on(row.trigger, at_ms(30)) == row.action);
    CHECK(session.state() == row.next);
    const bool is_received = row.trigger == T::hello || row.trigger == T::word;
    CHECK((session.last_received() == at_ms(30)) == is_received);
  }
}

TEST_CASE("session: silence is judged of who is present, at its limits and not before") {
  const Duration suspect = std::chrono::milliseconds{150};
  const Duration dead = std::chrono::milliseconds{300};
  const auto judged = [&](S state, std::int64_t silence_ms) {
    AgentSession session = in(state);
    const A action = session.judge_silence(at_ms(10 + silence_ms), suspect, dead);
    return std::pair{session.state(), action};
  };
  CHECK(judged(S::live, 149) == std::pair{S::live, A::none});
  CHECK(judged(S::live, 150) == std::pair{S::suspect, A::none});
  CHECK(judged(S::live, 299) == std::pair{S::suspect, A::none});
  CHECK(judged(S::live, 300) == std::pair{S::dead, A::report_dead});
  CHECK(judged(S::suspect, 299) == std::pair{S::suspect, A::none});
  CHECK(judged(S::suspect, 300) == std::pair{S::dead, A::report_dead});
  CHECK(judged(S::dead, 900) == std::pair{S::dead, A::none});
  CHECK(judged(S::absent, 900) == std::pair{S::absent, A::none});
}

TEST_CASE("session: who is present is live or suspected") {
  CHECK_FALSE(in(S::absent).is_present());
  CHECK(in(S::live).is_present());
  CHECK(in(S::suspect).is_present());
  CHECK_FALSE(in(S::dead).is_present());
}

}  // namespace
}  // namespace loom
