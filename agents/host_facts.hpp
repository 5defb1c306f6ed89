// SPDX-License-Identifier: Apache-2.0
// HostFacts: what an agent says and knows of the host that it runs on: its fabric, where its process listens, where others do,
// and whether its clock may time anything new. It darkens nothing and sends no hello; the agent does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agents/envelope_sender.hpp"

namespace loom {

class HostFacts {
 public:
  HostFacts(const EnvelopeSender& envelopes, FabricIdentity identity, std::string listens_at)
      : envelopes_(envelopes), identity_(std::move(identity)), listens_at_(std::move(listens_at)) {}

  /// Why nothing that emits may be prepared; none: the clock is good. What is lit stays, and what is under way ends as it was
  /// timed.
  const std::optional<Error>& clock_problem() const { return clock_problem_; }
  /// True: it is good again, and with a hello the controller takes its alarm back.
  bool judge(StepContext context, const ClockJudged& judged);
  /// To the controller and the log, where there is a problem.
  void warn_of_clock(StepContext context) const;

  /// True: a hello has to carry it.
  bool listen(const PeersListen& listening);
  void learn(StepContext context, const PeerAddresses& addresses);
  std::uint64_t peers_digest() const { return peers_digest_; }
  void describe(Hello& hello) const;

  /// The controller refused our hello: aloud, but not as often as it does.
  void tell_turned_away(StepContext context, const Error& why);
  void welcomed() { turned_away_.clear(); }

 private:
  const EnvelopeSender& envelopes_;
  FabricIdentity identity_;
  std::string listens_at_;
  std::optional<Error> clock_problem_;
  std::string turned_away_;         ///< as it was said last
  std::uint64_t peers_digest_ = 0;  ///< of the addresses that the controller told last
};

}  // namespace loom
