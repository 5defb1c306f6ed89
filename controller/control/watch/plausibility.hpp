// SPDX-License-Identifier: Apache-2.0
// Plausibility: what an agent may say at all. It speaks for its own node and devices, and for numbers and instants that an
// honest agent can come to say; everything that a controller remembers, adds to or compares is judged here, before any part
// sees it (ADR 24). Pure: it believes nothing and remembers nothing.
#pragma once

#include <optional>
#include <string>

#include "controller/control/facts.hpp"
#include "core/message.hpp"
#include "core/messages/report.hpp"

namespace loom {

/// Why a message is not followed.
struct Refusal {
  RefusalKind kind = RefusalKind::malformed;
  std::string what;  ///< one sentence: who said what of whom, value and limit
};

/// `next_revision`: the one that the controller gives next. Observations within a report are judged one by one.
std::optional<Refusal> judge(const ControllerFacts& facts, Revision next_revision, NodeId node, const Envelope& envelope);
std::optional<Refusal> judge(const ControllerFacts& facts, NodeId node, const Observation& observation);

}  // namespace loom
