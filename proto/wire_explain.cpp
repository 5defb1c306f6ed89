// Standing alarms, changes and explanations on the wire.
#include "proto/convert.hpp"

namespace loom::wire {

static_assert(static_cast<int>(CircuitChangeKind_MAX) == static_cast<int>(loom::CircuitChangeKind::moved) + 1);

void to_wire(const loom::StandingAlarm& in, StandingAlarm& out) {
  out.set_alarm_id(in.id.value);
  to_wire(in.alarm, *out.mutable_alarm());
  out.set_first_seen_at_ns(ns_of(in.first_seen));
  out.set_last_seen_at_ns(ns_of(in.last_seen));
  out.set_raised_count(in.count);
  out.set_acknowledged_by(sendable(in.acknowledged_by));
  out.set_cleared(in.cleared);
  nodes_to_wire(in.nodes, *out.mutable_node_ids());
  out.set_node_count(in.node_count);
  out.set_from_agent(in.from_agent);
  out.set_first_seen_wall_ns(ns_of(in.first_seen_wall));
  out.set_last_seen_wall_ns(ns_of(in.last_seen_wall));
}

loom::StandingAlarm from_wire(Check& check, const StandingAlarm& in) {
  loom::StandingAlarm out;
  out.id = {in.alarm_id()};
  out.first_seen = check.instant("first_seen_at_ns", in.first_seen_at_ns());
  out.last_seen = check.instant("last_seen_at_ns", in.last_seen_at_ns());
  out.count = in.raised_count();
  out.acknowledged_by = check.text("acknowledged_by", in.acknowledged_by());
  out.cleared = in.cleared();
  if (check.count("node_ids", in.node_ids_size(), limits::kNodesPerAlarm)) {
    out.nodes = nodes_from_wire(check, "node_ids", in.node_ids());
  }
  out.node_count = in.node_count();
  out.from_agent = in.from_agent();
  out.first_seen_wall = check.wall_time("first_seen_wall_ns", in.first_seen_wall_ns());
  out.last_seen_wall = check.wall_time("last_seen_wall_ns", in.last_seen_wall_ns());
  const auto scope = check.in("alarm");
  out.alarm = from_wire(check, in.alarm());
  return out;
}

static void to_wire(const loom::JobMove& in, JobMove& out) {
  out.set_job_id(in.job.value);
  out.set_from_node_id(in.from.value);
  out.set_to_node_id(in.to.value);
}

static loom::JobMove from_wire(Check& check, const JobMove& in) {
  return {{in.job_id()}, check.node("from_node_id", in.from_node_id()), check.node("to_node_id", in.to_node_id())};
}

static void to_wire(const loom::CircuitChange& in, CircuitChange& out) {
  out.set_kind(enum_to_wire<CircuitChangeKind>(in.kind));
  to_wire(in.circuit, *out.mutable_circuit());
}

static loom::CircuitChange from_wire(Check& check, const CircuitChange& in) {
  const auto kind = check.enumeration("kind", in.kind(), loom::CircuitChangeKind::moved);
  const auto scope = check.in("circuit");
  return {kind, from_wire(check, in.circuit())};
}

void to_wire(const loom::ChangeReport& in, ChangeReport& out) {
  out.set_base_revision_number(in.base.value);
  out.set_agent_count(in.agents);
  out.set_circuit_count(in.circuits);
  out.set_touched_count(in.touched);
  out.set_switches_moved_count(in.switches_moved);
  out.set_plan_ns(in.plan.count());
  rows_to_wire(in.moves, *out.mutable_moves());
  rows_to_wire(in.changes, *out.mutable_changes());
  to_wire(in.certificate, *out.mutable_certificate());
}

loom::ChangeReport from_wire(Check& check, const ChangeReport& in) {
  loom::ChangeReport out;
  out.base = {in.base_revision_number()};
  out.agents = in.agent_count();
  out.circuits = in.circuit_count();
  out.touched = in.touched_count();
  out.switches_moved = in.switches_moved_count();
  out.plan = check.difference("plan_ns", in.plan_ns());
  out.moves = rows_from_wire<loom::JobMove>(check, "moves", in.moves(), limits::kNodes);
  out.changes = rows_from_wire<loom::CircuitChange>(check, "changes", in.changes(), limits::kChangesPerReport);
  out.certificate = from_wire(check, in.certificate());
  return out;
}

static void to_wire(const loom::HopReport& in, HopReport& out) {
  out.set_element_id(in.element.value);
  out.set_name(sendable(in.name));
  out.set_kind(sendable(in.kind));
  out.set_input_port(in.input);
  out.set_output_port(in.output);
  out.set_loss_centi_db(in.loss.centi);
  out.set_power_out_centi_dbm(in.power_out.centi);
  if (in.device) {
    out.set_device_id(in.device->value);
  }
  out.set_desired(sendable(in.desired));
  out.set_applied_revision_number(in.applied.value);
  out.set_observed(sendable(in.observed));
  out.set_drift(enum_to_wire<Drift>(in.drift));
  out.set_problem(sendable(in.problem));
}

static loom::HopReport from_wire(Check& check, const HopReport& in) {
  loom::HopReport out;
  out.element = check.element("element_id", in.element_id());
  out.name = check.text("name", in.name());
  out.kind = check.text("kind", in.kind());
  out.input = check.word("input_port", in.input_port());
  out.output = check.word("output_port", in.output_port());
  out.loss = check.ratio("loss_centi_db", in.loss_centi_db());
  out.power_out = check.power("power_out_centi_dbm", in.power_out_centi_dbm());
  if (in.has_device_id()) {
    out.device = check.device("device_id", in.device_id());
  }
  out.desired = check.text("desired", in.desired());
  out.applied = {in.applied_revision_number()};
  out.observed = check.text("observed", in.observed());
  out.drift = check.enumeration("drift", in.drift(), loom::Drift::stale);
  out.problem = check.text("problem", in.problem());
  return out;
}

void to_wire(const loom::CircuitExplanation& in, CircuitExplanation& out) {
  to_wire(in.circuit, *out.mutable_circuit());
  out.set_revision_number(in.revision.value);
  out.set_job_name(sendable(in.job_name));
  out.set_sensitivity_centi_dbm(in.sensitivity.centi);
  rows_to_wire(in.hops, *out.mutable_hops());
  out.set_verdict(sendable(in.verdict));
  out.set_next_command(sendable(in.next_command));
  rows_to_wire(in.forwarded, *out.mutable_forwarded());
  out.set_forwarded_pair_count(in.forwarded_pairs);
}

loom::CircuitExplanation from_wire(Check& check, const CircuitExplanation& in) {
  loom::CircuitExplanation out;
  out.revision = {in.revision_number()};
  out.job_name = check.text("job_name", in.job_name());
  out.sensitivity = check.power("sensitivity_centi_dbm", in.sensitivity_centi_dbm());
  out.hops = rows_from_wire<loom::HopReport>(check, "hops", in.hops(), limits::kHopsPerPath);
  out.verdict = check.text("verdict", in.verdict());
  out.next_command = check.text("next_command", in.next_command());
  out.forwarded = rows_from_wire<loom::HostRoute>(check, "forwarded", in.forwarded(), limits::kRoutesPerExplanation);
  out.forwarded_pairs = in.forwarded_pair_count();
  const auto scope = check.in("circuit");
  out.circuit = from_wire(check, in.circuit());
  return out;
}

}  // namespace loom::wire
