// Registers and resonances of a simulated heater bank: P = V^2 / R, one thermal time constant, told in few steps.
#include "sim_backend/devices/heater_model.hpp"

#include <array>
#include <cmath>

#include "sim_backend/devices/wire.hpp"

namespace loom {
namespace {

/// exp(-t) told in steps: from `time` (hundredths of a time constant) on, this part (thousandths) of the way is still to go.
struct Decay {
  std::int64_t time;
  std::int64_t remaining;
};
constexpr std::array<Decay, 7> kDecay{{{0, 880}, {25, 610}, {75, 330}, {150, 140}, {250, 40}, {400, 10}, {600, 0}}};

constexpr std::uint8_t kIllegalAddress = 2;
constexpr std::uint8_t kIllegalValue = 3;
constexpr std::uint8_t kDeviceFailure = 4;
constexpr std::uint8_t kBusy = 6;

Instant step_of(Instant begin, Duration time_constant, const Decay& decay) {
  return begin + Duration{time_constant.count() * decay.time / 100};
}

Frequency heated(const RingFilter& filter, std::uint16_t millivolts) {
  const double volt = millivolts * 1e-3;
  const double milliwatt = volt * volt / filter.heater_ohm * 1e3;
  return {filter.cold_resonance.mhz - std::llround(milliwatt * filter.mhz_per_milliwatt)};
}

}  // namespace

HeaterModel::HeaterModel(const Device& device, std::vector<RingFilter> rings, const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options) {
  for (const RingFilter& filter : rings) {
    rings_.push_back({filter, 0, filter.cold_resonance, filter.cold_resonance, Instant{}, Duration{}});
  }
}

bool HeaterModel::warms(const Ring& ring, Instant at) const {
  return ring.from != ring.to && at < step_of(ring.begin, ring.time_constant, kDecay.back());
}

Frequency HeaterModel::resonance_at(const Ring& ring, Instant at) const {
  if (at < ring.begin) {
    return ring.from;
  }
  std::int64_t remaining = 1'000;
  for (const Decay& decay : kDecay) {
    if (at >= step_of(ring.begin, ring.time_constant, decay)) {
      remaining = decay.remaining;
    }
  }
  return {ring.to.mhz + (ring.from - ring.to).mhz * remaining / 1'000};
}

OpticalState HeaterModel::light(Instant at) const {
  RingLight light;
  light.resonances.reserve(rings_.size());
  const bool dead = has_fault(DeviceFaultKind::fail, at);
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const bool is_cold = dead || faults().is_open(static_cast<std::uint16_t>(i), at);
    const Frequency resonance = is_cold ? rings_[i].filter.cold_resonance : resonance_at(rings_[i], at);
    light.resonances.push_back(resonance + detuning(at, static_cast<std::uint16_t>(i), false));
  }
  return light;
}

/// Each ring is as warm as the one before it should be.
void HeaterModel::misroute(OpticalState& state) const {
  const RingLight told = std::get<RingLight>(state);
  auto& light = std::get<RingLight>(state);
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const std::size_t before = (i + rings_.size() - 1) % rings_.size();
    const FrequencyOffset shift = told.resonances[before] - rings_[before].filter.cold_resonance;
    light.resonances[i] = rings_[i].filter.cold_resonance + shift;
  }
}

void HeaterModel::append_breakpoints(Instant from, std::vector<Instant>& instants) const {
  for (const Ring& ring : rings_) {
    for (std::size_t i = 0; i < kDecay.size() && warms(ring, from); ++i) {
      instants.push_back(step_of(ring.begin, ring.time_constant, kDecay[i]));
    }
  }
}

/// Modbus RTU: 3.5 characters of silence around each telegram (Modbus over serial line V1.02 section 2.5.1.1).
Duration HeaterModel::service_time(std::size_t request_bytes, std::size_t reply_bytes) const {
  return wire_time(request_bytes + reply_bytes + 7, options().modbus_baud) + options().device_time;
}

ModelReply HeaterModel::respond(Instant now, const Transaction& transaction) {
  const auto* registers = std::get_if<Registers>(&transaction.order);
  if (registers == nullptr) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  }
  const bool reads = registers->count > 0;
  const std::size_t count = reads ? registers->count : registers->values.size();
  const std::size_t request_bytes = reads ? 8 : 9 + 2 * count;
  const Instant at = now + service_time(request_bytes, 0);
  BusReply reply;
  if (count == 0 || registers->address + count > rings_.size()) {
    reply = {BusStatus::exception, kIllegalAddress, {}, {}};
  } else if (has_fault(DeviceFaultKind::fail, now)) {
    reply = {BusStatus::exception, kDeviceFailure, {}, {}};
  } else if (!reads) {
    reply = write(now, at, *registers);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      reply.words.push_back(rings_[registers->address + i].millivolts);
    }
  }
  return {std::move(reply), service_time(request_bytes, reads ? 5 + 2 * count : 8)};
}

ModelReply HeaterModel::refuse(Instant, const Transaction&) { return {{BusStatus::nack, kBusy, {}, {}}, service_time(8, 5)}; }

void HeaterModel::power_up(Instant now) {
  for (Ring& ring : rings_) {
    ring.from = resonance_at(ring, now);
    ring.to = ring.filter.cold_resonance;
    ring.begin = now;
    ring.time_constant = options().heater_time_constant;
    ring.millivolts = 0;
  }
}

BusReply HeaterModel::write(Instant now, Instant at, const Registers& registers) {
  for (std::size_t i = 0; i < registers.values.size(); ++i) {
    if (registers.values[i] > rings_[registers.address + i].filter.heater_volt_max * 1e3) {
      return {BusStatus::exception, kIllegalValue, {}, {}};
    }
  }
  if (has_fault(DeviceFaultKind::stick, now)) {
    return {};
  }
  bool changed = false;
  for (std::size_t i = 0; i < registers.values.size(); ++i) {
    Ring& ring = rings_[registers.address + i];
    record(at, registers.address + static_cast<std::uint32_t>(i), registers.values[i]);
    if (ring.millivolts == registers.values[i]) {
      continue;
    }
    changed = true;
    ring.from = resonance_at(ring, at);
    ring.to = heated(ring.filter, registers.values[i]);
    ring.begin = at;
    ring.time_constant = stretched(at, options().heater_time_constant);
    ring.millivolts = registers.values[i];
  }
  if (changed) {
    light_changed(now, at);
  }
  return {};
}

constinit const SimulatedModel kSimulatedHeaterBank{
    "heater_bank",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      std::vector<RingFilter> rings;
      for (const ElementId element : device.elements) {
        rings.push_back(std::get<RingFilter>(fabric.element(element).kind));
      }
      return std::make_unique<HeaterModel>(device, std::move(rings), options);
    },
    "heater"};

}  // namespace loom
