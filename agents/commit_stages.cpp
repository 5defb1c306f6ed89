// What a commit does to the devices, stage by stage: blank, move in the dark, light on proof.
#include <algorithm>
#include <string>
#include <utility>

#include "agents/commit.hpp"
#include "core/result.hpp"

namespace loom {

/// A laser whose light stays as it was laid retunes and darkens by itself all the time: that is no reason to touch it.
bool Commit::goes_on_under_grants(const DevicePlan& device) const {
  return !device.touched && grants_.works(device.device) && plan_->grants && *grants_.map() == *plan_->grants;
}

/// Light of the fast plane begins when all of it is proven dark, and ends when any of it is touched.
void Commit::begin_grants(Turn turn) {
  if (plan_->grants && (!grants_.is_on() || *grants_.map() != *plan_->grants)) {
    grants_.begin(turn, plan_);
  }
}

void Commit::choose_parts() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto device = std::find_if(plan_->devices.begin(), plan_->devices.end(),
                                     [&](const DevicePlan& each) { return each.device == lanes_[i].device->id; });
    LOOM_ASSERT(device != plan_->devices.end());  // check_node_plan said so
    parts_[i] = Part{&*device, !goes_on_under_grants(*device) && must_change(lanes_, lanes_[i], *plan_, *device), false, false};
  }
}

/// From arming on no audit may begin on what has to fire at T. What plays a timeline goes on doing so until T.
void Commit::claim_idle_parts() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].changes && lanes_[i].claim.owner() <= Activity::audit) {
      (void)lanes_.take(i, Activity::commit);
    }
  }
}

/// What is to move is read while everybody waits for T; where a laser shares its bus, after that is dark.
void Commit::read_ahead(Turn turn) {
  armed_at_ = turn.now;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    bool is_beside_laser = false;
    for (std::size_t k = 0; k < lanes_.size(); ++k) {
      is_beside_laser = is_beside_laser || (lanes_[k].is_laser() && lanes_[k].device->bus == lanes_[i].device->bus);
    }
    if (parts_[i].changes && !is_beside_laser && lanes_[i].claim.owner() == Activity::commit) {
      lanes_.poll(turn, i);
    }
  }
}

void Commit::fire(Turn turn) {
  fired_at_ = turn.now;
  report_.lateness = between(fire_planned_, turn.now);
  writes_before_ = lanes_.writes();
  fire_at_.forget();
  choose_parts();
  if (grants_.is_on() && (!plan_->grants || *grants_.map() != *plan_->grants)) {
    grants_.end();
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].changes && !lanes_.take(i, Activity::commit)) {
      return trouble(
          turn, {ErrorCode::conflict, "device " + std::to_string(lanes_[i].device->id.value) + " is held by the interlock"});
    }
    if (parts_[i].changes && lanes_[i].is_laser()) {
      timelines_.stop(i);
      aim(turn, i, lanes_.dark(i));
    }
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].changes) {
      timelines_.stop(i);
      lanes_.forget_programme(i);
    }
  }
  if (report_.lateness > options_.late_limit) {
    voice_.warn(turn, {AlarmCode::fire_underflow,
                       {},
                       {},
                       "revision " + std::to_string(revision_.value) + " fired " + in_microseconds(report_.lateness) +
                           " after its instant, the limit is " + in_microseconds(options_.late_limit),
                       "loom node show " + std::to_string(voice_.node.value),
                       revision_});
  }
}

void Commit::aim(Turn turn, std::size_t lane, const Setpoint& setpoint) { lanes_.aim(turn, lane, Activity::commit, setpoint); }

template <class Selects>
bool Commit::all_proven(Turn turn, Selects selects) {
  bool all = true;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes || !selects(i)) {
      continue;
    }
    if (lanes_[i].progress == Progress::failed) {
      device_trouble(turn, i);
      return false;
    }
    all = all && lanes_[i].progress == Progress::proven;
  }
  return all;
}

void Commit::device_trouble(Turn turn, std::size_t lane) {
  const Observation seen = lanes_[lane].driver->observe();
  if (!lanes_[lane].is_laser() && seen.read_at >= fired_at_) {  // its driver found it otherwise after we had looked
    if (const auto error = surprise(lanes_[lane], *parts_[lane].plan, seen.reading)) {
      return trouble(turn, *error);
    }
  }
  const std::string& fault = seen.fault;
  const Device& device = *lanes_[lane].device;
  trouble(turn, {ErrorCode::device_error,
                 "device " + std::to_string(device.id.value) + " (" + device.name +
                     "): " + (fault.empty() ? "its driver gave up" : fault),
                 {},
                 device.id});
}

void Commit::say_darkened(Turn turn) {
  answers_.darkened = Darkened{{}, report_.lateness};
  voice_.say(turn, revision_, *answers_.darkened);
}

void Commit::move_in_dark(Turn turn) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes || !lanes_[i].is_laser()) {
      continue;
    }
    const Setpoint target = darkened(parts_[i].first().setpoint);
    if (!lanes_[i].is_proven(target)) {
      aim(turn, i, target);
    }
  }
}

/// It is read before it moves, so that nothing moves from where nobody expects it: whoever planned the move took away the light
/// that meets it from where he thought that it stood. Its power may have gone since, or an earlier life moved it. What happens
/// after this reading its driver sees: it moves nothing whose kept rows are gone.
bool Commit::is_as_expected(Turn turn, std::size_t index) {
  const Lane& lane = lanes_[index];
  if (lane.polling || lane.progress == Progress::under_way) {
    return false;  // what an abandoned revision began comes to rest first
  }
  const Observation seen = lane.driver->observe();
  const bool is_fresh = seen.read_at >= armed_at_ && seen.health != DeviceHealth::moving;
  if (!is_fresh) {
    if (parts_[index].is_asked && seen.health == DeviceHealth::failed) {
      device_trouble(turn, index);
      return false;
    }
    parts_[index].is_asked = true;
    lanes_.poll(turn, index);
    return false;
  }
  if (const auto error = surprise(lane, *parts_[index].plan, seen.reading)) {
    trouble(turn, *error);
    return false;
  }
  return true;
}

/// What steers nobody else's light moves now, the rest with Proceed{move}. True: all of it moves.
bool Commit::move_expected(Turn turn) {
  bool all = true;
  for (std::size_t i = 0; i < parts_.size() && state_ == RevisionState::moving; ++i) {
    Part& part = parts_[i];
    if (!part.changes || part.has_moved || lanes_[i].is_laser()) {
      continue;
    }
    if (is_as_expected(turn, i) && (may_steer_ || !lanes_[i].steers)) {
      aim(turn, i, part.first().setpoint);
      part.has_moved = true;
    }
    all = all && part.has_moved;
  }
  return all;
}

void Commit::say_settled(Turn turn) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].changes && lanes_[i].fired_at > fired_at_) {
      report_.settle = std::max(report_.settle, between(lanes_[i].fired_at, lanes_[i].proven_at));
    }
  }
  answers_.settled = Settled{{}, report_.settle};
  voice_.say(turn, revision_, *answers_.settled);
}

void Commit::light(Turn turn) {
  light_given_ = true;
  const Instant at = relight_at_.at();
  relight_at_.forget();
  bool plays = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    plays = plays || (parts_[i].changes && !is_static(*parts_[i].plan));
  }
  if (!plan_->grants && (plays || !timelines_.plays_any())) {
    timelines_.begin(turn, *plan_, at);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes) {
      continue;
    }
    if (is_under_grants(*plan_, parts_[i].plan->device)) {
      lanes_.release(i, Activity::commit);
    } else if (!is_static(*parts_[i].plan)) {
      lanes_.release(i, Activity::commit);
      timelines_.play(turn, i, plan_, *parts_[i].plan, at);
    } else if (emits(parts_[i].first().setpoint)) {
      aim(turn, i, parts_[i].first().setpoint);
    }
  }
  begin_grants(turn);
  timelines_.advance(turn);  // the first edge may be now
}

/// A revision that is forgotten while it is being lit ends as dark as one that is forgotten before.
void Commit::withdraw_light(Turn turn) {
  if (!light_given_ || revision_ == applied_) {
    return;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes || !lanes_.take(i, Activity::commit)) {
      continue;
    }
    timelines_.stop(i);
    if (lanes_[i].is_laser() && lanes_[i].aim && emits(*lanes_[i].aim)) {
      aim(turn, i, lanes_.dark(i));
    }
  }
  timelines_.withdraw(revision_);
  if (grants_.is_on() && plan_ != nullptr && plan_->grants && *grants_.map() == *plan_->grants) {
    grants_.end();
  }
}

bool Commit::all_lit(Turn turn) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes || is_static(*parts_[i].plan) || is_under_grants(*plan_, parts_[i].plan->device)) {
      continue;
    }
    if (timelines_.first(i) == Timelines::First::pending) {
      return false;
    }
    if (timelines_.first(i) == Timelines::First::missed) {
      trouble(turn, {ErrorCode::timed_out, "underflow: device " + std::to_string(lanes_[i].device->id.value) +
                                               " was not settled for its first timeslot of revision " +
                                               std::to_string(revision_.value)});
      return false;
    }
  }
  return all_proven(turn, [this](std::size_t i) { return lanes_[i].claim.owner() == Activity::commit; });
}

void Commit::say_applied(Turn turn) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes) {
      if (is_as_found(lanes_, lanes_[i], *parts_[i].plan) && lanes_[i].aim != parts_[i].first().setpoint) {
        lanes_.keep_as_found(i, parts_[i].first().setpoint, Programme{plan_, parts_[i].plan});
      }
      continue;
    }
    lanes_.keep_programme(i, Programme{plan_, parts_[i].plan});
    if (lanes_[i].aim && emits(*lanes_[i].aim)) {
      report_.dark = std::max(report_.dark, between(fired_at_, lanes_[i].proven_at));
    }
  }
  lanes_.release_all(Activity::commit);
  report_.writes = lanes_.writes() - writes_before_;
  applied_ = revision_;
  applied_answer_ = Applied{{}, report_};
  answers_.applied = applied_answer_;
  voice_.say(turn, revision_, applied_answer_);
}

bool Commit::advance_moving(Turn turn) {
  const bool all_move = move_expected(turn);
  const bool settled = state_ == RevisionState::moving &&
                       all_proven(turn, [this](std::size_t i) { return lanes_[i].is_laser() || parts_[i].has_moved; }) &&
                       all_move;
  if (!settled || !event(RevisionWord::all_settled)) {
    return false;
  }
  say_settled(turn);
  return true;
}

bool Commit::advance_once(Turn turn) {
  const auto lasers = [this](std::size_t i) { return lanes_[i].is_laser(); };
  switch (state_) {
    case RevisionState::armed:
    case RevisionState::going:
      if (fire_at_.passed(turn.now) && event(RevisionWord::fire)) {
        fire(turn);
        return true;
      }
      return false;
    case RevisionState::dark:
      (void)all_proven(turn, lasers);
      return false;  // a failure is told at once, proof waits for Go
    case RevisionState::darkening:
      if (all_proven(turn, lasers) && event(RevisionWord::all_dark)) {
        say_darkened(turn);
        move_in_dark(turn);
        return true;
      }
      return false;
    case RevisionState::moving:
      return advance_moving(turn);
    case RevisionState::relighting:
      if (!light_given_ && relight_at_.passed(turn.now)) {
        light(turn);
      }
      if (light_given_ && all_lit(turn) && event(RevisionWord::all_lit)) {
        say_applied(turn);
      }
      return false;
    default:
      return false;
  }
}

void Commit::advance(Turn turn) {
  while (advance_once(turn)) {
  }
}

}  // namespace loom
