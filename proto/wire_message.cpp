// SPDX-License-Identifier: Apache-2.0
// The envelope and what controller and agents say to each other, on the wire: one pair of functions a word.
#include "proto/convert.hpp"

namespace loom::wire {

static_assert(static_cast<int>(Role_MAX) == static_cast<int>(loom::Role::controller) + 1);
static_assert(static_cast<int>(CommitPhase_MAX) == static_cast<int>(loom::CommitPhase::relight) + 1);
static_assert(Envelope::kPulse == 16 + std::variant_size_v<loom::Body> - 1);

template <class WireBody>
static loom::Outcome outcome_of(Check& check, const WireBody& in) {
  if (!check.present("outcome", in.has_outcome())) {
    return {};
  }
  const auto scope = check.in("outcome");
  return from_wire(check, in.outcome());
}

// --- agent -> controller -------------------------------------------------------------------------------------------------

static void to_wire(const loom::DeviceState& in, DeviceState& out) {
  out.set_device_id(in.device.value);
  out.set_health(enum_to_wire<DeviceHealth>(in.health));
}
static loom::DeviceState from_wire(Check& check, const DeviceState& in) {
  return {check.device("device_id", in.device_id()), check.enumeration("health", in.health(), loom::DeviceHealth::failed)};
}

static void to_wire(const loom::FabricIdentity& in, FabricIdentity& out) {
  out.set_name(sendable(in.name));
  out.set_fabric_digest(in.digest);
  out.set_node_count(in.nodes);
  out.set_element_count(in.elements);
  out.set_fibre_count(in.fibres);
  out.set_device_count(in.devices);
  out.mutable_mark_digest()->Add(in.marks.begin(), in.marks.end());
}
static loom::FabricIdentity from_wire(Check& check, const FabricIdentity& in) {
  loom::FabricIdentity out{check.text("name", in.name()),
                           in.fabric_digest(),
                           in.node_count(),
                           in.element_count(),
                           in.fibre_count(),
                           in.device_count(),
                           {}};
  if (check.count("mark_digest", in.mark_digest_size(), kFabricMarks)) {
    out.marks.assign(in.mark_digest().begin(), in.mark_digest().end());
  }
  return out;
}

static void set_body(const loom::Hello& in, Envelope& out) {
  Hello& hello = *out.mutable_hello();
  hello.set_software(sendable(in.software));
  hello.set_boot_id(in.boot_id);
  hello.set_term_seen_number(in.term_seen.value);
  hello.set_applied_revision_number(in.applied.value);
  hello.set_lasers_latched_off(in.lasers_latched_off);
  rows_to_wire(in.devices, *hello.mutable_devices());
  hello.set_own_latch_number(in.own_latch.number);
  hello.set_own_latch_cause(sendable(in.own_latch.cause));
  if (in.fabric.digest != 0) {
    to_wire(in.fabric, *hello.mutable_fabric());
  }
  hello.set_listens_at(sendable(in.listens_at));
  hello.set_node_latched_off(in.node_latched_off);
}
static loom::Hello from_wire(Check& check, const Hello& in) {
  loom::Hello out;
  out.software = check.text("software", in.software());
  out.boot_id = in.boot_id();
  out.term_seen = {in.term_seen_number()};
  out.applied = {in.applied_revision_number()};
  out.lasers_latched_off = in.lasers_latched_off();
  out.node_latched_off = in.node_latched_off();
  out.devices = rows_from_wire<loom::DeviceState>(check, "devices", in.devices(), limits::kDevicesPerNode);
  out.own_latch = {in.own_latch_number(), check.text("own_latch_cause", in.own_latch_cause())};
  if (in.has_fabric()) {
    const auto scope = check.in("fabric");
    out.fabric = from_wire(check, in.fabric());
  }
  out.listens_at = check.text("listens_at", in.listens_at());
  return out;
}

static void set_body(const loom::Prepared& in, Envelope& out) {
  to_wire(in.outcome, *out.mutable_prepared()->mutable_outcome());
  out.mutable_prepared()->set_lead_ns(in.lead.count());
}
static loom::Prepared from_wire(Check& check, const Prepared& in) {
  return {outcome_of(check, in), check.duration("lead_ns", in.lead_ns())};
}

static void set_body(const loom::Armed& in, Envelope& out) {
  to_wire(in.outcome, *out.mutable_armed()->mutable_outcome());
  out.mutable_armed()->set_slack_ns(in.slack.count());
}
static loom::Armed from_wire(Check& check, const Armed& in) {
  return {outcome_of(check, in), check.difference("slack_ns", in.slack_ns())};
}

static void set_body(const loom::Darkened& in, Envelope& out) {
  to_wire(in.outcome, *out.mutable_darkened()->mutable_outcome());
  out.mutable_darkened()->set_lateness_ns(in.lateness.count());
}
static loom::Darkened from_wire(Check& check, const Darkened& in) {
  return {outcome_of(check, in), check.difference("lateness_ns", in.lateness_ns())};
}

static void set_body(const loom::Settled& in, Envelope& out) {
  to_wire(in.outcome, *out.mutable_settled()->mutable_outcome());
  out.mutable_settled()->set_settle_ns(in.settle.count());
}
static loom::Settled from_wire(Check& check, const Settled& in) {
  return {outcome_of(check, in), check.duration("settle_ns", in.settle_ns())};
}

static void set_body(const loom::Applied& in, Envelope& out) {
  to_wire(in.outcome, *out.mutable_applied()->mutable_outcome());
  to_wire(in.fire, *out.mutable_applied()->mutable_fire());
}
static loom::Applied from_wire(Check& check, const Applied& in) {
  loom::Applied out{outcome_of(check, in), {}};
  if (check.present("fire", in.has_fire())) {
    const auto scope = check.in("fire");
    out.fire = from_wire(check, in.fire());
  }
  return out;
}

static void set_body(const loom::CycleDone& in, Envelope& out) {
  out.mutable_cycle_done()->set_cycle_count(in.cycles);
  out.mutable_cycle_done()->set_underflow_count(in.underflows);
}
static loom::CycleDone from_wire(Check&, const CycleDone& in) { return {in.cycle_count(), in.underflow_count()}; }

static void set_body(const loom::Heartbeat& in, Envelope& out) {
  Heartbeat& heartbeat = *out.mutable_heartbeat();
  heartbeat.set_applied_revision_number(in.applied.value);
  heartbeat.set_confirmed_revision_number(in.confirmed.value);
  heartbeat.set_lasers_latched_off(in.lasers_latched_off);
  heartbeat.set_own_latch_number(in.own_latch.number);
  heartbeat.set_own_latch_cause(sendable(in.own_latch.cause));
  heartbeat.set_peers_digest(in.peers_digest);
  heartbeat.set_node_latched_off(in.node_latched_off);
}
static loom::Heartbeat from_wire(Check& check, const Heartbeat& in) {
  return {{in.applied_revision_number()},
          {in.confirmed_revision_number()},
          in.lasers_latched_off(),
          {in.own_latch_number(), check.text("own_latch_cause", in.own_latch_cause())},
          in.peers_digest(),
          in.node_latched_off()};
}

static void set_body(const loom::Pulse& in, Envelope& out) {
  nodes_to_wire(in.nodes, *out.mutable_pulse()->mutable_node_ids());
}
static loom::Pulse from_wire(Check& check, const Pulse& in) { return {nodes_from_wire(check, "node_ids", in.node_ids())}; }

static void set_body(const loom::ObservationReport& in, Envelope& out) {
  rows_to_wire(in.observations, *out.mutable_observation_report()->mutable_observations());
}
static loom::ObservationReport from_wire(Check& check, const ObservationReport& in) {
  return {rows_from_wire<loom::Observation>(check, "observations", in.observations(), limits::kObservationsPerReport)};
}

static void to_wire(const loom::RepeatedCollective& in, RepeatedCollective& out) {
  out.set_kind(enum_to_wire<CollectiveKind>(in.kind));
  out.set_size_bytes(in.bytes.count);
  out.set_repeat_count(in.count);
}
static loom::RepeatedCollective from_wire(Check& check, const RepeatedCollective& in) {
  return {check.enumeration("kind", in.kind(), loom::CollectiveKind::point_to_point),
          {check.between("size_bytes", in.size_bytes(), 0, limits::kCollectiveBytes)},
          static_cast<std::uint32_t>(check.between("repeat_count", in.repeat_count(), 1, limits::kCollectiveRepeats))};
}

static void to_wire(const loom::CommunicatorTraffic& in, CommunicatorTraffic& out) {
  out.set_communicator_id(in.communicator);
  out.set_rank_number(in.rank);
  out.set_rank_count(in.ranks);
  rows_to_wire(in.period, *out.mutable_period());
  out.set_period_ns(in.length.count());
}
static loom::CommunicatorTraffic from_wire(Check& check, const CommunicatorTraffic& in) {
  loom::CommunicatorTraffic out;
  out.communicator = in.communicator_id();
  out.ranks = static_cast<std::uint32_t>(check.between("rank_count", in.rank_count(), 1, limits::kNodes));
  out.rank = static_cast<std::uint32_t>(check.between("rank_number", in.rank_number(), 0, std::int64_t{out.ranks} - 1));
  out.period = rows_from_wire<loom::RepeatedCollective>(check, "period", in.period(), limits::kCollectivesPerPeriod);
  check.ascending("period", out.period, [](const loom::RepeatedCollective& each) { return each; });
  out.length = Duration{check.between("period_ns", in.period_ns(), 1, limits::kDurationNs)};
  return out;
}

static void set_body(const loom::TrafficReport& in, Envelope& out) {
  TrafficReport& report = *out.mutable_traffic_report();
  report.set_report_number(in.number);
  rows_to_wire(in.communicators, *report.mutable_communicators());
  report.set_trouble(sendable(in.trouble));
  report.set_refused_count(in.refused);
}
static loom::TrafficReport from_wire(Check& check, const TrafficReport& in) {
  loom::TrafficReport out;
  out.number = in.report_number();
  out.communicators =
      rows_from_wire<loom::CommunicatorTraffic>(check, "communicators", in.communicators(), limits::kCommunicatorsPerNode);
  check.ascending("communicators.communicator_id", out.communicators,
                  [](const loom::CommunicatorTraffic& each) { return each.communicator; });
  out.trouble = check.text("trouble", in.trouble());
  out.refused = in.refused_count();
  return out;
}

static void set_body(const loom::AlarmReport& in, Envelope& out) {
  to_wire(in.alarm, *out.mutable_alarm_report()->mutable_alarm());
}
static loom::AlarmReport from_wire(Check& check, const AlarmReport& in) {
  const auto scope = check.in("alarm");
  return {from_wire(check, in.alarm())};
}

// --- controller -> agent -------------------------------------------------------------------------------------------------

static void set_body(const loom::Welcome& in, Envelope& out) {
  out.mutable_welcome()->set_heartbeat_interval_ns(in.heartbeat_interval.count());
  out.mutable_welcome()->set_confirmed_revision_number(in.confirmed.value);
}
static loom::Welcome from_wire(Check& check, const Welcome& in) {
  return {Duration{check.between("heartbeat_interval_ns", in.heartbeat_interval_ns(), 1, limits::kDurationNs)},
          {in.confirmed_revision_number()}};
}

static void set_body(const loom::Unwelcome& in, Envelope& out) { to_wire(in.error, *out.mutable_unwelcome()->mutable_error()); }
static loom::Unwelcome from_wire(Check& check, const Unwelcome& in) {
  const auto scope = check.in("error");
  return {from_wire(check, in.error())};
}

static void set_body(const loom::Prepare& in, Envelope& out) { to_wire(in.plan, *out.mutable_prepare()->mutable_plan()); }
static loom::Prepare from_wire(Check& check, const Prepare& in) {
  check.present("plan", in.has_plan());
  const auto scope = check.in("plan");
  return {from_wire(check, in.plan())};
}

static void set_body(const loom::Arm& in, Envelope& out) { out.mutable_arm()->set_fire_at_ns(ns_of(in.fire_at)); }
static loom::Arm from_wire(Check& check, const Arm& in) { return {check.instant("fire_at_ns", in.fire_at_ns())}; }

static void set_body(const loom::Go& in, Envelope& out) {
  Go& go = *out.mutable_go();
  if (in.fire_at != kNever) {
    go.set_fire_at_ns(ns_of(in.fire_at));
  }
}
static loom::Go from_wire(Check& check, const Go& in) {
  return {in.has_fire_at_ns() ? check.instant("fire_at_ns", in.fire_at_ns()) : kNever};
}

static void set_body(const loom::Confirm&, Envelope& out) { out.mutable_confirm(); }
static void set_body(const loom::Abandon&, Envelope& out) { out.mutable_abandon(); }

static void set_body(const loom::Proceed& in, Envelope& out) {
  out.mutable_proceed()->set_phase(enum_to_wire<CommitPhase>(in.phase));
  out.mutable_proceed()->set_at_ns(ns_of(in.at));
}
static loom::Proceed from_wire(Check& check, const Proceed& in) {
  return {check.enumeration("phase", in.phase(), loom::CommitPhase::relight), check.instant("at_ns", in.at_ns())};
}

static void set_body(const loom::SetLasers& in, Envelope& out) {
  out.mutable_set_lasers()->set_on(in.on);
  out.mutable_set_lasers()->set_request_number(in.order);
  out.mutable_set_lasers()->set_own_latch_number(in.own_latch);
  out.mutable_set_lasers()->set_of_node(in.of_node);
}
static void set_body(const loom::Beat& in, Envelope& out) {
  out.mutable_beat()->set_confirmed_revision_number(in.confirmed.value);
}
static void set_body(const loom::ResetDevice& in, Envelope& out) {
  out.mutable_reset_device()->set_device_id(in.device.value);
  out.mutable_reset_device()->set_request_number(in.order);
}
static loom::ResetDevice from_wire(Check& check, const ResetDevice& in) {
  return {check.device("device_id", in.device_id()), in.request_number()};
}

static void set_body(const loom::DeviceReset& in, Envelope& out) {
  DeviceReset& reset = *out.mutable_device_reset();
  reset.set_device_id(in.device.value);
  reset.set_request_number(in.order);
  to_wire(in.outcome, *reset.mutable_outcome());
  reset.set_write_count(in.writes);
  to_wire(in.observation, *reset.mutable_observation());
}
static loom::DeviceReset from_wire(Check& check, const DeviceReset& in) {
  loom::DeviceReset out{
      check.device("device_id", in.device_id()), in.request_number(), outcome_of(check, in), in.write_count(), {}};
  if (check.present("observation", in.has_observation())) {
    const auto scope = check.in("observation");
    out.observation = from_wire(check, in.observation());
  }
  return out;
}

static void set_body(const loom::GrantPlaneMessage& in, Envelope& out) { to_wire(in, *out.mutable_grant_plane_message()); }

static void to_wire(const loom::IterationLedger& in, IterationLedger& out) {
  out.set_light_ns(in.light.count());
  out.set_compute_ns(in.compute.count());
  out.set_waited_ns(in.waited.count());
  out.set_dark_ns(in.dark.count());
  out.set_lead_ns(in.lead.count());
}
static loom::IterationLedger from_wire(Check& check, const IterationLedger& in) {
  return {check.duration("light_ns", in.light_ns()), check.duration("compute_ns", in.compute_ns()),
          check.duration("waited_ns", in.waited_ns()), check.duration("dark_ns", in.dark_ns()),
          check.duration("lead_ns", in.lead_ns())};
}

static void to_wire(const loom::SlowIteration& in, SlowIteration& out) {
  out.set_iteration_number(static_cast<std::int64_t>(in.iteration));
  out.set_length_ns(in.length.count());
  out.set_cause(enum_to_wire<DelayCause>(in.cause));
  out.set_node_id(in.node.value);
  if (in.device) {
    out.set_device_id(in.device->value);
  }
  out.set_took_ns(in.took.count());
}
static loom::SlowIteration from_wire(Check& check, const SlowIteration& in) {
  loom::SlowIteration out;
  out.iteration = static_cast<std::uint64_t>(check.between("iteration_number", in.iteration_number(), 0, limits::kPasses));
  out.length = check.duration("length_ns", in.length_ns());
  out.cause = check.enumeration("cause", in.cause(), loom::DelayCause::dark);
  out.node = check.node("node_id", in.node_id());
  if (in.has_device_id()) {
    out.device = check.device("device_id", in.device_id());
  }
  out.took = check.duration("took_ns", in.took_ns());
  return out;
}

static void to_wire(const loom::AwaitedNode& in, AwaitedNode& out) {
  out.set_node_id(in.node.value);
  out.set_over(in.is_over);
  out.set_since_ns(in.since.count());
}
static loom::AwaitedNode from_wire(Check& check, const AwaitedNode& in) {
  return {check.node("node_id", in.node_id()), in.over(), check.duration("since_ns", in.since_ns())};
}

static void set_body(const loom::IterationReport& in, Envelope& out) {
  IterationReport& report = *out.mutable_iteration_report();
  report.set_job_id(in.job.value);
  report.set_iteration_count(static_cast<std::int64_t>(in.iterations));
  report.set_replayed_count(static_cast<std::int64_t>(in.replayed));
  report.set_missed_count(in.missed);
  report.set_p50_ns(in.p50.count());
  report.set_p99_ns(in.p99.count());
  to_wire(in.ledger, *report.mutable_ledger());
  to_wire(in.slowest, *report.mutable_slowest());
  if (in.awaited) {
    to_wire(*in.awaited, *report.mutable_awaited());
  }
}
static loom::IterationReport from_wire(Check& check, const IterationReport& in) {
  const auto count = [&](const char* field, std::int64_t value) {
    return static_cast<std::uint64_t>(check.between(field, value, 0, limits::kPasses));
  };
  loom::IterationReport out{
      {in.job_id()},     count("iteration_count", in.iteration_count()), count("replayed_count", in.replayed_count()),
      in.missed_count(), check.duration("p50_ns", in.p50_ns()),          check.duration("p99_ns", in.p99_ns())};
  if (check.present("ledger", in.has_ledger()) && check.present("slowest", in.has_slowest())) {
    {
      const auto scope = check.in("ledger");
      out.ledger = from_wire(check, in.ledger());
    }
    const auto scope = check.in("slowest");
    out.slowest = from_wire(check, in.slowest());
  }
  if (in.has_awaited()) {
    const auto scope = check.in("awaited");
    out.awaited = from_wire(check, in.awaited());
  }
  return out;
}

static void to_wire(const loom::PeerAddress& in, PeerAddress& out) {
  out.set_node_id(in.node.value);
  out.set_endpoint(sendable(in.endpoint));
}
static loom::PeerAddress from_wire(Check& check, const PeerAddress& in) {
  return {check.node("node_id", in.node_id()), check.text("endpoint", in.endpoint())};
}

static void set_body(const loom::PeerAddresses& in, Envelope& out) {
  rows_to_wire(in.peers, *out.mutable_peer_addresses()->mutable_peers());
  out.mutable_peer_addresses()->set_peers_digest(in.digest);
}
static loom::PeerAddresses from_wire(Check& check, const PeerAddresses& in) {
  return {rows_from_wire<loom::PeerAddress>(check, "peers", in.peers(), kPeerProcesses), in.peers_digest()};
}

// --- agent -> agent ------------------------------------------------------------------------------------------------------

static void set_body(const loom::PassReady& in, Envelope& out) {
  PassReady& ready = *out.mutable_pass_ready();
  ready.set_job_id(in.job.value);
  ready.set_pass_number(in.pass);
  ready.set_missed_count(in.missed);
  ready.set_ready(in.is_ready);
  ready.set_computed_in_ns(in.computed_in.count());
  ready.set_tuned_in_ns(in.tuned_in.count());
  if (in.device) {
    ready.set_device_id(in.device->value);
  }
}
static loom::PassReady from_wire(Check& check, const PassReady& in) {
  loom::PassReady out{
      {in.job_id()}, at_least(check, "pass_number", in.pass_number(), 2),   in.missed_count(),
      in.ready(),    check.duration("computed_in_ns", in.computed_in_ns()), check.duration("tuned_in_ns", in.tuned_in_ns())};
  if (in.has_device_id()) {
    out.device = check.device("device_id", in.device_id());
  }
  return out;
}

static void set_body(const loom::PassBegin& in, Envelope& out) {
  PassBegin& begin = *out.mutable_pass_begin();
  begin.set_job_id(in.job.value);
  begin.set_pass_number(in.pass);
  begin.set_iteration_number(in.iteration);
  begin.set_at_ns(ns_of(in.at));
}
static loom::PassBegin from_wire(Check& check, const PassBegin& in) {
  return {{in.job_id()},
          at_least(check, "pass_number", in.pass_number(), 2),
          in.iteration_number(),
          check.instant("at_ns", in.at_ns())};
}

static void set_body(const loom::OperatorRequest& in, Envelope& out) { to_wire(in, *out.mutable_operator_request()); }
static void set_body(const loom::OperatorReply& in, Envelope& out) { to_wire(in, *out.mutable_operator_reply()); }

// --- envelope ------------------------------------------------------------------------------------------------------------

/// Decodes one alternative under its name.
template <class WireBody>
static loom::Body named(Check& check, const char* name, const WireBody& in) {
  const auto scope = check.in(name);
  return from_wire(check, in);
}

static loom::Body body_from_wire(Check& check, const Envelope& in) {
  switch (in.body_case()) {
    case Envelope::kHello:
      return named(check, "hello", in.hello());
    case Envelope::kPrepared:
      return named(check, "prepared", in.prepared());
    case Envelope::kArmed:
      return named(check, "armed", in.armed());
    case Envelope::kDarkened:
      return named(check, "darkened", in.darkened());
    case Envelope::kSettled:
      return named(check, "settled", in.settled());
    case Envelope::kApplied:
      return named(check, "applied", in.applied());
    case Envelope::kCycleDone:
      return named(check, "cycle_done", in.cycle_done());
    case Envelope::kHeartbeat:
      return named(check, "heartbeat", in.heartbeat());
    case Envelope::kObservationReport:
      return named(check, "observation_report", in.observation_report());
    case Envelope::kTrafficReport:
      return named(check, "traffic_report", in.traffic_report());
    case Envelope::kAlarmReport:
      return named(check, "alarm_report", in.alarm_report());
    case Envelope::kWelcome:
      return named(check, "welcome", in.welcome());
    case Envelope::kUnwelcome:
      return named(check, "unwelcome", in.unwelcome());
    case Envelope::kPrepare:
      return named(check, "prepare", in.prepare());
    case Envelope::kArm:
      return named(check, "arm", in.arm());
    case Envelope::kGo:
      return named(check, "go", in.go());
    case Envelope::kProceed:
      return named(check, "proceed", in.proceed());
    case Envelope::kConfirm:
      return loom::Confirm{};
    case Envelope::kAbandon:
      return loom::Abandon{};
    case Envelope::kSetLasers:
      return loom::SetLasers{in.set_lasers().on(), in.set_lasers().request_number(), in.set_lasers().own_latch_number(),
                             in.set_lasers().of_node()};
    case Envelope::kBeat:
      return loom::Beat{{in.beat().confirmed_revision_number()}};
    case Envelope::kOperatorRequest:
      return named(check, "operator_request", in.operator_request());
    case Envelope::kOperatorReply:
      return named(check, "operator_reply", in.operator_reply());
    case Envelope::kResetDevice:
      return named(check, "reset_device", in.reset_device());
    case Envelope::kDeviceReset:
      return named(check, "device_reset", in.device_reset());
    case Envelope::kGrantPlaneMessage:
      return named(check, "grant_plane_message", in.grant_plane_message());
    case Envelope::kPassReady:
      return named(check, "pass_ready", in.pass_ready());
    case Envelope::kPassBegin:
      return named(check, "pass_begin", in.pass_begin());
    case Envelope::kIterationReport:
      return named(check, "iteration_report", in.iteration_report());
    case Envelope::kPeerAddresses:
      return named(check, "peer_addresses", in.peer_addresses());
    case Envelope::kPulse:
      return named(check, "pulse", in.pulse());
    case Envelope::BODY_NOT_SET:
      break;
  }
  check.refuse("body", "", "is missing");
  return loom::Go{};
}

void to_wire(const loom::Envelope& in, Envelope& out) {
  out.set_wire_version_number(in.wire_version);
  out.set_role(enum_to_wire<Role>(in.role));
  out.set_node_id(in.node.value);
  out.set_term_number(in.term.value);
  out.set_clock_id(in.clock.value);
  out.set_revision_number(in.revision.value);
  out.set_principal(sendable(in.principal));
  std::visit([&](const auto& body) { set_body(body, out); }, in.body);
}

loom::Envelope from_wire(Check& check, const Envelope& in) {
  loom::Envelope out;
  out.wire_version = in.wire_version_number();
  out.role = check.enumeration("role", in.role(), loom::Role::controller);
  out.node = check.node("node_id", in.node_id());
  out.term = {in.term_number()};
  out.clock = {in.clock_id()};
  out.revision = {in.revision_number()};
  out.principal = check.text("principal", in.principal());
  out.body = body_from_wire(check, in);
  if (const auto* prepare = std::get_if<loom::Prepare>(&out.body); prepare != nullptr && check.ok()) {
    const auto to_text = [](auto id) { return std::to_string(id.value); };
    if (prepare->plan.node != out.node) {
      check.refuse("prepare.plan.node_id", to_text(prepare->plan.node), "must be the envelope's node " + to_text(out.node));
    }
    if (prepare->plan.revision != out.revision) {
      check.refuse("prepare.plan.revision_number", to_text(prepare->plan.revision),
                   "must be the envelope's revision " + to_text(out.revision));
    }
  }
  if (const auto* word = std::get_if<loom::GrantPlaneMessage>(&out.body);
      word != nullptr && check.ok() && speaker_of(word->message) != out.node) {
    check.refuse("node_id", std::to_string(out.node.value), "must be the stream's end that says such words");
  }
  return out;
}

}  // namespace loom::wire
