// When to say hello and when to say that we are alive.
#include "agents/session.hpp"

#include <algorithm>

#include "core/result.hpp"

namespace loom {

namespace {

/// A controller that asks for more heartbeats than this would drown itself.
constexpr Duration kHeartbeatMin = std::chrono::milliseconds{1};

}  // namespace

void Session::enter(SessionEvent event) {
  const auto* row = std::find_if(std::begin(kSessionTable), std::end(kSessionTable),
                                 [&](const SessionRow& each) { return each.from == state_ && each.event == event; });
  LOOM_ASSERT(row != std::end(kSessionTable));
  state_ = row->to;
}

void Session::start(Turn turn) { next_.set(turn, later(turn.now, options_.hello_interval)); }

void Session::hurry(Turn turn) {
  if (state_ == SessionState::greeting) {
    next_.set(turn, turn.now);
  }
}

void Session::welcome(Turn turn, Duration heartbeat_interval) {
  const bool was_joined = state_ == SessionState::joined;
  enter(SessionEvent::welcome);
  options_.heartbeat_interval = std::max(heartbeat_interval, kHeartbeatMin);
  if (!was_joined) {
    next_.set(turn, later(turn.now, options_.heartbeat_interval));
  }
}

void Session::unwelcome(Turn turn) {
  enter(SessionEvent::unwelcome);
  next_.set(turn, later(turn.now, options_.hello_interval * options_.turned_away_factor));
}

void Session::newer_term(Turn turn) {
  enter(SessionEvent::newer_term);
  next_.set(turn, turn.now);
}

Session::Due Session::advance(Turn turn) {
  if (!next_.passed(turn.now)) {
    return Due::nothing;
  }
  if (state_ == SessionState::joined && between(heard_at_, turn.now) >= options_.heartbeat_interval * options_.silence_factor) {
    enter(SessionEvent::silence);
  }
  if (state_ == SessionState::joined) {
    next_.set(turn, next_period(next_.at(), options_.heartbeat_interval, turn.now));
    return Due::heartbeat;
  }
  const std::int64_t factor = state_ == SessionState::turned_away ? options_.turned_away_factor : 1;
  next_.set(turn, next_period(next_.at(), options_.hello_interval * factor, turn.now));
  return Due::hello;
}

}  // namespace loom
