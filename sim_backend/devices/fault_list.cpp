// SPDX-License-Identifier: Apache-2.0
// Which of them are active, and what they sum up to.
#include "sim_backend/devices/fault_list.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

constexpr std::int64_t kDriftSteps = 16;
constexpr std::int64_t kWarmingSteps = 512;  ///< of ten kelvin: a fifth of a GHz each
/// Longer than any run; far enough from the end of time that instants may be added to it.
constexpr Duration kNeverEnds = std::chrono::hours{24 * 365};

}  // namespace

bool is_optical(DeviceFaultKind kind) {
  switch (kind) {
    case DeviceFaultKind::detune:
    case DeviceFaultKind::drift:
    case DeviceFaultKind::warm:
    case DeviceFaultKind::mode_hop:
    case DeviceFaultKind::dim:
    case DeviceFaultKind::fail:
    case DeviceFaultKind::open:
    case DeviceFaultKind::misroute:
    case DeviceFaultKind::false_readback:
      return true;
    default:
      return false;
  }
}

void FaultList::add(Instant now, const DeviceFault& fault, OpticalState light) {
  active_.push_back({now, fault, std::move(light)});
}

void FaultList::forget_over(Instant now) {
  std::erase_if(active_, [now](const Active& active) { return active.fault.until < now && !active.stays(); });
}

void FaultList::end_all_of(DeviceFaultKind kind) {
  std::erase_if(active_, [kind](const Active& active) { return active.fault.kind == kind; });
}

const DeviceFault* FaultList::find(DeviceFaultKind kind, Instant at) const {
  const auto found =
      std::ranges::find_if(active_, [&](const Active& active) { return active.fault.kind == kind && active.is_on(at); });
  return found == active_.end() ? nullptr : &found->fault;
}

bool FaultList::is_open(std::uint16_t channel, Instant at) const {
  return std::ranges::any_of(active_, [&](const Active& active) {
    return active.fault.kind == DeviceFaultKind::open && active.fault.channel == channel && active.is_on(at);
  });
}

const OpticalState* FaultList::stale_light(Instant at) const {
  const auto found = std::ranges::find_if(
      active_, [&](const Active& active) { return active.fault.kind == DeviceFaultKind::false_readback && active.is_on(at); });
  return found == active_.end() ? nullptr : &found->light;
}

DeviceFault* FaultList::to_strike(DeviceFaultKind kind, Instant now) {
  const auto found =
      std::ranges::find_if(active_, [&](const Active& active) { return active.fault.kind == kind && active.is_on(now); });
  return found == active_.end() ? nullptr : &found->fault;
}

void FaultList::count(DeviceFault& fault, Instant now) {
  if (fault.times == 1) {
    fault.until = now;
  } else if (fault.times > 1) {
    --fault.times;
  }
}

namespace {

/// Of its offset, in so many steps until its end. One that has none is all there at once.
FrequencyOffset gone(Instant since, const DeviceFault& fault, std::int64_t of, Instant at) {
  if (fault.until == kNever) {
    return fault.offset;
  }
  const std::int64_t step = ((fault.until - since) / of).count();
  const std::int64_t steps = step > 0 ? (at - since).count() / step : 0;
  return FrequencyOffset{fault.offset.mhz * std::min(steps, of) / of};
}

}  // namespace

FrequencyOffset FaultList::detuning(Instant at, std::uint16_t channel, bool visible_only) const {
  FrequencyOffset sum{0};
  for (const Active& active : active_) {
    const DeviceFault& fault = active.fault;
    if (active.stays() && active.since <= at && !visible_only) {
      sum = sum + gone(active.since, fault, kWarmingSteps, at);
    }
    if (!active.is_on(at) || fault.channel != channel || (visible_only && fault.hidden)) {
      continue;
    }
    const bool is_drift = fault.kind == DeviceFaultKind::drift;
    if (fault.kind == DeviceFaultKind::detune || fault.kind == DeviceFaultKind::mode_hop ||
        (is_drift && fault.until == kNever)) {
      sum = sum + fault.offset;
    } else if (is_drift) {
      sum = sum + gone(active.since, fault, kDriftSteps, at);
    }
  }
  return sum;
}

Db FaultList::dimming(Instant at, bool visible_only) const {
  Db sum{0};
  for (const Active& active : active_) {
    if (active.fault.kind == DeviceFaultKind::dim && active.is_on(at) && !(visible_only && active.fault.hidden)) {
      sum = sum + active.fault.loss;
    }
  }
  return sum;
}

Duration FaultList::stretched(Instant at, Duration settle) const {
  if (find(DeviceFaultKind::stuck_pending, at) != nullptr) {
    return kNeverEnds;
  }
  for (const Active& active : active_) {
    if (active.fault.kind == DeviceFaultKind::slow_settle && active.is_on(at)) {
      settle *= std::max(active.fault.factor, 1);
    }
  }
  return settle;
}

void FaultList::append_breakpoints(std::vector<Instant>& instants) const {
  for (const Active& active : active_) {
    if (!is_optical(active.fault.kind)) {
      continue;
    }
    instants.push_back(active.since);
    instants.push_back(active.fault.until);
    const bool wanders = (active.fault.kind == DeviceFaultKind::drift || active.stays()) && active.fault.until != kNever;
    const std::int64_t steps = active.stays() ? kWarmingSteps : kDriftSteps;
    for (std::int64_t step = 1; wanders && step < steps + (active.stays() ? 1 : 0); ++step) {
      instants.push_back(active.since + step * ((active.fault.until - active.since) / steps));
    }
  }
}

}  // namespace loom
