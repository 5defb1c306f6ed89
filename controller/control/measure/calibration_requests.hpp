// SPDX-License-Identifier: Apache-2.0
// CalibrationRequests: light and heat that somebody asks for to measure by, for as long as he goes on asking, and what came of
// it: calibrations of banks. Both become intent, so that verify judges them and a commit brings them. What is measured and how
// is the asker's business (controller/calibrate).
#pragma once

#include <functional>
#include <string>

#include "controller/control/requests/operator_changes.hpp"
#include "controller/control/requests/request_answers.hpp"

namespace loom {

class CalibrationRequests {
 public:
  CalibrationRequests(const ControllerFacts& facts, DesiredIntent& desired, const AgentSessions& sessions,
                      JournalQueue& journal, AuditTrail& audit, CommitRunner& commits, RequestAnswers& answers,
                      OperatorChanges& changes)
      : facts_(facts),
        desired_(desired),
        sessions_(sessions),
        journal_(journal),
        audit_(audit),
        commits_(commits),
        answers_(answers),
        changes_(changes) {}

  void begin(const Requester& requester, const ProbeLight& request, EffectSink& sink);
  /// `carries(bank)`: what circuits pass it in the confirmed plan, as words; empty: none.
  void begin(const Requester& requester, const Calibrate& request, const std::function<std::string(const Device&)>& carries,
             EffectSink& sink);
  /// This client measures already: its next look is no order of its own. Another one with the same key is another client.
  bool measures(const Requester& requester) const;
  /// Nobody has asked for the light any more, or this controller never heard who did: it goes out.
  void watch(EffectSink& sink);

 private:
  Result<void> check(const Probe& probe) const;
  Result<void> check(const RingDrive& drive) const;
  Result<void> check(const DeviceCalibration& bank) const;
  void forget_others(EffectSink& sink);
  bool is_lit() const;

  const ControllerFacts& facts_;
  DesiredIntent& desired_;
  const AgentSessions& sessions_;
  JournalQueue& journal_;
  AuditTrail& audit_;
  CommitRunner& commits_;
  RequestAnswers& answers_;
  OperatorChanges& changes_;
  Instant until_{};    ///< of what is asked for now
  std::string asker_;  ///< whose that is
  Peer asker_peer_{};  ///< and over which connection
};

}  // namespace loom
