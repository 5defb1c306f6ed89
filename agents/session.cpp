// SPDX-License-Identifier: Apache-2.0
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

void Session::start(StepContext context) { next_.set(context, later(context.now, options_.hello_interval)); }

void Session::hurry(StepContext context) {
  if (state_ == SessionState::greeting) {
    next_.set(context, context.now);
  }
}

void Session::welcome(StepContext context, Duration heartbeat_interval) {
  const bool was_joined = state_ == SessionState::joined;
  enter(SessionEvent::welcome);
  options_.heartbeat_interval = std::max(heartbeat_interval, kHeartbeatMin);
  if (!was_joined) {
    next_.set(context, later(context.now, options_.heartbeat_interval));
  }
}

void Session::unwelcome(StepContext context) {
  enter(SessionEvent::unwelcome);
  next_.set(context, later(context.now, options_.hello_interval * options_.turned_away_factor));
}

void Session::newer_term(StepContext context) {
  enter(SessionEvent::newer_term);
  next_.set(context, context.now);
}

Session::Due Session::advance(StepContext context) {
  if (!next_.passed(context.now)) {
    return Due::nothing;
  }
  if (state_ == SessionState::joined &&
      between(received_at_, context.now) >= options_.heartbeat_interval * options_.silence_factor) {
    enter(SessionEvent::silence);
  }
  if (state_ == SessionState::joined) {
    next_.set(context, next_period(next_.at(), options_.heartbeat_interval, context.now));
    return Due::heartbeat;
  }
  const std::int64_t factor = state_ == SessionState::turned_away ? options_.turned_away_factor : 1;
  next_.set(context, next_period(next_.at(), options_.hello_interval * factor, context.now));
  return Due::hello;
}

}  // namespace loom
