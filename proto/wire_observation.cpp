// SPDX-License-Identifier: Apache-2.0
// Observations on the wire.
#include <algorithm>

#include "core/fabric/occupied_ports.hpp"
#include "proto/convert.hpp"

namespace loom::wire {
static void to_wire(const loom::TransmitterObservation& in, TransmitterObservation& out) {
  out.set_frequency_mhz(in.frequency.mhz);
  out.set_power_centi_dbm(in.power.centi);
  out.set_emitting(in.emitting);
  out.set_locked(in.locked);
  out.set_status_fatal_bits(in.status_fatal);
  out.set_status_warning_bits(in.status_warning);
  if (in.received) {
    out.set_received_centi_dbm(in.received->centi);
  }
  if (in.osnr) {
    out.set_osnr_centi_db(in.osnr->centi);
  }
  if (in.pre_fec_errors) {
    out.set_pre_fec_error_count(*in.pre_fec_errors);
  }
}

static loom::TransmitterObservation from_wire(Check& check, const TransmitterObservation& in) {
  loom::TransmitterObservation out;
  out.frequency = check.frequency("frequency_mhz", in.frequency_mhz());
  out.power = check.power("power_centi_dbm", in.power_centi_dbm());
  out.emitting = in.emitting();
  out.locked = in.locked();
  out.status_fatal = check.word("status_fatal_bits", in.status_fatal_bits());
  out.status_warning = check.word("status_warning_bits", in.status_warning_bits());
  if (in.has_received_centi_dbm()) {
    out.received = check.power("received_centi_dbm", in.received_centi_dbm());
  }
  if (in.has_osnr_centi_db()) {
    out.osnr = check.ratio("osnr_centi_db", in.osnr_centi_db());
  }
  if (in.has_pre_fec_error_count()) {
    out.pre_fec_errors = check.between("pre_fec_error_count", in.pre_fec_error_count(), 0, limits::kErrorsPerPetabit);
  }
  return out;
}

static void to_wire(const loom::FilterObservation& in, FilterObservation& out) {
  out.mutable_ring_millivolts()->Add(in.millivolts.begin(), in.millivolts.end());
  for (const loom::RingLock& lock : in.locks) {
    RingLock& row = *out.add_locks();
    row.set_channel_number(lock.channel);
    row.set_state(enum_to_wire<LockState>(lock.state));
    row.set_trim_mhz(lock.trim.mhz);
  }
}

static loom::FilterObservation from_wire(Check& check, const FilterObservation& in) {
  loom::FilterObservation out;
  if (check.count("ring_millivolts", in.ring_millivolts_size(), limits::kRingsPerBank)) {
    for (const std::int32_t millivolts : in.ring_millivolts()) {
      out.millivolts.push_back(
          static_cast<std::int32_t>(check.between("ring_millivolts", millivolts, -limits::kMillivolts, limits::kMillivolts)));
    }
  }
  if (check.count("locks", in.locks_size(), limits::kRingsPerBank)) {
    for (int i = 0; i < in.locks_size(); ++i) {
      const auto scope = check.in("locks", i);
      const RingLock& row = in.locks(i);
      out.locks.push_back(
          {static_cast<std::uint16_t>(check.between("channel_number", row.channel_number(), 0, limits::kRingsPerBank - 1)),
           check.enumeration("state", row.state(), loom::LockState::at_limit),
           FrequencyOffset{check.between("trim_mhz", row.trim_mhz(), -limits::kFrequencyMhz, limits::kFrequencyMhz)}});
    }
    check.ascending("locks", out.locks, [](const loom::RingLock& lock) { return lock.channel; });
  }
  return out;
}

static void to_wire(const loom::CircuitSwitchObservation& in, CircuitSwitchObservation& out) {
  rows_to_wire(in.connects, *out.mutable_connects());
  out.set_settled(in.settled);
  rows_to_wire(in.occupied, *out.mutable_occupied());
  for (const loom::PortPower& power : in.powers) {
    PortPower& row = *out.add_powers();
    row.set_port(power.port);
    row.set_is_input(power.is_input);
    row.set_power_centi_dbm(power.power.centi);
  }
}

static loom::CircuitSwitchObservation from_wire(Check& check, const CircuitSwitchObservation& in) {
  constexpr std::size_t kPorts = 0x10000;
  loom::CircuitSwitchObservation out{rows_from_wire<loom::CrossConnect>(check, "connects", in.connects(), kPorts), in.settled(),
                                     rows_from_wire<loom::CrossConnect>(check, "occupied", in.occupied(), kPorts)};
  std::ranges::sort(out.connects, ascends);  // strangers may have them in any order
  std::ranges::sort(out.occupied, ascends);
  if (check.count("powers", in.powers_size(), 2 * kPorts)) {
    for (int i = 0; i < in.powers_size(); ++i) {
      const auto scope = check.in("powers", i);
      const PortPower& row = in.powers(i);
      out.powers.push_back(
          {check.word("port", row.port()), row.is_input(), check.power("power_centi_dbm", row.power_centi_dbm())});
    }
  }
  return out;
}

static void to_wire(const loom::MonitorObservation& in, MonitorObservation& out) {
  out.set_is_wavemeter(in.is_wavemeter);
  for (const loom::LightReading& light : in.lights) {
    LightReading& row = *out.add_lights();
    row.set_channel_number(light.channel);
    row.set_power_centi_dbm(light.power.centi);
    row.set_frequency_mhz(light.frequency.mhz);
  }
}

static loom::MonitorObservation from_wire(Check& check, const MonitorObservation& in) {
  loom::MonitorObservation out;
  out.is_wavemeter = in.is_wavemeter();
  if (check.count("lights", in.lights_size(), limits::kLightReadings)) {
    for (int i = 0; i < in.lights_size(); ++i) {
      const auto scope = check.in("lights", i);
      const LightReading& row = in.lights(i);
      out.lights.push_back({check.word("channel_number", row.channel_number()),
                            check.power("power_centi_dbm", row.power_centi_dbm()),
                            check.frequency("frequency_mhz", row.frequency_mhz())});
    }
  }
  return out;
}

static void to_wire(const loom::GainObservation& in, GainObservation& out) {
  out.set_gain_centi_db(in.gain.centi);
  out.set_settled(in.settled);
  if (in.input) {
    out.set_input_centi_dbm(in.input->centi);
  }
  if (in.output) {
    out.set_output_centi_dbm(in.output->centi);
  }
}

static loom::GainObservation from_wire(Check& check, const GainObservation& in) {
  loom::GainObservation out{check.ratio("gain_centi_db", in.gain_centi_db()), in.settled()};
  if (in.has_input_centi_dbm()) {
    out.input = check.power("input_centi_dbm", in.input_centi_dbm());
  }
  if (in.has_output_centi_dbm()) {
    out.output = check.power("output_centi_dbm", in.output_centi_dbm());
  }
  return out;
}

static loom::Reading reading_from_wire(Check& check, const Observation& in) {
  switch (in.reading_case()) {
    case Observation::kLaser:
      return from_wire(check, in.laser());
    case Observation::kHeater:
      return from_wire(check, in.heater());
    case Observation::kWss:
      return loom::WavelengthSwitchObservation{
          rows_from_wire<loom::WssRoute>(check, "routes", in.wss().routes(), limits::kWssRoutes), in.wss().settled()};
    case Observation::kOcs:
      return from_wire(check, in.ocs());
    case Observation::kMonitor:
      return from_wire(check, in.monitor());
    case Observation::kGain:
      return from_wire(check, in.gain());
    case Observation::READING_NOT_SET:
      break;
  }
  return std::monostate{};
}

void to_wire(const loom::Observation& in, Observation& out) {
  out.set_device_id(in.device.value);
  out.set_health(enum_to_wire<DeviceHealth>(in.health));
  out.set_read_at_ns(ns_of(in.read_at));
  out.set_fault(sendable(in.fault));
  out.set_trouble(enum_to_wire<Trouble>(in.trouble));
  out.set_proof(enum_to_wire<Proof>(in.proof));
  out.set_serial(sendable(in.identity.serial));
  out.set_description(sendable(in.identity.description));
  if (const auto* laser = std::get_if<loom::TransmitterObservation>(&in.reading)) {
    to_wire(*laser, *out.mutable_laser());
  } else if (const auto* heater = std::get_if<loom::FilterObservation>(&in.reading)) {
    to_wire(*heater, *out.mutable_heater());
  } else if (const auto* wss = std::get_if<loom::WavelengthSwitchObservation>(&in.reading)) {
    rows_to_wire(wss->routes, *out.mutable_wss()->mutable_routes());
    out.mutable_wss()->set_settled(wss->settled);
  } else if (const auto* ocs = std::get_if<loom::CircuitSwitchObservation>(&in.reading)) {
    to_wire(*ocs, *out.mutable_ocs());
  } else if (const auto* monitor = std::get_if<loom::MonitorObservation>(&in.reading)) {
    to_wire(*monitor, *out.mutable_monitor());
  } else if (const auto* stage = std::get_if<loom::GainObservation>(&in.reading)) {
    to_wire(*stage, *out.mutable_gain());
  }
}

loom::Observation from_wire(Check& check, const Observation& in) {
  loom::Observation out;
  out.device = check.device("device_id", in.device_id());
  out.health = check.enumeration("health", in.health(), loom::DeviceHealth::failed);
  out.read_at = check.instant("read_at_ns", in.read_at_ns());
  out.fault = check.text("fault", in.fault());
  if (in.has_trouble()) {
    out.trouble = check.enumeration("trouble", in.trouble(), loom::Trouble::misfit);
  }
  out.proof = check.enumeration("proof", in.proof(), loom::Proof::monitor);
  out.identity.serial = check.text("serial", in.serial());
  out.identity.description = check.text("description", in.description());
  const auto scope = check.in("reading");
  out.reading = reading_from_wire(check, in);
  return out;
}

}  // namespace loom::wire
