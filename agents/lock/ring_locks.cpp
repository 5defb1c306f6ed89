// SPDX-License-Identifier: Apache-2.0
// One look: read, all rings down, read, all rings up, read, all rings back, read, and each to its place.
#include "agents/lock/ring_locks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/commit/steering.hpp"
#include "core/ring/drop_monitor.hpp"
#include "core/ring/ring.hpp"
#include "core/ring/settling.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr Dbm kBrightest{3'000};  ///< a monitor that says more does not know how much it is

std::optional<double> milliwatts_of(const DeviceUnit& monitor, std::uint16_t channel, Instant since) {
  const Observation seen = monitor.driver->observe();
  const auto* reading = std::get_if<MonitorObservation>(&seen.reading);
  if (reading == nullptr || seen.read_at < since) {
    return std::nullopt;
  }
  double sum = 0;
  for (const LightReading& light : reading->lights) {
    if (light.channel == channel && light.power >= kBrightest) {
      return std::nullopt;
    }
    sum += light.channel == channel && light.power > kNoLight ? std::pow(10.0, light.power.centi / 1000.0) : 0;
  }
  return sum;
}

}  // namespace

RingLocks::Phase RingLocks::next_of(Phase seen) {
  LOOM_ASSERT(seen != Phase::rest && seen != Phase::to_place);
  return static_cast<Phase>(static_cast<std::uint8_t>(seen) + 1);
}

std::optional<double>& RingLocks::seen_in(Phase phase, LockLook& look) {
  return phase == Phase::seeing_middle  ? look.middle
         : phase == Phase::seeing_below ? look.below
         : phase == Phase::seeing_above ? look.above
                                        : look.again;
}

RingLocks::RingLocks(const EnvelopeSender& envelopes, DeviceUnits& units, Duration interval)
    : envelopes_(envelopes), units_(units), interval_(interval) {
  build();
}

void RingLocks::build() {
  const Fabric& fabric = units_.fabric();
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Device& device = *units_[i].device;
    Bank bank;
    bank.unit = i;
    for (std::size_t channel = 0; device.role == DeviceRole::filter && channel < device.elements.size(); ++channel) {
      const auto* ring = std::get_if<RingFilter>(&fabric.element(device.elements[channel]).kind);
      const auto eye = ring != nullptr && ring->locked ? drop_monitor_of(fabric, device.elements[channel]) : std::nullopt;
      const auto monitor = eye ? units_.index_of(eye->device) : std::nullopt;
      if (monitor) {
        bank.rings.push_back({static_cast<std::uint16_t>(channel), *monitor, eye->channel, 0, 1, PeakLock(ring->fwhm)});
      }
    }
    for (Ring& ring : bank.rings) {
      const auto shares = [&](const Ring& other) { return other.monitor == ring.monitor && other.light == ring.light; };
      ring.turns = static_cast<std::uint32_t>(std::ranges::count_if(bank.rings, shares));
      ring.turn = static_cast<std::uint32_t>(std::count_if(bank.rings.data(), &ring, shares));
      if (std::ranges::find(bank.monitors, ring.monitor) == bank.monitors.end()) {
        bank.monitors.push_back(ring.monitor);
      }
    }
    if (!bank.rings.empty()) {
      banks_.push_back(std::move(bank));
    }
  }
}

/// What its setpoint says of its rings now.
void RingLocks::take_up(const DeviceUnit& unit, Bank& bank) const {
  const auto& setpoint = std::get<FilterSetpoint>(*unit.commanded);
  for (Ring& ring : bank.rings) {
    const RingResonance* wanted = wanted_of(setpoint, ring.channel);
    ring.is_locked = wanted != nullptr && wanted->locked;
    if (ring.is_locked) {
      const ElementId element = unit.device->elements[ring.channel];
      ring.lock.limit(trim_range(std::get<RingFilter>(units_.fabric().element(element).kind), *wanted));
    } else if (wanted != nullptr) {
      ring.lock.forget();  // it is being measured, or set by hand: where it was held says nothing of where it is put
    }
  }
}

/// Nobody else has it, and it is as it was set: proven by a commit, or found so by an agent that started again.
bool RingLocks::may_look(const DeviceUnit& unit, const Bank& bank) const {
  const bool at_rest = unit.progress == Progress::proven || unit.progress == Progress::none;
  return unit.claim.owner() == Activity::none && at_rest && std::ranges::any_of(bank.rings, &Ring::is_locked) &&
         agrees(units_.fabric(), unit.device->id, units_.observe(bank.unit).reading, *unit.commanded);
}

void RingLocks::wait_for_light(Instant now) { light_settles_at_ = later(now, kLightSettles); }

void RingLocks::advance(StepContext context) {
  if (banks_.empty()) {
    return;
  }
  const bool is_time = !next_.is_set() || next_.passed(context.now);
  for (Bank& bank : banks_) {
    const DeviceUnit& unit = units_[bank.unit];
    if (bank.phase != Phase::rest) {
      go_on(context, bank);
    } else if (is_time && unit.commanded) {
      take_up(unit, bank);
      const Instant settles_at = std::max(light_settles_at_, later(unit.proven_at, kLightSettles));
      if (context.now >= settles_at && may_look(unit, bank)) {
        begin(context, bank);
      }
    }
  }
  if (is_time) {
    next_.set(context, later(context.now, interval_));
  }
}

void RingLocks::begin(StepContext context, Bank& bank) {
  const bool has_all = units_.take(bank.unit, Activity::lock) &&
                       std::ranges::all_of(bank.monitors, [&](std::size_t unit) { return units_.take(unit, Activity::lock); });
  if (!has_all) {
    return end(bank);
  }
  if (!units_[bank.unit].aside.empty()) {  // its last look was broken off, by somebody who left it as it was
    return move(context, bank, Phase::to_place);
  }
  bank.still_since = context.now;
  bank.phase = Phase::seeing_middle;
  go_on(context, bank);
}

void RingLocks::move(StepContext context, Bank& bank, Phase phase) {
  const bool goes_aside = phase == Phase::to_below || phase == Phase::to_above;
  std::vector<RingLock> held;
  std::vector<RingLock> aside;
  for (const Ring& ring : bank.rings) {
    if (ring.is_locked || ring.lock.trim().mhz != 0) {
      held.push_back({ring.channel, ring.lock.state(), ring.lock.trim()});
    }
    if (goes_aside && is_looked_at(bank, ring)) {
      aside.push_back({ring.channel, ring.lock.state(), ring.lock.side(phase == Phase::to_above)});
    }
  }
  bank.phase = phase;
  units_.trim(context, bank.unit, std::move(held), std::move(aside));
}

void RingLocks::go_on(StepContext context, Bank& bank) {
  const DeviceUnit& unit = units_[bank.unit];
  if (unit.claim.owner() != Activity::lock || unit.progress == Progress::failed) {
    return end(bank);  // somebody above took it, or its driver gave up
  }
  if (unit.progress == Progress::under_way) {
    return;
  }
  switch (bank.phase) {
    case Phase::rest:
      return;
    case Phase::to_below:
    case Phase::to_above:
    case Phase::to_middle:
      bank.still_since = context.now;
      bank.phase = next_of(bank.phase);
      [[fallthrough]];
    case Phase::seeing_middle:
    case Phase::seeing_below:
    case Phase::seeing_above:
    case Phase::seeing_again:
      if (see(context, bank)) {
        move(context, bank, next_of(bank.phase));
      }
      return;
    case Phase::to_place:
      return end(bank);
  }
}

/// True once every monitor was read since the rings stand still. With the last look the law has found their places.
bool RingLocks::see(StepContext context, Bank& bank) {
  for (const std::size_t monitor : bank.monitors) {
    if (!units_[monitor].polling && units_[monitor].polled_at < bank.still_since) {
      units_.poll(context, monitor);
    }
  }
  const auto is_read = [&](std::size_t monitor) {
    return !units_[monitor].polling && units_[monitor].polled_at >= bank.still_since;
  };
  if (!std::ranges::all_of(bank.monitors, is_read)) {
    return false;
  }
  for (Ring& ring : bank.rings) {
    seen_in(bank.phase, ring.look) = milliwatts_of(units_[ring.monitor], ring.light, bank.still_since);
    if (bank.phase == Phase::seeing_again && is_looked_at(bank, ring)) {
      ring.lock.see(ring.look);
      warn_of_end(context, units_[bank.unit], ring);
    }
  }
  return true;
}

void RingLocks::warn_of_end(StepContext context, const DeviceUnit& unit, Ring& ring) const {
  ring.has_warned = ring.has_warned && ring.lock.state() != LockState::locked;
  if (ring.lock.state() != LockState::at_limit || std::exchange(ring.has_warned, true)) {
    return;
  }
  const Device& device = *unit.device;
  const bool is_off = ring.lock.trim().mhz > 0;
  Alarm alarm{AlarmCode::drift, {}, device.id, {}, "loom ring list"};
  alarm.evidence = format_text(
      "device {} ({}): channel {} cannot follow its light: its heater is {}, and its place lies {} MHz "
      "further {} (its chip has {} too far)",
      device.id.value, device.name, ring.channel, is_off ? "off" : "at its ceiling", std::abs(ring.lock.off().mhz),
      is_off ? "up" : "down", is_off ? "warmed" : "cooled");
  envelopes_.warn(context, std::move(alarm));
}

void RingLocks::end(Bank& bank) {
  for (const std::size_t monitor : bank.monitors) {
    units_.release(monitor, Activity::lock);
  }
  units_.release(bank.unit, Activity::lock);
  bank.phase = Phase::rest;
  ++bank.round;
}

}  // namespace loom
