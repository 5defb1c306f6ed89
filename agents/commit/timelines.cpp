// SPDX-License-Identifier: Apache-2.0
// The edges of the timeslots, turned into setpoints.
#include "agents/commit/timelines.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {

namespace {

/// In the dark, where its first timeslot will have it.
Setpoint tuned_for_first(const DevicePlan& device) { return darkened(device.timeline.front().setpoint); }

}  // namespace

Timelines::Timelines(const EnvelopeSender& envelopes, DeviceUnits& units)
    : envelopes_(envelopes), units_(units), players_(units.size()) {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    players_[i].edge = Deadline(edge_timer(i), Precision::exact);
  }
}

void Timelines::begin(StepContext context, const NodePlan& plan, Instant start) {
  revision_ = plan.revision;
  cycles_ = plan.cycles;
  underflows_ = 0;
  repeats_left_ = 0;
  is_done_ = false;
  cycle_end_.forget();
  is_pass_over_ = false;
  pass_end_ = {};
  pass_ = Duration{};
  if (plan.cycle <= Duration::zero() || plan.cycles == 0) {
    return;
  }
  const bool beyond_time = plan.cycle > Duration::max() / static_cast<std::int64_t>(plan.cycles);
  const Duration length = beyond_time ? Duration::max() : plan.cycle * static_cast<std::int64_t>(plan.cycles);
  pass_ = plan.iterations ? length : Duration{};
  cycle_end_.set(context, later(start, sum(length, plan.compute_after)));
}

void Timelines::play(StepContext context, std::size_t unit, std::shared_ptr<const NodePlan> plan, const DevicePlan& device,
                     Instant start) {
  const bool ours = units_.take(unit, Activity::timeline);
  LOOM_ASSERT(ours);
  is_at_work_ = true;
  Player& player = players_[unit];
  player.plan = plan->iterations ? plan : nullptr;
  player.device = &device;
  player.is_tuning = false;
  player.playback.emplace(std::move(plan), device, start);
  player.first = First::pending;
  player.edge.set(context, player.playback->at());
}

void Timelines::stop(std::size_t unit) {
  Player& player = players_[unit];
  const bool holds = player.playback || player.is_tuning;
  player.plan.reset();
  player.device = nullptr;
  player.is_tuning = false;
  if (!holds) {
    return;
  }
  player.playback.reset();
  player.edge.forget();
  units_.release(unit, Activity::timeline);
  if (!plays_any()) {
    cycle_end_.forget();
  }
}

void Timelines::stop_all() {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    stop(i);
  }
  cycle_end_.forget();
}

void Timelines::withdraw(Revision revision) {
  if (revision_ == revision) {
    cycle_end_.forget();
    repeats_left_ = 0;
    is_done_ = false;
  }
}

bool Timelines::plays_any() const {
  return std::any_of(players_.begin(), players_.end(), [](const Player& each) { return each.playback.has_value(); });
}

void Timelines::advance(StepContext context) {
  for (std::size_t i = 0; is_at_work_ && i < players_.size(); ++i) {
    advance(context, i);
  }
  is_at_work_ =
      is_at_work_ && std::ranges::any_of(players_, [](const Player& each) { return each.playback || each.is_tuning; });
  if (cycle_end_.passed(context.now)) {
    cycle_end_.forget();
    if (pass_ > Duration{}) {
      is_pass_over_ = true;
      return;
    }
    is_done_ = true;
    send_again();
    send_cycle_done(context);
  }
}

void Timelines::advance(StepContext context, std::size_t unit) {
  Player& player = players_[unit];
  if (!player.playback) {
    return player.is_tuning ? tune(context, unit) : void();
  }
  const bool emitting = units_[unit].commanded && emits(*units_[unit].commanded);
  if (player.first == First::pending && emitting && units_[unit].progress == Progress::proven &&
      context.now < player.playback->at()) {
    player.first = First::played;
  }
  const Instant before = player.playback->at();
  while (player.playback->at() <= context.now) {
    pass_edge(context, unit);
  }
  if (player.playback->edge() == Playback::Edge::over) {
    player.first = player.first == First::pending ? First::missed : player.first;
    player.playback.reset();  // not stop(): the end of the cycle is still to be told
    player.edge.forget();
    finish_pass(context, unit);
  } else if (player.playback->at() != before) {
    player.edge.set(context, player.playback->at());
  }
}

/// Until it is there. One that takes no order now is asked again; in between, audits and resets may have it.
void Timelines::tune(StepContext context, std::size_t unit) {
  constexpr Duration kAgain = std::chrono::milliseconds{50};
  Player& player = players_[unit];
  const Setpoint first = tuned_for_first(*player.device);
  if (units_[unit].claim.owner() == Activity::timeline && units_[unit].progress == Progress::under_way) {
    return;
  }
  units_.release(unit, Activity::timeline);
  if (units_[unit].is_proven(first)) {
    player.is_tuning = false;
    player.edge.forget();
  } else if (!player.edge.is_set()) {
    player.edge.set(context, later(context.now, kAgain));
  } else if (player.edge.passed(context.now)) {
    player.edge.forget();
    if (units_.take(unit, Activity::timeline)) {
      units_.command(context, unit, Activity::timeline, first);
    }
  }
}

/// Where the timeslots are played again the laser is tuned for the first one at once, so that no light waits for it.
void Timelines::finish_pass(StepContext context, std::size_t unit) {
  Player& player = players_[unit];
  player.is_tuning = player.plan != nullptr;
  if (!player.is_tuning) {
    return units_.release(unit, Activity::timeline);
  }
  const Setpoint first = tuned_for_first(*player.device);
  if (!units_[unit].is_proven(first)) {
    units_.command(context, unit, Activity::timeline, first);
  }
}

void Timelines::begin_pass(StepContext context, Instant start) {
  is_pass_over_ = false;
  is_at_work_ = true;
  pass_end_ = {};
  cycle_end_.set(context, later(start, pass_));
  for (std::size_t i = 0; i < players_.size(); ++i) {
    Player& player = players_[i];
    if (player.plan == nullptr) {
      continue;
    }
    player.is_tuning = false;
    if (!units_.take(i, Activity::timeline)) {
      const auto& timeline = player.device->timeline;
      const auto dark = std::ranges::count_if(timeline, [](const TimedSetpoint& each) { return emits(each.setpoint); });
      miss(context, i, static_cast<std::uint64_t>(dark));
      continue;
    }
    player.playback.emplace(player.plan, *player.device, start);
    player.edge.set(context, player.playback->at());
  }
  advance(context);
}

std::optional<PassEnd> Timelines::take_pass_end() {
  return std::exchange(is_pass_over_, false) ? std::optional(pass_end_) : std::nullopt;
}

std::optional<DeviceId> Timelines::untuned() const {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    const Player& player = players_[i];
    if (player.plan != nullptr && !units_[i].is_proven(tuned_for_first(*player.device))) {
      return units_[i].device->id;
    }
  }
  return std::nullopt;
}

Duration Timelines::first_guard() const {
  const auto played = std::ranges::find_if(players_, [](const Player& each) { return each.plan != nullptr; });
  return played == players_.end() ? Duration{} : played->device->timeline.front().guard;
}

void Timelines::pass_edge(StepContext context, std::size_t unit) {
  switch (players_[unit].playback->edge()) {
    case Playback::Edge::place:
      return place(context, unit);
    case Playback::Edge::light:
      return light(context, unit);
    case Playback::Edge::blank:
      return blank(context, unit);
    case Playback::Edge::over:
      return;
  }
}

void Timelines::place(StepContext context, std::size_t unit) {
  Playback& playback = *players_[unit].playback;
  if (const std::uint64_t missed = playback.catch_up(context.now); missed > 0) {
    miss(context, unit, missed);
  }
  if (playback.edge() == Playback::Edge::over) {
    return;
  }
  if (context.now >= playback.slot_end()) {
    if (emits(playback.slot().setpoint)) {
      miss(context, unit, 1);
    }
    return playback.next_slot();
  }
  const Setpoint target = darkened(playback.slot().setpoint);
  if (playback.at() <= context.now && !units_[unit].is_proven(target)) {
    units_.command(context, unit, Activity::timeline, target);
  }
  if (playback.at() <= context.now) {
    playback.next_edge();
  }
}

void Timelines::light(StepContext context, std::size_t unit) {
  Player& player = players_[unit];
  Playback& playback = *player.playback;
  const Setpoint& target = playback.slot().setpoint;
  if (!units_[unit].is_proven(darkened(target))) {
    miss(context, unit, 1);
  } else if (!emits(target)) {
    player.first = player.first == First::pending ? First::played : player.first;
  } else if (context.now < playback.slot_end()) {
    units_.command(context, unit, Activity::timeline, target);
  } else {
    miss(context, unit, 1);
  }
  playback.next_edge();
}

void Timelines::blank(StepContext context, std::size_t unit) {
  Player& player = players_[unit];
  if (emits(*units_[unit].commanded)) {
    units_.command(context, unit, Activity::timeline, darkened(*units_[unit].commanded));
  }
  if (player.first == First::pending) {
    player.first = First::missed;  // it emitted, but too short for a proof
  }
  player.playback->next_edge();
}

void Timelines::miss(StepContext context, std::size_t unit, std::uint64_t timeslots) {
  if (players_[unit].first == First::pending) {
    players_[unit].first = First::missed;
  }
  const std::uint64_t room = std::numeric_limits<std::uint32_t>::max() - underflows_;
  const bool reported = underflows_ > 0;
  underflows_ += static_cast<std::uint32_t>(std::min(timeslots, room));
  pass_end_.missed += static_cast<std::uint32_t>(std::min<std::uint64_t>(timeslots, ~std::uint32_t{} - pass_end_.missed));
  pass_end_.device = pass_end_.device ? pass_end_.device : units_[unit].device->id;
  if (reported) {
    return;  // one alarm a revision; CycleDone has the count
  }
  Alarm alarm{AlarmCode::fire_underflow, {}, units_[unit].device->id, {}, {}};
  alarm.evidence = format_text("device {} was not settled at the end of its guard time in revision {}: its timeslot stays dark",
                               units_[unit].device->id.value, revision_.value);
  alarm.next_command = format_text("loom device show {}", units_[unit].device->id.value);
  alarm.revision = revision_;
  envelopes_.warn(context, std::move(alarm));
}

void Timelines::send_cycle_done(StepContext context) const {
  envelopes_.send(context, revision_, CycleDone{cycles_, underflows_});
}

void Timelines::repeat_cycle_done(StepContext context) {
  if (repeats_left_ > 0) {
    --repeats_left_;
    send_cycle_done(context);
  }
}

}  // namespace loom
