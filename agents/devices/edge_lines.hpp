// SPDX-License-Identifier: Apache-2.0
// EdgeLines: the trigger lines of one agent, each of which fires devices by an edge that is asked for ahead. It knows what was
// asked and what the line answered; whether an edge came, only the devices' own readings prove. No edge is needed: what it did
// not do a word over the bus does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/commit/deadline.hpp"
#include "core/trigger/trigger_line.hpp"

namespace loom {

/// A line, as an agent needs it.
struct EdgeLine {
  std::string name;
  BusId bus;                      ///< that takes edge_order()
  std::vector<DeviceId> devices;  ///< not empty
};

/// Those of one agent. `lines`: of the whole installation (trigger_bus()).
std::vector<EdgeLine> edge_lines_of(const Fabric& fabric, const std::vector<TriggerLine>& lines, NodeId agent);

struct EdgeCounters {
  std::uint64_t asked = 0;    ///< edges
  std::uint64_t refused = 0;  ///< of them, those that their line did not take
  std::uint64_t fired = 0;    ///< devices that an edge has set
  std::uint64_t missed = 0;   ///< devices that no edge has set in time, and a word then did
};

class EdgeLines {
 public:
  explicit EdgeLines(std::vector<EdgeLine> lines);

  /// Is there a line for it?
  bool fires(DeviceId device) const { return index_of(device).has_value(); }
  /// Asks the device's line for an edge at `at`; once, however often it is called.
  void arm(StepContext context, DeviceId device, Instant at);
  /// Whatever was asked of the device's line is taken back.
  void disarm(StepContext context, DeviceId device);
  /// Has the line answered that it gives an edge at `at`?
  bool is_armed(DeviceId device, Instant at) const;
  /// False: no answer to what was asked here.
  bool replied(const BusReplied& event);
  /// Why a line did not take an edge, once; with its name.
  std::optional<std::string> take_refusal();
  /// A device was fired by an edge, or was to be.
  void count(bool fired) { ++(fired ? counters_.fired : counters_.missed); }
  const EdgeCounters& counters() const { return counters_; }

 private:
  struct Line {
    EdgeLine facts;
    Instant at = kNever;  ///< that an edge was asked for; kNever: none
    bool is_taken = false;
    TransactionId last{};  ///< the newest order, whose answer counts
  };
  std::optional<std::size_t> index_of(DeviceId device) const;
  void order(StepContext context, Line& line, DeviceId device, Instant at);

  std::vector<Line> lines_;
  std::uint64_t next_transaction_ = 1;  ///< a line has a bus of its own, so they meet no number of a device's
  std::optional<std::string> refusal_;
  EdgeCounters counters_;
};

}  // namespace loom
