// SPDX-License-Identifier: Apache-2.0
// Values as JSON: an answer is one object with `api_version`; keys are snake_case, numbers are numbers, durations say their
// unit in the key. A row becomes an object by its table (core/messages/report_fields.hpp); what a table cannot say stands here
// by hand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/render/answer.hpp"
#include "core/messages/report_fields.hpp"

namespace loom::cli {

// Values without a table.
Json json_of(const CertificateReport& certificate);
Json json_of(const Setpoint& setpoint);
Json json_of(const RefusalCounts& counts);
Json json_of(const Probe& light);
/// Its nodes in the order of travel, both ends included.
Json json_of(const ForwardedPair& pair);
/// Of a duration: a count of the unit that the key ends with. Null in ms: it was never measured.
Json json_of(Duration duration, std::string_view key);

// What a value consists of, among the keys of the row that holds it (kSpread).
void spread(Json& row, const Circuit& circuit);
void spread(Json& row, const Observation& observation);
void spread(Json& row, const JobSchedule& schedule);
void spread(Json& row, const DeviceCalibration& bank);  // cli/calibrate/calibration.cpp
/// What other hands wrote is printed so that no terminal obeys it.
void spread(Json& row, const Outcome& outcome);

// What some rows say in other words than their fields'.
void complete(Json& row, const StatusReport& status);
void complete(Json& row, const StandingAlarm& alarm);
void complete(Json& row, const AuditRecord& record);
template <class Row>
void complete(Json&, const Row&) {}

template <DescribedRow Row>
void add_fields(Json& object, const Row& row);

template <class Value>
Json value_json(const Value& value, std::string_view key) {
  if constexpr (requires { value.has_value(); }) {
    return value.has_value() ? value_json(*value, key) : Json(nullptr);
  } else if constexpr (DescribedRow<Value>) {
    Json object = Json::object();
    add_fields(object, value);
    return object;
  } else if constexpr (std::is_same_v<Value, Duration>) {
    return json_of(value, key);
  } else if constexpr (std::is_same_v<Value, Instant>) {
    return ns_of(value);
  } else if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, WallTime>) {
    return std::string(to_string(value));
  } else if constexpr (requires { value.mhz; }) {
    return static_cast<double>(value.mhz) / (key.ends_with("_thz") ? 1e6 : 1e3);
  } else if constexpr (requires { value.centi; }) {
    return value.centi / 100.0;
  } else if constexpr (requires { value.value; }) {
    return value.value;
  } else if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>) {
    return value;
  } else {
    return json_of(value);
  }
}
template <class Element>
Json value_json(const std::vector<Element>& values, std::string_view key) {
  Json list = Json::array();
  for (const Element& value : values) {
    list.push_back(value_json(value, key));
  }
  return list;
}

template <DescribedRow Row>
void add_fields(Json& object, const Row& row) {
  for_each_field<Row>([&](const auto& field) {
    using Value = typename std::decay_t<decltype(field)>::value_type;
    const std::string_view key = field.json;
    const Value& value = row.*field.member;
    if constexpr (requires { spread(object, value); }) {
      spread(object, value);
    } else if constexpr (DescribedRow<Value>) {
      key == kSpread ? add_fields(object, value) : void(object[std::string(key)] = value_json(value, key));
    } else if (key != kNotShown) {
      const bool is_none = field.zero_none && value == Value{};
      object[std::string(key)] = is_none ? Json(nullptr) : value_json(value, key);
    }
  });
  complete(object, row);
}

/// {"api_version": ..., "nodes": [row, ...]}
template <ListedRow Row>
Json json_of(const std::vector<Row>& rows) {
  Json object = answer();
  object[RowFields<Row>::kList.json] = value_json(rows, {});
  return object;
}

/// A row that is an answer by itself.
template <DescribedRow Row>
  requires requires { RowFields<Row>::kReply; }
Json json_of(const Row& row) {
  Json object = answer();
  add_fields(object, row);
  return object;
}

}  // namespace loom::cli
