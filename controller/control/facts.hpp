// SPDX-License-Identifier: Apache-2.0
// ControllerFacts: what every part may read and only the Controller sets (AgentMessages the term that an agent has seen): the
// fabric, the timings, under which term and clock it speaks, and the time of the event in hand. It decides nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/fabric/fabric.hpp"
#include "core/step.hpp"
#include "core/timings.hpp"

namespace loom {

/// What every envelope of the controller carries.
struct EnvelopeHeader {
  Term term;
  ClockId clock;

  Send to_agent(NodeId node, Revision revision, Body body) const;
};

struct ControllerFacts {
  std::shared_ptr<const Fabric> fabric;
  std::string algorithm;
  ControllerTimings timings;
  EnvelopeHeader header{};
  Instant now{};         ///< of the event in hand
  bool started = false;  ///< the journal has been read
  Instant started_at{};
  std::uint64_t fabric_digest = 0;       ///< of the fabric: agents with another one are turned away
  std::optional<Error> clock_problem{};  ///< why this host's clock may time no commit; none: it may
  std::uint64_t keyring_digest = 0;      ///< of the keys that are let in; 0: nobody has said
  Duration wall_offset{};                ///< wall-clock time minus the clock's, for people's eyes

  WallTime wall(Instant instant) const { return wall_time(instant, wall_offset); }
};

}  // namespace loom
