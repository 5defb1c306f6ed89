// SPDX-License-Identifier: Apache-2.0
// AgentSessions: every agent as seen from the controller: is it there, what did it say of itself, what did its devices read
// last, and are its lasers latched as ordered. It speaks to agents and keeps what they say of themselves; it does not judge
// devices, and plans nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/control/commit/commit.hpp"
#include "controller/control/device_readings.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/jobs/desired_intent.hpp"
#include "controller/control/journal_queue.hpp"
#include "controller/control/session.hpp"
#include "controller/control/watch/alarm_board.hpp"

namespace loom {

/// What a hello tells that others have to know.
struct Greeting {
  bool is_new_incarnation = false;  ///< another process than before
  bool lost_its_plan = false;       ///< and it holds nothing of the confirmed plan
};

/// What agents latched by themselves, as far as this controller knows of it: does a rearm lift that too?
enum class OwnLatches : std::uint8_t { stay, lift };

class AgentSessions {
 public:
  AgentSessions(const ControllerFacts& facts, const DesiredIntent& desired, const ConfirmedPlans& confirmed,
                const JournalQueue& journal, AlarmBoard& alarms, DeviceReadings& readings);

  std::size_t size() const { return sessions_.size(); }
  const AgentSession& operator[](NodeId node) const { return sessions_[node.value]; }
  bool is_present(NodeId node) const { return sessions_[node.value].is_present(); }
  /// What the device read last; null: nothing in this incarnation of its agent.
  const Observation* observed(DeviceId device) const { return readings_.observed(device); }
  const DeviceReadings& readings() const { return readings_; }

  /// Present, its lasers not latched, and not in maintenance.
  bool may_take_part(NodeId node) const;
  /// Present, and not still latched by an order that has just been lifted. A latch of another reason is the agent's to explain.
  bool is_ready(NodeId node) const;
  /// Away for longer than anybody waits for it; a node in maintenance is not waited for at all.
  bool is_given_up(NodeId node) const;
  /// Present, and its lasers are latched although nobody orders it.
  bool is_latched_by_itself(NodeId node) const;
  /// Came back without its plan, and all its devices have been read since: it may be given it again.
  bool may_be_restored(NodeId node) const;

  void send(NodeId node, Body body, EffectSink& sink) const;
  /// The answer to a hello. `refusal`: it is not taken in, and hears why; what it was before is left to its silence.
  void welcome(NodeId node, EffectSink& sink, std::optional<Error> refusal = {});
  /// To everybody who is there, each in his turn (core/timings.hpp: kBeatsAtRest). What is owed goes out with his own words.
  void beat(EffectSink& sink);

  /// `is_unknown`: what it has applied is a revision that the journal does not know. `principal`: of the key that speaks.
  Greeting greet(NodeId node, const std::string& principal, const Hello& hello, bool is_unknown, EffectSink& sink);
  /// Any other message. False: nobody has greeted this agent; it is asked to say hello. `follows`: the term that it knows.
  bool admit(NodeId node, Term follows, EffectSink& sink);
  /// `moving`: the commit that changes light now; null: none does. True: its lasers were latched off, and are not any more.
  bool keep(NodeId node, const Heartbeat& heartbeat, const FabricCommit* moving, EffectSink& sink);
  /// What its process says for it: it lives, and its last heartbeat is true still. What is owed to it is sent again. False:
  /// another key has greeted for this node, and nothing is believed. `from`: the envelope that it came in.
  bool keep_pulse(NodeId node, const Envelope& from, const FabricCommit* moving, EffectSink& sink);
  /// Agents that have been silent for too long.
  void sweep(EffectSink& sink);

  /// Who took part has its plan, and what was touched was read back.
  void keep_confirmed();
  void begin_restore(NodeId node);
  /// This is the number of the newest order about lasers: of this node's, or (none) of everybody's. It says nothing to others:
  /// what latched them off, be it an order that no journal could keep, is not lifted by an order about somebody else.
  void keep_laser_order(std::uint64_t number, std::optional<NodeId> node = {});
  /// Agents that were told to lift their latch are waited for until then.
  void await_rearm(Instant until, OwnLatches own = OwnLatches::stay);
  /// An operator has seen that the lasers of this absent node are dark. Good until it greets, and for this process.
  void vouch_dark(NodeId node) { sessions_[node.value].is_reported_dark = true; }
  /// Orders about lasers, at once, so that a commit need not wait for the next heartbeats.
  void send_latches(const FabricCommit* moving, EffectSink& sink) const;

 private:
  const ControllerFacts& facts_;
  const DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  const JournalQueue& journal_;
  AlarmBoard& alarms_;
  DeviceReadings& readings_;
  std::vector<AgentSession> sessions_;  ///< index = node
  Instant rearm_until_{};
  std::uint64_t beats_ = 0;
};

std::uint32_t present_agents(const AgentSessions& sessions);
/// Every agent has said hello to this incarnation of the controller and, where it holds a revision that the journal does not
/// know, reported all of its devices.
bool are_all_known(const AgentSessions& sessions, const Fabric& fabric);

/// What is ordered dark has a number of this term: an agent may have followed a rearm that no journal has kept.
void order_darkness_anew(Term term, DesiredIntent& desired, AgentSessions& sessions);

}  // namespace loom
