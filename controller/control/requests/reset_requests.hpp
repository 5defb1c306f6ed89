// SPDX-License-Identifier: Apache-2.0
// ResetRequests: resets of devices that operators asked for. They change no intent, so nothing is journalled: the agent is
// asked until it answers, and says what it found.
#pragma once

#include <cstdint>
#include <map>

#include "controller/control/agent_sessions.hpp"
#include "controller/control/requests/reports.hpp"
#include "controller/control/requests/request_answers.hpp"

namespace loom {

class ResetRequests {
 public:
  ResetRequests(const ControllerFacts& facts, const AgentSessions& sessions, DeviceReadings& readings, RequestAnswers& answers,
                const Reports& reports, UnusableWatch& unusable)
      : facts_(facts), sessions_(sessions), readings_(readings), answers_(answers), reports_(reports), unusable_(unusable) {}

  /// Refused if its agent cannot be heard, or it is being reset already.
  void begin(const Requester& requester, const Device& device, EffectSink& sink);
  void on_answer(NodeId node, const DeviceReset& done, EffectSink& sink);
  /// Asks again, and gives up aloud.
  void repeat(EffectSink& sink);

 private:
  struct Pending {
    Requester requester;
    std::uint64_t number = 0;
    Instant deadline{};
  };

  const ControllerFacts& facts_;
  const AgentSessions& sessions_;
  DeviceReadings& readings_;
  RequestAnswers& answers_;
  const Reports& reports_;
  UnusableWatch& unusable_;
  std::map<DeviceId, Pending> pending_;
  std::uint64_t made_ = 0;
};

}  // namespace loom
