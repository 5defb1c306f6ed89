// SPDX-License-Identifier: Apache-2.0
// What a commit does to the devices, stage by stage: blank, move in the dark, light on proof.
#include <algorithm>
#include <string>
#include <utility>

#include "agents/commit/commit.hpp"
#include "agents/commit/preparation.hpp"
#include "agents/devices/symptom.hpp"
#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Reads what firing will read, which may have rested since the last revision: hundreds of agents of a process fire one after
/// the other, and whoever has to fetch his own from memory keeps all behind him waiting.
void rehearse(const DeviceUnits& units, const auto& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].changes && units[i].is_laser()) {
      (void)units[i].driver->check(darkened(parts[i].first().setpoint));
      (void)units[i].driver->is_dark();
    }
  }
}

/// A unit forgets its programme; the plan that it was of, which is long to take apart, stays in `replaced`.
void replace_programme(DeviceUnits& units, std::size_t unit, std::vector<std::shared_ptr<const NodePlan>>& replaced) {
  const std::shared_ptr<const NodePlan>& plan = units[unit].programme.plan;
  if (plan != nullptr && (replaced.empty() || replaced.back() != plan)) {
    replaced.push_back(plan);
  }
  units.keep_programme(unit, {});
}

}  // namespace

/// A laser whose light stays as it was laid retunes and darkens by itself all the time: that is no reason to touch it.
bool AgentCommit::goes_on_as_laid(const DevicePlan& device) const {
  const bool is_granted = grants_.works(device.device) && plan_->grants && *grants_.map() == *plan_->grants;
  const bool is_repeated = barrier_.is_on() && plan_->iterations == *barrier_.plan() && !is_static(device);
  return !device.touched && (is_granted || is_repeated);
}

/// Light of the fast plane begins when all of it is proven dark, and ends when any of it is touched.
void AgentCommit::begin_grants(StepContext context) {
  if (plan_->grants && (!grants_.is_on() || *grants_.map() != *plan_->grants)) {
    grants_.begin(context, plan_);
  }
}

void AgentCommit::choose_parts() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto device = std::ranges::lower_bound(plan_->devices, units_[i].device->id, {}, &DevicePlan::device);
    LOOM_ASSERT(device != plan_->devices.end() && device->device == units_[i].device->id);  // check_node_plan said so
    parts_[i] = Part{&*device, !goes_on_as_laid(*device) && must_change(units_, units_[i], *plan_, *device)};
  }
}

/// From arming on no audit may begin on what has to fire at T. What plays a timeline goes on doing so until T.
void AgentCommit::claim_idle_parts() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].changes && units_[i].claim.owner() <= Activity::lock) {
      (void)units_.take(i, Activity::commit);
    }
  }
}

/// What is to move is read while everybody prepares and waits for T; where a laser shares its bus, after that is dark. What
/// holds its next setpoint ready is read when that is brought there.
void AgentCommit::read_ahead(StepContext context) {
  read_since_ = context.now;
  const auto shares_a_lasers_bus = [this](const DeviceUnit& unit) {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].is_laser() && units_[i].device->bus == unit.device->bus) {
        return true;
      }
    }
    return false;
  };
  for (const DevicePlan& device : plan_->devices) {
    const std::size_t unit = *units_.index_of(device.device);
    const bool is_read = !device.touched || device.left_alone || units_[unit].is_laser() || units_[unit].preparing;
    if (!is_read && !shares_a_lasers_bus(units_[unit])) {
      units_.poll(context, unit);
    }
  }
}

void AgentCommit::fire(StepContext context) {
  fired_at_ = context.now;
  report_.lateness = between(fire_.planned, context.now);
  writes_before_ = writes_of(units_);
  fire_.forget();
  choose_parts();
  if (grants_.is_on() && (!plan_->grants || *grants_.map() != *plan_->grants)) {
    grants_.end();
  }
  if (barrier_.is_on() && plan_->iterations != *barrier_.plan()) {
    barrier_.end(context);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].changes && !units_.take(i, Activity::commit)) {
      return trouble(context,
                     {ErrorCode::conflict, format_text("device {} is held by the interlock", units_[i].device->id.value)});
    }
    if (parts_[i].changes && units_[i].is_laser()) {
      timelines_.stop(i);
      // What was prepared was dark, and stands there already.
      parts_[i].tunes_at_once = units_[i].holds_prepared || (went_ && units_[i].driver->is_dark().has_value());
      command(context, i, parts_[i].tunes_at_once ? darkened(parts_[i].first().setpoint) : units_.dark(i));
    }
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].changes) {
      timelines_.stop(i);
      replace_programme(units_, i, replaced_);
    }
  }
  if (report_.lateness > options_.late_limit) {
    envelopes_.warn(context, {AlarmCode::fire_underflow,
                              {},
                              {},
                              format_text("revision {} fired {} after its instant, the limit is {}", revision_.value,
                                          in_microseconds(report_.lateness), in_microseconds(options_.late_limit)),
                              format_text("loom node show {}", envelopes_.node.value),
                              revision_});
  }
}

void AgentCommit::command(StepContext context, std::size_t unit, const Setpoint& setpoint) {
  units_.command(context, unit, Activity::commit, setpoint);
}

/// `dark_will_do`: of a laser that is under way to where it shall stand, it is enough that its light is off.
template <class Selects>
bool AgentCommit::all_proven(StepContext context, Selects selects, bool dark_will_do) {
  bool all = true;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes || !selects(i)) {
      continue;
    }
    if (units_[i].progress == Progress::failed) {
      device_trouble(context, i);
      return false;
    }
    all = all && (units_[i].progress == Progress::proven || (dark_will_do && units_[i].is_dark));
  }
  return all;
}

void AgentCommit::device_trouble(StepContext context, std::size_t unit) {
  const Observation seen = units_.observe(unit);
  if (parts_[unit].plan != nullptr && !units_[unit].is_laser() &&
      seen.read_at >= fired_at_) {  // its driver found it otherwise after we had looked
    if (const auto error = surprise(units_[unit], *parts_[unit].plan, seen.reading)) {
      return trouble(context, *error);
    }
  }
  const Device& device = *units_[unit].device;
  trouble(context, {ErrorCode::device_error,
                    format_text("device {} ({}): {}", device.id.value, device.name, sentence_of(device, seen)),
                    {},
                    device.id});
}

void AgentCommit::send_darkened(StepContext context) {
  answers_.darkened = Darkened{{}, report_.lateness};
  envelopes_.send(context, revision_, *answers_.darkened);
}

void AgentCommit::move_in_dark(StepContext context) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes || !units_[i].is_laser()) {
      continue;
    }
    const Setpoint target = darkened(parts_[i].first().setpoint);
    if (!units_[i].is_proven(target) && !units_[i].is_under_way_to(target)) {
      command(context, i, target);
    }
  }
}

/// It is read before it moves, so that nothing moves from where nobody expects it: whoever planned the move took away the light
/// that meets it from where he thought that it stood. Its power may have gone since, or an earlier incarnation moved it. What
/// happens after this reading its driver sees: it moves nothing whose kept rows are gone.
bool AgentCommit::is_as_expected(StepContext context, std::size_t index) {
  const DeviceUnit& unit = units_[index];
  if (unit.polling || unit.progress == Progress::under_way) {
    return false;  // what an abandoned revision began comes to rest first
  }
  const Observation seen = units_.observe(index);
  const bool is_fresh = seen.read_at >= read_since_ && seen.health != DeviceHealth::moving;
  if (!is_fresh) {
    if (parts_[index].is_asked && seen.health == DeviceHealth::failed) {
      device_trouble(context, index);
      return false;
    }
    parts_[index].is_asked = true;
    units_.poll(context, index);
    return false;
  }
  if (const auto error = surprise(unit, *parts_[index].plan, seen.reading)) {
    trouble(context, *error);
    return false;
  }
  return true;
}

/// What steers nobody else's light moves now, the rest with Proceed{move}. True: all of it moves.
bool AgentCommit::move_expected(StepContext context) {
  bool all = true;
  for (std::size_t i = 0; i < parts_.size() && state_ == RevisionState::moving; ++i) {
    Part& part = parts_[i];
    if (!part.changes || part.has_moved || units_[i].is_laser()) {
      continue;
    }
    if (is_as_expected(context, i) && (may_steer_ || !units_[i].steers)) {
      command(context, i, part.first().setpoint);
      part.has_moved = true;
    }
    all = all && part.has_moved;
  }
  return all;
}

void AgentCommit::send_settled(StepContext context) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].changes && (units_[i].fired_at > fired_at_ || parts_[i].tunes_at_once)) {
      report_.settle = std::max(report_.settle, between(units_[i].fired_at, units_[i].proven_at));
    }
  }
  answers_.settled = Settled{{}, report_.settle};
  envelopes_.send(context, revision_, *answers_.settled);
}

void AgentCommit::light(StepContext context) {
  light_given_ = true;
  const Instant at = relight_at_.at();
  relight_at_.forget();
  bool plays = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    plays = plays || (parts_[i].changes && !is_static(*parts_[i].plan));
  }
  if (!plan_->grants && !barrier_.is_on() && (plays || !timelines_.plays_any())) {
    timelines_.begin(context, *plan_, at);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes) {
      continue;
    }
    if (is_under_grants(*plan_, parts_[i].plan->device)) {
      units_.release(i, Activity::commit);
    } else if (!is_static(*parts_[i].plan)) {
      units_.release(i, Activity::commit);
      timelines_.play(context, i, plan_, *parts_[i].plan, at);
    } else if (emits(parts_[i].first().setpoint) && !edge_lighting_.takes(context, i, at)) {
      command(context, i, parts_[i].first().setpoint);
    }
  }
  begin_grants(context);
  if (plan_->iterations && !barrier_.is_on()) {
    barrier_.begin(plan_);
  }
  timelines_.advance(context);  // the first edge may be now
}

/// A revision that is forgotten while it is being lit ends as dark as one that is forgotten before.
void AgentCommit::withdraw_light(StepContext context) {
  if (!light_given_ || revision_ == applied_) {
    return;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes || !units_.take(i, Activity::commit)) {
      continue;
    }
    timelines_.stop(i);
    if (units_[i].is_laser() && units_[i].commanded && emits(*units_[i].commanded)) {
      command(context, i, units_.dark(i));
    }
  }
  timelines_.withdraw(revision_);
  if (barrier_.is_on() && plan_ != nullptr && plan_->iterations == *barrier_.plan()) {
    barrier_.end(context);
  }
  if (grants_.is_on() && plan_ != nullptr && plan_->grants && *grants_.map() == *plan_->grants) {
    grants_.end();
  }
}

bool AgentCommit::all_lit(StepContext context) {
  if (edge_lighting_.awaits()) {
    return false;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes || is_static(*parts_[i].plan) || is_under_grants(*plan_, parts_[i].plan->device)) {
      continue;
    }
    if (timelines_.first(i) == Timelines::First::pending) {
      return false;
    }
    if (timelines_.first(i) == Timelines::First::missed) {
      trouble(context,
              {ErrorCode::timed_out, format_text("underflow: device {} was not settled for its first timeslot of revision {}",
                                                 units_[i].device->id.value, revision_.value)});
      return false;
    }
  }
  return all_proven(context, [this](std::size_t i) { return units_[i].claim.owner() == Activity::commit; });
}

void AgentCommit::send_applied(StepContext context) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].changes) {
      if (is_as_found(units_, units_[i], *parts_[i].plan) && units_[i].commanded != parts_[i].first().setpoint) {
        units_.keep_as_found(i, parts_[i].first().setpoint, Programme{plan_, parts_[i].plan});
      }
      continue;
    }
    units_.keep_programme(i, Programme{plan_, parts_[i].plan});
    if (units_[i].commanded && emits(*units_[i].commanded)) {
      report_.dark = std::max(report_.dark, between(fired_at_, units_[i].proven_at));
    }
  }
  release_all(units_, Activity::commit);
  report_.writes = static_cast<std::uint32_t>(writes_of(units_) - writes_before_);
  edge_lighting_.conclude(context, revision_);
  applied_ = revision_;
  applied_answer_ = Applied{{}, report_};
  answers_.applied = applied_answer_;
  envelopes_.send(context, revision_, applied_answer_);
  replaced_.clear();
}

bool AgentCommit::advance_moving(StepContext context) {
  const bool all_move = move_expected(context);
  const bool settled = state_ == RevisionState::moving &&
                       all_proven(context, [this](std::size_t i) { return units_[i].is_laser() || parts_[i].has_moved; }) &&
                       all_move;
  if (!settled || !event(RevisionMessage::all_settled)) {
    return false;
  }
  send_settled(context);
  return true;
}

bool AgentCommit::advance_once(StepContext context) {
  const auto lasers = [this](std::size_t i) { return units_[i].is_laser(); };
  switch (state_) {
    case RevisionState::preparing:
      if (const auto failed = failed_preparation(units_)) {
        device_trouble(context, *failed);  // known before anybody is dark
      } else if (is_preparing(units_) || is_being_read(units_, *plan_)) {
        return false;
      } else if (const auto found = surprise(*plan_)) {
        trouble(context, *found);  // likewise
      } else if (event(RevisionMessage::all_ready)) {
        answers_.prepared = Prepared{{}, options_.arm_lead};
        envelopes_.send(context, revision_, *answers_.prepared);
      }
      return false;
    case RevisionState::armed:
    case RevisionState::going:
      if (fire_.at.passed(context.now) && event(RevisionMessage::fire)) {
        fire(context);
        return true;
      }
      if (fire_.rehearsal.passed(context.now)) {
        fire_.rehearsal.forget();
        choose_parts();
        rehearse(units_, parts_);
      }
      return false;
    case RevisionState::dark:
      (void)all_proven(context, lasers, true);
      return false;  // a failure is told at once, proof waits for Go
    case RevisionState::darkening:
      if (all_proven(context, lasers, true) && event(RevisionMessage::all_dark)) {
        send_darkened(context);
        move_in_dark(context);
        return true;
      }
      return false;
    case RevisionState::moving:
      return advance_moving(context);
    case RevisionState::relighting:
      if (!light_given_ && relight_at_.passed(context.now)) {
        light(context);
      }
      for (std::size_t i = 0; !light_given_ && i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        if (part.changes && units_[i].is_laser() && is_static(*part.plan) && !is_under_grants(*plan_, part.plan->device) &&
            emits(part.first().setpoint)) {
          edge_lighting_.ready(context, i, part.first().setpoint, relight_at_.at());
        }
      }
      for (const std::size_t unit : edge_lighting_.take_due(context.now)) {
        command(context, unit, parts_[unit].first().setpoint);
      }
      if (light_given_ && all_lit(context) && event(RevisionMessage::all_lit)) {
        send_applied(context);
      }
      return false;
    default:
      return false;
  }
}

void AgentCommit::advance(StepContext context) {
  while (advance_once(context)) {
  }
}

}  // namespace loom
