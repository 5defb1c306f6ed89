// SPDX-License-Identifier: Apache-2.0
// Random lawful values that messages, rows and records share. For proto_random*.cpp only.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/fabric/occupied_ports.hpp"
#include "core/forwarding/forwarding_builder.hpp"
#include "core/limits.hpp"
#include "tests/unit/proto/proto_random.hpp"

namespace loom::test {

template <class Row, class Make>
std::vector<Row> some(Random& random, Make make, std::int64_t max = 5) {
  std::vector<Row> rows;
  const std::int64_t count = random.between(0, max);
  for (std::int64_t i = 0; i < count; ++i) {
    rows.push_back(make());
  }
  return rows;
}

/// Distinct ascending numbers below `end`.
template <class Integer>
std::vector<Integer> ascending(Random& random, std::int64_t end, std::int64_t max = 5) {
  std::set<Integer> numbers;
  const std::int64_t count = random.between(0, max);
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.insert(random.number<Integer>(0, end - 1));
  }
  return {numbers.begin(), numbers.end()};
}

inline std::string text(Random& random) {
  static constexpr const char* kLetters[] = {"a", "Z", "7", " ", "µ", "–", "\n", "\\", "𝄞"};
  std::string out = "t";
  const std::int64_t count = random.between(0, 12);
  for (std::int64_t i = 0; i < count; ++i) {
    out += kLetters[random.between(0, 8)];
  }
  return out;
}

inline NodeId node(Random& random) { return {random.number<std::uint32_t>(0, limits::kNodes - 1)}; }
inline DeviceId device(Random& random) { return {random.number<std::uint32_t>(0, limits::kDevices - 1)}; }
inline ElementId element(Random& random) { return {random.number<std::uint32_t>(0, limits::kElements - 1)}; }
inline Revision revision(Random& random) { return {random.word()}; }
inline JobId job(Random& random) { return {random.word()}; }
inline std::uint32_t small(Random& random) { return random.number<std::uint32_t>(0, 0xFFFF'FFFF); }
inline Instant instant(Random& random) { return instant_from_ns(random.between(0, limits::kInstantNs)); }
inline Duration length(Random& random) { return Duration{random.between(0, limits::kDurationNs)}; }
inline Duration difference(Random& random) { return Duration{random.between(-limits::kDurationNs, limits::kDurationNs)}; }
inline Dbm power(Random& random) { return {random.number<std::int32_t>(-limits::kCentiDb, limits::kCentiDb)}; }
inline Db loss(Random& random) { return {random.number<std::int32_t>(-limits::kCentiDb, limits::kCentiDb)}; }
inline std::vector<NodeId> nodes(Random& random) {
  return some<NodeId>(random, [&] { return node(random); });
}
inline std::vector<NodeId> ascending_nodes(Random& random) {
  std::vector<NodeId> out;
  for (const std::uint32_t value : ascending<std::uint32_t>(random, limits::kNodes)) {
    out.push_back({value});
  }
  return out;
}

inline FrequencySlot slot(Random& random) {
  FrequencySlot out;
  out.n = random.number<std::int32_t>(-limits::kSlotN, limits::kSlotN);
  out.m = random.number<std::int32_t>(1, limits::kSlotM);
  return out;
}

inline Circuit circuit(Random& random, CircuitId id) {
  Circuit out;
  out.id = id;
  out.job = job(random);
  out.source = node(random);
  out.destination = node(random);
  out.transmitter = element(random);
  out.receiver = element(random);
  out.slot = slot(random);
  out.rate = {random.between(0, limits::kBitPerSecond)};
  return out;
}

inline WssRoute route(Random& random) {
  WssRoute out;
  out.slot = slot(random);
  out.input = random.number<std::uint16_t>(0, 0xFFFF);
  out.output = random.number<std::uint16_t>(0, 0xFFFF);
  out.attenuation = loss(random);
  return out;
}

inline CrossConnect connect(Random& random) {
  CrossConnect out;
  out.input = random.number<std::uint16_t>(0, 0xFFFF);
  out.output = random.number<std::uint16_t>(0, 0xFFFF);
  return out;
}

inline Setpoint setpoint(Random& random, std::int64_t kind) {
  if (kind == 0) {
    TransmitterSetpoint laser;
    laser.slot = slot(random);
    laser.power = power(random);
    laser.emit = random.coin();
    return laser;
  }
  if (kind == 1) {
    FilterSetpoint heater;
    for (const auto channel : ascending<std::uint16_t>(random, limits::kRingsPerBank)) {
      heater.rings.push_back({channel, {random.between(0, limits::kFrequencyMhz)}});
      if (random.coin()) {
        heater.rings.back().drive = random.number<std::int32_t>(0, limits::kMillivolts);
      }
      heater.rings.back().locked = random.coin();
    }
    return heater;
  }
  if (kind == 2) {
    WavelengthSwitchSetpoint wss;
    for (const auto n : ascending<std::int32_t>(random, limits::kSlotN)) {
      wss.routes.push_back(route(random));
      wss.routes.back().slot.n = n;
    }
    return wss;
  }
  if (kind == 4) {
    return MonitorSetpoint{};
  }
  if (kind == 5) {
    return GainSetpoint{random.coin() ? loss(random) : -loss(random)};
  }
  CircuitSwitchSetpoint ocs;
  for (const auto input : ascending<std::uint16_t>(random, 0x10000)) {
    ocs.connects.push_back(connect(random));
    ocs.connects.back().input = input;
  }
  return ocs;
}

inline DevicePlan device_plan(Random& random, DeviceId id) {
  DevicePlan out;
  out.device = id;
  out.touched = random.coin();
  const std::int64_t kind = random.between(0, 4);
  for (const auto offset : ascending<std::int64_t>(random, limits::kDurationNs)) {
    TimedSetpoint entry;
    entry.offset = Duration{offset};
    entry.guard = length(random);
    entry.hold = length(random);
    entry.setpoint = setpoint(random, kind);
    out.timeline.push_back(std::move(entry));
  }
  out.left_alone = random.coin();
  if (!out.timeline.empty() && random.coin()) {
    out.timeline.back().hold = kForever;
  }
  out.may_hold = some<Setpoint>(random, [&] { return setpoint(random, kind); });
  return out;
}

inline OfferedStream offered_stream(Random& random) {
  OfferedStream out;
  out.collective = random.word();
  out.source = node(random);
  out.destination = node(random);
  out.bytes = {random.between(1, limits::kStreamBytes)};
  return out;
}

inline Duration within_window(Random& random) { return Duration{random.between(1, limits::kGrantWindowNs)}; }

inline GrantMap grant_map(Random& random) {
  GrantMap out;
  out.job = job(random);
  out.routed_by = revision(random);
  out.timings.rate = {random.between(1'000'000, limits::kBitPerSecond)};
  for (Duration* each :
       {&out.timings.tune, &out.timings.lock, &out.timings.control, &out.timings.flight, &out.timings.flight_error,
        &out.timings.clock_error, &out.timings.blank, &out.timings.trigger_late, &out.quantum}) {
    *each = within_window(random);
  }
  for (const auto destination : ascending<std::uint32_t>(random, limits::kNodes)) {
    out.wavelengths.push_back({{destination}, device(random), slot(random)});
  }
  out.sources = ascending_nodes(random);
  out.sends = some<OfferedStream>(random, [&] { return offered_stream(random); });
  return out;
}

inline IterationPlan iteration_plan(Random& random) {
  IterationPlan out;
  out.job = job(random);
  out.routed_by = revision(random);
  out.leader = node(random);
  out.members = ascending_nodes(random);
  out.phases = random.number<std::uint32_t>(1, limits::kPhases);
  out.compute = length(random);
  out.lead = Duration{random.between(1, limits::kPassLeadNs)};
  out.paced_by = random.any(PacedBy::training);
  return out;
}

inline NodePlan node_plan(Random& random, NodeId id, Revision number) {
  NodePlan out;
  out.revision = number;
  out.base = revision(random);
  out.node = id;
  out.cycle = length(random);
  out.cycles = small(random);
  out.compute_after = length(random);
  for (const auto value : ascending<std::uint32_t>(random, limits::kDevices)) {
    out.devices.push_back(device_plan(random, {value}));
  }
  out.ends = some<CircuitEnd>(random, [&] {
    CircuitEnd end;
    end.circuit = {random.word()};
    end.job = job(random);
    end.transmits = random.coin();
    return end;
  });
  if (random.coin()) {
    out.grants = grant_map(random);
  }
  if (random.coin()) {
    out.iterations = iteration_plan(random);
  }
  return out;
}

inline LightMargins light_margins(Random& random) {
  LightMargins out;
  for (Db* field : {&out.link_margin, &out.crosstalk, &out.crosstalk_margin, &out.dip, &out.dip_margin}) {
    field->centi = power(random).centi;
  }
  out.circuits = random.number<std::uint32_t>(0, 4'000'000);
  out.dipped = random.number<std::uint32_t>(0, 4'000'000);
  out.weakest = element(random);
  out.noisiest = element(random);
  out.dip_time = length(random);
  return out;
}

inline Plan plan(Random& random, Revision number) {
  Plan out;
  out.revision = number;
  out.base = revision(random);
  for (const NodeId id : ascending_nodes(random)) {
    out.nodes.push_back(node_plan(random, id, revision(random)));
  }
  for (const auto id : ascending<std::uint64_t>(random, 1LL << 62)) {
    out.circuits.push_back(circuit(random, {id}));
  }
  out.changed = ascending_nodes(random);
  out.moved_steering = some<DeviceId>(random, [&] { return device(random); });
  for (const auto id : ascending<std::uint64_t>(random, 1LL << 62)) {
    out.touched.push_back({id});
  }
  out.certificate.wavelength_isolated = random.coin();
  out.certificate.physically_isolated = random.coin();
  out.certificate.shared_amplifiers = some<ElementId>(random, [&] { return element(random); });
  out.certificate.light = light_margins(random);
  return out;
}

inline std::vector<Collective> collectives(Random& random) {
  return some<Collective>(random, [&] {
    Collective collective;
    collective.kind = random.any(CollectiveKind::point_to_point);
    collective.ranks = some<std::uint32_t>(random, [&] { return random.number<std::uint32_t>(0, limits::kNodes - 1); });
    collective.bytes = {random.between(0, limits::kCollectiveBytes)};
    collective.count = random.number<std::uint32_t>(0, limits::kCollectiveRepeats);
    collective.ready = random.coin() ? kForever : Duration{random.between(0, 1'000'000)};
    collective.needed = random.coin() ? kForever : Duration{random.between(0, 1'000'000)};
    collective.splits = some<Bytes>(random, [&] { return Bytes{random.between(0, limits::kCollectiveBytes)}; });
    return collective;
  });
}

inline JobSpec spec(Random& random) {
  JobSpec out;
  out.name = text(random);
  out.workload = text(random);
  out.node_count = random.number<std::uint32_t>(0, limits::kNodes);
  out.placement = nodes(random);
  out.collectives = collectives(random);
  out.compute = length(random);
  out.assumptions = some<std::string>(random, [&] { return text(random); });
  for (const std::string& key : some<std::string>(random, [&] { return text(random); })) {
    out.options[key] = text(random);
  }
  out.transmit = random.any(Transmit::grants);
  out.adapt = random.coin();
  out.paced_by = random.any(PacedBy::training);
  return out;
}

inline Timeslot timeslot(Random& random) {
  Timeslot out;
  out.circuits = some<Circuit>(random, [&] { return circuit(random, {random.word()}); });
  out.guard = length(random);
  out.hold = random.coin() ? kForever : length(random);
  return out;
}

inline Stage stage(Random& random) {
  Stage out;
  out.timeslots = some<Timeslot>(random, [&] { return timeslot(random); });
  out.cycles = small(random);
  out.transmit = random.any(Transmit::grants);
  out.streams = some<OfferedStream>(random, [&] { return offered_stream(random); });
  return out;
}

/// Up to six ranks in up to four rows, and any lawful path between two of them.
inline ForwardingTable forwarding_table(Random& random) {
  const auto mode = random.any(ForwardingMode::store_and_forward);
  if (mode == ForwardingMode::none) {
    return {};
  }
  const auto ranks = random.number<std::uint32_t>(0, 6);
  std::vector<NodeId> ranked;
  while (ranked.size() < ranks) {
    const NodeId next = node(random);
    if (std::find(ranked.begin(), ranked.end(), next) == ranked.end()) {
      ranked.push_back(next);
    }
  }
  std::vector<std::uint32_t> row_of;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    row_of.push_back(random.number<std::uint32_t>(0, 3));
  }
  ForwardingBuilder table(mode, ranked, row_of);
  const std::uint32_t rows = row_of.empty() ? 0 : *std::max_element(row_of.begin(), row_of.end()) + 1;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const bool is_empty = random.coin();
    for (std::uint32_t destination = 0; destination < ranks && !is_empty; ++destination) {
      std::vector<std::uint32_t> path;
      for (const std::uint32_t rank : some<std::uint32_t>(random, [&] { return random.number<std::uint32_t>(0, ranks - 1); })) {
        if (rank != destination && std::find(path.begin(), path.end(), rank) == path.end()) {
          path.push_back(rank);
        }
      }
      table.add(row, destination, path);
    }
  }
  return table.take();
}

inline std::vector<JobSchedule> job_schedules(Random& random) {
  std::vector<JobSchedule> out;
  for (const auto id : ascending<std::uint64_t>(random, 1LL << 62)) {
    JobSchedule schedule;
    schedule.job = {id};
    schedule.stages = some<Stage>(random, [&] { return stage(random); });
    schedule.waiting = small(random);
    schedule.forwarding = forwarding_table(random);
    schedule.note = text(random);
    out.push_back(std::move(schedule));
  }
  return out;
}

inline FrequencyOffset distance(Random& random) { return {random.between(0, limits::kFrequencyMhz)}; }

inline DeviceCalibration bank_calibration(Random& random, DeviceId device, std::uint32_t version) {
  DeviceCalibration out;
  out.device = device;
  out.version = version;
  out.measured_at = wall_time(instant(random), Duration{});
  out.serial = text(random);
  for (const auto channel : ascending<std::uint16_t>(random, limits::kRingsPerBank)) {
    RingLaw law;
    law.channel = channel;
    law.cold_resonance = {random.between(0, limits::kFrequencyMhz)};
    law.shift.assign(limits::kRingsPerBank, random.between(1, 1'000'000'000'000));
    law.residual = distance(random);
    law.points = small(random);
    out.rings.push_back(std::move(law));
  }
  for (const auto n : ascending<std::int32_t>(random, limits::kSlotN)) {
    out.lights.push_back({{n, 8}, random.coin() ? loss(random) : -loss(random), element(random)});
    if (random.coin()) {
      out.lights.back().detuning = random.coin() ? distance(random) : -distance(random);
    }
  }
  return out;
}

inline std::vector<DeviceCalibration> calibrations(Random& random) {
  std::vector<DeviceCalibration> out;
  for (const auto id : ascending<std::uint32_t>(random, limits::kDevices)) {
    out.push_back(bank_calibration(random, {id}, small(random)));
  }
  return out;
}

inline Probe probe(Random& random, ElementId transmitter) {
  return {transmitter, element(random), slot(random), random.coin()};
}

inline std::vector<Probe> probes(Random& random) {
  std::vector<Probe> out;
  for (const auto id : ascending<std::uint32_t>(random, limits::kElements)) {
    out.push_back(probe(random, {id}));
  }
  return out;
}

inline std::vector<RingDrive> drives(Random& random) {
  std::vector<RingDrive> out;
  for (const auto id : ascending<std::uint32_t>(random, limits::kElements)) {
    out.push_back({{id}, random.number<std::int32_t>(0, limits::kMillivolts)});
  }
  return out;
}

inline Intent intent(Random& random) {
  Intent out;
  for (const auto id : ascending<std::uint64_t>(random, 1LL << 62)) {
    Job one;
    one.id = {id};
    one.spec = spec(random);
    one.nodes = nodes(random);
    one.stage = random.number<std::uint32_t>(0, limits::kStagesPerJob - 1);
    for (const std::string& name : some<std::string>(random, [&] { return text(random); })) {
      one.share[name] = ascending<std::uint32_t>(random, limits::kSharePerJob);
    }
    one.measured = collectives(random);
    out.jobs.push_back(std::move(one));
  }
  out.drained = ascending_nodes(random);
  out.lasers_off = random.coin();
  out.maintenance = ascending_nodes(random);
  for (const auto id : ascending<std::uint32_t>(random, limits::kDevices)) {
    DeviceOverride override;
    override.device = {id};
    override.setpoint = setpoint(random, random.between(0, 5));
    override.found_beside = {random.word()};
    out.overrides.push_back(std::move(override));
  }
  out.pinned = job_schedules(random);
  out.calibrations = calibrations(random);
  out.probes = probes(random);
  out.drives = drives(random);
  return out;
}

inline Reading reading(Random& random) {
  switch (random.between(0, 6)) {
    case 1: {
      TransmitterObservation laser;
      laser.frequency = {random.between(0, limits::kFrequencyMhz)};
      laser.power = power(random);
      laser.emitting = random.coin();
      laser.locked = random.coin();
      laser.status_fatal = random.number<std::uint16_t>(0, 0xFFFF);
      laser.status_warning = random.number<std::uint16_t>(0, 0xFFFF);
      if (random.coin()) {
        laser.received = power(random);
        laser.osnr = loss(random);
        laser.pre_fec_errors = random.between(0, limits::kErrorsPerPetabit);
      }
      return laser;
    }
    case 2: {
      FilterObservation bank{
          some<std::int32_t>(random, [&] { return random.number<std::int32_t>(-limits::kMillivolts, limits::kMillivolts); })};
      for (const auto channel : ascending<std::uint16_t>(random, limits::kRingsPerBank)) {
        bank.locks.push_back(
            {channel, random.any(LockState::at_limit), {random.between(-limits::kFrequencyMhz, limits::kFrequencyMhz)}});
      }
      return bank;
    }
    case 3: {
      WavelengthSwitchObservation wss{some<WssRoute>(random, [&] { return route(random); })};
      wss.settled = random.coin();
      return wss;
    }
    case 4: {
      CircuitSwitchObservation ocs{some<CrossConnect>(random, [&] { return connect(random); })};
      ocs.settled = random.coin();
      ocs.occupied = some<CrossConnect>(random, [&] { return connect(random); });
      std::ranges::sort(ocs.connects, ascends);
      std::ranges::sort(ocs.occupied, ascends);
      ocs.powers = some<PortPower>(random, [&] {
        PortPower at;
        at.port = random.number<std::uint16_t>(0, 0xFFFF);
        at.is_input = random.coin();
        at.power = power(random);
        return at;
      });
      return ocs;
    }
    case 5:
      return MonitorObservation{some<LightReading>(random,
                                                   [&] {
                                                     LightReading light;
                                                     light.channel = random.number<std::uint16_t>(0, 0xFFFF);
                                                     light.power = power(random);
                                                     light.frequency = {random.between(0, limits::kFrequencyMhz)};
                                                     return light;
                                                   }),
                                random.coin()};
    case 6: {
      GainObservation stage{random.coin() ? loss(random) : -loss(random), random.coin()};
      if (random.coin()) {
        stage.input = power(random);
        stage.output = power(random);
      }
      return stage;
    }
    default:
      return std::monostate{};
  }
}

inline Observation observation(Random& random) {
  Observation out;
  out.device = device(random);
  out.health = random.any(DeviceHealth::failed);
  out.read_at = instant(random);
  out.reading = reading(random);
  out.fault = text(random);
  out.trouble = random.any(Trouble::misfit);
  out.proof = random.any(Proof::monitor);
  out.identity = {text(random), text(random)};
  return out;
}

inline Error error(Random& random) {
  Error out;
  out.code = random.any(ErrorCode::internal);
  out.message = text(random);
  out.next_command = text(random);
  if (random.coin()) {
    out.device = device(random);
  }
  return out;
}

inline Outcome outcome(Random& random) { return random.coin() ? Outcome{} : Outcome{error(random)}; }

inline AuditRecord audit_record(Random& random) {
  AuditRecord out;
  out.number = random.word();
  out.at = wall_time(instant(random), Duration{});
  out.principal = text(random);
  out.role = random.any(Role::controller);
  out.request = {random.word()};
  out.asked = text(random);
  out.outcome = outcome(random);
  out.job = job(random);
  out.revision = revision(random);
  return out;
}

inline Alarm alarm(Random& random) {
  Alarm out;
  out.code = random.any(AlarmCode::receiver_withheld);
  if (random.coin()) {
    out.node = node(random);
  }
  if (random.coin()) {
    out.device = device(random);
  }
  out.evidence = text(random);
  out.next_command = text(random);
  if (random.coin()) {
    out.revision = revision(random);
  }
  return out;
}

// proto_random_operator.cpp
OperatorRequest random_request(Random& random);
OperatorReply random_reply(Random& random);

}  // namespace loom::test
