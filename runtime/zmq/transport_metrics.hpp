// SPDX-License-Identifier: Apache-2.0
// What the transports count, as metrics (docs/metrics.md).
#pragma once

#include "core/messages/metric.hpp"
#include "runtime/zmq/agent_transport.hpp"
#include "runtime/zmq/controller_transport.hpp"
#include "runtime/zmq/peer/peer_links.hpp"

namespace loom {

void add_metrics(MetricList& list, const ControllerTransportCounters& transport);
void add_metrics(MetricList& list, const AgentTransportCounters& transport);
/// Of a relay: what comes from agents and goes to them, and what goes to the controller, apart by `side`.
void add_metrics(MetricList& list, const ControllerTransportCounters& agents, const AgentTransportCounters& controller);
void add_metrics(MetricList& list, const PeerLinks& links);

}  // namespace loom
