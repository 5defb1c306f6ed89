// SPDX-License-Identifier: Apache-2.0
// EnvelopeSender: puts an agent's messages into envelopes. It stamps term, node and clock; it never decides what is sent.
#pragma once

#include <string>

#include "agents/commit/deadline.hpp"
#include "core/message.hpp"

namespace loom {

struct EnvelopeSender {
  NodeId node;
  ClockId clock;
  Term term;

  void send(StepContext context, Revision revision, Body body) const;
  /// To another agent.
  void send_to_peer(StepContext context, NodeId to, Revision revision, Body body) const;
  /// To the controller and to this host's own log.
  void warn(StepContext context, Alarm alarm) const;
};

/// `12345 us`, for sentences.
std::string in_microseconds(Duration duration);

}  // namespace loom
