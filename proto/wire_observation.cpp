// Observations on the wire.
#include "proto/convert.hpp"

namespace loom::wire {
static void to_wire(const loom::TransmitterObservation& in, TransmitterObservation& out) {
  out.set_frequency_mhz(in.frequency.mhz);
  out.set_power_centi_dbm(in.power.centi);
  out.set_emitting(in.emitting);
  out.set_locked(in.locked);
  out.set_status_fatal_bits(in.status_fatal);
  out.set_status_warning_bits(in.status_warning);
}

static loom::TransmitterObservation from_wire(Check& check, const TransmitterObservation& in) {
  loom::TransmitterObservation out;
  out.frequency = check.frequency("frequency_mhz", in.frequency_mhz());
  out.power = check.power("power_centi_dbm", in.power_centi_dbm());
  out.emitting = in.emitting();
  out.locked = in.locked();
  out.status_fatal = check.word("status_fatal_bits", in.status_fatal_bits());
  out.status_warning = check.word("status_warning_bits", in.status_warning_bits());
  return out;
}

static loom::FilterObservation from_wire(Check& check, const FilterObservation& in) {
  loom::FilterObservation out;
  if (check.count("ring_millivolts", in.ring_millivolts_size(), limits::kRingsPerBank)) {
    for (const std::int32_t millivolts : in.ring_millivolts()) {
      out.millivolts.push_back(
          static_cast<std::int32_t>(check.between("ring_millivolts", millivolts, -limits::kMillivolts, limits::kMillivolts)));
    }
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
      return loom::CircuitSwitchObservation{rows_from_wire<loom::CrossConnect>(check, "connects", in.ocs().connects(), 0x10000),
                                            in.ocs().settled()};
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
  out.set_proof(enum_to_wire<Proof>(in.proof));
  out.set_serial(sendable(in.identity.serial));
  out.set_description(sendable(in.identity.description));
  if (const auto* laser = std::get_if<loom::TransmitterObservation>(&in.reading)) {
    to_wire(*laser, *out.mutable_laser());
  } else if (const auto* heater = std::get_if<loom::FilterObservation>(&in.reading)) {
    out.mutable_heater()->mutable_ring_millivolts()->Add(heater->millivolts.begin(), heater->millivolts.end());
  } else if (const auto* wss = std::get_if<loom::WavelengthSwitchObservation>(&in.reading)) {
    rows_to_wire(wss->routes, *out.mutable_wss()->mutable_routes());
    out.mutable_wss()->set_settled(wss->settled);
  } else if (const auto* ocs = std::get_if<loom::CircuitSwitchObservation>(&in.reading)) {
    rows_to_wire(ocs->connects, *out.mutable_ocs()->mutable_connects());
    out.mutable_ocs()->set_settled(ocs->settled);
  }
}

loom::Observation from_wire(Check& check, const Observation& in) {
  loom::Observation out;
  out.device = check.device("device_id", in.device_id());
  out.health = check.enumeration("health", in.health(), loom::DeviceHealth::failed);
  out.read_at = check.instant("read_at_ns", in.read_at_ns());
  out.fault = check.text("fault", in.fault());
  out.proof = check.enumeration("proof", in.proof(), loom::Proof::monitor);
  out.identity.serial = check.text("serial", in.serial());
  out.identity.description = check.text("description", in.description());
  const auto scope = check.in("reading");
  out.reading = reading_from_wire(check, in);
  return out;
}

}  // namespace loom::wire
