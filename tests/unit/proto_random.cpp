// How the random values are made: uniform over the lawful range of each field, small collections.
#include "proto_random.hpp"

#include <memory>
#include <set>

namespace loom::test {
namespace {

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

std::string text(Random& random) {
  static constexpr const char* kLetters[] = {"a", "Z", "7", " ", "µ", "–", "\n", "\\", "𝄞"};
  std::string out = "t";
  const std::int64_t count = random.between(0, 12);
  for (std::int64_t i = 0; i < count; ++i) {
    out += kLetters[random.between(0, 8)];
  }
  return out;
}

NodeId node(Random& random) { return {random.number<std::uint32_t>(0, limits::kNodes - 1)}; }
DeviceId device(Random& random) { return {random.number<std::uint32_t>(0, limits::kDevices - 1)}; }
ElementId element(Random& random) { return {random.number<std::uint32_t>(0, limits::kElements - 1)}; }
Revision revision(Random& random) { return {random.word()}; }
JobId job(Random& random) { return {random.word()}; }
std::uint32_t small(Random& random) { return random.number<std::uint32_t>(0, 0xFFFF'FFFF); }
Instant instant(Random& random) { return instant_from_ns(random.between(0, limits::kInstantNs)); }
Duration length(Random& random) { return Duration{random.between(0, limits::kDurationNs)}; }
Duration difference(Random& random) { return Duration{random.between(-limits::kDurationNs, limits::kDurationNs)}; }
Dbm power(Random& random) { return {random.number<std::int32_t>(-limits::kCentiDb, limits::kCentiDb)}; }
Db loss(Random& random) { return {random.number<std::int32_t>(-limits::kCentiDb, limits::kCentiDb)}; }
std::vector<NodeId> nodes(Random& random) {
  return some<NodeId>(random, [&] { return node(random); });
}
std::vector<NodeId> ascending_nodes(Random& random) {
  std::vector<NodeId> out;
  for (const std::uint32_t value : ascending<std::uint32_t>(random, limits::kNodes)) {
    out.push_back({value});
  }
  return out;
}

FrequencySlot slot(Random& random) {
  FrequencySlot out;
  out.n = random.number<std::int32_t>(-limits::kSlotN, limits::kSlotN);
  out.m = random.number<std::int32_t>(1, limits::kSlotM);
  return out;
}

Circuit circuit(Random& random, CircuitId id) {
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

WssRoute route(Random& random) {
  WssRoute out;
  out.slot = slot(random);
  out.input = random.number<std::uint16_t>(0, 0xFFFF);
  out.output = random.number<std::uint16_t>(0, 0xFFFF);
  out.attenuation = loss(random);
  return out;
}

CrossConnect connect(Random& random) {
  CrossConnect out;
  out.input = random.number<std::uint16_t>(0, 0xFFFF);
  out.output = random.number<std::uint16_t>(0, 0xFFFF);
  return out;
}

Setpoint setpoint(Random& random, std::int64_t kind) {
  if (kind == 0) {
    LaserSetpoint laser;
    laser.slot = slot(random);
    laser.power = power(random);
    laser.emit = random.coin();
    return laser;
  }
  if (kind == 1) {
    HeaterSetpoint heater;
    for (const auto channel : ascending<std::uint16_t>(random, limits::kRingsPerBank)) {
      heater.rings.push_back({channel, {random.between(0, limits::kFrequencyMhz)}});
    }
    return heater;
  }
  if (kind == 2) {
    WssSetpoint wss;
    for (const auto n : ascending<std::int32_t>(random, limits::kSlotN)) {
      wss.routes.push_back(route(random));
      wss.routes.back().slot.n = n;
    }
    return wss;
  }
  OcsSetpoint ocs;
  for (const auto input : ascending<std::uint16_t>(random, 0x10000)) {
    ocs.connects.push_back(connect(random));
    ocs.connects.back().input = input;
  }
  return ocs;
}

DevicePlan device_plan(Random& random, DeviceId id) {
  DevicePlan out;
  out.device = id;
  out.touched = random.coin();
  const std::int64_t kind = random.between(0, 3);
  for (const auto offset : ascending<std::int64_t>(random, limits::kDurationNs)) {
    TimedSetpoint entry;
    entry.offset = Duration{offset};
    entry.guard = length(random);
    entry.hold = length(random);
    entry.setpoint = setpoint(random, kind);
    out.timeline.push_back(std::move(entry));
  }
  if (!out.timeline.empty() && random.coin()) {
    out.timeline.back().hold = kForever;
  }
  return out;
}

NodePlan node_plan(Random& random, NodeId id, Revision number) {
  NodePlan out;
  out.revision = number;
  out.base = revision(random);
  out.node = id;
  out.cycle = length(random);
  out.cycles = small(random);
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
  return out;
}

Plan plan(Random& random, Revision number) {
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
  out.moved_switches = some<DeviceId>(random, [&] { return device(random); });
  for (const auto id : ascending<std::uint64_t>(random, 1LL << 62)) {
    out.touched.push_back({id});
  }
  out.certificate.wavelength_isolated = random.coin();
  out.certificate.physically_isolated = random.coin();
  out.certificate.shared_amplifiers = some<ElementId>(random, [&] { return element(random); });
  return out;
}

JobSpec spec(Random& random) {
  JobSpec out;
  out.name = text(random);
  out.workload = text(random);
  out.node_count = random.number<std::uint32_t>(0, limits::kNodes);
  out.placement = nodes(random);
  out.collectives = some<Collective>(random, [&] {
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
  out.compute = length(random);
  out.assumptions = some<std::string>(random, [&] { return text(random); });
  return out;
}

Intent intent(Random& random) {
  Intent out;
  for (const auto id : ascending<std::uint64_t>(random, 1LL << 62)) {
    Job one;
    one.id = {id};
    one.spec = spec(random);
    one.nodes = nodes(random);
    one.stage = small(random);
    out.jobs.push_back(std::move(one));
  }
  out.drained = ascending_nodes(random);
  out.lasers_off = random.coin();
  return out;
}

Reading reading(Random& random) {
  switch (random.between(0, 4)) {
    case 1: {
      LaserObservation laser;
      laser.frequency = {random.between(0, limits::kFrequencyMhz)};
      laser.power = power(random);
      laser.emitting = random.coin();
      laser.locked = random.coin();
      laser.status_fatal = random.number<std::uint16_t>(0, 0xFFFF);
      laser.status_warning = random.number<std::uint16_t>(0, 0xFFFF);
      return laser;
    }
    case 2:
      return HeaterObservation{some<std::int32_t>(random, [&] { return random.number<std::int32_t>(INT32_MIN, INT32_MAX); })};
    case 3: {
      WssObservation wss{some<WssRoute>(random, [&] { return route(random); })};
      wss.settled = random.coin();
      return wss;
    }
    case 4: {
      OcsObservation ocs{some<CrossConnect>(random, [&] { return connect(random); })};
      ocs.settled = random.coin();
      return ocs;
    }
    default:
      return std::monostate{};
  }
}

Observation observation(Random& random) {
  Observation out;
  out.device = device(random);
  out.health = random.any(DeviceHealth::failed);
  out.read_at = instant(random);
  out.reading = reading(random);
  out.fault = text(random);
  return out;
}

Error error(Random& random) {
  Error out;
  out.code = random.any(ErrorCode::internal);
  out.message = text(random);
  return out;
}

Outcome outcome(Random& random) { return random.coin() ? Outcome{} : Outcome{error(random)}; }

Alarm alarm(Random& random) {
  Alarm out;
  out.code = random.any(AlarmCode::plan_refused);
  if (random.coin()) {
    out.node = node(random);
  }
  if (random.coin()) {
    out.device = device(random);
  }
  out.evidence = text(random);
  out.next_command = text(random);
  return out;
}

Spread spread(Random& random) {
  Spread out;
  out.min = difference(random);
  out.p50 = difference(random);
  out.p99 = difference(random);
  out.max = difference(random);
  out.count = small(random);
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
  out.stage = random.any(CommitStage::confirmed);
  out.under_way = revision(random);
  out.malformed = random.word();
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
  return out;
}

DeviceReport device_report(Random& random) {
  DeviceReport out;
  out.device = device(random);
  out.name = text(random);
  out.kind = random.any(DeviceKind::ocs);
  out.agent = node(random);
  out.observation = observation(random);
  out.drift = random.any(Drift::stale);
  return out;
}

CircuitReport circuit_report(Random& random) {
  CircuitReport out;
  out.circuit = circuit(random, {random.word()});
  out.timeslot = small(random);
  out.state = text(random);
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
  out.nodes = nodes(random);
  out.revision = revision(random);
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
  return out;
}

Hello hello(Random& random) {
  Hello out;
  out.software = text(random);
  out.boot_id = random.word();
  out.term_seen = {random.word()};
  out.applied = revision(random);
  out.lasers_latched_off = random.coin();
  out.devices = some<DeviceState>(random, [&] {
    DeviceState state;
    state.device = device(random);
    state.health = random.any(DeviceHealth::failed);
    return state;
  });
  return out;
}

TrafficReport traffic(Random& random) {
  TrafficReport out;
  out.job = job(random);
  out.sent = some<TrafficEntry>(random, [&] {
    TrafficEntry entry;
    entry.destination = node(random);
    entry.bytes = {random.between(0, limits::kTrafficBytes)};
    return entry;
  });
  return out;
}

Applied applied(Random& random) {
  Applied out;
  out.outcome = outcome(random);
  out.fire.slack = difference(random);
  out.fire.lateness = difference(random);
  out.fire.settle = length(random);
  out.fire.dark = length(random);
  out.fire.writes = small(random);
  return out;
}

OperatorRequest request(Random& random) {
  OperatorRequest out;
  out.request = {random.word()};
  switch (random.between(0, 3)) {
    case 0: {
      Query query{random.any(Noun::alarms), std::nullopt};
      if (random.coin()) {
        query.id = random.word();
      }
      out.ask = query;
      break;
    }
    case 1: {
      SubmitJob submit{spec(random)};
      submit.dry_run = random.coin();
      out.ask = std::move(submit);
      break;
    }
    case 2: {
      CancelJob cancel{job(random)};
      cancel.dry_run = random.coin();
      out.ask = cancel;
      break;
    }
    default:
      out.ask = OrderLasers{random.coin()};
  }
  return out;
}

OperatorReply reply(Random& random) {
  OperatorReply out;
  out.request = {random.word()};
  out.outcome = outcome(random);
  out.job = job(random);
  switch (random.between(0, 7)) {
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
      out.rows = some<Alarm>(random, [&] { return alarm(random); });
      break;
    default:
      break;
  }
  return out;
}

Heartbeat heartbeat(Random& random) {
  Heartbeat out;
  out.applied = revision(random);
  out.confirmed = revision(random);
  out.lasers_latched_off = random.coin();
  return out;
}

template <class Answer>
Answer answer(Random& random, Duration duration) {
  return {outcome(random), duration};
}

using MakeBody = Body (*)(Random&);
constexpr MakeBody kBodies[] = {
    [](Random& random) -> Body { return hello(random); },
    [](Random& random) -> Body { return answer<Prepared>(random, length(random)); },
    [](Random& random) -> Body { return answer<Armed>(random, difference(random)); },
    [](Random& random) -> Body { return answer<Darkened>(random, difference(random)); },
    [](Random& random) -> Body { return answer<Settled>(random, length(random)); },
    [](Random& random) -> Body { return applied(random); },
    [](Random& random) -> Body { return CycleDone{random.number<std::uint32_t>(1, 1000), 7}; },
    [](Random& random) -> Body { return heartbeat(random); },
    [](Random& random) -> Body { return ObservationReport{some<Observation>(random, [&] { return observation(random); })}; },
    [](Random& random) -> Body { return traffic(random); },
    [](Random& random) -> Body { return AlarmReport{alarm(random)}; },
    [](Random& random) -> Body { return Welcome{Duration{random.between(1, limits::kDurationNs)}, {77}}; },
    [](Random& random) -> Body { return Unwelcome{error(random)}; },
    [](Random& random) -> Body { return Prepare{node_plan(random, {}, {})}; },
    [](Random& random) -> Body { return Arm{instant(random)}; },
    [](Random&) -> Body { return Go{}; },
    [](Random& random) -> Body { return Proceed{CommitPhase::relight, instant(random)}; },
    [](Random&) -> Body { return Confirm{}; },
    [](Random&) -> Body { return Abandon{}; },
    [](Random& random) -> Body { return SetLasers{true, random.word()}; },
    [](Random& random) -> Body { return Beat{revision(random)}; },
    [](Random& random) -> Body { return request(random); },
    [](Random& random) -> Body { return reply(random); },
};
static_assert(std::size(kBodies) == std::variant_size_v<Body>);

CommitRecord commit(Random& random) {
  CommitRecord out;
  out.decision = random.any(CommitDecision::returned);
  out.revision = revision(random);
  out.next_circuit = {random.word()};
  if (out.decision == CommitDecision::going) {
    out.plan = std::make_shared<const Plan>(plan(random, out.revision));
  }
  return out;
}

}  // namespace

Body random_body(Random& random, std::size_t alternative) { return kBodies[alternative](random); }

Envelope random_envelope(Random& random, std::size_t alternative) {
  Envelope out;
  out.principal = text(random);
  out.role = random.any(Role::controller);
  out.term = {random.word()};
  out.node = node(random);
  out.clock = {random.word()};
  out.revision = revision(random);
  out.body = random_body(random, alternative);
  if (auto* prepare = std::get_if<Prepare>(&out.body)) {
    prepare->plan.node = out.node;
    prepare->plan.revision = out.revision;
  }
  return out;
}

Record random_record(Random& random, std::size_t alternative) {
  switch (alternative) {
    case 0:
      return TermRecord{{random.word()}};
    case 1: {
      IntentRecord record;
      record.intent = intent(random);
      record.laser_order = random.word();
      record.next_job = job(random);
      return record;
    }
    case 2:
      return commit(random);
    default:
      return LatchRecord{true, random.word()};
  }
}

}  // namespace loom::test
