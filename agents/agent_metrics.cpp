// SPDX-License-Identifier: Apache-2.0
// Names and meanings of the agents' metrics.
#include "agents/agent_metrics.hpp"

#include <string>

#include "drivers/registry.hpp"

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
  for (const DriverFigures& figures : agent.units().figures()) {
    drivers_[driver_model_of(*figures.like).model.name] += figures;
  }
  const GrantPlaneCounters& grants = agent.grants().counters();
  grants_.other_revision += grants.other_revision;
  grants_.other_clock += grants.other_clock;
  grants_.strangers += grants.strangers;
  grants_.implausible += grants.implausible;
  grants_.forged += grants.forged;
  grants_.answered_dark += grants.answered_dark;
  grants_.unreachable += grants.unreachable;
  const PassBarrierCounters& passes = agent.barrier().counters();
  passes_.passes += passes.passes;
  passes_.missed += passes.missed;
  passes_.other_revision += passes.other_revision;
  passes_.other_clock += passes.other_clock;
  passes_.strangers += passes.strangers;
  passes_.implausible += passes.implausible;
  const TrafficCounters& traffic = agent.traffic().counters();
  traffic_.received += traffic.received;
  traffic_.refused += traffic.refused;
  const EdgeCounters& edges = agent.units().edges().counters();
  edges_.asked += edges.asked;
  edges_.refused += edges.refused;
  edges_.fired += edges.fired;
  edges_.missed += edges.missed;
}

/// One family after the other: samples of a name stand together.
void AgentSums::add_drivers(MetricList& list) const {
  for (const auto& [driver, figures] : drivers_) {
    for (const DeviceOp op : kDeviceOps) {
      list.histogram("lightloom_device_op_seconds",
                     "Operations of devices that ended well: from the order to move until read-back proves it, and to read.",
                     figures.ops[static_cast<std::size_t>(op)],
                     {{"driver", std::string(driver)}, {"op", std::string(to_string(op))}});
    }
  }
  for (const auto& [driver, figures] : drivers_) {
    for (std::size_t code = 0; code < kDeviceErrorCodes; ++code) {
      list.counter("lightloom_device_errors_total",
                   "Transactions that a device did not answer as asked, and drivers that gave up.", figures.errors[code],
                   {{"driver", std::string(driver)}, {"code", std::string(to_string(static_cast<DeviceErrorCode>(code)))}});
    }
  }
  for (const auto& [driver, figures] : drivers_) {
    list.counter("lightloom_device_writes_total", "Transactions that wrote to a device, as its driver asked for them.",
                 figures.writes, {{"driver", std::string(driver)}});
  }
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
  add_drivers(list);

  const auto edge = [&](const char* kind, std::uint64_t count) {
    list.counter(
        "lightloom_agent_edges_total",
        "Edges that trigger lines were asked for, those of them that a line did not take, and devices that an edge has "
        "fired, or had not when it was due.",
        count, {{"kind", kind}});
  };
  edge("asked", edges_.asked);
  edge("refused", edges_.refused);
  edge("fired", edges_.fired);
  edge("missed", edges_.missed);

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
  list.counter("lightloom_agent_passes_total", "Passes that nodes began on the word of their jobs' leaders.", passes_.passes);
  list.counter("lightloom_agent_timeslots_missed_total", "Timeslots of repeated jobs that stayed dark.", passes_.missed);
  const auto pass = [&](const char* kind, std::uint64_t count) {
    list.counter("lightloom_agent_pass_messages_refused_total",
                 "Messages between agents about iterations that were not followed.", count, {{"kind", kind}});
  };
  pass("other_revision", passes_.other_revision);
  pass("other_clock", passes_.other_clock);
  pass("stranger", passes_.strangers);
  pass("implausible", passes_.implausible);
  list.counter("lightloom_agent_traffic_records_total", "Records of collectives that training processes have told of.",
               traffic_.received);
  list.counter("lightloom_agent_traffic_lines_refused_total", "Lines of training processes that could not be read.",
               traffic_.refused);
}

}  // namespace loom
