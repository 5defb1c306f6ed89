// Errors, alarms and the rows of an operator's answer on the wire.
#include "proto/convert.hpp"

namespace loom::wire {

static_assert(static_cast<int>(ErrorCode_MAX) == static_cast<int>(loom::ErrorCode::internal) + 1);
static_assert(static_cast<int>(AlarmCode_MAX) == static_cast<int>(loom::AlarmCode::receiver_withheld) + 1);
static_assert(static_cast<int>(CommitOutcome_MAX) == static_cast<int>(loom::CommitOutcome::refused) + 1);
static_assert(static_cast<int>(CommitStage_MAX) == static_cast<int>(loom::CommitStage::confirmed) + 1);
static_assert(static_cast<int>(DeviceKind_MAX) == static_cast<int>(loom::DeviceKind::ocs) + 1);
static_assert(static_cast<int>(LightState_MAX) == static_cast<int>(loom::LightState::dark) + 1);
static_assert(static_cast<int>(Drift_MAX) == static_cast<int>(loom::Drift::stale) + 1);

static void to_wire(const loom::Spread& in, Spread& out) {
  out.set_min_ns(in.min.count());
  out.set_p50_ns(in.p50.count());
  out.set_p99_ns(in.p99.count());
  out.set_max_ns(in.max.count());
  out.set_sample_count(in.count);
}

static loom::Spread from_wire(Check& check, const Spread& in) {
  return {check.difference("min_ns", in.min_ns()), check.difference("p50_ns", in.p50_ns()),
          check.difference("p99_ns", in.p99_ns()), check.difference("max_ns", in.max_ns()), in.sample_count()};
}

static loom::DriftCounts from_wire(const DriftCounts& in) {
  return {in.missing_count(), in.foreign_count(), in.detuned_count(), in.dim_count(), in.stale_count()};
}

static void to_wire(const loom::DriftCounts& in, DriftCounts& out) {
  out.set_missing_count(in.missing);
  out.set_foreign_count(in.foreign);
  out.set_detuned_count(in.detuned);
  out.set_dim_count(in.dim);
  out.set_stale_count(in.stale);
}

void to_wire(const loom::Error& in, Error& out) {
  out.set_code(enum_to_wire<ErrorCode>(in.code));
  out.set_message(sendable(in.message));
  out.set_next_command(sendable(in.next_command));
  if (in.device) {
    out.set_device_id(in.device->value);
  }
}

loom::Error from_wire(Check& check, const Error& in) {
  loom::Error out{check.enumeration("code", in.code(), loom::ErrorCode::internal), check.text("message", in.message()),
                  check.text("next_command", in.next_command())};
  if (in.has_device_id()) {
    out.device = check.device("device_id", in.device_id());
  }
  return out;
}

void to_wire(const loom::Outcome& in, Outcome& out) {
  if (in.error) {
    to_wire(*in.error, *out.mutable_error());
  }
}

loom::Outcome from_wire(Check& check, const Outcome& in) {
  if (!in.has_error()) {
    return {};
  }
  const auto scope = check.in("error");
  return {from_wire(check, in.error())};
}

void to_wire(const loom::Alarm& in, Alarm& out) {
  out.set_code(enum_to_wire<AlarmCode>(in.code));
  if (in.node) {
    out.set_node_id(in.node->value);
  }
  if (in.device) {
    out.set_device_id(in.device->value);
  }
  out.set_evidence(sendable(in.evidence));
  out.set_next_command(sendable(in.next_command));
  if (in.revision) {
    out.set_revision_number(in.revision->value);
  }
}

loom::Alarm from_wire(Check& check, const Alarm& in) {
  loom::Alarm out;
  out.code = check.enumeration("code", in.code(), loom::AlarmCode::receiver_withheld);
  if (in.has_node_id()) {
    out.node = check.node("node_id", in.node_id());
  }
  if (in.has_device_id()) {
    out.device = check.device("device_id", in.device_id());
  }
  out.evidence = check.text("evidence", in.evidence());
  out.next_command = check.text("next_command", in.next_command());
  if (in.has_revision_number()) {
    out.revision = Revision{in.revision_number()};
  }
  return out;
}

void to_wire(const loom::FireReport& in, FireReport& out) {
  out.set_slack_ns(in.slack.count());
  out.set_lateness_ns(in.lateness.count());
  out.set_settle_ns(in.settle.count());
  out.set_dark_ns(in.dark.count());
  out.set_write_count(in.writes);
}

loom::FireReport from_wire(Check& check, const FireReport& in) {
  return {check.difference("slack_ns", in.slack_ns()), check.difference("lateness_ns", in.lateness_ns()),
          check.duration("settle_ns", in.settle_ns()), check.duration("dark_ns", in.dark_ns()), in.write_count()};
}

void to_wire(const loom::AuditRecord& in, AuditRecord& out) {
  out.set_record_number(in.number);
  out.set_wall_ns(ns_of(in.at));
  out.set_principal(sendable(in.principal));
  out.set_role(enum_to_wire<Role>(in.role));
  out.set_request_id(in.request.value);
  out.set_asked(sendable(in.asked));
  to_wire(in.outcome, *out.mutable_outcome());
  out.set_job_id(in.job.value);
  out.set_revision_number(in.revision.value);
}

loom::AuditRecord from_wire(Check& check, const AuditRecord& in) {
  loom::AuditRecord out;
  out.number = in.record_number();
  out.at = check.wall_time("wall_ns", in.wall_ns());
  out.principal = check.text("principal", in.principal());
  out.role = check.enumeration("role", in.role(), loom::Role::controller);
  out.request = {in.request_id()};
  out.asked = check.text("asked", in.asked());
  if (check.present("outcome", in.has_outcome())) {
    out.outcome = from_wire(check, in.outcome());
  }
  out.job = {in.job_id()};
  out.revision = {in.revision_number()};
  return out;
}

static void to_wire(const loom::RefusalCounts& in, RefusalCounts& out) {
  static_assert(loom::kRefusalKinds == 7);
  out.set_malformed_count(in[0]);
  out.set_unauthorised_count(in[1]);
  out.set_conflict_count(in[2]);
  out.set_foreign_count(in[3]);
  out.set_implausible_count(in[4]);
  out.set_over_quota_count(in[5]);
  out.set_role_count(in[6]);
}

static loom::RefusalCounts from_wire(const RefusalCounts& in) {
  return {in.malformed_count(),   in.unauthorised_count(), in.conflict_count(), in.foreign_count(),
          in.implausible_count(), in.over_quota_count(),   in.role_count()};
}

void to_wire(const loom::StatusReport& in, StatusReport& out) {
  out.set_term_number(in.term.value);
  out.set_revision_number(in.revision.value);
  out.set_fabric(sendable(in.fabric));
  out.set_node_count(in.nodes);
  out.set_live_count(in.live);
  out.set_suspect_count(in.suspect);
  out.set_dead_count(in.dead);
  out.set_job_count(in.jobs);
  out.set_circuit_count(in.circuits);
  out.set_lasers_off(in.lasers_off);
  to_wire(in.drift, *out.mutable_drift());
  out.set_stage(enum_to_wire<CommitStage>(in.stage));
  out.set_under_way_revision_number(in.under_way.value);
  out.set_stage_done_count(in.stage_done);
  out.set_stage_total_count(in.stage_total);
  out.set_malformed_count(in.malformed);
  out.set_alarm_count(in.alarms);
  out.set_awaiting_confirm_revision_number(in.awaiting_confirm.value);
  out.set_confirm_left_ns(in.confirm_left.count());
  to_wire(in.certificate, *out.mutable_certificate());
  to_wire(in.refusals, *out.mutable_refusals());
  out.set_keyring_digest(in.keyring_digest);
}

loom::StatusReport from_wire(Check& check, const StatusReport& in) {
  loom::StatusReport out;
  out.term = {in.term_number()};
  out.revision = {in.revision_number()};
  out.fabric = check.text("fabric", in.fabric());
  out.nodes = in.node_count();
  out.live = in.live_count();
  out.suspect = in.suspect_count();
  out.dead = in.dead_count();
  out.jobs = in.job_count();
  out.circuits = in.circuit_count();
  out.lasers_off = in.lasers_off();
  if (check.present("drift", in.has_drift())) {
    out.drift = from_wire(in.drift());
  }
  out.stage = check.enumeration("stage", in.stage(), loom::CommitStage::confirmed);
  out.under_way = {in.under_way_revision_number()};
  out.stage_done = in.stage_done_count();
  out.stage_total = in.stage_total_count();
  out.malformed = in.malformed_count();
  out.alarms = in.alarm_count();
  out.awaiting_confirm = {in.awaiting_confirm_revision_number()};
  out.confirm_left = check.duration("confirm_left_ns", in.confirm_left_ns());
  out.certificate = from_wire(check, in.certificate());
  if (check.present("refusals", in.has_refusals())) {
    out.refusals = from_wire(in.refusals());
  }
  out.keyring_digest = in.keyring_digest();
  return out;
}

void to_wire(const loom::NodeReport& in, NodeReport& out) {
  out.set_node_id(in.node.value);
  out.set_name(sendable(in.name));
  out.set_session(sendable(in.session));
  out.set_applied_revision_number(in.applied.value);
  out.set_silence_ns(in.silence.count());
  out.set_lasers_latched_off(in.lasers_latched_off);
  out.set_device_count(in.devices);
  out.set_drained(in.drained);
  out.set_maintenance(in.maintenance);
  for (const JobId job : in.jobs) {
    out.add_job_ids(job.value);
  }
  out.set_dark_because(sendable(in.dark_because));
}

loom::NodeReport from_wire(Check& check, const NodeReport& in) {
  loom::NodeReport out;
  out.node = check.node("node_id", in.node_id());
  out.name = check.text("name", in.name());
  out.session = check.text("session", in.session());
  out.applied = {in.applied_revision_number()};
  out.silence = check.difference("silence_ns", in.silence_ns());
  out.lasers_latched_off = in.lasers_latched_off();
  out.devices = in.device_count();
  out.drained = in.drained();
  out.maintenance = in.maintenance();
  out.dark_because = check.text("dark_because", in.dark_because());
  if (check.count("job_ids", in.job_ids_size(), limits::kJobs)) {
    for (const std::uint64_t job : in.job_ids()) {
      out.jobs.push_back({job});
    }
  }
  return out;
}

void to_wire(const loom::DeviceReport& in, DeviceReport& out) {
  out.set_device_id(in.device.value);
  out.set_name(sendable(in.name));
  out.set_kind(enum_to_wire<DeviceKind>(in.kind));
  out.set_agent_node_id(in.agent.value);
  to_wire(in.observation, *out.mutable_observation());
  out.set_drift(enum_to_wire<Drift>(in.drift));
  if (in.desired) {
    to_wire(*in.desired, *out.mutable_desired());
  }
  out.set_by_hand(in.by_hand);
  out.set_adopted(in.adopted);
  out.set_lit_way_count(in.lit_ways);
  out.set_unusable(sendable(in.unusable));
}

loom::DeviceReport from_wire(Check& check, const DeviceReport& in) {
  loom::DeviceReport out;
  out.device = check.device("device_id", in.device_id());
  out.name = check.text("name", in.name());
  out.kind = check.enumeration("kind", in.kind(), loom::DeviceKind::ocs);
  out.agent = check.node("agent_node_id", in.agent_node_id());
  out.drift = check.enumeration("drift", in.drift(), loom::Drift::stale);
  if (in.has_desired()) {
    const auto scope = check.in("desired");
    out.desired = from_wire(check, in.desired());
  }
  out.by_hand = in.by_hand();
  out.adopted = in.adopted();
  out.lit_ways = in.lit_way_count();
  out.unusable = check.text("unusable", in.unusable());
  const auto scope = check.in("observation");
  out.observation = from_wire(check, in.observation());
  return out;
}

void to_wire(const loom::CircuitReport& in, CircuitReport& out) {
  to_wire(in.circuit, *out.mutable_circuit());
  out.set_timeslot_number(in.timeslot);
  out.set_state(sendable(in.state));
  out.set_light(enum_to_wire<LightState>(in.light));
  out.set_age_ns(in.age.count());
  out.set_why(sendable(in.why));
}

loom::CircuitReport from_wire(Check& check, const CircuitReport& in) {
  loom::CircuitReport out;
  out.timeslot = check.timeslot("timeslot_number", in.timeslot_number());
  out.state = check.text("state", in.state());
  out.light = check.enumeration("light", in.light(), loom::LightState::dark);
  out.age = check.difference("age_ns", in.age_ns());
  out.why = check.text("why", in.why());
  const auto scope = check.in("circuit");
  out.circuit = from_wire(check, in.circuit());
  return out;
}

void to_wire(const loom::JobReport& in, JobReport& out) {
  out.set_job_id(in.job.value);
  out.set_name(sendable(in.name));
  out.set_workload(sendable(in.workload));
  out.set_state(sendable(in.state));
  out.set_reason(sendable(in.reason));
  out.set_stage_number(in.stage);
  out.set_stage_count(in.stages);
  nodes_to_wire(in.nodes, *out.mutable_node_ids());
  out.set_revision_number(in.revision.value);
  out.set_cycles_done_count(in.cycles_done);
  out.set_underflow_count(in.underflows);
  out.set_pinned(in.pinned);
  out.set_forwarded_pair_count(in.forwarded_pairs);
  out.set_hops_most_count(in.hops_most);
  out.set_waiting_circuit_count(in.waiting_circuits);
  out.set_note(sendable(in.note));
  out.set_attended(in.attended);
  out.set_quiesce_revision_number(in.quiesce.value);
  out.set_adapts(in.adapts);
  out.set_declared(sendable(in.declared));
  out.set_measured(sendable(in.measured));
  out.set_made_for(sendable(in.made_for));
  out.set_decision(sendable(in.decision));
}

loom::JobReport from_wire(Check& check, const JobReport& in) {
  loom::JobReport out;
  out.job = {in.job_id()};
  out.name = check.text("name", in.name());
  out.workload = check.text("workload", in.workload());
  out.state = check.text("state", in.state());
  out.reason = check.text("reason", in.reason());
  out.stage = in.stage_number();
  out.stages = in.stage_count();
  out.nodes = nodes_from_wire(check, "node_ids", in.node_ids());
  out.revision = {in.revision_number()};
  out.cycles_done = in.cycles_done_count();
  out.underflows = in.underflow_count();
  out.pinned = in.pinned();
  out.forwarded_pairs = in.forwarded_pair_count();
  out.hops_most = in.hops_most_count();
  out.waiting_circuits = in.waiting_circuit_count();
  out.note = check.text("note", in.note());
  out.attended = in.attended();
  out.quiesce = {in.quiesce_revision_number()};
  out.adapts = in.adapts();
  out.declared = check.text("declared", in.declared());
  out.measured = check.text("measured", in.measured());
  out.made_for = check.text("made_for", in.made_for());
  out.decision = check.text("decision", in.decision());
  return out;
}

void to_wire(const loom::CommitReport& in, CommitReport& out) {
  out.set_revision_number(in.revision.value);
  out.set_base_revision_number(in.base.value);
  out.set_outcome(enum_to_wire<CommitOutcome>(in.outcome));
  out.set_reason(sendable(in.reason));
  out.set_agent_count(in.agents);
  out.set_circuit_count(in.circuits);
  out.set_touched_count(in.touched);
  out.set_switches_moved_count(in.switches_moved);
  out.set_started_at_ns(ns_of(in.started));
  out.set_plan_ns(in.plan.count());
  out.set_prepare_ns(in.prepare.count());
  out.set_arm_ns(in.arm.count());
  out.set_wait_ns(in.wait.count());
  out.set_darken_ns(in.darken.count());
  out.set_move_ns(in.move.count());
  out.set_relight_ns(in.relight.count());
  out.set_total_ns(in.total.count());
  to_wire(in.prepare_ack, *out.mutable_prepare_ack());
  to_wire(in.arm_ack, *out.mutable_arm_ack());
  to_wire(in.slack, *out.mutable_slack());
  to_wire(in.lateness, *out.mutable_lateness());
  to_wire(in.dark, *out.mutable_dark());
  out.set_resent_count(in.resent);
  to_wire(in.certificate, *out.mutable_certificate());
  out.set_started_wall_ns(ns_of(in.started_wall));
  out.set_ordered_by(sendable(in.ordered_by));
}

static loom::Spread spread(Check& check, const char* field, bool is_present, const Spread& in) {
  check.present(field, is_present);
  const auto scope = check.in(field);
  return from_wire(check, in);
}

loom::CommitReport from_wire(Check& check, const CommitReport& in) {
  loom::CommitReport out;
  out.revision = {in.revision_number()};
  out.base = {in.base_revision_number()};
  out.outcome = check.enumeration("outcome", in.outcome(), loom::CommitOutcome::refused);
  out.reason = check.text("reason", in.reason());
  out.agents = in.agent_count();
  out.circuits = in.circuit_count();
  out.touched = in.touched_count();
  out.switches_moved = in.switches_moved_count();
  out.started = check.instant("started_at_ns", in.started_at_ns());
  out.plan = check.difference("plan_ns", in.plan_ns());
  out.prepare = check.difference("prepare_ns", in.prepare_ns());
  out.arm = check.difference("arm_ns", in.arm_ns());
  out.wait = check.difference("wait_ns", in.wait_ns());
  out.darken = check.difference("darken_ns", in.darken_ns());
  out.move = check.difference("move_ns", in.move_ns());
  out.relight = check.difference("relight_ns", in.relight_ns());
  out.total = check.difference("total_ns", in.total_ns());
  out.prepare_ack = spread(check, "prepare_ack", in.has_prepare_ack(), in.prepare_ack());
  out.arm_ack = spread(check, "arm_ack", in.has_arm_ack(), in.arm_ack());
  out.slack = spread(check, "slack", in.has_slack(), in.slack());
  out.lateness = spread(check, "lateness", in.has_lateness(), in.lateness());
  out.dark = spread(check, "dark", in.has_dark(), in.dark());
  out.resent = in.resent_count();
  out.certificate = from_wire(check, in.certificate());
  out.started_wall = check.wall_time("started_wall_ns", in.started_wall_ns());
  out.ordered_by = check.text("ordered_by", in.ordered_by());
  return out;
}

}  // namespace loom::wire
