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

void add_traffic(MetricList& list, const Traffic& traffic) {
  constexpr const char* kFrames = "lightloom_transport_frames_total";
  constexpr const char* kFramesHelp = "ZeroMQ frames between controller, agents and operators.";
  list.counter(kFrames, kFramesHelp, traffic.frames_in, {{"direction", "received"}});
  list.counter(kFrames, kFramesHelp, traffic.frames_out, {{"direction", "sent"}});
  constexpr const char* kEnvelopes = "lightloom_transport_envelopes_total";
  constexpr const char* kEnvelopesHelp = "Messages in those frames.";
  list.counter(kEnvelopes, kEnvelopesHelp, traffic.envelopes_in, {{"direction", "received"}});
  list.counter(kEnvelopes, kEnvelopesHelp, traffic.envelopes_out, {{"direction", "sent"}});
}

void add_dropped(MetricList& list, const char* cause, std::uint64_t count) {
  list.counter("lightloom_transport_dropped_total", "Frames and messages that the transport dropped, by why.", count,
               {{"cause", cause}});
}

void add_dropped_by_link(MetricList& list, const char* cause, std::uint64_t count) {
  list.counter("lightloom_peer_links_dropped_total", "Messages that links between agents dropped, by why.", count,
               {{"cause", cause}});
}

}  // namespace

void add_metrics(MetricList& list, const ControllerTransportCounters& transport) {
  add_traffic(list, {transport.frames_in, transport.frames_out, transport.envelopes_in, transport.envelopes_out});
  add_dropped(list, "malformed", transport.malformed);
  add_dropped(list, "unauthorised", transport.unauthorised);
  add_dropped(list, "conflict", transport.conflicts);
  add_dropped(list, "over_quota", transport.over_quota);
  add_dropped(list, "no_connection", transport.dropped);
}

void add_metrics(MetricList& list, const AgentTransportCounters& transport) {
  add_traffic(list, {transport.frames_in, transport.frames_out, transport.envelopes_in, transport.envelopes_out});
  add_dropped(list, "malformed", transport.malformed);
  add_dropped(list, "over_quota", transport.over_quota);
  add_dropped(list, "other_node", transport.strangers);
  add_dropped(list, "no_connection", transport.dropped);
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
