// Names and meanings of the agents' metrics.
#include "agents/agent_metrics.hpp"

#include <string>

namespace loom {

void AgentSums::add(const Agent& agent) {
  ++sessions_[static_cast<std::size_t>(agent.session().state())];
  latched_ += agent.interlock().latched() ? 1 : 0;
  const AgentCounters& messages = agent.counters();
  messages_.stale_term += messages.stale_term;
  messages_.misdirected += messages.misdirected;
  messages_.refused += messages.refused;
  messages_.implausible += messages.implausible;
  messages_.unexpected += messages.unexpected;
  messages_.foreign_replies += messages.foreign_replies;
  stale_ += agent.commit().stale();
  early_ += agent.commit().early();
  writes_ += agent.units().writes();
  const GrantPlaneCounters& grants = agent.grants().counters();
  grants_.other_revision += grants.other_revision;
  grants_.other_clock += grants.other_clock;
  grants_.strangers += grants.strangers;
  grants_.implausible += grants.implausible;
  grants_.forged += grants.forged;
  grants_.answered_dark += grants.answered_dark;
  grants_.unreachable += grants.unreachable;
  const TrafficCounters& traffic = agent.traffic().counters();
  traffic_.received += traffic.received;
  traffic_.refused += traffic.refused;
}

void AgentSums::add_metrics(MetricList& list) const {
  constexpr const char* kNodes = "lightloom_agent_nodes";
  constexpr const char* kNodesHelp = "Nodes that this process hosts the agents of, by the state of their session.";
  const auto nodes = [&](const char* word, SessionState state) {
    list.gauge(kNodes, kNodesHelp, sessions_[static_cast<std::size_t>(state)], {{"session", word}});
  };
  nodes("greeting", SessionState::greeting);
  nodes("turned_away", SessionState::turned_away);
  nodes("joined", SessionState::joined);
  list.gauge("lightloom_agent_nodes_latched", "Nodes whose lasers are latched off.", latched_);

  const auto refused = [&](const char* kind, std::uint64_t count) {
    list.counter("lightloom_agent_messages_refused_total", "Messages that an agent did not follow, by why.", count,
                 {{"kind", kind}});
  };
  refused("stale_term", messages_.stale_term);
  refused("misdirected", messages_.misdirected);
  refused("turned_away", messages_.refused);
  refused("implausible", messages_.implausible);
  refused("unexpected", messages_.unexpected);
  refused("stale_revision", stale_);
  refused("early", early_);

  list.counter("lightloom_agent_foreign_replies_total", "Replies of a bus to no transaction of the agent.",
               messages_.foreign_replies);
  list.counter("lightloom_device_writes_total", "Transactions that wrote to a device, as the agents' drivers asked for them.",
               writes_);

  const auto grant = [&](const char* kind, std::uint64_t count) {
    list.counter("lightloom_agent_grant_messages_refused_total", "Messages between agents about grants that were not followed.",
                 count, {{"kind", kind}});
  };
  grant("other_revision", grants_.other_revision);
  grant("other_clock", grants_.other_clock);
  grant("stranger", grants_.strangers);
  grant("implausible", grants_.implausible);
  grant("forged", grants_.forged);
  grant("dark", grants_.answered_dark);
  list.counter("lightloom_agent_streams_unreachable_total", "Streams whose arbiter was silent for too long.",
               grants_.unreachable);
  list.counter("lightloom_agent_traffic_records_total", "Records of collectives that training processes have told of.",
               traffic_.received);
  list.counter("lightloom_agent_traffic_lines_refused_total", "Lines of training processes that could not be read.",
               traffic_.refused);
}

}  // namespace loom
