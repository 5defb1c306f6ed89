// SPDX-License-Identifier: Apache-2.0
// The table of a row and its message name the same fields: one that was added to the message alone would never be sent.
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "core/messages/report_fields.hpp"
#include "core/messages/request_fields.hpp"
#include "proto/lightloom.pb.h"
#include "proto/report.pb.h"

using namespace loom;

namespace {

template <class Row>
void compare(const google::protobuf::Descriptor& message) {
  INFO(message.full_name());
  std::multiset<std::string> in_table;
  for_each_field<Row>([&](const auto& field) { in_table.insert(field.wire); });
  std::multiset<std::string> in_message;
  for (int i = 0; i < message.field_count(); ++i) {
    in_message.insert(message.field(i)->name());
  }
  CHECK(in_table == in_message);
}

template <class Row>
void keys_are_unique() {
  std::multiset<std::string> keys;
  for_each_field<Row>([&](const auto& field) {
    if (std::string(field.json) != kNotShown && std::string(field.json) != kSpread) {
      keys.insert(field.json);
    }
  });
  for (const std::string& key : keys) {
    INFO(key);
    CHECK(keys.count(key) == 1);
  }
}

/// The message of a row is called as the row is.
template <class... Rows>
void compare_all(std::type_identity<std::tuple<Rows...>>, const std::vector<std::string>& names) {
  REQUIRE(names.size() == sizeof...(Rows));
  const auto& pool = *wire::OperatorReply::descriptor()->file()->pool();
  std::size_t next = 0;
  const auto see = [&]<class Row>(std::type_identity<Row>) {
    const auto* message = pool.FindMessageTypeByName("loom.wire." + names[next++]);
    REQUIRE(message != nullptr);
    compare<Row>(*message);
    keys_are_unique<Row>();
  };
  (see(std::type_identity<Rows>{}), ...);
}

/// Of an alternative of ReplyRows.
template <class Row>
std::string reply_field(std::type_identity<Row>) {
  return RowFields<Row>::kReply;
}
template <class Row>
std::string reply_field(std::type_identity<std::vector<Row>>) {
  return RowFields<Row>::kList.wire;
}
template <class... Rows>
std::multiset<std::string> reply_fields(std::type_identity<OneOf<std::monostate, Rows...>>) {
  return {reply_field(std::type_identity<Rows>{})...};
}

}  // namespace

TEST_CASE("the table of a row and its message name the same fields, and every key once") {
  compare_all(
      std::type_identity<
          std::tuple<Spread, DriftCounts, Alarm, StatusReport, NodeReport, DeviceReport, CircuitReport, JobReport, CommitReport,
                     StandingAlarm, AuditRecord, JobMove, CircuitChange, ChangeReport, HopReport, CircuitExplanation,
                     SchedulePart, CalibrationAge, CalibrationReport, RingReport, ReceiverReport, WayReport>>{},
      {"Spread",
       "DriftCounts",
       "Alarm",
       "StatusReport",
       "NodeReport",
       "DeviceReport",
       "CircuitReport",
       "JobReport",
       "CommitReport",
       "StandingAlarm",
       "AuditRecord",
       "JobMove",
       "CircuitChange",
       "ChangeReport",
       "HopReport",
       "CircuitExplanation",
       "SchedulePart",
       "CalibrationAge",
       "CalibrationReport",
       "RingReport",
       "ReceiverReport",
       "WayReport"});
}

TEST_CASE("the table of a request and its message name the same fields") {
  compare_all(
      std::type_identity<std::tuple<Query, SubmitJob, CancelJob, ChangeJob, ResizeJob, AdaptJob, AttendJob, LasersRequest,
                                    NodeRequest, HeaterByHand, DeviceRequest, ResetRequest, AcknowledgeAlarm, ScheduledCircuit,
                                    ApplySchedule, ConfirmSchedule, RollBackSchedule, ProbeLight, Calibrate>>{},
      {"Query", "SubmitJob", "CancelJob", "ChangeJob", "ResizeJob", "AdaptJob", "AttendJob", "LasersRequest", "NodeRequest",
       "HeaterByHand", "DeviceRequest", "ResetRequest", "AcknowledgeAlarm", "ScheduledCircuit", "ApplySchedule",
       "ConfirmSchedule", "RollBackSchedule", "ProbeLight", "Calibrate"});
}

TEST_CASE("every kind of rows has a field of its own in a reply") {
  const auto& rows = *wire::OperatorReply::descriptor()->FindOneofByName("rows");
  std::multiset<std::string> in_message;
  for (int i = 0; i < rows.field_count(); ++i) {
    in_message.insert(rows.field(i)->name());
  }
  CHECK(reply_fields(std::type_identity<ReplyRows>{}) == in_message);
}
