// The agent's session: every row of its table, and when it speaks.
#include "agents/session.hpp"

#include <catch2/catch.hpp>
#include <memory>

namespace loom::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

SessionOptions quick_session() {
  SessionOptions options;
  options.hello_interval = milliseconds{200};
  options.heartbeat_interval = milliseconds{100};
  return options;
}

struct Bench {
  Session session{quick_session()};
  EffectSink sink;
  Instant now{std::chrono::seconds{10}};

  Bench() { session.start(context()); }
  StepContext context() { return {now, &sink}; }
  void join() {
    session.welcome(context(), milliseconds{100});
    session.received(now);
  }
  Session::Due after(Duration time) {
    now += time;
    return session.advance(context());
  }
};

TEST_CASE("every row of the session's table leads where its words say") {
  for (const SessionState from : {SessionState::greeting, SessionState::turned_away, SessionState::joined}) {
    const auto in = [&] {
      auto bench = std::make_unique<Bench>();
      if (from == SessionState::turned_away) {
        bench->session.unwelcome(bench->context());
      } else if (from == SessionState::joined) {
        bench->join();
      }
      REQUIRE(bench->session.state() == from);
      return bench;
    };
    auto welcomed = in();
    welcomed->join();
    CHECK(welcomed->session.state() == SessionState::joined);
    auto unwelcome = in();
    unwelcome->session.unwelcome(unwelcome->context());
    CHECK(unwelcome->session.state() == SessionState::turned_away);
    auto newer = in();
    newer->session.newer_term(newer->context());
    CHECK(newer->session.state() == SessionState::greeting);
    CHECK(newer->session.advance(newer->context()) == Session::Due::hello);  // at once
    auto silent = in();
    silent->after(std::chrono::seconds{60});
    CHECK(silent->session.state() == (from == SessionState::joined ? SessionState::greeting : from));
  }
}

TEST_CASE("five heartbeats without a word are silence, to the nanosecond, and only for who has joined") {
  Bench bench;
  bench.join();
  for (int i = 0; i < 4; ++i) {
    CHECK(bench.after(milliseconds{100}) == Session::Due::heartbeat);
  }
  bench.session.received(bench.now - milliseconds{400} + nanoseconds{1});
  CHECK(bench.after(milliseconds{100}) == Session::Due::heartbeat);
  bench.session.received(bench.now - milliseconds{400});
  CHECK(bench.after(milliseconds{100}) == Session::Due::hello);
  CHECK(bench.session.state() == SessionState::greeting);
}

TEST_CASE("a hello is hurried while the agent greets, and not once it was answered") {
  Bench greeting;
  CHECK(greeting.session.advance(greeting.context()) == Session::Due::nothing);
  greeting.session.hurry(greeting.context());
  CHECK(greeting.session.advance(greeting.context()) == Session::Due::hello);
  Bench joined;
  joined.join();
  joined.session.hurry(joined.context());
  CHECK(joined.session.advance(joined.context()) == Session::Due::nothing);
  Bench turned_away;
  turned_away.session.unwelcome(turned_away.context());
  turned_away.session.hurry(turned_away.context());
  CHECK(turned_away.session.advance(turned_away.context()) == Session::Due::nothing);
}

TEST_CASE("a welcome that is repeated puts no heartbeat off") {
  Bench bench;
  bench.join();
  bench.now += milliseconds{60};
  bench.session.welcome(bench.context(), milliseconds{100});
  CHECK(bench.after(milliseconds{40}) == Session::Due::heartbeat);
}

TEST_CASE("who was turned away greets ten times as seldom") {
  Bench bench;
  bench.session.unwelcome(bench.context());
  CHECK(bench.after(milliseconds{1'999}) == Session::Due::nothing);
  CHECK(bench.after(milliseconds{1}) == Session::Due::hello);
  CHECK(bench.after(milliseconds{1'999}) == Session::Due::nothing);
  CHECK(bench.after(milliseconds{1}) == Session::Due::hello);
}

}  // namespace
}  // namespace loom::test
