// SPDX-License-Identifier: Apache-2.0
// Check: what the decoders ask about every value that comes from outside. It keeps the first fault, with the path of the
// field, the value and the limit, and a harmless value stands in for a refused one; it never throws and never stops anybody.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/grid.hpp"
#include "core/ids.hpp"
#include "core/limits.hpp"
#include "core/result.hpp"
#include "core/text/format_text.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom::wire {

class Check {
 public:
  /// Leaves the field again at the end of its life.
  class [[nodiscard]] Scope {
   public:
    explicit Scope(Check& check) : check_(check) {}
    ~Scope() { --check_.depth_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Check& check_;
  };

  bool ok() const { return !fault_.has_value(); }
  /// Precondition: !ok().
  Error error() const { return *fault_; }

  /// Names where the next values stand. `index`: of an element of a repeated field, or -1.
  Scope in(const char* field, int index = -1);
  /// Notes a fault: "<path>.<field> = <value>: <rule>". Only the first one is kept.
  void refuse(std::string_view field, std::string_view value, std::string_view rule);

  std::int64_t between(const char* field, std::int64_t value, std::int64_t min, std::int64_t max) {
    if (value >= min && value <= max) {
      return value;
    }
    refuse_number(field, value, min, max);
    return min;
  }
  /// A repeated field may have this many elements.
  bool count(const char* field, int size, std::size_t max) {
    return between(field, size, 0, static_cast<std::int64_t>(max)) == size;
  }
  /// A sub-message that must be there.
  bool present(const char* field, bool is_present);

  NodeId node(const char* field, std::uint32_t value) { return {below<std::uint32_t>(field, value, limits::kNodes)}; }
  DeviceId device(const char* field, std::uint32_t value) { return {below<std::uint32_t>(field, value, limits::kDevices)}; }
  ElementId element(const char* field, std::uint32_t value) { return {below<std::uint32_t>(field, value, limits::kElements)}; }
  std::uint32_t timeslot(const char* field, std::uint32_t value) {
    return below<std::uint32_t>(field, value, limits::kTimelineEntries);
  }
  std::uint16_t word(const char* field, std::uint32_t value) { return below<std::uint16_t>(field, value, 0x10000); }
  /// 0 ns or later on its clock; kNever is no instant.
  Instant instant(const char* field, std::int64_t ns) { return instant_from_ns(between(field, ns, 0, limits::kInstantNs)); }
  /// After 1970; 0: not known.
  WallTime wall_time(const char* field, std::int64_t ns) {
    return WallTime{Duration{between(field, ns, 0, limits::kInstantNs)}};
  }
  /// A length of time.
  Duration duration(const char* field, std::int64_t ns) { return Duration{between(field, ns, 0, limits::kDurationNs)}; }
  /// A difference of two instants or clocks, which may be negative.
  Duration difference(const char* field, std::int64_t ns) {
    return Duration{between(field, ns, -limits::kDurationNs, limits::kDurationNs)};
  }
  Frequency frequency(const char* field, std::int64_t mhz) { return {between(field, mhz, 0, limits::kFrequencyMhz)}; }
  Dbm power(const char* field, std::int32_t centi) { return {decibels(field, centi)}; }
  Db ratio(const char* field, std::int32_t centi) { return {decibels(field, centi)}; }
  std::string text(const char* field, const std::string& value);

  /// Wire enumerations are the core's plus one: 0 is "missing". `last`: the core's greatest value.
  template <class Enum>
  Enum enumeration(const char* field, int value, Enum last) {
    return static_cast<Enum>(between(field, value, 1, static_cast<int>(last) + 1) - 1);
  }

  /// Keys of neighbouring rows must rise. `key` makes something comparable of a row.
  template <class Rows, class Key>
  void ascending(const char* field, const Rows& rows, Key key) {
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (!(key(rows[i - 1]) < key(rows[i]))) {
        refuse(field, format_text("element {}", i), "must be above the one before it");
        return;
      }
    }
  }

 private:
  struct Place {
    const char* field = nullptr;
    int index = -1;
  };

  template <class Integer>
  Integer below(const char* field, std::uint32_t value, std::size_t end) {
    return static_cast<Integer>(between(field, value, 0, static_cast<std::int64_t>(end) - 1));
  }
  std::int32_t decibels(const char* field, std::int32_t centi) {
    return static_cast<std::int32_t>(between(field, centi, -limits::kCentiDb, limits::kCentiDb));
  }
  void refuse_number(const char* field, std::int64_t value, std::int64_t min, std::int64_t max);

  std::array<Place, 16> path_{};  ///< deeper than any message nests
  std::size_t depth_ = 0;
  std::optional<Error> fault_;
};

/// Decodes the elements of a repeated message field with from_wire, unless there are more than `max`.
template <class Row, class WireRows>
std::vector<Row> rows_from_wire(Check& check, const char* field, const WireRows& in, std::size_t max) {
  std::vector<Row> rows;
  if (!check.count(field, in.size(), max)) {
    return rows;
  }
  rows.reserve(static_cast<std::size_t>(in.size()));
  for (int i = 0; i < in.size() && check.ok(); ++i) {
    const auto scope = check.in(field, i);
    rows.push_back(from_wire(check, in[i]));
  }
  return rows;
}

/// Node ids of a repeated field.
template <class WireNumbers>
std::vector<NodeId> nodes_from_wire(Check& check, const char* field, const WireNumbers& in) {
  std::vector<NodeId> nodes;
  if (check.count(field, in.size(), limits::kNodes)) {
    nodes.reserve(static_cast<std::size_t>(in.size()));
    for (const std::uint32_t value : in) {
      nodes.push_back(check.node(field, value));
    }
  }
  return nodes;
}

/// Small numbers of a repeated field, each below `end`.
template <class WireNumbers>
std::vector<std::uint32_t> numbers_from_wire(Check& check, const char* field, const WireNumbers& in, std::size_t most,
                                             std::size_t end) {
  std::vector<std::uint32_t> numbers;
  if (check.count(field, in.size(), most)) {
    numbers.reserve(static_cast<std::size_t>(in.size()));
    for (const std::uint32_t value : in) {
      numbers.push_back(static_cast<std::uint32_t>(check.between(field, value, 0, static_cast<std::int64_t>(end) - 1)));
    }
  }
  return numbers;
}

template <class WireNumbers>
void nodes_to_wire(const std::vector<NodeId>& nodes, WireNumbers& out) {
  out.Reserve(static_cast<int>(nodes.size()));
  for (const NodeId node : nodes) {
    out.Add(node.value);
  }
}

/// What may be sent of a text: at most limits::kTextBytes of well-formed UTF-8. A sentence for people must never cost a
/// message, so what is too long is cut and ill-formed bytes become '?'.
std::string sendable(std::string_view text);

/// Wire value of an enumeration: the core's plus one.
template <class WireEnum, class Enum>
constexpr WireEnum enum_to_wire(Enum value) {
  return static_cast<WireEnum>(static_cast<int>(value) + 1);
}

/// What is counted up from `least`; there is no upper end.
inline std::uint64_t at_least(Check& check, const char* field, std::uint64_t value, std::uint64_t least) {
  if (value < least) {
    check.refuse(field, std::to_string(value), format_text("must be at least {}", least));
    return least;
  }
  return value;
}

}  // namespace loom::wire
