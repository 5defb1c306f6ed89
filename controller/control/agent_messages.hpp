// SPDX-License-Identifier: Apache-2.0
// AgentMessages: what agents say: who speaks for whom, what of it is believed, and for which part it is. It keeps where
// processes listen, and how many hellos may raise the controller's numbers.
#pragma once

#include <string>

#include "controller/control/commit/reconciler.hpp"
#include "controller/control/device_readings.hpp"
#include "controller/control/jobs/demand_follower.hpp"
#include "controller/control/peer_book.hpp"
#include "controller/control/requests/refusals.hpp"
#include "controller/control/requests/reset_requests.hpp"
#include "controller/control/watch/light_watch.hpp"
#include "core/messages/token_bucket.hpp"

namespace loom {

/// The parts that messages are for.
struct AgentMessageParts {
  ControllerFacts& facts;  ///< an agent may have seen a higher term
  DesiredIntent& desired;  ///< what is ordered dark is numbered anew with the term
  JournalQueue& journal;
  AuditTrail& audit;
  AlarmBoard& alarms;
  Refusals& refusals;
  AgentSessions& sessions;
  DeviceReadings& readings;
  UnusableWatch& unusable;
  Jobs& jobs;
  LightWatch& light;
  RevisionNumbers& numbers;
  CommitRunner& commits;
  Reconciler& reconciler;
  DemandFollower& demand;
  ResetRequests& resets;
};

class AgentMessages {
 public:
  explicit AgentMessages(const AgentMessageParts& parts);

  /// Refused, with its principal, where it speaks for another node or says what cannot be.
  void on_message(Peer from, const Envelope& envelope, EffectSink& sink);

 private:
  void on_body(NodeId node, const Envelope& envelope, EffectSink& sink);
  void on_hello(NodeId node, const Envelope& envelope, const Hello& hello, EffectSink& sink);
  void tell_peers(NodeId node, const std::string& principal, std::uint64_t known, EffectSink& sink) const;
  void on_alarm(NodeId node, const std::string& principal, const AlarmReport& report, EffectSink& sink);
  void keep_pulse(const Envelope& from, const Pulse& pulse, EffectSink& sink);
  void keep_observations(NodeId node, const std::string& principal, const ObservationReport& report, EffectSink& sink);

  AgentMessageParts to_;
  PeerBook peers_;
  TokenBucket claims_;  ///< hellos that raise terms or revisions
};

}  // namespace loom
