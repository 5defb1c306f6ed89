// What all simulated devices share: faults, the future of their light, the wire's timing. It knows no protocol.
#include "sim_backend/devices/simulated_device.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

constexpr std::int64_t kDriftSteps = 16;

bool is_optical(DeviceFaultKind kind) {
  return kind == DeviceFaultKind::detune || kind == DeviceFaultKind::drift || kind == DeviceFaultKind::dim ||
         kind == DeviceFaultKind::fail || kind == DeviceFaultKind::misroute || kind == DeviceFaultKind::false_readback;
}

/// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t next_of(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

}  // namespace

SimulatedDevice::SimulatedDevice(DeviceId device, const SimDeviceOptions& options)
    : device_(device), options_(options), chance_(options.seed ^ (0xd1b54a32d192ed03ULL * (device.value + 1ULL))) {}

std::uint64_t SimulatedDevice::draw() { return next_of(chance_); }

void SimulatedDevice::record(Instant at, std::uint32_t address, std::int32_t value) {
  if (options_.keep_actuations) {
    actuations_.push_back({at, address, value});
  }
}

const DeviceFault* SimulatedDevice::active_fault(DeviceFaultKind kind, Instant at) const {
  const auto active = std::find_if(faults_.begin(), faults_.end(), [&](const ActiveFault& f) {
    return f.fault.kind == kind && f.since <= at && at < f.fault.until;
  });
  return active == faults_.end() ? nullptr : &active->fault;
}

OpticalState SimulatedDevice::true_light(Instant at) const {
  const auto stays = std::find_if(faults_.begin(), faults_.end(), [&](const ActiveFault& f) {
    return f.fault.kind == DeviceFaultKind::false_readback && f.since <= at && at < f.fault.until;
  });
  OpticalState state = stays == faults_.end() ? light(at) : stays->light;
  if (!faults_.empty() && has_fault(DeviceFaultKind::misroute, at)) {
    misroute(state);
  }
  return state;
}

FrequencyOffset SimulatedDevice::detuning(Instant at, std::uint16_t channel, bool visible_only) const {
  FrequencyOffset sum{0};
  for (const ActiveFault& active : faults_) {
    const DeviceFault& fault = active.fault;
    const bool applies = active.since <= at && at < fault.until && fault.channel == channel && !(visible_only && fault.hidden);
    if (applies && (fault.kind == DeviceFaultKind::detune || (fault.kind == DeviceFaultKind::drift && fault.until == kNever))) {
      sum = sum + fault.offset;
    } else if (applies && fault.kind == DeviceFaultKind::drift) {
      const std::int64_t step = ((fault.until - active.since) / kDriftSteps).count();
      sum = sum + FrequencyOffset{fault.offset.mhz * std::min(step > 0 ? (at - active.since).count() / step : 0, kDriftSteps) /
                                  kDriftSteps};
    }
  }
  return sum;
}

Db SimulatedDevice::dimming(Instant at, bool visible_only) const {
  Db sum{0};
  for (const ActiveFault& active : faults_) {
    const DeviceFault& fault = active.fault;
    if (fault.kind == DeviceFaultKind::dim && active.since <= at && at < fault.until && !(visible_only && fault.hidden)) {
      sum = sum + fault.loss;
    }
  }
  return sum;
}

Duration SimulatedDevice::stretched(Instant at, Duration settle) const {
  for (const ActiveFault& active : faults_) {
    if (active.fault.kind == DeviceFaultKind::slow_settle && active.since <= at && at < active.fault.until) {
      settle *= std::max(active.fault.factor, 1);
    }
  }
  return settle;
}

/// Keeps in future_ the state now and what lies ahead; drops faults that are over.
void SimulatedDevice::forget_past(Instant now) {
  if (future_.empty()) {
    future_.push_back({now, device_, generation_, true_light(now)});
  }
  std::size_t past = 0;
  while (past + 1 < future_.size() && future_[past + 1].at <= now) {
    ++past;
  }
  if (past > 0) {
    future_.erase(future_.begin(), future_.begin() + static_cast<std::ptrdiff_t>(past));
  }
  if (!faults_.empty()) {
    std::erase_if(faults_, [now](const ActiveFault& f) { return f.fault.until < now; });
  }
}

void SimulatedDevice::light_changed(Instant now, Instant at) {
  ++generation_;
  std::erase_if(changes_, [now](const OpticalChange& change) { return change.at > now; });
  std::size_t kept = 1;
  while (kept < future_.size() && future_[kept].at < at) {
    future_[kept].generation = generation_;
    changes_.push_back(future_[kept]);  // the old future still holds until `at`
    ++kept;
  }
  const bool voids = kept < future_.size();
  future_.resize(kept);
  std::vector<Instant> instants{at};
  append_breakpoints(at, instants);
  for (const ActiveFault& active : faults_) {
    if (is_optical(active.fault.kind)) {
      instants.push_back(active.since);
      instants.push_back(active.fault.until);
      for (std::int64_t step = 1;
           active.fault.kind == DeviceFaultKind::drift && active.fault.until != kNever && step < kDriftSteps; ++step) {
        instants.push_back(active.since + step * ((active.fault.until - active.since) / kDriftSteps));
      }
    }
  }
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  for (const Instant instant : instants) {
    if (instant < at || instant == kNever) {
      continue;
    }
    OpticalState state = true_light(instant);
    if (state != future_.back().state) {
      future_.push_back({instant, device_, generation_, std::move(state)});
      changes_.push_back(future_.back());
    }
  }
  if (voids && (changes_.empty() || changes_.back().generation != generation_)) {
    changes_.push_back({at, device_, generation_, future_.back().state});  // nothing new, but what was told is void
  }
}

std::vector<OpticalChange> SimulatedDevice::take_changes() { return std::exchange(changes_, {}); }

void SimulatedDevice::inject(Instant now, const DeviceFault& fault) {
  forget_past(now);
  faults_.push_back({now, fault, true_light(now)});
  if (fault.kind == DeviceFaultKind::reboot) {
    std::erase_if(faults_, [](const ActiveFault& f) { return f.fault.kind == DeviceFaultKind::false_readback; });
    late_reply_waits_ = false;
    power_up(now);
    light_changed(now, now);
  }
  if (is_optical(fault.kind)) {
    light_changed(now, now);
  }
}

/// Does a fault of the wire befall this transaction? Counts those that it may befall.
bool SimulatedDevice::strikes(DeviceFaultKind kind, Instant now) {
  const auto active = std::find_if(faults_.begin(), faults_.end(), [&](const ActiveFault& f) {
    return f.fault.kind == kind && f.since <= now && now < f.fault.until;
  });
  if (active == faults_.end()) {
    return false;
  }
  DeviceFault& fault = active->fault;
  if (fault.percent < 100 && draw() % 100 >= static_cast<std::uint64_t>(fault.percent)) {
    return false;
  }
  if (fault.times == 1) {
    fault.until = now;
  } else if (fault.times > 1) {
    --fault.times;
  }
  return true;
}

/// Flips bits of an answer, or empties it where it had none.
void SimulatedDevice::damage(BusReply& reply) {
  if (reply.bytes.empty()) {
    reply = {BusStatus::malformed, 0, {}, {}};
    return;
  }
  const std::uint64_t chance = draw();
  reply.bytes[chance % reply.bytes.size()] ^= static_cast<std::uint8_t>(1u << ((chance >> 32) % 8));
}

ModelReply SimulatedDevice::execute(Instant now, const Transaction& transaction) {
  forget_past(now);
  const ModelReply silence{{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  if (faults_.empty()) {
    ModelReply answer = respond(now, transaction);
    return answer.service_time > transaction.deadline ? silence : answer;
  }
  if (strikes(DeviceFaultKind::silence, now) || has_fault(DeviceFaultKind::reboot, now)) {
    return silence;
  }
  ModelReply answer = strikes(DeviceFaultKind::nack, now) ? refuse(now, transaction) : respond(now, transaction);
  if (strikes(DeviceFaultKind::garbage, now)) {
    damage(answer.reply);
  }
  const DeviceFault* late = active_fault(DeviceFaultKind::late, now);
  const Duration delay = late == nullptr ? Duration{} : late->delay;
  if (!strikes(DeviceFaultKind::late, now)) {
    late_reply_waits_ = false;  // a lane that has time flushes its input
  } else if (delay <= transaction.deadline - answer.service_time) {
    answer.service_time += delay;  // late, and still in time
  } else if (std::holds_alternative<Frame>(transaction.order) && answer.reply.status == BusStatus::ok) {
    std::swap(late_reply_, answer.reply);
    return std::exchange(late_reply_waits_, true) ? answer : silence;
  } else {
    return silence;  // Modbus/TCP tells a late answer by its transaction id and drops it
  }
  return answer.service_time > transaction.deadline ? silence : answer;
}

}  // namespace loom
