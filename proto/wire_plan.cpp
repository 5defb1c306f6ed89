// SPDX-License-Identifier: Apache-2.0
// Spectrum, circuits, setpoints and plans on the wire. Whether a plan is good light is verify's question, not this file's.
#include "core/text/format_text.hpp"
#include "proto/convert.hpp"

namespace loom::wire {
static_assert(static_cast<int>(DeviceHealth_MAX) == static_cast<int>(loom::DeviceHealth::failed) + 1);

static bool is_static(const loom::TimedSetpoint& entry) { return entry.hold == kForever; }

static void to_wire(const loom::FilterSetpoint& in, FilterSetpoint& out) {
  for (const loom::RingResonance& ring : in.rings) {
    RingResonance& wire_ring = *out.add_rings();
    wire_ring.set_channel_number(ring.channel);
    wire_ring.set_resonance_mhz(ring.resonance.mhz);
    if (ring.drive) {
      wire_ring.set_drive_millivolts(*ring.drive);
    }
    wire_ring.set_locked(ring.locked);
  }
}

static loom::RingResonance from_wire(Check& check, const RingResonance& in) {
  const std::int64_t last_ring = limits::kRingsPerBank - 1;
  loom::RingResonance out{static_cast<std::uint16_t>(check.between("channel_number", in.channel_number(), 0, last_ring)),
                          check.frequency("resonance_mhz", in.resonance_mhz())};
  if (in.has_drive_millivolts()) {
    out.drive = static_cast<std::int32_t>(check.between("drive_millivolts", in.drive_millivolts(), 0, limits::kMillivolts));
  }
  out.locked = in.locked();
  return out;
}

static void to_wire(const loom::TransmitterSetpoint& in, TransmitterSetpoint& out) {
  to_wire(in.slot, *out.mutable_slot());
  out.set_power_centi_dbm(in.power.centi);
  out.set_emit(in.emit);
}

static loom::TransmitterSetpoint from_wire(Check& check, const TransmitterSetpoint& in) {
  return {from_wire(check, in.slot()), check.power("power_centi_dbm", in.power_centi_dbm()), in.emit()};
}

void to_wire(const loom::Setpoint& in, Setpoint& out) {
  if (const auto* laser = std::get_if<loom::TransmitterSetpoint>(&in)) {
    to_wire(*laser, *out.mutable_laser());
  } else if (const auto* heater = std::get_if<loom::FilterSetpoint>(&in)) {
    to_wire(*heater, *out.mutable_heater());
  } else if (const auto* wss = std::get_if<loom::WavelengthSwitchSetpoint>(&in)) {
    rows_to_wire(wss->routes, *out.mutable_wss()->mutable_routes());
  } else if (const auto* ocs = std::get_if<loom::CircuitSwitchSetpoint>(&in)) {
    rows_to_wire(ocs->connects, *out.mutable_ocs()->mutable_connects());
  } else if (const auto* stage = std::get_if<loom::GainSetpoint>(&in)) {
    out.mutable_gain()->set_gain_centi_db(stage->gain.centi);
  } else {
    out.mutable_monitor();
  }
}

loom::Setpoint from_wire(Check& check, const Setpoint& in) {
  switch (in.kind_case()) {
    case Setpoint::kLaser:
      return from_wire(check, in.laser());
    case Setpoint::kHeater: {
      loom::FilterSetpoint heater{
          rows_from_wire<loom::RingResonance>(check, "rings", in.heater().rings(), limits::kRingsPerBank)};
      check.ascending("rings", heater.rings, [](const loom::RingResonance& ring) { return ring.channel; });
      return heater;
    }
    case Setpoint::kWss: {
      loom::WavelengthSwitchSetpoint wss{
          rows_from_wire<loom::WssRoute>(check, "routes", in.wss().routes(), limits::kWssRoutes)};
      check.ascending("routes", wss.routes, [](const loom::WssRoute& route) { return std::pair{route.slot.n, route.input}; });
      return wss;
    }
    case Setpoint::kOcs: {
      loom::CircuitSwitchSetpoint ocs{rows_from_wire<loom::CrossConnect>(check, "connects", in.ocs().connects(), 0x10000)};
      check.ascending("connects", ocs.connects, [](const loom::CrossConnect& connect) { return connect.input; });
      return ocs;
    }
    case Setpoint::kMonitor:
      return loom::MonitorSetpoint{};
    case Setpoint::kGain:
      return loom::GainSetpoint{check.ratio("gain_centi_db", in.gain().gain_centi_db())};
    case Setpoint::KIND_NOT_SET:
      break;
  }
  check.refuse("setpoint", "", "is missing");
  return {};
}

static void to_wire(const loom::TimedSetpoint& in, TimedSetpoint& out) {
  out.set_offset_ns(in.offset.count());
  out.set_guard_ns(in.guard.count());
  out.set_hold_ns(in.hold.count());
  to_wire(in.setpoint, *out.mutable_setpoint());
}

static loom::TimedSetpoint from_wire(Check& check, const TimedSetpoint& in) {
  loom::TimedSetpoint out;
  out.offset = check.duration("offset_ns", in.offset_ns());
  out.guard = check.duration("guard_ns", in.guard_ns());
  out.hold = in.hold_ns() == kForever.count() ? kForever : check.duration("hold_ns", in.hold_ns());
  const auto scope = check.in("setpoint");
  out.setpoint = from_wire(check, in.setpoint());
  return out;
}

static void check_timeline(Check& check, const std::vector<loom::TimedSetpoint>& timeline) {
  check.ascending("timeline.offset_ns", timeline, [](const loom::TimedSetpoint& entry) { return entry.offset; });
  for (std::size_t i = 0; i + 1 < timeline.size(); ++i) {
    if (is_static(timeline[i])) {
      check.refuse("timeline.hold_ns", format_text("forever at element {}", i), "only the last element may hold forever");
    }
    if (timeline[i].setpoint.index() != timeline[i + 1].setpoint.index()) {
      check.refuse("timeline.setpoint", format_text("another kind at element {}", i + 1), "a device has one kind of setpoint");
    }
  }
}

static void to_wire(const loom::DevicePlan& in, DevicePlan& out) {
  out.set_device_id(in.device.value);
  out.set_touched(in.touched);
  rows_to_wire(in.timeline, *out.mutable_timeline());
  out.set_left_alone(in.left_alone);
  rows_to_wire(in.may_hold, *out.mutable_may_hold());
}

static loom::DevicePlan from_wire(Check& check, const DevicePlan& in) {
  loom::DevicePlan out;
  out.device = check.device("device_id", in.device_id());
  out.touched = in.touched();
  out.timeline = rows_from_wire<loom::TimedSetpoint>(check, "timeline", in.timeline(), limits::kTimelineEntries);
  check_timeline(check, out.timeline);
  out.left_alone = in.left_alone();
  out.may_hold = rows_from_wire<loom::Setpoint>(check, "may_hold", in.may_hold(), limits::kSetpointsHeld);
  return out;
}

static void to_wire(const loom::CircuitEnd& in, CircuitEnd& out) {
  out.set_circuit_id(in.circuit.value);
  out.set_job_id(in.job.value);
  out.set_transmits(in.transmits);
}

static loom::CircuitEnd from_wire(Check&, const CircuitEnd& in) { return {{in.circuit_id()}, {in.job_id()}, in.transmits()}; }

void to_wire(const loom::FrequencySlot& in, FrequencySlot& out) {
  out.set_slot_n(in.n);
  out.set_slot_m(static_cast<std::uint32_t>(in.m));
}

loom::FrequencySlot from_wire(Check& check, const FrequencySlot& in) {
  return {static_cast<std::int32_t>(check.between("slot_n", in.slot_n(), -limits::kSlotN, limits::kSlotN)),
          static_cast<std::int32_t>(check.between("slot_m", in.slot_m(), 1, limits::kSlotM))};
}

void to_wire(const loom::Circuit& in, Circuit& out) {
  out.set_circuit_id(in.id.value);
  out.set_job_id(in.job.value);
  out.set_source_node_id(in.source.value);
  out.set_destination_node_id(in.destination.value);
  out.set_transmitter_element_id(in.transmitter.value);
  out.set_receiver_element_id(in.receiver.value);
  to_wire(in.slot, *out.mutable_slot());
  out.set_rate_bit_per_s(in.rate.bits_per_second);
}

loom::Circuit from_wire(Check& check, const Circuit& in) {
  loom::Circuit out;
  out.id = {in.circuit_id()};
  out.job = {in.job_id()};
  out.source = check.node("source_node_id", in.source_node_id());
  out.destination = check.node("destination_node_id", in.destination_node_id());
  out.transmitter = check.element("transmitter_element_id", in.transmitter_element_id());
  out.receiver = check.element("receiver_element_id", in.receiver_element_id());
  out.slot = from_wire(check, in.slot());
  out.rate = {check.between("rate_bit_per_s", in.rate_bit_per_s(), 0, limits::kBitPerSecond)};
  return out;
}

void to_wire(const loom::WssRoute& in, WssRoute& out) {
  to_wire(in.slot, *out.mutable_slot());
  out.set_input_port(in.input);
  out.set_output_port(in.output);
  out.set_attenuation_centi_db(in.attenuation.centi);
}

loom::WssRoute from_wire(Check& check, const WssRoute& in) {
  return {from_wire(check, in.slot()), check.word("input_port", in.input_port()), check.word("output_port", in.output_port()),
          check.ratio("attenuation_centi_db", in.attenuation_centi_db())};
}

void to_wire(const loom::CrossConnect& in, CrossConnect& out) {
  out.set_input_port(in.input);
  out.set_output_port(in.output);
}

loom::CrossConnect from_wire(Check& check, const CrossConnect& in) {
  return {check.word("input_port", in.input_port()), check.word("output_port", in.output_port())};
}

void to_wire(const loom::OfferedStream& in, OfferedStream& out) {
  out.set_collective_number(in.collective);
  out.set_source_node_id(in.source.value);
  out.set_destination_node_id(in.destination.value);
  out.set_stream_bytes(in.bytes.count);
}

loom::OfferedStream from_wire(Check& check, const OfferedStream& in) {
  loom::OfferedStream out;
  out.collective = in.collective_number();
  out.source = check.node("source_node_id", in.source_node_id());
  out.destination = check.node("destination_node_id", in.destination_node_id());
  out.bytes = {check.between("stream_bytes", in.stream_bytes(), 1, limits::kStreamBytes)};
  return out;
}

static void to_wire(const loom::AllowedWavelength& in, AllowedWavelength& out) {
  out.set_destination_node_id(in.destination.value);
  out.set_laser_device_id(in.laser.value);
  to_wire(in.slot, *out.mutable_slot());
}

static loom::AllowedWavelength from_wire(Check& check, const AllowedWavelength& in) {
  loom::AllowedWavelength out;
  out.destination = check.node("destination_node_id", in.destination_node_id());
  out.laser = check.device("laser_device_id", in.laser_device_id());
  const auto scope = check.in("slot");
  out.slot = from_wire(check, in.slot());
  return out;
}

static void to_wire(const loom::GrantTimings& in, GrantTimings& out) {
  out.set_rate_bit_per_s(in.rate.bits_per_second);
  out.set_tune_ns(in.tune.count());
  out.set_lock_ns(in.lock.count());
  out.set_control_ns(in.control.count());
  out.set_flight_ns(in.flight.count());
  out.set_flight_error_ns(in.flight_error.count());
  out.set_clock_error_ns(in.clock_error.count());
  out.set_blank_ns(in.blank.count());
  out.set_trigger_late_ns(in.trigger_late.count());
}

static loom::GrantTimings from_wire(Check& check, const GrantTimings& in) {
  const auto within_window = [&](const char* field, std::int64_t ns) {
    return Duration{check.between(field, ns, 0, limits::kGrantWindowNs)};
  };
  loom::GrantTimings out;
  out.rate = {check.between("rate_bit_per_s", in.rate_bit_per_s(), 1'000'000, limits::kBitPerSecond)};
  out.tune = within_window("tune_ns", in.tune_ns());
  out.lock = within_window("lock_ns", in.lock_ns());
  out.control = within_window("control_ns", in.control_ns());
  out.flight = within_window("flight_ns", in.flight_ns());
  out.flight_error = within_window("flight_error_ns", in.flight_error_ns());
  out.clock_error = within_window("clock_error_ns", in.clock_error_ns());
  out.blank = within_window("blank_ns", in.blank_ns());
  out.trigger_late = within_window("trigger_late_ns", in.trigger_late_ns());
  return out;
}

static void to_wire(const loom::GrantMap& in, GrantMap& out) {
  out.set_job_id(in.job.value);
  out.set_routed_by_revision_number(in.routed_by.value);
  to_wire(in.timings, *out.mutable_timings());
  out.set_quantum_ns(in.quantum.count());
  rows_to_wire(in.wavelengths, *out.mutable_wavelengths());
  nodes_to_wire(in.sources, *out.mutable_source_node_ids());
  rows_to_wire(in.sends, *out.mutable_sends());
}

static loom::GrantMap from_wire(Check& check, const GrantMap& in) {
  loom::GrantMap out;
  out.job = {in.job_id()};
  out.routed_by = {in.routed_by_revision_number()};
  if (check.present("timings", in.has_timings())) {
    const auto scope = check.in("timings");
    out.timings = from_wire(check, in.timings());
  }
  out.quantum = Duration{check.between("quantum_ns", in.quantum_ns(), 1, limits::kGrantWindowNs)};
  out.wavelengths = rows_from_wire<loom::AllowedWavelength>(check, "wavelengths", in.wavelengths(), limits::kTimelineEntries);
  check.ascending("wavelengths", out.wavelengths, [](const loom::AllowedWavelength& wavelength) {
    return std::pair{wavelength.destination, wavelength.laser};
  });
  out.sources = nodes_from_wire(check, "source_node_ids", in.source_node_ids());
  check.ascending("source_node_ids", out.sources, [](NodeId node) { return node; });
  out.sends = rows_from_wire<loom::OfferedStream>(check, "sends", in.sends(), limits::kStreamsPerSender);
  return out;
}

static void to_wire(const loom::IterationPlan& in, IterationPlan& out) {
  out.set_job_id(in.job.value);
  out.set_routed_by_revision_number(in.routed_by.value);
  out.set_leader_node_id(in.leader.value);
  nodes_to_wire(in.members, *out.mutable_member_node_ids());
  out.set_compute_ns(in.compute.count());
  out.set_lead_ns(in.lead.count());
  out.set_phase_count(in.phases);
  out.set_paced_by_training(in.paced_by == PacedBy::training);
}

static loom::IterationPlan from_wire(Check& check, const IterationPlan& in) {
  loom::IterationPlan out;
  out.job = {in.job_id()};
  out.routed_by = {in.routed_by_revision_number()};
  out.leader = check.node("leader_node_id", in.leader_node_id());
  out.members = nodes_from_wire(check, "member_node_ids", in.member_node_ids());
  check.ascending("member_node_ids", out.members, [](NodeId node) { return node; });
  out.phases = static_cast<std::uint32_t>(check.between("phase_count", in.phase_count(), 1, limits::kPhases));
  out.compute = check.duration("compute_ns", in.compute_ns());
  out.lead = Duration{check.between("lead_ns", in.lead_ns(), 1, limits::kPassLeadNs)};
  out.paced_by = in.paced_by_training() ? PacedBy::training : PacedBy::model;
  return out;
}

void to_wire(const loom::NodePlan& in, NodePlan& out) {
  out.set_revision_number(in.revision.value);
  out.set_base_revision_number(in.base.value);
  out.set_node_id(in.node.value);
  out.set_cycle_ns(in.cycle.count());
  out.set_cycle_count(in.cycles);
  out.set_compute_after_ns(in.compute_after.count());
  rows_to_wire(in.devices, *out.mutable_devices());
  rows_to_wire(in.ends, *out.mutable_ends());
  if (in.grants) {
    to_wire(*in.grants, *out.mutable_grants());
  }
  if (in.iterations) {
    to_wire(*in.iterations, *out.mutable_iterations());
  }
}

loom::NodePlan from_wire(Check& check, const NodePlan& in) {
  loom::NodePlan out;
  out.revision = {in.revision_number()};
  out.base = {in.base_revision_number()};
  out.node = check.node("node_id", in.node_id());
  out.cycle = check.duration("cycle_ns", in.cycle_ns());
  out.cycles = in.cycle_count();
  out.compute_after = check.duration("compute_after_ns", in.compute_after_ns());
  out.devices = rows_from_wire<loom::DevicePlan>(check, "devices", in.devices(), limits::kDevicesPerNode);
  check.ascending("devices.device_id", out.devices, [](const loom::DevicePlan& plan) { return plan.device; });
  out.ends = rows_from_wire<loom::CircuitEnd>(check, "ends", in.ends(), limits::kCircuits);
  if (in.has_grants()) {
    const auto scope = check.in("grants");
    out.grants = from_wire(check, in.grants());
  }
  if (in.has_iterations()) {
    const auto scope = check.in("iterations");
    out.iterations = from_wire(check, in.iterations());
  }
  return out;
}

/// What plans and their changes have under the same names.
template <class Planned, class Wire>
static void plan_to_wire(const Planned& in, Wire& out) {
  out.set_base_revision_number(in.base.value);
  rows_to_wire(in.nodes, *out.mutable_nodes());
  rows_to_wire(in.circuits, *out.mutable_circuits());
  nodes_to_wire(in.changed, *out.mutable_changed_node_ids());
  for (const DeviceId device : in.moved_steering) {
    out.add_moved_steering_device_ids(device.value);
  }
  for (const CircuitId circuit : in.touched) {
    out.add_touched_circuit_ids(circuit.value);
  }
  to_wire(in.certificate, *out.mutable_certificate());
}

static std::vector<CircuitId> circuits_from_wire(Check& check, const char* field,
                                                 const google::protobuf::RepeatedField<std::uint64_t>& in, std::size_t most) {
  std::vector<CircuitId> out;
  if (check.count(field, in.size(), most)) {
    for (const std::uint64_t circuit : in) {
      out.push_back({circuit});
    }
  }
  check.ascending(field, out, [](CircuitId id) { return id; });
  return out;
}

template <class Planned, class Wire>
static Planned plan_from_wire(Check& check, const Wire& in) {
  const auto itself = [](const auto& id) { return id; };
  Planned out;
  out.base = {in.base_revision_number()};
  out.nodes = rows_from_wire<loom::NodePlan>(check, "nodes", in.nodes(), limits::kNodes);
  check.ascending("nodes.node_id", out.nodes, [](const loom::NodePlan& plan) { return plan.node; });
  out.circuits = rows_from_wire<loom::Circuit>(check, "circuits", in.circuits(), limits::kCircuits);
  check.ascending("circuits.circuit_id", out.circuits, [](const loom::Circuit& circuit) { return circuit.id; });
  out.changed = nodes_from_wire(check, "changed_node_ids", in.changed_node_ids());
  check.ascending("changed_node_ids", out.changed, itself);
  if (check.count("moved_steering_device_ids", in.moved_steering_device_ids_size(), limits::kDevices)) {
    for (const std::uint32_t device : in.moved_steering_device_ids()) {
      out.moved_steering.push_back(check.device("moved_steering_device_ids", device));
    }
  }
  out.touched = circuits_from_wire(check, "touched_circuit_ids", in.touched_circuit_ids(), 2 * limits::kCircuits);
  if (check.present("certificate", in.has_certificate())) {
    out.certificate = from_wire(check, in.certificate());
  }
  return out;
}

void to_wire(const loom::Plan& in, Plan& out) {
  out.set_revision_number(in.revision.value);
  plan_to_wire(in, out);
}

loom::Plan from_wire(Check& check, const Plan& in) {
  auto out = plan_from_wire<loom::Plan>(check, in);
  out.revision = {in.revision_number()};
  return out;
}

void to_wire(const loom::PlanChange& in, PlanChange& out) {
  out.set_changed_revision_number(in.of.value);
  plan_to_wire(in, out);
  for (const CircuitId circuit : in.ended) {
    out.add_ended_circuit_ids(circuit.value);
  }
}

loom::PlanChange from_wire(Check& check, const PlanChange& in) {
  auto out = plan_from_wire<loom::PlanChange>(check, in);
  out.of = {in.changed_revision_number()};
  out.ended = circuits_from_wire(check, "ended_circuit_ids", in.ended_circuit_ids(), limits::kCircuits);
  return out;
}

}  // namespace loom::wire
