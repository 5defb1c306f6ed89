// SPDX-License-Identifier: Apache-2.0
// to_wire and from_wire for every message that is shared between files of this room. to_wire fills an empty message that the
// caller's arena owns; from_wire asks Check about everything that it reads. Outside proto/ nobody sees these.
#pragma once

#include "core/alarm.hpp"
#include "core/audit.hpp"
#include "core/circuit.hpp"
#include "core/demand.hpp"
#include "core/journal/journal.hpp"
#include "core/message.hpp"
#include "core/messages/report.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "proto/check.hpp"
#include "proto/grant.pb.h"
#include "proto/journal.pb.h"
#include "proto/lightloom.pb.h"
#include "proto/report.pb.h"
#include "proto/values.pb.h"

namespace loom::wire {

// wire_plan.cpp
void to_wire(const loom::FrequencySlot& in, FrequencySlot& out);
loom::FrequencySlot from_wire(Check& check, const FrequencySlot& in);
void to_wire(const loom::Circuit& in, Circuit& out);
loom::Circuit from_wire(Check& check, const Circuit& in);
void to_wire(const loom::WssRoute& in, WssRoute& out);
loom::WssRoute from_wire(Check& check, const WssRoute& in);
void to_wire(const loom::CrossConnect& in, CrossConnect& out);
loom::CrossConnect from_wire(Check& check, const CrossConnect& in);
void to_wire(const loom::Setpoint& in, Setpoint& out);
loom::Setpoint from_wire(Check& check, const Setpoint& in);
void to_wire(const loom::OfferedStream& in, OfferedStream& out);
loom::OfferedStream from_wire(Check& check, const OfferedStream& in);
void to_wire(const loom::NodePlan& in, NodePlan& out);
loom::NodePlan from_wire(Check& check, const NodePlan& in);
void to_wire(const loom::Plan& in, Plan& out);
loom::Plan from_wire(Check& check, const Plan& in);
void to_wire(const loom::PlanChange& in, PlanChange& out);
loom::PlanChange from_wire(Check& check, const PlanChange& in);  ///< without its revision, which is its record's

// wire_demand.cpp
void to_wire(const loom::JobSpec& in, JobSpec& out);
loom::JobSpec from_wire(Check& check, const JobSpec& in);
void to_wire(const loom::JobSchedule& in, JobSchedule& out);
loom::JobSchedule from_wire(Check& check, const JobSchedule& in);
void to_wire(const loom::DeviceCalibration& in, DeviceCalibration& out);
loom::DeviceCalibration from_wire(Check& check, const DeviceCalibration& in);
void to_wire(const loom::Probe& in, Probe& out);
loom::Probe from_wire(Check& check, const Probe& in);
void to_wire(const loom::MeasuredChannel& in, MeasuredChannel& out);
loom::MeasuredChannel from_wire(Check& check, const MeasuredChannel& in);
void to_wire(const loom::RingDrive& in, RingDrive& out);
loom::RingDrive from_wire(Check& check, const RingDrive& in);
void to_wire(const loom::Intent& in, Intent& out);
loom::Intent from_wire(Check& check, const Intent& in);

// wire_forwarding.cpp
void to_wire(const loom::ForwardedPair& in, ForwardedPair& out);
loom::ForwardedPair from_wire(Check& check, const ForwardedPair& in);
void to_wire(const loom::ForwardingTable& in, ForwardingTable& out);
loom::ForwardingTable from_wire(Check& check, const ForwardingTable& in);
/// Schedules of a journal, those included that say in an earlier form who forwards: the nodes of the ranks are those of `jobs`.
std::vector<loom::JobSchedule> pins_from_wire(Check& check, const char* field,
                                              const google::protobuf::RepeatedPtrField<JobSchedule>& in,
                                              const std::vector<loom::Job>& jobs);

// wire_observation.cpp
void to_wire(const loom::Observation& in, Observation& out);
loom::Observation from_wire(Check& check, const Observation& in);

// wire_report.cpp
void to_wire(const loom::Error& in, Error& out);
loom::Error from_wire(Check& check, const Error& in);
void to_wire(const loom::Outcome& in, Outcome& out);
loom::Outcome from_wire(Check& check, const Outcome& in);
void to_wire(const loom::Alarm& in, Alarm& out);
loom::Alarm from_wire(Check& check, const Alarm& in);
void to_wire(const loom::FireReport& in, FireReport& out);
loom::FireReport from_wire(Check& check, const FireReport& in);
void to_wire(const loom::AuditRecord& in, AuditRecord& out);
loom::AuditRecord from_wire(Check& check, const AuditRecord& in);
void to_wire(const loom::RefusalCounts& in, RefusalCounts& out);
loom::RefusalCounts from_wire(Check& check, const RefusalCounts& in);

// wire_certificate.cpp
void to_wire(const loom::IsolationCertificate& in, IsolationCertificate& out);
loom::IsolationCertificate from_wire(Check& check, const IsolationCertificate& in);
void to_wire(const loom::CertificateReport& in, CertificateReport& out);
loom::CertificateReport from_wire(Check& check, const CertificateReport& in);

// wire_operator.cpp
void to_wire(const loom::DiffSchedule& in, DiffSchedule& out);
loom::DiffSchedule from_wire(Check& check, const DiffSchedule& in);
void to_wire(const loom::OperatorRequest& in, OperatorRequest& out);
loom::OperatorRequest from_wire(Check& check, const OperatorRequest& in);
void to_wire(const loom::OperatorReply& in, OperatorReply& out);
loom::OperatorReply from_wire(Check& check, const OperatorReply& in);

// wire_grant.cpp
void to_wire(const loom::GrantPlaneMessage& in, GrantPlaneMessage& out);
loom::GrantPlaneMessage from_wire(Check& check, const GrantPlaneMessage& in);
/// The stream's end that says such words.
NodeId speaker_of(const loom::GrantMessage& message);

// wire_journal.cpp
void to_wire(const loom::Record& in, Record& out);
loom::Record from_wire(Check& check, const Record& in);

// wire_message.cpp
void to_wire(const loom::Envelope& in, Envelope& out);
loom::Envelope from_wire(Check& check, const Envelope& in);

/// Encodes every row into a repeated message field.
template <class Rows, class WireRows>
void rows_to_wire(const Rows& rows, WireRows& out) {
  out.Reserve(static_cast<int>(rows.size()));
  for (const auto& row : rows) {
    to_wire(row, *out.Add());
  }
}

}  // namespace loom::wire
