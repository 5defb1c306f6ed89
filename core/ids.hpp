// SPDX-License-Identifier: Apache-2.0
// Identities: one strong integer type for each kind of thing that has a number, so that a node never passes for a device.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace loom {

template <class Tag, class Representation = std::uint32_t>
struct Id {
  using representation = Representation;
  Representation value{};
  auto operator<=>(const Id&) const = default;
};

/// A node as its system means it (SiP-ML: a GPU; TopoOpt: a 4-GPU server). Dense from 0 within a fabric.
using NodeId = Id<struct NodeTag>;
/// A passive or active optical element; dense from 0 within a fabric.
using ElementId = Id<struct ElementTag>;
/// Something with a driver on an agent; dense from 0 within a fabric.
using DeviceId = Id<struct DeviceTag>;
/// One bus with one lane (serial line, Modbus gateway); dense from 0 within a fabric.
using BusId = Id<struct BusTag>;
using FibreId = Id<struct FibreTag>;
/// A training run with resources of its own; given by the controller, never reused.
using JobId = Id<struct JobTag, std::uint64_t>;
/// A circuit, unique within a controller's incarnation: equal id means untouched light.
using CircuitId = Id<struct CircuitTag, std::uint64_t>;
/// One numbered version of the plan; 0 is "nothing was ever applied".
using Revision = Id<struct RevisionTag, std::uint64_t>;
/// Fencing term of a controller: commands of an older term are refused.
using Term = Id<struct TermTag, std::uint64_t>;
/// Which clock an instant was read from (hash of the boot id for CLOCK_MONOTONIC; 1 is TAI; 2 is virtual time).
using ClockId = Id<struct ClockTag, std::uint64_t>;
using TransactionId = Id<struct TransactionTag, std::uint64_t>;
using TimerId = Id<struct TimerTag, std::uint64_t>;
using RequestId = Id<struct RequestTag, std::uint64_t>;
/// An alarm that stands at the controller; given when it is first raised, never reused in one incarnation.
using AlarmId = Id<struct AlarmTag, std::uint64_t>;

inline constexpr ClockId kTaiClock{1};
inline constexpr ClockId kVirtualClock{2};

}  // namespace loom

template <class Tag, class Representation>
struct std::hash<loom::Id<Tag, Representation>> {
  std::size_t operator()(const loom::Id<Tag, Representation>& id) const noexcept {
    return std::hash<Representation>{}(id.value);
  }
};
