// SPDX-License-Identifier: Apache-2.0
// What all simulated devices share: faults, the future of their light, the wire's timing. It knows no protocol.
#include "sim_backend/devices/simulated_device.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

/// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t next_of(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

/// Flips bits of an answer, or empties it where it had none: whoever reads words finds that out by their check.
void damage(BusReply& reply, bool is_noisy, std::uint64_t chance) {
  if (reply.bytes.empty()) {
    reply = {is_noisy ? BusStatus::bad_check : BusStatus::malformed, 0, {}, {}};
    return;
  }
  reply.bytes[chance % reply.bytes.size()] ^= static_cast<std::uint8_t>(1u << ((chance >> 32) % 8));
}

}  // namespace

SimulatedDevice::SimulatedDevice(DeviceId device, const SimDeviceOptions& options)
    : device_(device), options_(options), chance_(options.seed ^ (0xd1b54a32d192ed03ULL * (device.value + 1ULL))) {}

std::uint64_t SimulatedDevice::draw() { return next_of(chance_); }

void SimulatedDevice::record(Instant at, std::uint32_t address, std::int32_t value) {
  has_written_ = true;
  if (options_.keep_actuations) {
    actuations_.push_back({at, address, value});
  }
}

OpticalState SimulatedDevice::true_light(Instant at) const {
  const OpticalState* stays = faults_.stale_light(at);
  OpticalState state = stays == nullptr ? light(at) : *stays;
  if (has_fault(DeviceFaultKind::misroute, at)) {
    misroute(state);
  }
  return state;
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
  faults_.forget_over(now);
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
  faults_.append_breakpoints(instants);
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
  faults_.add(now, fault, true_light(now));
  if (fault.kind == DeviceFaultKind::reboot) {
    faults_.end_all_of(DeviceFaultKind::false_readback);
    late_.clear();
    power_up(now);
    light_changed(now, now);
  }
  if (is_optical(fault.kind)) {
    light_changed(now, now);
  }
}

ModelReply SimulatedDevice::execute(Instant now, const Transaction& transaction) {
  forget_past(now);
  const ModelReply silence{{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  if (faults_.is_empty()) {
    ModelReply answer = respond(now, transaction);
    return answer.service_time > transaction.deadline ? silence : answer;
  }
  const auto strikes = [&](DeviceFaultKind kind) { return faults_.strikes(kind, now, [this] { return draw(); }); };
  if (strikes(DeviceFaultKind::silence) || has_fault(DeviceFaultKind::reboot, now)) {
    return silence;
  }
  const bool is_noisy = strikes(DeviceFaultKind::bus_crc);
  if (is_noisy && draw() % 2 == 0) {
    return unread(now, transaction);
  }
  has_written_ = false;
  ModelReply answer = strikes(DeviceFaultKind::nack) ? refuse(now, transaction) : respond(now, transaction);
  if (const DeviceFault* dies = faults_.find(DeviceFaultKind::reboot_mid_command, now); has_written_ && dies != nullptr) {
    const Duration away = dies->delay;
    faults_.end_all_of(DeviceFaultKind::reboot_mid_command);
    inject(now, {.kind = DeviceFaultKind::reboot, .until = now + away});
    return {{BusStatus::lost, 0, {}, {}, "its power was cut"}, answer.service_time};
  }
  if (is_noisy || strikes(DeviceFaultKind::garbage)) {
    damage(answer.reply, is_noisy, answer.reply.bytes.empty() ? 0 : draw());
  }
  const DeviceFault* late = faults_.find(DeviceFaultKind::late, now);
  if (const Duration delay = late == nullptr ? Duration{} : late->delay; strikes(DeviceFaultKind::late)) {
    if (delay == kForever) {
      return silence;
    }
    answer.service_time += delay;
  }
  if (std::holds_alternative<Frame>(transaction.order) && answer.reply.status == BusStatus::ok) {
    return late_.first(now, transaction.deadline, std::move(answer));
  }
  return answer.service_time > transaction.deadline ? silence : answer;  // registers tell a late answer and drop it
}

}  // namespace loom
