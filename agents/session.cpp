// SPDX-License-Identifier: Apache-2.0
// When to say hello and when to say that we are alive.
#include "agents/session.hpp"

#include <algorithm>

#include "core/result.hpp"
#include "core/timings.hpp"

namespace loom {

namespace {

/// A controller that asks for more heartbeats than this would drown itself.
constexpr Duration kHeartbeatMin = std::chrono::milliseconds{1};
/// So many may be lost in a row before the controller knows news later than it would without rest.
constexpr std::uint32_t kBeatsOfNews = 10;

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
    quiet_beats_ = 0;
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

bool Session::is_resting() const {
  return options_.is_pulsed && state_ == SessionState::joined && quiet_beats_ >= kBeatsOfNews;
}

/// The longest time between two words that is no silence yet, either way.
Duration Session::quiet_interval() const { return options_.heartbeat_interval * kBeatsAtRest; }

void Session::stir(StepContext context) {
  quiet_beats_ = 0;
  const Instant soon = later(context.now, options_.heartbeat_interval);
  if (state_ == SessionState::joined && next_.at() > soon) {
    next_.set(context, soon);
  }
}

Session::Due Session::advance(StepContext context, bool has_news) {
  if (has_news && is_resting()) {
    stir(context);
  }
  if (!next_.passed(context.now)) {
    return Due::nothing;
  }
  if (state_ == SessionState::joined && between(received_at_, context.now) >= quiet_interval() * options_.silence_factor) {
    enter(SessionEvent::silence);
  }
  if (state_ == SessionState::joined) {
    quiet_beats_ = has_news ? 0 : std::min(quiet_beats_ + 1, kBeatsOfNews);
    const Duration interval = is_resting() ? quiet_interval() : options_.heartbeat_interval;
    next_.set(context, next_period(next_.at(), interval, context.now));
    return Due::heartbeat;
  }
  const std::int64_t factor = state_ == SessionState::turned_away ? options_.turned_away_factor : 1;
  next_.set(context, next_period(next_.at(), options_.hello_interval * factor, context.now));
  return Due::hello;
}

}  // namespace loom
