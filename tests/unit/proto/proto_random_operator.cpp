// SPDX-License-Identifier: Apache-2.0
// Random rows, requests and replies between operators and the controller.
#include "tests/unit/proto/proto_random_values.hpp"

namespace loom::test {
namespace {

Spread spread(Random& random) {
  Spread out;
  out.min = difference(random);
  out.p50 = difference(random);
  out.p99 = difference(random);
  out.max = difference(random);
  out.count = small(random);
  return out;
}

CertificateReport certificate_report(Random& random) {
  CertificateReport out;
  out.wavelength_isolated = random.coin();
  out.physically_isolated = random.coin();
  out.shared_amplifiers = some<std::string>(random, [&] { return text(random); });
  out.light = light_margins(random);
  out.weakest = text(random);
  out.noisiest = text(random);
  return out;
}

StatusReport status(Random& random) {
  StatusReport out;
  out.term = {random.word()};
  out.revision = revision(random);
  out.fabric = text(random);
  for (std::uint32_t* field :
       {&out.nodes, &out.live, &out.suspect, &out.dead, &out.jobs, &out.circuits, &out.stage_done, &out.stage_total,
        &out.alarms, &out.drift.missing, &out.drift.foreign, &out.drift.detuned, &out.drift.dim, &out.drift.stale}) {
    *field = small(random);
  }
  out.lasers_off = random.coin();
  out.stage = random.any(CommitState::confirmed);
  out.under_way = revision(random);
  out.malformed = random.word();
  out.awaiting_confirm = revision(random);
  out.confirm_left = length(random);
  out.certificate = certificate_report(random);
  for (std::uint64_t& count : out.refusals) {
    count = random.word();
  }
  out.keyring_digest = random.word();
  return out;
}

NodeReport node_report(Random& random) {
  NodeReport out;
  out.node = node(random);
  out.name = text(random);
  out.session = text(random);
  out.applied = revision(random);
  out.silence = random.coin() ? Duration{-1} : length(random);
  out.lasers_latched_off = random.coin();
  out.devices = small(random);
  out.drained = random.coin();
  out.maintenance = random.coin();
  out.jobs = some<JobId>(random, [&] { return job(random); });
  out.dark_because = text(random);
  out.turned_away = text(random);
  return out;
}

DeviceReport device_report(Random& random) {
  DeviceReport out;
  out.device = device(random);
  out.name = text(random);
  out.role = random.any(DeviceRole::gain_stage);
  out.agent = node(random);
  out.observation = observation(random);
  out.drift = random.any(Drift::stale);
  if (random.coin()) {
    out.desired = setpoint(random, random.between(0, 5));
  }
  out.by_hand = random.coin();
  out.adopted = random.coin();
  out.lit_ways = small(random);
  out.unusable = text(random);
  out.model = text(random);
  if (random.coin()) {
    out.calibration = CalibrationAge{small(random), length(random), distance(random)};
    out.received = power(random);
  }
  return out;
}

CalibrationReport calibration_report(Random& random) {
  return {bank_calibration(random, device(random), small(random)), text(random), length(random), random.coin()};
}

RingReport ring_report(Random& random) {
  RingReport out;
  out.ring = element(random);
  out.name = text(random);
  out.bank = device(random);
  out.channel = random.number<std::uint32_t>(0, limits::kRingsPerBank - 1);
  out.channels = random.number<std::uint32_t>(0, limits::kRingsPerBank);
  out.fwhm = distance(random);
  out.free_spectral_range = distance(random);
  out.cold_resonance = {random.between(0, limits::kFrequencyMhz)};
  out.shift = random.word();
  out.millivolts_max = small(random);
  out.calibrated = random.coin();
  out.receiver = element(random);
  if (random.coin()) {
    out.monitor = device(random);
  }
  out.lights = some<Probe>(random, [&] { return probe(random, element(random)); });
  if (random.coin()) {
    out.warmer_millikelvin = small(random);
    out.cooler_millikelvin = small(random);
  }
  out.lock = text(random);
  out.trim = {random.between(-limits::kFrequencyMhz, limits::kFrequencyMhz)};
  return out;
}

WayReport way_report(Random& random) {
  WayReport out;
  if (random.coin()) {
    out.wavemeter = device(random);
    out.measured = Frequency{random.between(0, limits::kFrequencyMhz)};
  }
  out.receiver = element(random);
  out.name = text(random);
  out.monitor = device(random);
  out.lights = some<Probe>(random, [&] { return probe(random, element(random)); });
  if (random.coin()) {
    out.expected = power(random);
  }
  return out;
}

ReceiverReport receiver_report(Random& random) {
  return {element(random), text(random), device(random), power(random), length(random), random.coin()};
}

CircuitReport circuit_report(Random& random) {
  CircuitReport out;
  out.circuit = circuit(random, {random.word()});
  out.timeslot = random.number<std::uint32_t>(0, limits::kTimelineEntries - 1);
  out.state = text(random);
  out.light = random.any(LightState::dark);
  out.age = difference(random);
  out.why = text(random);
  out.proof = random.any(Proof::monitor);
  return out;
}

JobReport job_report(Random& random) {
  JobReport out;
  out.job = job(random);
  for (std::string* field : {&out.name, &out.workload, &out.state, &out.reason}) {
    *field = text(random);
  }
  for (std::uint32_t* field : {&out.stage, &out.stages, &out.cycles_done, &out.underflows}) {
    *field = small(random);
  }
  out.iterations = random.word();
  out.replayed = random.word();
  out.iteration_p50 = length(random);
  out.iteration_p99 = length(random);
  out.iteration_predicted = length(random);
  out.nodes = nodes(random);
  out.revision = revision(random);
  out.pinned = random.coin();
  for (std::uint32_t* field : {&out.forwarded_pairs, &out.hops_most, &out.waiting_circuits}) {
    *field = small(random);
  }
  out.attended = random.coin();
  out.quiesce = revision(random);
  out.adapts = random.coin();
  for (std::string* field : {&out.declared, &out.measured, &out.made_for, &out.decision}) {
    *field = text(random);
  }
  return out;
}

StandingAlarm standing_alarm(Random& random) {
  StandingAlarm out;
  out.id = {random.word()};
  out.alarm = alarm(random);
  out.first_seen = instant(random);
  out.last_seen = instant(random);
  out.count = small(random);
  out.acknowledged_by = text(random);
  out.cleared = random.coin();
  out.nodes = nodes(random);
  out.node_count = small(random);
  out.from_agent = random.coin();
  out.first_seen_wall = wall_time(instant(random), Duration{});
  out.last_seen_wall = wall_time(instant(random), Duration{});
  return out;
}

ChangeReport change_report(Random& random) {
  ChangeReport out;
  out.base = revision(random);
  for (std::uint32_t* field : {&out.agents, &out.circuits, &out.touched, &out.switches_moved}) {
    *field = small(random);
  }
  out.plan = difference(random);
  out.moves = some<JobMove>(random, [&] {
    JobMove move;
    move.job = job(random);
    move.from = node(random);
    move.to = node(random);
    return move;
  });
  out.changes = some<CircuitChange>(random, [&] {
    CircuitChange change;
    change.kind = random.any(CircuitChangeKind::moved);
    change.circuit = circuit(random, {random.word()});
    return change;
  });
  out.certificate = certificate_report(random);
  out.slowest = text(random);
  out.slowest_time = length(random);
  out.dark_predicted = length(random);
  return out;
}

HopReport hop(Random& random) {
  HopReport out;
  out.element = element(random);
  for (std::string* field : {&out.name, &out.kind, &out.desired, &out.observed, &out.problem}) {
    *field = text(random);
  }
  out.input = random.number<std::uint16_t>(0, 0xFFFF);
  out.output = random.number<std::uint16_t>(0, 0xFFFF);
  out.loss = loss(random);
  out.power_out = power(random);
  if (random.coin()) {
    out.device = device(random);
  }
  out.applied = revision(random);
  out.drift = random.any(Drift::stale);
  return out;
}

CircuitExplanation explanation(Random& random) {
  CircuitExplanation out;
  out.circuit = circuit_report(random);
  out.revision = revision(random);
  for (std::string* field : {&out.job_name, &out.verdict, &out.next_command}) {
    *field = text(random);
  }
  out.sensitivity = power(random);
  out.hops = some<HopReport>(random, [&] { return hop(random); });
  out.forwarded = some<ForwardedPair>(random, [&] { return ForwardedPair{node(random), node(random), nodes(random)}; });
  out.forwarded_pairs = small(random);
  return out;
}

CommitReport commit_report(Random& random) {
  CommitReport out;
  out.revision = revision(random);
  out.base = revision(random);
  out.outcome = random.any(CommitOutcome::refused);
  out.reason = text(random);
  for (std::uint32_t* field : {&out.agents, &out.circuits, &out.touched, &out.switches_moved}) {
    *field = small(random);
  }
  out.started = instant(random);
  for (Duration* field : {&out.plan, &out.prepare, &out.arm, &out.wait, &out.darken, &out.move, &out.relight, &out.total}) {
    *field = difference(random);
  }
  for (Spread* field : {&out.prepare_ack, &out.arm_ack, &out.slack, &out.lateness, &out.dark}) {
    *field = spread(random);
  }
  out.resent = random.word();
  out.certificate = certificate_report(random);
  out.started_wall = wall_time(instant(random), Duration{});
  out.ordered_by = text(random);
  out.slowest = text(random);
  out.slowest_time = length(random);
  out.dark_predicted = length(random);
  return out;
}

ScheduledCircuit scheduled_circuit(Random& random) {
  ScheduledCircuit out;
  out.job = job(random);
  out.source = node(random);
  out.destination = node(random);
  out.slot = slot(random);
  out.timeslot = random.number<std::uint32_t>(0, limits::kTimelineEntries - 1);
  if (random.coin()) {
    out.transmitter = element(random);
    out.receiver = element(random);
  }
  return out;
}

std::vector<ScheduledCircuit> scheduled_circuits(Random& random) {
  return some<ScheduledCircuit>(random, [&] { return scheduled_circuit(random); });
}

Query query(Random& random) {
  Query out;
  out.noun = random.any(Noun::ways);
  if (random.coin()) {
    out.id = random.word();
  }
  out.offset = small(random);
  out.limit = small(random);
  return out;
}

NodeRequest node_request(Random& random) {
  NodeRequest out;
  out.node = node(random);
  out.order = random.any(NodeAction::release);
  out.force = random.coin();
  out.dry_run = random.coin();
  return out;
}

DeviceRequest device_request(Random& random) {
  DeviceRequest out;
  out.device = device(random);
  if (random.coin()) {
    out.setpoint = setpoint(random, random.between(0, 5));
  }
  out.dry_run = random.coin();
  out.heaters = some<HeaterByHand>(random, [&] {
    return HeaterByHand{static_cast<std::uint32_t>(random.between(0, 63)),
                        static_cast<std::uint32_t>(random.between(0, 999'999))};
  });
  return out;
}

ApplySchedule apply_schedule(Random& random) {
  ApplySchedule out;
  out.mode = random.any(ApplyMode::overwrite);
  out.circuits = scheduled_circuits(random);
  out.confirm_within = length(random);
  out.dry_run = random.coin();
  return out;
}

DiffSchedule diff_schedule(Random& random) {
  DiffSchedule out;
  if (random.coin()) {
    out.revision = revision(random);
  }
  if (random.coin()) {
    out.circuits = scheduled_circuits(random);
  }
  return out;
}

SubmitJob submit_job(Random& random) {
  SubmitJob out{spec(random)};
  out.dry_run = random.coin();
  return out;
}

ChangeJob change_job(Random& random) {
  ChangeJob out;
  out.job = job(random);
  out.spec = spec(random);
  out.dry_run = random.coin();
  return out;
}

using MakeAsk = OperatorAsk (*)(Random&);
constexpr MakeAsk kAsks[] = {
    [](Random& random) -> OperatorAsk { return query(random); },
    [](Random& random) -> OperatorAsk { return submit_job(random); },
    [](Random& random) -> OperatorAsk { return CancelJob{job(random), true}; },
    [](Random& random) -> OperatorAsk { return ResizeJob{job(random), node(random).value, random.coin()}; },
    [](Random& random) -> OperatorAsk { return LasersRequest{random.coin()}; },
    [](Random& random) -> OperatorAsk { return node_request(random); },
    [](Random& random) -> OperatorAsk { return device_request(random); },
    [](Random& random) -> OperatorAsk { return ResetRequest{device(random)}; },
    [](Random& random) -> OperatorAsk { return AttendJob{job(random), revision(random)}; },
    [](Random& random) -> OperatorAsk { return AcknowledgeAlarm{{random.word()}}; },
    [](Random& random) -> OperatorAsk { return apply_schedule(random); },
    [](Random&) -> OperatorAsk { return ConfirmSchedule{}; },
    [](Random& random) -> OperatorAsk { return RollBackSchedule{revision(random), true}; },
    [](Random& random) -> OperatorAsk { return diff_schedule(random); },
    [](Random& random) -> OperatorAsk { return change_job(random); },
    [](Random& random) -> OperatorAsk { return AdaptJob{job(random), random.coin()}; },
    [](Random& random) -> OperatorAsk { return ProbeLight{probes(random), drives(random)}; },
    [](Random& random) -> OperatorAsk {
      return Calibrate{calibrations(random), random.coin(), some<MeasuredChannel>(random, [&] {
                         MeasuredChannel channel{element(random), element(random), slot(random), loss(random)};
                         if (random.coin()) {
                           channel.detuning = random.coin() ? distance(random) : -distance(random);
                         }
                         return channel;
                       })};
    },
};
static_assert(std::size(kAsks) == std::variant_size_v<OperatorAsk>);

}  // namespace

OperatorRequest random_request(Random& random) {
  OperatorRequest out;
  out.request = {random.word()};
  out.ask = kAsks[random.between(0, std::size(kAsks) - 1)](random);
  return out;
}

OperatorReply random_reply(Random& random) {
  OperatorReply out;
  out.request = {random.word()};
  out.outcome = outcome(random);
  out.job = job(random);
  out.revision = revision(random);
  out.total_rows = small(random);
  out.writes = small(random);
  switch (random.between(0, 15)) {
    case 1:
      out.rows = status(random);
      break;
    case 2:
      out.rows = some<NodeReport>(random, [&] { return node_report(random); });
      break;
    case 3:
      out.rows = some<DeviceReport>(random, [&] { return device_report(random); });
      break;
    case 4:
      out.rows = some<CircuitReport>(random, [&] { return circuit_report(random); });
      break;
    case 5:
      out.rows = some<JobReport>(random, [&] { return job_report(random); });
      break;
    case 6:
      out.rows = some<CommitReport>(random, [&] { return commit_report(random); });
      break;
    case 7:
      out.rows = some<StandingAlarm>(random, [&] { return standing_alarm(random); });
      break;
    case 8:
      out.rows = change_report(random);
      break;
    case 9:
      out.rows = explanation(random);
      break;
    case 10:
      out.rows = some<AuditRecord>(random, [&] { return audit_record(random); });
      break;
    case 11: {
      std::vector<SchedulePart> parts;
      for (JobSchedule& schedule : job_schedules(random)) {
        parts.push_back({schedule.job, random.number<std::uint32_t>(0, limits::kStagesPerJob - 1), std::move(schedule)});
      }
      out.rows = std::move(parts);
      break;
    }
    case 12:
      out.rows = some<CalibrationReport>(random, [&] { return calibration_report(random); });
      break;
    case 13:
      out.rows = some<RingReport>(random, [&] { return ring_report(random); });
      break;
    case 15:
      out.rows = some<WayReport>(random, [&] { return way_report(random); });
      break;
    case 14:
      out.rows = some<ReceiverReport>(random, [&] { return receiver_report(random); });
      break;
    default:
      break;
  }
  return out;
}

}  // namespace loom::test
