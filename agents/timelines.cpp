// The edges of the timeslots, turned into setpoints.
#include "agents/timelines.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/result.hpp"

namespace loom {

namespace {}  // namespace

Timelines::Timelines(const Voice& voice, DeviceLanes& lanes) : voice_(voice), lanes_(lanes), players_(lanes.size()) {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    players_[i].edge = Deadline(edge_timer(i), Precision::exact);
  }
}

void Timelines::begin(Turn turn, const NodePlan& plan, Instant start) {
  revision_ = plan.revision;
  cycles_ = plan.cycles;
  underflows_ = 0;
  repeats_left_ = 0;
  is_done_ = false;
  cycle_end_.forget();
  if (plan.cycle <= Duration::zero() || plan.cycles == 0) {
    return;
  }
  const bool beyond_time = plan.cycle > Duration::max() / static_cast<std::int64_t>(plan.cycles);
  cycle_end_.set(turn, beyond_time ? kNever : later(start, plan.cycle * static_cast<std::int64_t>(plan.cycles)));
}

void Timelines::play(Turn turn, std::size_t lane, std::shared_ptr<const NodePlan> plan, const DevicePlan& device,
                     Instant start) {
  const bool ours = lanes_.take(lane, Activity::timeline);
  LOOM_ASSERT(ours);
  Player& player = players_[lane];
  player.playback.emplace(std::move(plan), device, start);
  player.first = First::pending;
  player.edge.set(turn, player.playback->at());
}

void Timelines::stop(std::size_t lane) {
  Player& player = players_[lane];
  if (!player.playback) {
    return;
  }
  player.playback.reset();
  player.edge.forget();
  lanes_.release(lane, Activity::timeline);
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

void Timelines::advance(Turn turn) {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    advance(turn, i);
  }
  if (cycle_end_.passed(turn.now)) {
    cycle_end_.forget();
    is_done_ = true;
    say_again();
    say_cycle_done(turn);
  }
}

void Timelines::advance(Turn turn, std::size_t lane) {
  Player& player = players_[lane];
  if (!player.playback) {
    return;
  }
  const bool emitting = lanes_[lane].aim && emits(*lanes_[lane].aim);
  if (player.first == First::pending && emitting && lanes_[lane].progress == Progress::proven &&
      turn.now < player.playback->at()) {
    player.first = First::played;
  }
  const Instant before = player.playback->at();
  while (player.playback->at() <= turn.now) {
    pass_edge(turn, lane);
  }
  if (player.playback->edge() == Playback::Edge::over) {
    player.first = player.first == First::pending ? First::missed : player.first;
    player.playback.reset();  // not stop(): the end of the cycle is still to be told
    lanes_.release(lane, Activity::timeline);
    player.edge.forget();
  } else if (player.playback->at() != before) {
    player.edge.set(turn, player.playback->at());
  }
}

void Timelines::pass_edge(Turn turn, std::size_t lane) {
  switch (players_[lane].playback->edge()) {
    case Playback::Edge::place:
      return place(turn, lane);
    case Playback::Edge::light:
      return light(turn, lane);
    case Playback::Edge::blank:
      return blank(turn, lane);
    case Playback::Edge::over:
      return;
  }
}

void Timelines::place(Turn turn, std::size_t lane) {
  Playback& playback = *players_[lane].playback;
  if (const std::uint64_t missed = playback.catch_up(turn.now); missed > 0) {
    miss(turn, lane, missed);
  }
  if (playback.edge() == Playback::Edge::over) {
    return;
  }
  if (turn.now >= playback.slot_end()) {
    if (emits(playback.slot().setpoint)) {
      miss(turn, lane, 1);
    }
    return playback.next_slot();
  }
  const Setpoint target = darkened(playback.slot().setpoint);
  if (playback.at() <= turn.now && !lanes_[lane].is_proven(target)) {
    lanes_.aim(turn, lane, Activity::timeline, target);
  }
  if (playback.at() <= turn.now) {
    playback.next_edge();
  }
}

void Timelines::light(Turn turn, std::size_t lane) {
  Player& player = players_[lane];
  Playback& playback = *player.playback;
  const Setpoint& target = playback.slot().setpoint;
  if (!lanes_[lane].is_proven(darkened(target))) {
    miss(turn, lane, 1);
  } else if (!emits(target)) {
    player.first = player.first == First::pending ? First::played : player.first;
  } else if (turn.now < playback.slot_end()) {
    lanes_.aim(turn, lane, Activity::timeline, target);
  } else {
    miss(turn, lane, 1);
  }
  playback.next_edge();
}

void Timelines::blank(Turn turn, std::size_t lane) {
  Player& player = players_[lane];
  if (emits(*lanes_[lane].aim)) {
    lanes_.aim(turn, lane, Activity::timeline, darkened(*lanes_[lane].aim));
  }
  if (player.first == First::pending) {
    player.first = First::missed;  // it emitted, but too short for a proof
  }
  player.playback->next_edge();
}

void Timelines::miss(Turn turn, std::size_t lane, std::uint64_t timeslots) {
  if (players_[lane].first == First::pending) {
    players_[lane].first = First::missed;
  }
  const std::uint64_t room = std::numeric_limits<std::uint32_t>::max() - underflows_;
  const bool told = underflows_ > 0;
  underflows_ += static_cast<std::uint32_t>(std::min(timeslots, room));
  if (told) {
    return;  // one alarm a revision; CycleDone has the count
  }
  Alarm alarm{AlarmCode::fire_underflow, {}, lanes_[lane].device->id, {}, {}};
  alarm.evidence = "device " + std::to_string(lanes_[lane].device->id.value) +
                   " was not settled at the end of its guard time in revision " + std::to_string(revision_.value) +
                   ": its timeslot stays dark";
  alarm.next_command = "loom device show " + std::to_string(lanes_[lane].device->id.value);
  alarm.revision = revision_;
  voice_.warn(turn, std::move(alarm));
}

void Timelines::say_cycle_done(Turn turn) const { voice_.say(turn, revision_, CycleDone{cycles_, underflows_}); }

void Timelines::repeat_cycle_done(Turn turn) {
  if (repeats_left_ > 0) {
    --repeats_left_;
    say_cycle_done(turn);
  }
}

}  // namespace loom
