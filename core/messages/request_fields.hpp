// SPDX-License-Identifier: Apache-2.0
// What operators ask, field by field, as the rows that answer them (core/messages/report_fields.hpp): the codec of a request is
// made of its lines here. `kAsk` is the request's field of OperatorRequest. A request without a table is written by hand.
#pragma once

#include "core/limits.hpp"
#include "core/messages/operator.hpp"
#include "core/messages/report_fields.hpp"

namespace loom {

template <>
struct RowFields<Query> {
  static constexpr const char* kAsk = "query";
  static constexpr auto kFields = FieldTable{field(&Query::noun, "noun"), field(&Query::id, "row_id"),
                                             field(&Query::offset, "offset_count"), field(&Query::limit, "limit_count")};
};

template <>
struct RowFields<SubmitJob> {
  static constexpr const char* kAsk = "submit_job";
  static constexpr auto kFields = FieldTable{field(&SubmitJob::spec, "spec"), field(&SubmitJob::dry_run, "dry_run")};
};

template <>
struct RowFields<CancelJob> {
  static constexpr const char* kAsk = "cancel_job";
  static constexpr auto kFields = FieldTable{field(&CancelJob::job, "job_id"), field(&CancelJob::dry_run, "dry_run")};
};

template <>
struct RowFields<ChangeJob> {
  static constexpr const char* kAsk = "change_job";
  static constexpr auto kFields =
      FieldTable{field(&ChangeJob::job, "job_id"), field(&ChangeJob::spec, "spec"), field(&ChangeJob::dry_run, "dry_run")};
};

template <>
struct RowFields<ResizeJob> {
  static constexpr const char* kAsk = "resize_job";
  static constexpr auto kFields =
      FieldTable{field(&ResizeJob::job, "job_id"), limited(field(&ResizeJob::nodes, "node_count"), limits::kNodes + 1),
                 field(&ResizeJob::dry_run, "dry_run")};
};

template <>
struct RowFields<AdaptJob> {
  static constexpr const char* kAsk = "adapt_job";
  static constexpr auto kFields = FieldTable{field(&AdaptJob::job, "job_id"), field(&AdaptJob::on, "on")};
};

template <>
struct RowFields<AttendJob> {
  static constexpr const char* kAsk = "attend_job";
  static constexpr auto kFields =
      FieldTable{field(&AttendJob::job, "job_id"), field(&AttendJob::quiet_for, "quiet_for_revision_number")};
};

template <>
struct RowFields<LasersRequest> {
  static constexpr const char* kAsk = "lasers_request";
  static constexpr auto kFields = FieldTable{field(&LasersRequest::on, "on")};
};

template <>
struct RowFields<NodeRequest> {
  static constexpr const char* kAsk = "node_request";
  static constexpr auto kFields = FieldTable{field(&NodeRequest::node, "node_id"), field(&NodeRequest::order, "order"),
                                             field(&NodeRequest::force, "force"), field(&NodeRequest::dry_run, "dry_run")};
};

template <>
struct RowFields<HeaterByHand> {
  static constexpr auto kFields =
      FieldTable{limited(field(&HeaterByHand::channel, "channel_number"), limits::kRingsPerBank),
                 limited(field(&HeaterByHand::millivolts, "heater_millivolts"), limits::kMillivolts)};
};

template <>
struct RowFields<DeviceRequest> {
  static constexpr const char* kAsk = "device_request";
  static constexpr auto kFields = FieldTable{
      field(&DeviceRequest::device, "device_id"), field(&DeviceRequest::setpoint, "setpoint"),
      field(&DeviceRequest::dry_run, "dry_run"), limited(field(&DeviceRequest::heaters, "heaters"), limits::kRingsPerBank)};
};

template <>
struct RowFields<ResetRequest> {
  static constexpr const char* kAsk = "reset_request";
  static constexpr auto kFields = FieldTable{field(&ResetRequest::device, "device_id")};
};

template <>
struct RowFields<ProbeLight> {
  static constexpr const char* kAsk = "probe_light";
  static constexpr auto kFields = FieldTable{limited(field(&ProbeLight::probes, "probes"), limits::kProbes),
                                             limited(field(&ProbeLight::drives, "drives"), limits::kProbes)};
};

template <>
struct RowFields<Calibrate> {
  static constexpr const char* kAsk = "calibrate";
  static constexpr auto kFields =
      FieldTable{limited(field(&Calibrate::banks, "banks"), limits::kProbes), field(&Calibrate::dry_run, "dry_run"),
                 limited(field(&Calibrate::channels, "channels"), limits::kMeasuredChannels)};
};

template <>
struct RowFields<AcknowledgeAlarm> {
  static constexpr const char* kAsk = "acknowledge_alarm";
  static constexpr auto kFields = FieldTable{field(&AcknowledgeAlarm::alarm, "alarm_id")};
};

template <>
struct RowFields<ScheduledCircuit> {
  static constexpr auto kFields =
      FieldTable{field(&ScheduledCircuit::job, "job_id"),
                 field(&ScheduledCircuit::source, "source_node_id"),
                 field(&ScheduledCircuit::destination, "destination_node_id"),
                 field(&ScheduledCircuit::slot, "slot"),
                 limited(field(&ScheduledCircuit::timeslot, "timeslot_number"), limits::kTimelineEntries),
                 field(&ScheduledCircuit::transmitter, "transmitter_element_id"),
                 field(&ScheduledCircuit::receiver, "receiver_element_id")};
};

template <>
struct RowFields<ApplySchedule> {
  static constexpr const char* kAsk = "apply_schedule";
  static constexpr auto kFields =
      FieldTable{field(&ApplySchedule::mode, "mode"), limited(field(&ApplySchedule::circuits, "circuits"), limits::kCircuits),
                 field(&ApplySchedule::confirm_within, "confirm_within_ns"), field(&ApplySchedule::dry_run, "dry_run")};
};

template <>
struct RowFields<ConfirmSchedule> {
  static constexpr const char* kAsk = "confirm_schedule";
  static constexpr auto kFields = FieldTable{};
};

template <>
struct RowFields<RollBackSchedule> {
  static constexpr const char* kAsk = "roll_back_schedule";
  static constexpr auto kFields =
      FieldTable{field(&RollBackSchedule::to, "to_revision_number"), field(&RollBackSchedule::dry_run, "dry_run")};
};

/// By hand: no circuits and an empty list of them are two things.
template <>
struct RowFields<DiffSchedule> {
  static constexpr const char* kAsk = "diff_schedule";
};

}  // namespace loom
