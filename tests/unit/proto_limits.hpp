// What the codec lets through, field by field: a range, or the reason why there is none. A number, a repeated field or a
// sub-message of the wire that is in none of these lists fails proto_limits_test, so whoever adds one has to decide.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/limits.hpp"

namespace loom::test {

/// Numbers from `min` to `max`; everything else is refused by the field's name.
struct Range {
  std::string_view field;  ///< "Message.field"
  std::int64_t min = 0;
  std::int64_t max = 0;
};

struct Exempt {
  std::string_view reason;
  std::vector<std::string_view> fields;
};

/// A repeated field may have so many elements.
struct Most {
  std::string_view field;
  std::size_t count = 0;
};

inline constexpr std::int64_t kLastNode = limits::kNodes - 1;
inline constexpr std::int64_t kLastDevice = limits::kDevices - 1;
inline constexpr std::int64_t kLastElement = limits::kElements - 1;
inline constexpr std::int64_t kLastWord = 0xffff;
inline constexpr std::int64_t kLastTimeslot = limits::kTimelineEntries - 1;
inline constexpr std::int64_t kAnyNumber = INT64_MAX;  ///< counts from 1, without a greatest one

/// By the ends of their names: whatever is called so is one, unless kRanges names it.
inline const std::vector<Range> kRangesByName{
    {"_node_id", 0, kLastNode},
    {"_node_ids", 0, kLastNode},
    {".node_id", 0, kLastNode},
    {".node_ids", 0, kLastNode},
    {"_device_id", 0, kLastDevice},
    {".device_id", 0, kLastDevice},
    {"_device_ids", 0, kLastDevice},
    {"_element_id", 0, kLastElement},
    {".element_id", 0, kLastElement},
    {"_element_ids", 0, kLastElement},
    {"_port", 0, kLastWord},
    {"_centi_db", -limits::kCentiDb, limits::kCentiDb},
    {"_centi_dbm", -limits::kCentiDb, limits::kCentiDb},
    {"_mhz", 0, limits::kFrequencyMhz},
    {"_at_ns", 0, limits::kInstantNs},
    {".timeslot_number", 0, kLastTimeslot},
};

inline const std::vector<Range> kRanges{
    {"FrequencySlot.slot_n", -limits::kSlotN, limits::kSlotN},
    {"FrequencySlot.slot_m", 1, limits::kSlotM},
    {"LaserObservation.status_fatal_bits", 0, kLastWord},
    {"LaserObservation.status_warning_bits", 0, kLastWord},
    {"HeaterObservation.ring_millivolts", -limits::kMillivolts, limits::kMillivolts},
    {"RingResonance.channel_number", 0, limits::kRingsPerBank - 1},
    {"Circuit.rate_bit_per_s", 0, limits::kBitPerSecond},
    // Traffic and jobs.
    {"CommunicatorTraffic.rank_count", 1, limits::kNodes},
    {"CommunicatorTraffic.rank_number", 0, kLastNode},  // and below rank_count
    {"CommunicatorTraffic.period_ns", 1, limits::kDurationNs},
    {"RepeatedCollective.size_bytes", 0, limits::kCollectiveBytes},
    {"RepeatedCollective.repeat_count", 1, limits::kCollectiveRepeats},
    {"Collective.size_bytes", 0, limits::kCollectiveBytes},
    {"Collective.repeat_count", 0, limits::kCollectiveRepeats},
    {"Collective.rank_numbers", 0, kLastNode},
    {"Collective.split_bytes", 0, limits::kCollectiveBytes},
    {"Collective.ready_ns", 0, limits::kDurationNs},
    {"Collective.needed_ns", 0, limits::kDurationNs},
    {"JobSpec.node_count", 0, limits::kNodes},
    {"JobSpec.compute_ns", 0, limits::kDurationNs},
    {"JobSpec.custom_map_group_numbers", 0, kLastNode},
    {"ResizeJob.node_count", 0, limits::kNodes},
    {"Job.stage_number", 0, limits::kStagesPerJob - 1},
    {"Job.plane_numbers", 0, limits::kTransmittersPerNode - 1},
    {"Job.order_numbers", 0, limits::kAwgOrders - 1},
    {"OfferedStream.stream_bytes", 1, limits::kStreamBytes},
    // Lengths of time.
    {"Prepared.lead_ns", 0, limits::kDurationNs},
    {"Armed.slack_ns", -limits::kDurationNs, limits::kDurationNs},
    {"Darkened.lateness_ns", -limits::kDurationNs, limits::kDurationNs},
    {"Settled.settle_ns", 0, limits::kDurationNs},
    {"FireReport.slack_ns", -limits::kDurationNs, limits::kDurationNs},
    {"FireReport.lateness_ns", -limits::kDurationNs, limits::kDurationNs},
    {"FireReport.settle_ns", 0, limits::kDurationNs},
    {"FireReport.dark_ns", 0, limits::kDurationNs},
    {"Welcome.heartbeat_interval_ns", 1, limits::kDurationNs},
    {"NodePlan.cycle_ns", 0, limits::kDurationNs},
    {"TimedSetpoint.offset_ns", 0, limits::kDurationNs},
    {"TimedSetpoint.guard_ns", 0, limits::kDurationNs},
    {"Timeslot.guard_ns", 0, limits::kDurationNs},
    {"ApplySchedule.confirm_within_ns", 0, limits::kDurationNs},
    {"StatusReport.confirm_left_ns", 0, limits::kDurationNs},
    {"LightMargins.dip_time_ns", 0, limits::kDurationNs},
    {"NodeReport.silence_ns", -limits::kDurationNs, limits::kDurationNs},
    {"CommitReport.plan_ns", -limits::kDurationNs, limits::kDurationNs},
    {"CommitReport.prepare_ns", -limits::kDurationNs, limits::kDurationNs},
    {"CommitReport.arm_ns", -limits::kDurationNs, limits::kDurationNs},
    {"CommitReport.wait_ns", -limits::kDurationNs, limits::kDurationNs},
    {"CommitReport.darken_ns", -limits::kDurationNs, limits::kDurationNs},
    {"CommitReport.move_ns", -limits::kDurationNs, limits::kDurationNs},
    {"CommitReport.relight_ns", -limits::kDurationNs, limits::kDurationNs},
    {"CommitReport.total_ns", -limits::kDurationNs, limits::kDurationNs},
    {"ChangeReport.plan_ns", -limits::kDurationNs, limits::kDurationNs},
    {"Spread.min_ns", -limits::kDurationNs, limits::kDurationNs},
    {"Spread.p50_ns", -limits::kDurationNs, limits::kDurationNs},
    {"Spread.p99_ns", -limits::kDurationNs, limits::kDurationNs},
    {"Spread.max_ns", -limits::kDurationNs, limits::kDurationNs},
    {"Probation.deadline_ns", 0, limits::kInstantNs},
    // Grants.
    {"GrantTimings.rate_bit_per_s", 1'000'000, limits::kBitPerSecond},
    {"GrantTimings.tune_ns", 0, limits::kGrantWindowNs},
    {"GrantTimings.lock_ns", 0, limits::kGrantWindowNs},
    {"GrantTimings.control_ns", 0, limits::kGrantWindowNs},
    {"GrantTimings.flight_ns", 0, limits::kGrantWindowNs},
    {"GrantTimings.flight_error_ns", 0, limits::kGrantWindowNs},
    {"GrantTimings.clock_error_ns", 0, limits::kGrantWindowNs},
    {"GrantTimings.blank_ns", 0, limits::kGrantWindowNs},
    {"GrantTimings.trigger_late_ns", 0, limits::kGrantWindowNs},
    {"GrantMap.quantum_ns", 1, limits::kGrantWindowNs},
    {"GrantStream.source_id", 0, kLastNode},
    {"GrantStream.destination_id", 0, kLastNode},
    {"GrantWord.sender_epoch_number", 1, kAnyNumber},
    {"GrantKey.epoch_number", 1, kAnyNumber},
    {"GrantKey.sequence_number", 1, kAnyNumber},
    {"StreamRequest.request_number", 1, kAnyNumber},
    {"StreamRequest.remaining_bytes", 1, limits::kStreamBytes},
    {"StreamRequest.since_ns", 0, limits::kInstantNs},
    {"StreamAccept.until_ns", 0, limits::kInstantNs},
    {"StreamRefusal.dark_at_ns", 0, limits::kInstantNs},
    {"StreamRefusal.free_at_ns", 0, limits::kInstantNs},
    {"StreamRelease.dark_at_ns", 0, limits::kInstantNs},
    {"StreamRelease.remaining_bytes", 0, limits::kStreamBytes},
    {"StreamQueued.request_number", 1, kAnyNumber},
    {"StreamQueued.arbiter_epoch_number", 1, kAnyNumber},
    {"StreamGrant.request_number", 1, kAnyNumber},
    {"StreamGrant.start_ns", 0, limits::kInstantNs},
    {"StreamGrant.end_ns", 1, limits::kInstantNs},
    {"StreamGrant.granted_bytes", 1, limits::kStreamBytes},
};

inline const std::vector<Exempt> kAnyValue{
    {"names something; who knows it looks it up, and whoever does not says that it does not exist",
     {"CircuitEnd.circuit_id", "CircuitEnd.job_id", "Circuit.circuit_id", "Circuit.job_id", "GrantMap.job_id",
      "GrantStream.job_id", "GrantStream.collective_number", "OfferedStream.collective_number", "JobSchedule.job_id",
      "Job.job_id", "CancelJob.job_id", "ChangeJob.job_id", "ResizeJob.job_id", "AttendJob.job_id", "ScheduledCircuit.job_id",
      "JobMove.job_id", "JobReport.job_id", "NodeReport.job_ids", "OperatorReply.job_id", "IntentCause.job_id",
      "OperatorRequest.request_id", "OperatorReply.request_id", "IntentCause.request_id", "AcknowledgeAlarm.alarm_id",
      "StandingAlarm.alarm_id", "Query.row_id", "Plan.touched_circuit_ids", "CommunicatorTraffic.communicator_id",
      "Envelope.clock_id", "Probation.clock_id", "Hello.boot_id"}},
    {"a revision: compared with those that are known, never counted up from what a message says",
     {"Envelope.revision_number", "NodePlan.revision_number", "NodePlan.base_revision_number", "Plan.revision_number",
      "Plan.base_revision_number", "GrantMap.laid_revision_number", "Heartbeat.applied_revision_number",
      "Heartbeat.confirmed_revision_number", "Hello.applied_revision_number", "Welcome.confirmed_revision_number",
      "Beat.confirmed_revision_number", "RollBackSchedule.to_revision_number", "DiffSchedule.revision_number",
      "AttendJob.quiet_for_revision_number", "OperatorReply.revision_number", "StatusReport.revision_number",
      "StatusReport.under_way_revision_number", "StatusReport.awaiting_confirm_revision_number",
      "NodeReport.applied_revision_number", "JobReport.revision_number", "JobReport.quiesce_revision_number",
      "CommitReport.revision_number", "CommitReport.base_revision_number", "ChangeReport.base_revision_number",
      "CircuitExplanation.revision_number", "HopReport.applied_revision_number", "IntentCause.revision_number",
      "Probation.revision_number", "CommitRecord.revision_number", "DeviceOverride.found_beside_revision_number"}},
    {"a term: whether it may jump so far is for the session that hears it", {"Envelope.term_number", "Hello.term_seen_number",
                                                                          "StatusReport.term_number", "TermRecord.term_number"}},
    {"a number of an order or a report: newer or not newer than the last one",
     {"SetLasers.order_number", "ResetDevice.order_number", "DeviceReset.order_number", "LatchRecord.order_number",
      "IntentRecord.laser_order_number", "TrafficReport.report_number"}},
    {"the next number to be given away, written by the controller itself and guarded by the journal's chain",
     {"IntentRecord.next_job_id", "CommitRecord.next_circuit_id"}},
    {"compared with this build's version before anything else is read",
     {"Envelope.wire_version_number", "Record.wire_version_number"}},
    {"how often a cycle is played; 0 is until the next revision", {"NodePlan.cycle_count", "Stage.cycle_count"}},
    {"cut to what there is and what one message carries", {"Query.offset_count", "Query.limit_count"}},
    {"a count that is shown and added to nothing",
     {"FireReport.write_count", "CycleDone.cycle_count", "CycleDone.underflow_count", "TrafficReport.refused_count",
      "DeviceReset.write_count", "OperatorReply.total_row_count", "OperatorReply.write_count", "Spread.sample_count",
      "StatusReport.node_count", "StatusReport.live_count", "StatusReport.suspect_count", "StatusReport.dead_count",
      "StatusReport.job_count", "StatusReport.circuit_count", "StatusReport.stage_done_count",
      "StatusReport.stage_total_count", "StatusReport.malformed_count", "StatusReport.alarm_count",
      "DriftCounts.missing_count", "DriftCounts.foreign_count", "DriftCounts.detuned_count", "DriftCounts.dim_count",
      "DriftCounts.stale_count", "LightMargins.circuit_count", "LightMargins.dipped_count", "NodeReport.device_count",
      "DeviceReport.lit_way_count", "JobReport.stage_number", "JobReport.stage_count", "JobReport.cycles_done_count",
      "JobReport.underflow_count", "JobReport.forwarded_pair_count", "JobReport.hops_most_count",
      "JobReport.waiting_circuit_count", "JobSchedule.waiting_count", "CommitReport.agent_count",
      "CommitReport.circuit_count", "CommitReport.touched_count", "CommitReport.switches_moved_count",
      "CommitReport.resent_count", "StandingAlarm.raised_count", "ChangeReport.agent_count", "ChangeReport.circuit_count",
      "ChangeReport.touched_count", "ChangeReport.switches_moved_count", "CircuitExplanation.forwarded_pair_count"}},
    {"kForever is lawful too, so it has a test of its own", {"TimedSetpoint.hold_ns", "Timeslot.hold_ns"}},
    {"below the number of rows or ranks of the same table, so it has a test of its own",
     {"JobSchedule.forwarding_row_numbers", "JobSchedule.forwarding_rank_numbers"}},
};

inline const std::vector<Most> kMost{
    {"Hello.devices", limits::kDevicesPerNode},
    {"ObservationReport.observations", limits::kObservationsPerReport},
    {"TrafficReport.communicators", limits::kCommunicatorsPerNode},
    {"CommunicatorTraffic.period", limits::kCollectivesPerPeriod},
    {"HeaterObservation.ring_millivolts", limits::kRingsPerBank},
    {"WssObservation.routes", limits::kWssRoutes},
    {"OcsObservation.connects", 0x10000},
    {"HeaterSetpoint.rings", limits::kRingsPerBank},
    {"WssSetpoint.routes", limits::kWssRoutes},
    {"OcsSetpoint.connects", 0x10000},
    {"DevicePlan.timeline", limits::kTimelineEntries},
    {"NodePlan.devices", limits::kDevicesPerNode},
    {"GrantMap.waves", limits::kTimelineEntries},
    {"GrantMap.source_node_ids", limits::kNodes},
    {"GrantMap.sends", limits::kStreamsPerSender},
    {"JobSpec.placement_node_ids", limits::kNodes},
    {"JobSpec.collectives", limits::kCollectivesPerJob},
    {"JobSpec.assumptions", limits::kTextsPerList},
    {"JobSpec.custom_map_group_numbers", limits::kNodes},
    {"Collective.rank_numbers", limits::kNodes},
    {"Collective.split_bytes", limits::kSplitsPerCollective},
    {"Job.node_ids", limits::kNodes},
    {"Job.plane_numbers", limits::kTransmittersPerNode},
    {"Job.order_numbers", limits::kAwgOrders},
    {"Job.measured", limits::kCollectivesPerJob},
    {"Stage.timeslots", limits::kTimelineEntries},
    {"Stage.streams", limits::kStreamsPerStage},
    {"HostRoute.through_node_ids", limits::kNodes},
    {"JobSchedule.stages", limits::kStagesPerJob},
    {"JobSchedule.routes", limits::kRoutesPerJob},
    {"JobSchedule.forwarding_row_numbers", limits::kNodes},
    {"JobSchedule.forwarding_rank_numbers", limits::kCircuits},
    {"Intent.jobs", limits::kJobs},
    {"Intent.drained_node_ids", limits::kNodes},
    {"Intent.maintenance_node_ids", limits::kNodes},
    {"Intent.pinned", limits::kJobs},
    {"Probation.pinned_before", limits::kJobs},
    {"Plan.nodes", limits::kNodes},
    {"Plan.changed_node_ids", limits::kNodes},
    {"Plan.touched_circuit_ids", 2 * limits::kCircuits},
    {"IsolationCertificate.shared_amplifier_element_ids", limits::kElements},
    {"CertificateReport.shared_amplifiers", limits::kElements},
    {"NodeReport.job_ids", limits::kJobs},
    {"JobReport.node_ids", limits::kNodes},
    {"ChangeReport.moves", limits::kNodes},
    {"ChangeReport.changes", limits::kChangesPerReport},
    {"CircuitExplanation.hops", limits::kHopsPerPath},
    {"CircuitExplanation.forwarded", limits::kRoutesPerExplanation},
    {"NodeReports.rows", limits::kRowsPerReply},
    {"DeviceReports.rows", limits::kRowsPerReply},
    {"CircuitReports.rows", limits::kRowsPerReply},
    {"JobReports.rows", limits::kRowsPerReply},
    {"CommitReports.rows", limits::kRowsPerReply},
    {"StandingAlarms.rows", limits::kRowsPerReply},
};

inline const std::vector<Exempt> kAnyCount{
    {"more of them than limits::kCircuits or kDevices are more bytes than one envelope may have",
     {"ApplySchedule.circuits", "ScheduledCircuits.rows"}},
    {"beyond limits::kCircuits or kDevices: gigabytes of rows that no test shall make; counted by rows_from_wire as the others are",
     {"NodePlan.ends", "Plan.circuits", "Timeslot.circuits", "Intent.overrides", "Plan.moved_switch_device_ids"}},
};

/// Sub-messages that may be absent.
inline const std::vector<Exempt> kMayBeAbsent{
    {"absent is a value: nothing went wrong, nothing was asked, nothing is known",
     {"Outcome.error", "NodePlan.grants", "OrderDevice.setpoint", "DiffSchedule.circuits", "DeviceReport.desired",
      "IntentRecord.probation", "IntentRecord.cause", "CommitRecord.plan"}},
    {"its own rules refuse an empty one",
     {"AlarmReport.alarm", "Unwelcome.error", "StandingAlarm.alarm", "TimedSetpoint.setpoint", "DeviceOverride.setpoint",
      "Circuit.slot", "WssRoute.slot", "LaserSetpoint.slot", "AllowedWave.slot", "CircuitReport.circuit", "CircuitChange.circuit",
      "CircuitExplanation.circuit", "DeviceReport.observation"}},
    {"an empty one is a certificate of nothing",
     {"IsolationCertificate.light", "CertificateReport.light", "StatusReport.certificate", "CommitReport.certificate",
      "ChangeReport.certificate"}},
    {"one of several: the one that is there is tried, and none of them is tried by proto_rules_test", {}},
};

}  // namespace loom::test
