// SPDX-License-Identifier: Apache-2.0
// Circuit: a lightpath that is active in a timeslot of a schedule and owned by a job.
#pragma once

#include "core/fabric/grid.hpp"
#include "core/ids.hpp"
#include "core/units.hpp"

namespace loom {

struct Circuit {
  CircuitId id;
  JobId job;
  NodeId source;
  NodeId destination;
  ElementId transmitter;
  ElementId receiver;
  FrequencySlot slot;
  BitRate rate;
  bool operator==(const Circuit&) const = default;
};

}  // namespace loom
