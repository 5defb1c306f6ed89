// SPDX-License-Identifier: Apache-2.0
// Rows of replies, and requests, to and from their messages, by the tables of core/messages/report_fields.hpp and
// core/messages/request_fields.hpp. Which message a row becomes is its caller's choice; the table names the message's fields
// and their types say which values may come in: an int64 of nanoseconds is a length of time, a sint64 a difference that may be
// negative, an enumeration ends where the message's does. A field that a table names and the message has not is a bug that the
// first row of that kind shows (LOOM_ASSERT).
//
// Through protobuf's reflection, for what people ask; agents' messages, which have deadlines, are written out by hand.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/messages/report_fields.hpp"
#include "core/messages/request_fields.hpp"
#include "core/result.hpp"
#include "proto/check.hpp"
#include "proto/convert.hpp"

namespace loom::wire {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// The message of a value that is written by hand and can stand in a row.
template <class Value>
struct MessageOf;
template <>
struct MessageOf<loom::Observation> : std::type_identity<Observation> {};
template <>
struct MessageOf<loom::Setpoint> : std::type_identity<Setpoint> {};
template <>
struct MessageOf<loom::Circuit> : std::type_identity<Circuit> {};
template <>
struct MessageOf<loom::Outcome> : std::type_identity<Outcome> {};
template <>
struct MessageOf<loom::CertificateReport> : std::type_identity<CertificateReport> {};
template <>
struct MessageOf<loom::ForwardedPair> : std::type_identity<ForwardedPair> {};
template <>
struct MessageOf<loom::JobSchedule> : std::type_identity<JobSchedule> {};
template <>
struct MessageOf<loom::FrequencySlot> : std::type_identity<FrequencySlot> {};
template <>
struct MessageOf<loom::JobSpec> : std::type_identity<JobSpec> {};
template <>
struct MessageOf<loom::DiffSchedule> : std::type_identity<DiffSchedule> {};
template <>
struct MessageOf<loom::DeviceCalibration> : std::type_identity<DeviceCalibration> {};
template <>
struct MessageOf<loom::Probe> : std::type_identity<Probe> {};
template <>
struct MessageOf<loom::MeasuredChannel> : std::type_identity<MeasuredChannel> {};
template <>
struct MessageOf<loom::RingDrive> : std::type_identity<RingDrive> {};
template <>
struct MessageOf<loom::RefusalCounts> : std::type_identity<RefusalCounts> {};

template <class Value>
concept ByHand = requires { typename MessageOf<Value>::type; };
template <class Value>
concept IsMessage = ByHand<Value> || DescribedRow<Value>;

template <class Value>
inline constexpr bool kIsVector = false;
template <class Element>
inline constexpr bool kIsVector<std::vector<Element>> = true;
template <class Value>
inline constexpr bool kIsOptional = false;
template <class Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;
template <class Value>
inline constexpr bool kIsId = false;
template <class Tag, class Representation>
inline constexpr bool kIsId<Id<Tag, Representation>> = true;

/// The fields of `message` in the order of the row's table; looked up once.
template <DescribedRow Row>
const auto& fields_on_wire(const Descriptor& message) {
  static const auto kFound = RowFields<Row>::kFields([&](const auto&... fields) {
    [[maybe_unused]] const auto find = [&](const char* name) {
      const FieldDescriptor* found = message.FindFieldByName(name);
      LOOM_ASSERT(found != nullptr);
      return found;
    };
    return std::array<const FieldDescriptor*, sizeof...(fields)>{find(fields.wire)...};
  });
  return kFound;
}

template <DescribedRow Row>
void row_to_wire(const Row& in, Message& out);
template <DescribedRow Row>
Row row_from_wire(Check& check, const Message& in);

template <IsMessage Value>
void part_to_wire(const Value& in, Message& out) {
  if constexpr (DescribedRow<Value>) {
    row_to_wire(in, out);
  } else {
    to_wire(in, static_cast<typename MessageOf<Value>::type&>(out));
  }
}
template <IsMessage Value>
Value part_from_wire(Check& check, const Message& in) {
  if constexpr (DescribedRow<Value>) {
    return row_from_wire<Value>(check, in);
  } else {
    return from_wire(check, static_cast<const typename MessageOf<Value>::type&>(in));
  }
}

/// One field of one message.
struct WireField {
  Message& message;
  const Reflection& via;
  const FieldDescriptor* field;
};

template <class Value>
void write_value(const WireField& to, const Value& value) {
  const auto& [message, via, field] = to;
  if constexpr (kIsVector<Value>) {
    for (const auto& element : value) {
      if constexpr (IsMessage<typename Value::value_type>) {
        part_to_wire(element, *via.AddMessage(&message, field));
      } else if constexpr (sizeof(element.value) == sizeof(std::uint32_t)) {
        via.AddUInt32(&message, field, element.value);
      } else {
        via.AddUInt64(&message, field, element.value);
      }
    }
  } else if constexpr (kIsOptional<Value>) {
    if (value) {
      write_value(to, *value);
    }
  } else if constexpr (IsMessage<Value>) {
    part_to_wire(value, *via.MutableMessage(&message, field));
  } else if constexpr (kIsId<Value>) {
    write_value(to, value.value);
  } else if constexpr (std::is_same_v<Value, bool>) {
    via.SetBool(&message, field, value);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    via.SetString(&message, field, sendable(value));
  } else if constexpr (std::is_enum_v<Value>) {
    via.SetEnumValue(&message, field, static_cast<int>(value) + 1);
  } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
    via.SetUInt64(&message, field, value);
  } else if constexpr (std::is_unsigned_v<Value>) {
    via.SetUInt32(&message, field, value);
  } else if constexpr (std::is_same_v<Value, Duration>) {
    via.SetInt64(&message, field, value.count());
  } else if constexpr (std::is_same_v<Value, Instant> || std::is_same_v<Value, WallTime>) {
    via.SetInt64(&message, field, ns_of(value));
  } else if constexpr (std::is_same_v<Value, FrequencyOffset> || std::is_same_v<Value, Frequency>) {
    via.SetInt64(&message, field, value.mhz);
  } else {
    via.SetInt32(&message, field, value.centi);
  }
}

/// Where a value comes from and how far it may go; `most` as in RowField.
struct WireSource {
  Check& check;
  const Message& message;
  const Reflection& via;
  const FieldDescriptor* field;
  std::size_t most;

  const char* name() const { return field->name().c_str(); }
};

template <class Value>
Value read_id(const WireSource& from, decltype(Value::value) number) {
  if constexpr (std::is_same_v<Value, NodeId>) {
    return from.check.node(from.name(), number);
  } else if constexpr (std::is_same_v<Value, DeviceId>) {
    return from.check.device(from.name(), number);
  } else if constexpr (std::is_same_v<Value, ElementId>) {
    return from.check.element(from.name(), number);
  } else {
    return {number};  // given by a controller, and as wide as it is
  }
}

template <class Value>
Value read_number(const WireSource& from, std::uint64_t number) {
  constexpr auto kLast = static_cast<std::int64_t>(std::numeric_limits<Value>::max());
  const bool is_free = sizeof(Value) == sizeof(std::uint64_t) && from.most == 0;
  const std::int64_t last = from.most == 0 ? kLast : static_cast<std::int64_t>(from.most) - 1;
  return is_free ? static_cast<Value>(number)
                 : static_cast<Value>(from.check.between(from.name(), static_cast<std::int64_t>(number), 0, last));
}

template <class Element>
std::vector<Element> read_vector(const WireSource& from) {
  const auto& [check, message, via, field, most] = from;
  constexpr std::size_t kMostIds = std::is_same_v<Element, NodeId> ? limits::kNodes : limits::kJobs;
  const int size = via.FieldSize(message, field);
  std::vector<Element> elements;
  if (!check.count(from.name(), size, most == 0 ? kMostIds : most)) {
    return elements;
  }
  elements.reserve(static_cast<std::size_t>(size));
  for (int i = 0; i < size && check.ok(); ++i) {
    if constexpr (IsMessage<Element>) {
      const auto scope = check.in(from.name(), i);
      elements.push_back(part_from_wire<Element>(check, via.GetRepeatedMessage(message, field, i)));
    } else if constexpr (sizeof(Element) == sizeof(std::uint32_t)) {
      elements.push_back(read_id<Element>(from, via.GetRepeatedUInt32(message, field, i)));
    } else {
      elements.push_back(read_id<Element>(from, via.GetRepeatedUInt64(message, field, i)));
    }
  }
  return elements;
}

/// A time of any kind: the type says since when, the field's whether it may be negative.
template <class Value>
Value read_time(const WireSource& from) {
  const std::int64_t ns = from.via.GetInt64(from.message, from.field);
  if constexpr (std::is_same_v<Value, Instant>) {
    return from.check.instant(from.name(), ns);
  } else if constexpr (std::is_same_v<Value, WallTime>) {
    return from.check.wall_time(from.name(), ns);
  } else {
    const bool may_be_negative = from.field->type() == FieldDescriptor::TYPE_SINT64;
    return may_be_negative ? from.check.difference(from.name(), ns) : from.check.duration(from.name(), ns);
  }
}

template <class Value>
Value read_enumeration(const WireSource& from) {
  const auto& words = *from.field->enum_type();
  const int last = words.value(words.value_count() - 1)->number();
  return from.check.enumeration(from.name(), from.via.GetEnumValue(from.message, from.field), static_cast<Value>(last - 1));
}

template <class Value>
Value read_value(const WireSource& from) {
  const auto& [check, message, via, field, most] = from;
  if constexpr (kIsVector<Value>) {
    return read_vector<typename Value::value_type>(from);
  } else if constexpr (kIsOptional<Value>) {
    return via.HasField(message, field) ? Value(read_value<typename Value::value_type>(from)) : std::nullopt;
  } else if constexpr (IsMessage<Value>) {
    if (!check.present(from.name(), via.HasField(message, field))) {
      return {};
    }
    const auto scope = check.in(from.name());
    return part_from_wire<Value>(check, via.GetMessage(message, field));
  } else if constexpr (kIsId<Value>) {
    if constexpr (sizeof(Value) == sizeof(std::uint32_t)) {
      return read_id<Value>(from, via.GetUInt32(message, field));
    } else {
      return read_id<Value>(from, via.GetUInt64(message, field));
    }
  } else if constexpr (std::is_same_v<Value, bool>) {
    return via.GetBool(message, field);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    std::string ignored;
    return check.text(from.name(), via.GetStringReference(message, field, &ignored));
  } else if constexpr (std::is_enum_v<Value>) {
    return read_enumeration<Value>(from);
  } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
    return read_number<Value>(from, via.GetUInt64(message, field));
  } else if constexpr (std::is_unsigned_v<Value>) {
    return read_number<Value>(from, via.GetUInt32(message, field));
  } else if constexpr (std::is_same_v<Value, Dbm>) {
    return check.power(from.name(), via.GetInt32(message, field));
  } else if constexpr (std::is_same_v<Value, Db>) {
    return check.ratio(from.name(), via.GetInt32(message, field));
  } else if constexpr (std::is_same_v<Value, Frequency>) {
    return check.frequency(from.name(), via.GetInt64(message, field));
  } else if constexpr (std::is_same_v<Value, FrequencyOffset>) {
    const std::int64_t least = field->type() == FieldDescriptor::TYPE_SINT64 ? -limits::kFrequencyMhz : 0;
    return {check.between(from.name(), via.GetInt64(message, field), least, limits::kFrequencyMhz)};
  } else {
    return read_time<Value>(from);
  }
}

template <DescribedRow Row>
void row_to_wire(const Row& in, Message& out) {
  const Reflection& via = *out.GetReflection();
  const FieldDescriptor* const* next = fields_on_wire<Row>(*out.GetDescriptor()).data();
  for_each_field<Row>([&](const auto& field) { write_value(WireField{out, via, *next++}, in.*field.member); });
}

template <DescribedRow Row>
Row row_from_wire(Check& check, const Message& in) {
  Row out;
  const Reflection& via = *in.GetReflection();
  const FieldDescriptor* const* next = fields_on_wire<Row>(*in.GetDescriptor()).data();
  for_each_field<Row>([&](const auto& field) {
    using Value = typename std::decay_t<decltype(field)>::value_type;
    out.*field.member = read_value<Value>(WireSource{check, in, via, *next++, field.most});
  });
  return out;
}

}  // namespace loom::wire
