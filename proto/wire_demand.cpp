// SPDX-License-Identifier: Apache-2.0
// Jobs and intents on the wire.
#include <array>
#include <utility>

#include "proto/convert.hpp"

namespace loom::wire {
static_assert(static_cast<int>(CollectiveKind_MAX) == static_cast<int>(loom::CollectiveKind::point_to_point) + 1);

static void to_wire(const loom::Collective& in, Collective& out) {
  out.set_kind(enum_to_wire<CollectiveKind>(in.kind));
  out.mutable_rank_numbers()->Add(in.ranks.begin(), in.ranks.end());
  out.set_size_bytes(in.bytes.count);
  out.set_repeat_count(in.count);
  if (in.ready != kForever) {
    out.set_ready_ns(in.ready.count());
  }
  if (in.needed != kForever) {
    out.set_needed_ns(in.needed.count());
  }
  for (const Bytes split : in.splits) {
    out.add_split_bytes(split.count);
  }
}

static loom::Collective from_wire(Check& check, const Collective& in) {
  loom::Collective out;
  out.kind = check.enumeration("kind", in.kind(), loom::CollectiveKind::point_to_point);
  out.ranks = numbers_from_wire(check, "rank_numbers", in.rank_numbers(), limits::kNodes, limits::kNodes);
  out.bytes = {check.between("size_bytes", in.size_bytes(), 0, limits::kCollectiveBytes)};
  out.count = static_cast<std::uint32_t>(check.between("repeat_count", in.repeat_count(), 0, limits::kCollectiveRepeats));
  if (in.has_ready_ns()) {
    out.ready = check.duration("ready_ns", in.ready_ns());
  }
  if (in.has_needed_ns()) {
    out.needed = check.duration("needed_ns", in.needed_ns());
  }
  if (check.count("split_bytes", in.split_bytes_size(), limits::kSplitsPerCollective)) {
    for (const std::int64_t bytes : in.split_bytes()) {
      out.splits.push_back({check.between("split_bytes", bytes, 0, limits::kCollectiveBytes)});
    }
  }
  return out;
}

/// One share's numbers.
static std::vector<std::uint32_t> shared(Check& check, const char* field,
                                         const google::protobuf::RepeatedField<std::uint32_t>& in) {
  std::vector<std::uint32_t> numbers = numbers_from_wire(check, field, in, limits::kSharePerJob, limits::kSharePerJob);
  check.ascending(field, numbers, [](std::uint32_t number) { return number; });
  return numbers;
}

/// Journals of before had two shares by name; both came from one architecture.
static loom::JobShare share_from_wire(Check& check, const Job& in) {
  loom::JobShare out;
  if (auto planes = shared(check, "earlier_plane_numbers", in.earlier_plane_numbers()); !planes.empty()) {
    out.emplace("planes", std::move(planes));
  }
  if (auto orders = shared(check, "earlier_order_numbers", in.earlier_order_numbers()); !orders.empty()) {
    out.emplace("orders", std::move(orders));
  }
  if (check.count("shares", in.shares_size(), limits::kOptionsPerJob)) {
    for (const JobShare& share : in.shares()) {
      out.insert_or_assign(check.text("shares.name", share.name()), shared(check, "share_numbers", share.share_numbers()));
    }
  }
  return out;
}

static void to_wire(const loom::Job& in, Job& out) {
  out.set_job_id(in.id.value);
  to_wire(in.spec, *out.mutable_spec());
  nodes_to_wire(in.nodes, *out.mutable_node_ids());
  out.set_stage_number(in.stage);
  for (const auto& [name, numbers] : in.share) {
    JobShare& share = *out.add_shares();
    share.set_name(sendable(name));
    share.mutable_share_numbers()->Assign(numbers.begin(), numbers.end());
  }
  rows_to_wire(in.measured, *out.mutable_measured());
}

static loom::Job from_wire(Check& check, const Job& in) {
  loom::Job out;
  out.id = {in.job_id()};
  if (check.present("spec", in.has_spec())) {
    const auto scope = check.in("spec");
    out.spec = from_wire(check, in.spec());
  }
  out.nodes = nodes_from_wire(check, "node_ids", in.node_ids());
  out.stage = static_cast<std::uint32_t>(check.between("stage_number", in.stage_number(), 0, limits::kStagesPerJob - 1));
  out.share = share_from_wire(check, in);
  out.measured = rows_from_wire<loom::Collective>(check, "measured", in.measured(), limits::kCollectivesPerJob);
  return out;
}

void to_wire(const loom::JobSpec& in, JobSpec& out) {
  out.set_name(sendable(in.name));
  out.set_workload(sendable(in.workload));
  out.set_node_count(in.node_count);
  nodes_to_wire(in.placement, *out.mutable_placement_node_ids());
  rows_to_wire(in.collectives, *out.mutable_collectives());
  out.set_compute_ns(in.compute.count());
  for (const std::string& assumption : in.assumptions) {
    out.add_assumptions(sendable(assumption));
  }
  for (const auto& [key, value] : in.options) {
    JobOption& option = *out.add_options();
    option.set_key(sendable(key));
    option.set_value(sendable(value));
  }
  out.set_transmits_by_grants(in.transmit == Transmit::grants);
  out.set_adapt(in.adapt);
  out.set_paced_by_training(in.paced_by == PacedBy::training);
}

/// Journals of before had an enumeration and its groups.
static JobOptions options_from_wire(Check& check, const JobSpec& in) {
  static constexpr std::array<const char*, 6> kEarlier{"", "", "maps", "latin", "ring", "custom"};
  JobOptions out;
  if (const auto map = check.between("earlier_map_number", in.earlier_map_number(), 0, kEarlier.size() - 1); map > 1) {
    out.emplace("map", kEarlier.at(static_cast<std::size_t>(map)));
  }
  const auto groups =
      numbers_from_wire(check, "earlier_map_group_numbers", in.earlier_map_group_numbers(), limits::kNodes, limits::kNodes);
  for (const std::uint32_t group : groups) {
    std::string& list = out["map_groups"];
    list += (list.empty() ? "" : "-") + std::to_string(group);
  }
  if (check.count("options", in.options_size(), limits::kOptionsPerJob)) {
    for (const JobOption& option : in.options()) {
      out.insert_or_assign(check.text("options.key", option.key()), check.text("options.value", option.value()));
    }
  }
  return out;
}

loom::JobSpec from_wire(Check& check, const JobSpec& in) {
  loom::JobSpec out;
  out.name = check.text("name", in.name());
  out.workload = check.text("workload", in.workload());
  out.node_count = static_cast<std::uint32_t>(check.between("node_count", in.node_count(), 0, limits::kNodes));
  out.placement = nodes_from_wire(check, "placement_node_ids", in.placement_node_ids());
  out.collectives = rows_from_wire<loom::Collective>(check, "collectives", in.collectives(), limits::kCollectivesPerJob);
  out.compute = check.duration("compute_ns", in.compute_ns());
  if (check.count("assumptions", in.assumptions_size(), limits::kTextsPerList)) {
    for (const std::string& assumption : in.assumptions()) {
      out.assumptions.push_back(check.text("assumptions", assumption));
    }
  }
  out.options = options_from_wire(check, in);
  out.transmit = in.transmits_by_grants() ? Transmit::grants : Transmit::slots;
  out.adapt = in.adapt();
  out.paced_by = in.paced_by_training() ? PacedBy::training : PacedBy::model;
  return out;
}

static void to_wire(const loom::Timeslot& in, Timeslot& out) {
  rows_to_wire(in.circuits, *out.mutable_circuits());
  out.set_guard_ns(in.guard.count());
  out.set_hold_ns(in.hold.count());
}

static loom::Timeslot from_wire(Check& check, const Timeslot& in) {
  loom::Timeslot out;
  out.circuits = rows_from_wire<loom::Circuit>(check, "circuits", in.circuits(), limits::kCircuits);
  out.guard = check.duration("guard_ns", in.guard_ns());
  out.hold = in.hold_ns() == kForever.count() ? kForever : check.duration("hold_ns", in.hold_ns());
  return out;
}

static void to_wire(const loom::Stage& in, Stage& out) {
  rows_to_wire(in.timeslots, *out.mutable_timeslots());
  out.set_cycle_count(in.cycles);
  out.set_transmits_by_grants(in.transmit == Transmit::grants);
  rows_to_wire(in.streams, *out.mutable_streams());
}

static loom::Stage from_wire(Check& check, const Stage& in) {
  return {rows_from_wire<loom::Timeslot>(check, "timeslots", in.timeslots(), limits::kTimelineEntries), in.cycle_count(),
          in.transmits_by_grants() ? Transmit::grants : Transmit::slots,
          rows_from_wire<loom::OfferedStream>(check, "streams", in.streams(), limits::kStreamsPerStage)};
}

void to_wire(const loom::JobSchedule& in, JobSchedule& out) {
  out.set_job_id(in.job.value);
  rows_to_wire(in.stages, *out.mutable_stages());
  to_wire(in.forwarding, *out.mutable_forwarding());
  out.set_waiting_count(in.waiting);
  out.set_note(sendable(in.note));
}

loom::JobSchedule from_wire(Check& check, const JobSchedule& in) {
  loom::JobSchedule out;
  out.job = {in.job_id()};
  out.stages = rows_from_wire<loom::Stage>(check, "stages", in.stages(), limits::kStagesPerJob);
  if (in.has_forwarding()) {
    const auto scope = check.in("forwarding");
    out.forwarding = from_wire(check, in.forwarding());
  }
  out.waiting = in.waiting_count();
  out.note = check.text("note", in.note());
  return out;
}

static void to_wire(const loom::DeviceOverride& in, DeviceOverride& out) {
  out.set_device_id(in.device.value);
  to_wire(in.setpoint, *out.mutable_setpoint());
  out.set_found_beside_revision_number(in.found_beside.value);
}

static loom::DeviceOverride from_wire(Check& check, const DeviceOverride& in) {
  loom::DeviceOverride out;
  out.device = check.device("device_id", in.device_id());
  out.found_beside = {in.found_beside_revision_number()};
  const auto scope = check.in("setpoint");
  out.setpoint = from_wire(check, in.setpoint());
  return out;
}

static void to_wire(const loom::RingLaw& in, RingLaw& out) {
  out.set_channel_number(in.channel);
  out.set_cold_resonance_mhz(in.cold_resonance.mhz);
  out.mutable_shift_khz_per_square_volt()->Add(in.shift.begin(), in.shift.end());
  out.set_residual_mhz(in.residual.mhz);
  out.set_point_count(in.points);
}

static loom::RingLaw from_wire(Check& check, const RingLaw& in) {
  constexpr std::int64_t kShift = 1'000'000'000'000;  ///< 1 PHz a V^2
  loom::RingLaw out;
  out.channel = static_cast<std::uint16_t>(check.between("channel_number", in.channel_number(), 0, limits::kRingsPerBank - 1));
  out.cold_resonance = check.frequency("cold_resonance_mhz", in.cold_resonance_mhz());
  if (check.count("shift_khz_per_square_volt", in.shift_khz_per_square_volt_size(), limits::kRingsPerBank)) {
    for (const std::int64_t shift : in.shift_khz_per_square_volt()) {
      out.shift.push_back(check.between("shift_khz_per_square_volt", shift, -kShift, kShift));
    }
  }
  if (out.channel >= out.shift.size() || out.shift[out.channel] <= 0) {
    check.refuse("shift_khz_per_square_volt", format_text("{} values", out.shift.size()),
                 "must have one above 0 for its own heater");
  }
  out.residual = {check.between("residual_mhz", in.residual_mhz(), 0, limits::kFrequencyMhz)};
  out.points = in.point_count();
  return out;
}

static FrequencyOffset detuning_from(Check& check, std::int64_t mhz) {
  return {check.between("detuning_mhz", mhz, -limits::kFrequencyMhz, limits::kFrequencyMhz)};
}

static void to_wire(const loom::ChannelLight& in, ChannelLight& out) {
  to_wire(in.slot, *out.mutable_slot());
  out.set_offset_centi_db(in.offset.centi);
  out.set_receiver_element_id(in.receiver.value);
  if (in.detuning) {
    out.set_detuning_mhz(in.detuning->mhz);
  }
}

static loom::ChannelLight from_wire(Check& check, const ChannelLight& in) {
  loom::ChannelLight out;
  out.offset = check.ratio("offset_centi_db", in.offset_centi_db());
  out.receiver = check.element("receiver_element_id", in.receiver_element_id());
  if (in.has_detuning_mhz()) {
    out.detuning = detuning_from(check, in.detuning_mhz());
  }
  const auto scope = check.in("slot");
  out.slot = from_wire(check, in.slot());
  return out;
}

void to_wire(const loom::DeviceCalibration& in, DeviceCalibration& out) {
  out.set_device_id(in.device.value);
  out.set_version_number(in.version);
  out.set_measured_wall_ns(ns_of(in.measured_at));
  out.set_serial(sendable(in.serial));
  rows_to_wire(in.rings, *out.mutable_rings());
  rows_to_wire(in.lights, *out.mutable_lights());
}

loom::DeviceCalibration from_wire(Check& check, const DeviceCalibration& in) {
  loom::DeviceCalibration out;
  out.device = check.device("device_id", in.device_id());
  out.version = in.version_number();
  out.measured_at = check.wall_time("measured_wall_ns", in.measured_wall_ns());
  out.serial = check.text("serial", in.serial());
  out.rings = rows_from_wire<loom::RingLaw>(check, "rings", in.rings(), limits::kRingsPerBank);
  check.ascending("rings.channel_number", out.rings, [](const loom::RingLaw& ring) { return ring.channel; });
  out.lights = rows_from_wire<loom::ChannelLight>(check, "lights", in.lights(), limits::kChannelsPerLaser);
  check.ascending("lights.slot", out.lights, [](const loom::ChannelLight& light) { return light.slot; });
  return out;
}

void to_wire(const loom::Probe& in, Probe& out) {
  out.set_transmitter_element_id(in.transmitter.value);
  out.set_receiver_element_id(in.receiver.value);
  to_wire(in.slot, *out.mutable_slot());
  out.set_emit(in.emit);
}

loom::Probe from_wire(Check& check, const Probe& in) {
  loom::Probe out{check.element("transmitter_element_id", in.transmitter_element_id()),
                  check.element("receiver_element_id", in.receiver_element_id()),
                  {},
                  in.emit()};
  const auto scope = check.in("slot");
  out.slot = from_wire(check, in.slot());
  return out;
}

void to_wire(const loom::MeasuredChannel& in, MeasuredChannel& out) {
  out.set_transmitter_element_id(in.transmitter.value);
  out.set_receiver_element_id(in.receiver.value);
  to_wire(in.slot, *out.mutable_slot());
  out.set_offset_centi_db(in.offset.centi);
  if (in.detuning) {
    out.set_detuning_mhz(in.detuning->mhz);
  }
}

loom::MeasuredChannel from_wire(Check& check, const MeasuredChannel& in) {
  loom::MeasuredChannel out{check.element("transmitter_element_id", in.transmitter_element_id()),
                            check.element("receiver_element_id", in.receiver_element_id()),
                            {},
                            check.ratio("offset_centi_db", in.offset_centi_db())};
  if (in.has_detuning_mhz()) {
    out.detuning = detuning_from(check, in.detuning_mhz());
  }
  const auto scope = check.in("slot");
  out.slot = from_wire(check, in.slot());
  return out;
}

void to_wire(const loom::RingDrive& in, RingDrive& out) {
  out.set_ring_element_id(in.ring.value);
  out.set_drive_millivolts(in.millivolts);
}

loom::RingDrive from_wire(Check& check, const RingDrive& in) {
  return {check.element("ring_element_id", in.ring_element_id()),
          static_cast<std::int32_t>(check.between("drive_millivolts", in.drive_millivolts(), 0, limits::kMillivolts))};
}

void to_wire(const loom::Intent& in, Intent& out) {
  rows_to_wire(in.jobs, *out.mutable_jobs());
  nodes_to_wire(in.drained, *out.mutable_drained_node_ids());
  out.set_lasers_off(in.lasers_off);
  nodes_to_wire(in.maintenance, *out.mutable_maintenance_node_ids());
  rows_to_wire(in.overrides, *out.mutable_overrides());
  rows_to_wire(in.pinned, *out.mutable_pinned());
  rows_to_wire(in.calibrations, *out.mutable_calibrations());
  rows_to_wire(in.probes, *out.mutable_probes());
  rows_to_wire(in.drives, *out.mutable_drives());
}

loom::Intent from_wire(Check& check, const Intent& in) {
  loom::Intent out;
  out.jobs = rows_from_wire<loom::Job>(check, "jobs", in.jobs(), limits::kJobs);
  check.ascending("jobs.job_id", out.jobs, [](const loom::Job& job) { return job.id; });
  out.drained = nodes_from_wire(check, "drained_node_ids", in.drained_node_ids());
  check.ascending("drained_node_ids", out.drained, [](NodeId node) { return node; });
  out.lasers_off = in.lasers_off();
  out.maintenance = nodes_from_wire(check, "maintenance_node_ids", in.maintenance_node_ids());
  check.ascending("maintenance_node_ids", out.maintenance, [](NodeId node) { return node; });
  out.overrides = rows_from_wire<loom::DeviceOverride>(check, "overrides", in.overrides(), limits::kDevices);
  check.ascending("overrides.device_id", out.overrides, [](const loom::DeviceOverride& override) { return override.device; });
  out.pinned = pins_from_wire(check, "pinned", in.pinned(), out.jobs);
  check.ascending("pinned.job_id", out.pinned, [](const loom::JobSchedule& schedule) { return schedule.job; });
  out.calibrations = rows_from_wire<loom::DeviceCalibration>(check, "calibrations", in.calibrations(),
                                                             limits::kDevices * limits::kCalibrationsKept);
  check.ascending("calibrations.device_id", out.calibrations,
                  [](const loom::DeviceCalibration& bank) { return std::pair{bank.device, bank.version}; });
  out.probes = rows_from_wire<loom::Probe>(check, "probes", in.probes(), limits::kProbes);
  check.ascending("probes.transmitter_element_id", out.probes, [](const loom::Probe& probe) { return probe.transmitter; });
  out.drives = rows_from_wire<loom::RingDrive>(check, "drives", in.drives(), limits::kProbes);
  check.ascending("drives.ring_element_id", out.drives, [](const loom::RingDrive& drive) { return drive.ring; });
  return out;
}

}  // namespace loom::wire
