// SPDX-License-Identifier: Apache-2.0
// Names and meanings of the transports' metrics.
#include "runtime/zmq/transport_metrics.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace loom {
namespace {

/// Frames and envelopes of a connection to or from the controller.
struct Traffic {
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t envelopes_in = 0;
  std::uint64_t envelopes_out = 0;
};

/// `side`: of a relay's two; empty: there is one.
void add_traffic(MetricList& list, const Traffic& traffic, const char* side = "") {
  const auto add = [&](const char* name, const char* help, std::uint64_t count, const char* direction) {
    *side == 0 ? list.counter(name, help, count, {{"direction", direction}})
               : list.counter(name, help, count, {{"direction", direction}, {"side", side}});
  };
  constexpr const char* kFrames = "lightloom_transport_frames_total";
  constexpr const char* kFramesHelp = "ZeroMQ frames between controller, agents and operators.";
  add(kFrames, kFramesHelp, traffic.frames_in, "received");
  add(kFrames, kFramesHelp, traffic.frames_out, "sent");
  constexpr const char* kEnvelopes = "lightloom_transport_envelopes_total";
  constexpr const char* kEnvelopesHelp = "Messages in those frames.";
  add(kEnvelopes, kEnvelopesHelp, traffic.envelopes_in, "received");
  add(kEnvelopes, kEnvelopesHelp, traffic.envelopes_out, "sent");
}

void add_dropped(MetricList& list, const char* cause, std::uint64_t count, const char* side = "") {
  constexpr const char* kDropped = "lightloom_transport_dropped_total";
  constexpr const char* kDroppedHelp = "Frames and messages that the transport dropped, by why.";
  *side == 0 ? list.counter(kDropped, kDroppedHelp, count, {{"cause", cause}})
             : list.counter(kDropped, kDroppedHelp, count, {{"cause", cause}, {"side", side}});
}

void add(MetricList& list, const ControllerTransportCounters& transport, const char* side) {
  add_traffic(list, {transport.frames_in, transport.frames_out, transport.envelopes_in, transport.envelopes_out}, side);
  add_dropped(list, "malformed", transport.malformed, side);
  add_dropped(list, "unauthorised", transport.unauthorised, side);
  add_dropped(list, "conflict", transport.conflicts, side);
  add_dropped(list, "over_quota", transport.over_quota, side);
  add_dropped(list, "no_connection", transport.dropped, side);
}

void add(MetricList& list, const AgentTransportCounters& transport, const char* side) {
  add_traffic(list, {transport.frames_in, transport.frames_out, transport.envelopes_in, transport.envelopes_out}, side);
  add_dropped(list, "malformed", transport.malformed, side);
  add_dropped(list, "over_quota", transport.over_quota, side);
  add_dropped(list, "other_node", transport.strangers, side);
  add_dropped(list, "no_connection", transport.dropped, side);
}

void add_dropped_by_link(MetricList& list, const char* cause, std::uint64_t count) {
  list.counter("lightloom_peer_links_dropped_total", "Messages that links between agents dropped, by why.", count,
               {{"cause", cause}});
}

}  // namespace

void add_metrics(MetricList& list, const ControllerTransportCounters& transport) { add(list, transport, ""); }
void add_metrics(MetricList& list, const AgentTransportCounters& transport) { add(list, transport, ""); }

void add_metrics(MetricList& list, const ControllerTransportCounters& agents, const AgentTransportCounters& controller) {
  add(list, agents, "agents");
  add(list, controller, "controller");
}

void add_metrics(MetricList& list, const PeerLinks& peers) {
  const PeerLinksCounters& links = peers.counters();
  constexpr const char* kMessages = "lightloom_peer_links_messages_total";
  constexpr const char* kHelp = "Messages between agents, and of operators who speak to an agent itself.";
  list.counter(kMessages, kHelp, links.words_in, {{"direction", "received"}});
  list.counter(kMessages, kHelp, links.words_out, {{"direction", "sent"}});
  list.counter(kMessages, kHelp, links.local, {{"direction", "within"}});
  list.counter(kMessages, kHelp, links.operators_in, {{"direction", "from_operator"}});
  constexpr const char* kShared = "lightloom_peer_links_shared_messages_total";
  constexpr const char* kSharedHelp = "Of those between agents: through shared memory.";
  list.counter(kShared, kSharedHelp, links.shared_in, {{"direction", "received"}});
  list.counter(kShared, kSharedHelp, links.shared_out, {{"direction", "sent"}});
  list.counter("lightloom_peer_links_shared_full_total", "Messages that found the shared ring full and went over ZeroMQ.",
               links.shared_full);
  list.counter("lightloom_peer_links_shared_ended_total", "Links in shared memory that ended or could not be agreed on.",
               links.shared_ended);
  const auto states = peers.links();
  for (const auto& [transport, name] : {std::pair{PeerTransport::shared_memory, "shared_memory"},
                                        std::pair{PeerTransport::zeromq, "zeromq"}, std::pair{PeerTransport::none, "none"}}) {
    list.gauge("lightloom_peer_links", "Links to other agent processes, by the way that they go now.",
               static_cast<double>(std::ranges::count(states, transport, &PeerLinkState::transport)), {{"transport", name}});
  }
  add_dropped_by_link(list, "malformed", links.malformed);
  add_dropped_by_link(list, "unauthorised", links.unauthorised);
  add_dropped_by_link(list, "over_quota", links.over_quota);
  add_dropped_by_link(list, "other_node", links.strangers);
  add_dropped_by_link(list, "no_connection", links.dropped);
}

}  // namespace loom
