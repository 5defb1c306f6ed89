// SPDX-License-Identifier: Apache-2.0
// The rows of replies, field by field, once: where a field lies in the row, what it is called on the wire and what in JSON. The
// codec, `--json` and the tables of plain lists are made of these lines; whoever adds a field to a row adds its line here and
// in proto/report.proto. Only names and places: what a value looks like follows from its type.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "core/audit.hpp"
#include "core/limits.hpp"
#include "core/messages/operator.hpp"
#include "core/messages/report.hpp"

namespace loom {

/// `member` of a row.
template <class Row, class Value>
struct RowField {
  using value_type = Value;
  Value Row::* member;
  const char* wire;        ///< field of the row's message; its type says the rest: an int64 may not be negative, a sint64 may
  const char* json;        ///< key; of a Duration its unit is the key's end (_ns, _ms); see also kNotShown and kSpread
  std::size_t most = 0;    ///< elements of a repeated field, or the end of a number's range; 0: as its type says
  bool zero_none = false;  ///< of a number that begins with 1: 0 is null
};

/// Instead of a JSON key: for programs of ours only, or shown by hand together with others (cli/render/row_json.hpp).
inline constexpr const char* kNotShown = "";
/// Instead of a JSON key: what the value consists of stands among the row's own keys.
inline constexpr const char* kSpread = "*";

template <class Row, class Value>
constexpr RowField<Row, Value> field(Value Row::* member, const char* wire, const char* json) {
  return {member, wire, json};
}
template <class Row, class Value>
constexpr RowField<Row, Value> field(Value Row::* member, const char* wire) {
  return {member, wire, wire};
}
template <class Row, class Value>
constexpr RowField<Row, Value> limited(RowField<Row, Value> field, std::size_t most) {
  field.most = most;
  return field;
}
template <class Row, class Value>
constexpr RowField<Row, Value> zero_is_none(RowField<Row, Value> field) {
  field.zero_none = true;
  return field;
}

template <class... Fields>
constexpr auto held(Fields... fields) {
  return [=](auto&& take) { return take(fields...); };
}

/// The fields of a row in order; called with what takes all of them at once. Not a std::tuple, whose constructors cost each
/// file that includes the tables seconds of compiling.
template <class... Fields>
class FieldTable {
 public:
  constexpr explicit FieldTable(Fields... fields) : held_(held(fields...)) {}
  template <class Take>
  constexpr auto operator()(Take&& take) const {
    return held_(take);
  }

 private:
  decltype(held(std::declval<Fields>()...)) held_;
};

/// Specialised for each row; `kFields` is a FieldTable. A row that is listed has a `kList` (ListName), one that is an
/// answer by itself a `kReply`: its field of OperatorReply.
template <class Row>
struct RowFields;

template <class Row>
concept DescribedRow = requires { RowFields<Row>::kFields; };

template <class Row, class Visit>
constexpr void for_each_field(Visit visit) {
  RowFields<Row>::kFields([&](const auto&... fields) { (visit(fields), ...); });
}

/// Of a kind of row that can be listed.
struct ListName {
  Noun noun;
  const char* wire;      ///< in the oneof of OperatorReply
  const char* json;      ///< the array's key
  const char* singular;  ///< as in `loom node show`; two words: a verb of another noun
  const char* plural;
};

template <class Row>
concept ListedRow = DescribedRow<Row> && requires { RowFields<Row>::kList; };

template <>
struct RowFields<IterationLedger> {
  static constexpr auto kFields =
      FieldTable{field(&IterationLedger::light, "light_ns"), field(&IterationLedger::compute, "compute_ns"),
                 field(&IterationLedger::waited, "waited_ns"), field(&IterationLedger::dark, "dark_ns"),
                 field(&IterationLedger::lead, "lead_ns")};
};

template <>
struct RowFields<Spread> {
  static constexpr auto kFields =
      FieldTable{field(&Spread::min, "min_ns"), field(&Spread::p50, "p50_ns"), field(&Spread::p99, "p99_ns"),
                 field(&Spread::max, "max_ns"), field(&Spread::count, "sample_count", "count")};
};

template <>
struct RowFields<DriftCounts> {
  static constexpr auto kFields = FieldTable{
      field(&DriftCounts::missing, "missing_count", "missing"), field(&DriftCounts::foreign, "foreign_count", "foreign"),
      field(&DriftCounts::detuned, "detuned_count", "detuned"), field(&DriftCounts::dim, "dim_count", "dim"),
      field(&DriftCounts::stale, "stale_count", "stale")};
};

template <>
struct RowFields<Alarm> {
  static constexpr auto kFields = FieldTable{field(&Alarm::code, "code"),
                                             field(&Alarm::node, "node_id", "node"),
                                             field(&Alarm::device, "device_id", "device"),
                                             field(&Alarm::evidence, "evidence"),
                                             field(&Alarm::next_command, "next_command"),
                                             field(&Alarm::revision, "revision_number", "revision")};
};

template <>
struct RowFields<StatusReport> {
  static constexpr const char* kReply = "status";
  static constexpr auto kFields =
      FieldTable{field(&StatusReport::term, "term_number", "term"),
                 field(&StatusReport::revision, "revision_number", "revision"),
                 field(&StatusReport::fabric, "fabric"),
                 field(&StatusReport::nodes, "node_count", "nodes"),
                 field(&StatusReport::live, "live_count", kNotShown),
                 field(&StatusReport::suspect, "suspect_count", kNotShown),
                 field(&StatusReport::dead, "dead_count", kNotShown),
                 field(&StatusReport::jobs, "job_count", "jobs"),
                 field(&StatusReport::circuits, "circuit_count", "circuits"),
                 field(&StatusReport::lasers_off, "lasers_off"),
                 field(&StatusReport::drift, "drift"),
                 field(&StatusReport::stage, "stage"),
                 field(&StatusReport::under_way, "under_way_revision_number", "under_way"),
                 field(&StatusReport::stage_done, "stage_done_count", "stage_done"),
                 field(&StatusReport::stage_total, "stage_total_count", "stage_total"),
                 field(&StatusReport::malformed, "malformed_count", "malformed_messages"),
                 field(&StatusReport::alarms, "alarm_count", "alarms"),
                 field(&StatusReport::awaiting_confirm, "awaiting_confirm_revision_number", "awaiting_confirm"),
                 field(&StatusReport::confirm_left, "confirm_left_ns"),
                 field(&StatusReport::certificate, "certificate"),
                 field(&StatusReport::refusals, "refusals"),
                 field(&StatusReport::keyring_digest, "keyring_digest", kNotShown)};
};

template <>
struct RowFields<NodeReport> {
  static constexpr ListName kList{Noun::nodes, "nodes", "nodes", "node", "nodes"};
  static constexpr auto kFields = FieldTable{field(&NodeReport::node, "node_id", "node"),
                                             field(&NodeReport::name, "name"),
                                             field(&NodeReport::session, "session"),
                                             field(&NodeReport::applied, "applied_revision_number", "applied"),
                                             field(&NodeReport::silence, "silence_ns"),
                                             field(&NodeReport::lasers_latched_off, "lasers_latched_off"),
                                             field(&NodeReport::devices, "device_count", "devices"),
                                             field(&NodeReport::drained, "drained"),
                                             field(&NodeReport::maintenance, "maintenance"),
                                             field(&NodeReport::jobs, "job_ids", "jobs"),
                                             field(&NodeReport::dark_because, "dark_because"),
                                             field(&NodeReport::turned_away, "turned_away")};
};

template <>
struct RowFields<CalibrationAge> {
  static constexpr auto kFields =
      FieldTable{field(&CalibrationAge::version, "version_number", "version"), field(&CalibrationAge::age, "age_ns", "age_s"),
                 field(&CalibrationAge::residual, "residual_mhz", "residual_ghz")};
};

template <>
struct RowFields<DeviceReport> {
  static constexpr ListName kList{Noun::devices, "devices", "devices", "device", "devices"};
  static constexpr auto kFields = FieldTable{field(&DeviceReport::device, "device_id", "device"),
                                             field(&DeviceReport::name, "name"),
                                             field(&DeviceReport::role, "role"),
                                             field(&DeviceReport::model, "model"),
                                             field(&DeviceReport::agent, "agent_node_id", "node"),
                                             field(&DeviceReport::observation, "observation", kSpread),
                                             field(&DeviceReport::drift, "drift"),
                                             field(&DeviceReport::desired, "desired"),
                                             field(&DeviceReport::by_hand, "by_hand"),
                                             field(&DeviceReport::adopted, "adopted"),
                                             field(&DeviceReport::lit_ways, "lit_way_count", "lit_ways"),
                                             field(&DeviceReport::unusable, "unusable"),
                                             field(&DeviceReport::calibration, "calibration"),
                                             field(&DeviceReport::received, "received_centi_dbm", "received_dbm")};
};

template <>
struct RowFields<CalibrationReport> {
  static constexpr ListName kList{Noun::calibrations, "calibrations", "calibrations", "calibration", "calibrations"};
  static constexpr auto kFields =
      FieldTable{field(&CalibrationReport::calibration, "calibration", kSpread), field(&CalibrationReport::name, "name"),
                 field(&CalibrationReport::age, "age_ns", "age_s"), field(&CalibrationReport::in_force, "in_force")};
};

template <>
struct RowFields<RingReport> {
  static constexpr ListName kList{Noun::rings, "rings", "rings", "ring", "rings"};
  static constexpr auto kFields =
      FieldTable{field(&RingReport::ring, "ring_element_id", "ring"),
                 field(&RingReport::name, "name"),
                 field(&RingReport::bank, "bank_device_id", "device"),
                 limited(field(&RingReport::channel, "channel_number", "channel"), limits::kRingsPerBank),
                 limited(field(&RingReport::channels, "channel_count", "channels"), limits::kRingsPerBank + 1),
                 field(&RingReport::fwhm, "fwhm_mhz", "fwhm_ghz"),
                 field(&RingReport::free_spectral_range, "free_spectral_range_mhz", "free_spectral_range_ghz"),
                 field(&RingReport::cold_resonance, "cold_resonance_mhz", "cold_resonance_thz"),
                 field(&RingReport::shift, "shift_khz_per_square_volt"),
                 field(&RingReport::millivolts_max, "heater_millivolts_max"),
                 field(&RingReport::calibrated, "calibrated", "by_maker"),
                 field(&RingReport::receiver, "receiver_element_id", "receiver"),
                 field(&RingReport::monitor, "monitor_device_id", "monitor"),
                 limited(field(&RingReport::lights, "lights", kNotShown), limits::kProbes),
                 field(&RingReport::warmer_millikelvin, "warmer_millikelvin", "warmer_mk"),
                 field(&RingReport::cooler_millikelvin, "cooler_millikelvin", "cooler_mk"),
                 field(&RingReport::lock, "lock"),
                 field(&RingReport::trim, "trim_mhz", "trim_ghz")};
};

template <>
struct RowFields<WayReport> {
  static constexpr ListName kList{Noun::ways, "ways", "ways", "way", "ways of light to receivers that are measured"};
  static constexpr auto kFields = FieldTable{field(&WayReport::receiver, "receiver_element_id", "receiver"),
                                             field(&WayReport::name, "name"),
                                             field(&WayReport::monitor, "monitor_device_id", "monitor"),
                                             limited(field(&WayReport::lights, "lights", "lights"), limits::kProbes),
                                             field(&WayReport::expected, "expected_centi_dbm", "expected_dbm"),
                                             field(&WayReport::wavemeter, "wavemeter_device_id", "wavemeter"),
                                             field(&WayReport::measured, "measured_mhz", "measured_thz")};
};

template <>
struct RowFields<ReceiverReport> {
  static constexpr ListName kList{Noun::receivers, "receivers", "receivers", "receiver", "receivers"};
  static constexpr auto kFields = FieldTable{field(&ReceiverReport::receiver, "receiver_element_id", "receiver"),
                                             field(&ReceiverReport::name, "name"),
                                             field(&ReceiverReport::monitor, "monitor_device_id", "monitor"),
                                             field(&ReceiverReport::power, "power_centi_dbm", "power_dbm"),
                                             field(&ReceiverReport::age, "age_ns", "age_s"),
                                             field(&ReceiverReport::since_commit, "since_commit")};
};

template <>
struct RowFields<CircuitReport> {
  static constexpr ListName kList{Noun::circuits, "circuits", "circuits", "circuit", "circuits"};
  static constexpr auto kFields =
      FieldTable{field(&CircuitReport::circuit, "circuit", kSpread),
                 limited(field(&CircuitReport::timeslot, "timeslot_number", "timeslot"), limits::kTimelineEntries),
                 field(&CircuitReport::light, "light"),
                 field(&CircuitReport::state, "state", "oper_state"),
                 field(&CircuitReport::age, "age_ns", "age_ms"),
                 field(&CircuitReport::why, "why"),
                 field(&CircuitReport::proof, "proof")};
};

template <>
struct RowFields<JobReport> {
  static constexpr ListName kList{Noun::jobs, "jobs", "jobs", "job", "jobs"};
  static constexpr auto kFields = FieldTable{field(&JobReport::job, "job_id", "job"),
                                             field(&JobReport::name, "name"),
                                             field(&JobReport::workload, "workload"),
                                             field(&JobReport::state, "state"),
                                             field(&JobReport::reason, "reason", "why"),
                                             field(&JobReport::stage, "stage_number", "stage"),
                                             field(&JobReport::stages, "stage_count", "stages"),
                                             field(&JobReport::nodes, "node_ids", "nodes"),
                                             field(&JobReport::revision, "revision_number", "revision"),
                                             field(&JobReport::cycles_done, "cycles_done_count", kNotShown),
                                             field(&JobReport::underflows, "underflow_count", "underflows"),
                                             field(&JobReport::iterations, "iteration_count", "iterations"),
                                             field(&JobReport::replayed, "replayed_count", "replayed"),
                                             field(&JobReport::iteration_p50, "iteration_p50_ns"),
                                             field(&JobReport::iteration_p99, "iteration_p99_ns"),
                                             field(&JobReport::iteration_predicted, "iteration_predicted_ns"),
                                             field(&JobReport::ledger, "ledger"),
                                             field(&JobReport::slowest, "slowest"),
                                             field(&JobReport::awaited, "awaited"),
                                             field(&JobReport::pinned, "pinned"),
                                             field(&JobReport::forwarded_pairs, "forwarded_pair_count", "forwarded_pairs"),
                                             field(&JobReport::hops_most, "hops_most_count", "hops_most"),
                                             field(&JobReport::waiting_circuits, "waiting_circuit_count", "waiting_circuits"),
                                             field(&JobReport::note, "note", "schedule"),
                                             field(&JobReport::attended, "attended"),
                                             field(&JobReport::quiesce, "quiesce_revision_number", "quiesce"),
                                             field(&JobReport::adapts, "adapts"),
                                             field(&JobReport::declared, "declared"),
                                             field(&JobReport::measured, "measured"),
                                             field(&JobReport::made_for, "made_for"),
                                             field(&JobReport::decision, "decision")};
};

template <>
struct RowFields<CommitReport> {
  static constexpr ListName kList{Noun::history, "commits", "revisions", "schedule history", "revisions"};
  static constexpr auto kFields = FieldTable{field(&CommitReport::revision, "revision_number", "revision"),
                                             field(&CommitReport::base, "base_revision_number", "base"),
                                             field(&CommitReport::outcome, "outcome"),
                                             field(&CommitReport::reason, "reason"),
                                             field(&CommitReport::ordered_by, "ordered_by"),
                                             field(&CommitReport::started_wall, "started_wall_ns", "started"),
                                             field(&CommitReport::started, "started_at_ns", "started_ns"),
                                             field(&CommitReport::agents, "agent_count", "agents"),
                                             field(&CommitReport::circuits, "circuit_count", "circuits"),
                                             field(&CommitReport::touched, "touched_count", "touched"),
                                             field(&CommitReport::switches_moved, "switches_moved_count", "switches_moved"),
                                             field(&CommitReport::plan, "plan_ns"),
                                             field(&CommitReport::prepare, "prepare_ns"),
                                             field(&CommitReport::arm, "arm_ns"),
                                             field(&CommitReport::wait, "wait_ns"),
                                             field(&CommitReport::darken, "darken_ns"),
                                             field(&CommitReport::move, "move_ns"),
                                             field(&CommitReport::relight, "relight_ns"),
                                             field(&CommitReport::total, "total_ns"),
                                             field(&CommitReport::prepare_ack, "prepare_ack"),
                                             field(&CommitReport::arm_ack, "arm_ack"),
                                             field(&CommitReport::slack, "slack"),
                                             field(&CommitReport::lateness, "lateness"),
                                             field(&CommitReport::dark, "dark"),
                                             field(&CommitReport::resent, "resent_count", "resent"),
                                             field(&CommitReport::slowest, "slowest"),
                                             field(&CommitReport::slowest_time, "slowest_ns"),
                                             field(&CommitReport::dark_predicted, "dark_predicted_ns"),
                                             field(&CommitReport::certificate, "certificate")};
};

template <>
struct RowFields<StandingAlarm> {
  static constexpr ListName kList{Noun::alarms, "alarms", "alarms", "alarm", "alarms"};
  static constexpr auto kFields = FieldTable{field(&StandingAlarm::id, "alarm_id", "id"),
                                             field(&StandingAlarm::alarm, "alarm", kSpread),
                                             field(&StandingAlarm::count, "raised_count", "count"),
                                             field(&StandingAlarm::first_seen_wall, "first_seen_wall_ns", "first_seen"),
                                             field(&StandingAlarm::last_seen_wall, "last_seen_wall_ns", "last_seen"),
                                             field(&StandingAlarm::first_seen, "first_seen_at_ns", "first_seen_ns"),
                                             field(&StandingAlarm::last_seen, "last_seen_at_ns", "last_seen_ns"),
                                             field(&StandingAlarm::acknowledged_by, "acknowledged_by"),
                                             field(&StandingAlarm::cleared, "cleared"),
                                             limited(field(&StandingAlarm::nodes, "node_ids", "nodes"), limits::kNodesPerAlarm),
                                             field(&StandingAlarm::node_count, "node_count"),
                                             field(&StandingAlarm::from_agent, "from_agent", kNotShown)};
};

template <>
struct RowFields<SchedulePart> {
  static constexpr ListName kList{Noun::schedules, "schedules", "parts", "schedule parts", "schedules of jobs"};
  static constexpr auto kFields =
      FieldTable{field(&SchedulePart::job, "job_id", "job"),
                 limited(field(&SchedulePart::stage, "stage_number", "stage"), limits::kStagesPerJob),
                 field(&SchedulePart::part, "part", kSpread)};
};

template <>
struct RowFields<AuditRecord> {
  static constexpr ListName kList{Noun::audit, "audit", "audit", "audit", "records of the audit"};
  static constexpr auto kFields = FieldTable{field(&AuditRecord::number, "record_number", "record"),
                                             field(&AuditRecord::at, "wall_ns", "at"),
                                             field(&AuditRecord::principal, "principal"),
                                             field(&AuditRecord::role, "role"),
                                             field(&AuditRecord::request, "request_id", "request"),
                                             field(&AuditRecord::asked, "asked"),
                                             field(&AuditRecord::outcome, "outcome", kSpread),
                                             zero_is_none(field(&AuditRecord::job, "job_id", "job")),
                                             zero_is_none(field(&AuditRecord::revision, "revision_number", "revision"))};
};

template <>
struct RowFields<JobMove> {
  static constexpr auto kFields =
      FieldTable{field(&JobMove::job, "job_id", "job"), field(&JobMove::from, "from_node_id", "from"),
                 field(&JobMove::to, "to_node_id", "to")};
};

template <>
struct RowFields<CircuitChange> {
  static constexpr auto kFields =
      FieldTable{field(&CircuitChange::kind, "kind", "change"), field(&CircuitChange::circuit, "circuit", kSpread)};
};

template <>
struct RowFields<ChangeReport> {
  static constexpr const char* kReply = "change";
  static constexpr auto kFields = FieldTable{field(&ChangeReport::base, "base_revision_number", "base"),
                                             field(&ChangeReport::agents, "agent_count", "agents"),
                                             field(&ChangeReport::circuits, "circuit_count", "circuits"),
                                             field(&ChangeReport::touched, "touched_count", "touched"),
                                             field(&ChangeReport::switches_moved, "switches_moved_count", "switches_moved"),
                                             field(&ChangeReport::certificate, "certificate"),
                                             field(&ChangeReport::plan, "plan_ns"),
                                             field(&ChangeReport::slowest, "slowest"),
                                             field(&ChangeReport::slowest_time, "slowest_ns"),
                                             field(&ChangeReport::dark_predicted, "dark_predicted_ns"),
                                             limited(field(&ChangeReport::moves, "moves"), limits::kNodes),
                                             limited(field(&ChangeReport::changes, "changes"), limits::kChangesPerReport)};
};

template <>
struct RowFields<HopReport> {
  static constexpr auto kFields = FieldTable{field(&HopReport::element, "element_id", "element"),
                                             field(&HopReport::name, "name"),
                                             field(&HopReport::kind, "kind"),
                                             field(&HopReport::input, "input_port", "input"),
                                             field(&HopReport::output, "output_port", "output"),
                                             field(&HopReport::loss, "loss_centi_db", "loss_db"),
                                             field(&HopReport::power_out, "power_out_centi_dbm", "power_out_dbm"),
                                             field(&HopReport::device, "device_id", "device"),
                                             field(&HopReport::desired, "desired"),
                                             field(&HopReport::applied, "applied_revision_number", "applied"),
                                             field(&HopReport::observed, "observed"),
                                             field(&HopReport::drift, "drift"),
                                             field(&HopReport::problem, "problem")};
};

template <>
struct RowFields<CircuitExplanation> {
  static constexpr const char* kReply = "explanation";
  static constexpr auto kFields =
      FieldTable{field(&CircuitExplanation::circuit, "circuit", kSpread),
                 field(&CircuitExplanation::job_name, "job_name"),
                 field(&CircuitExplanation::revision, "revision_number", "revision"),
                 field(&CircuitExplanation::sensitivity, "sensitivity_centi_dbm", "sensitivity_dbm"),
                 limited(field(&CircuitExplanation::hops, "hops"), limits::kHopsPerPath),
                 field(&CircuitExplanation::forwarded_pairs, "forwarded_pair_count", "forwarded_pairs"),
                 limited(field(&CircuitExplanation::forwarded, "forwarded"), limits::kRoutesPerExplanation),
                 field(&CircuitExplanation::verdict, "verdict"),
                 field(&CircuitExplanation::next_command, "next_command")};
};

}  // namespace loom
