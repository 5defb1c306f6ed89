// SPDX-License-Identifier: Apache-2.0
// Traffic as the nodes of a job saw it: collectives that have ended, and what repeats of them. Only ever a measure of demand:
// it comes after the fact, so nothing may wait for it and no circuit is lit because one message came.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/demand.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// One collective as one rank of its communicator saw it end.
struct TrafficRecord {
  std::uint64_t communicator = 0;  ///< the same at all of its ranks
  std::uint32_t rank = 0;          ///< within the communicator
  std::uint32_t ranks = 0;         ///< of the communicator
  std::uint64_t sequence = 0;      ///< rises with every collective of this kind of the communicator; those not told count
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes bytes{};  ///< as Collective::bytes
  Duration at{};  ///< when it was told, on a clock of the node
  bool operator==(const TrafficRecord&) const = default;
};

/// What the training processes of a node have told since the last time, in the order of their telling.
struct TrafficReported {
  std::vector<TrafficRecord> records{};
  std::uint64_t unfolded = 0;  ///< transfers between two ranks: they are traffic that no record stands for
  std::uint64_t refused = 0;   ///< lines that could not be read
  std::string fault{};         ///< of the last of them
  bool operator==(const TrafficReported&) const = default;
};

struct RepeatedCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes bytes{};
  std::uint32_t count = 1;  ///< in one period
  auto operator<=>(const RepeatedCollective&) const = default;
};

/// What one rank of a communicator does again and again.
struct CommunicatorTraffic {
  std::uint64_t communicator = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::vector<RepeatedCollective> period{};  ///< ascending, so that it does not matter where a period begins
  Duration length{};                         ///< of one period, the mean
  bool operator==(const CommunicatorTraffic&) const = default;
};

/// All that an agent knows of its node's traffic. Absolute, and said again and again: a lost one costs nothing.
struct TrafficReport {
  std::uint64_t number = 0;                          ///< rises in one incarnation of the agent: one that was overtaken is old
  std::vector<CommunicatorTraffic> communicators{};  ///< ascending
  std::string trouble{};                             ///< why nothing may be concluded from it now; empty: it may
  std::uint64_t refused = 0;                         ///< lines that could not be read, in this incarnation of the agent
  bool operator==(const TrafficReport&) const = default;
};

}  // namespace loom
