// SPDX-License-Identifier: Apache-2.0
// What is news is said once.
#include "agents/host_facts.hpp"

#include <utility>

#include "core/text/format_text.hpp"

namespace loom {

bool HostFacts::judge(StepContext context, const ClockJudged& judged) {
  const bool was_good = !clock_problem_;
  clock_problem_ = judged.problem;
  if (clock_problem_) {
    clock_problem_->message = "clock_unsynchronised: " + clock_problem_->message;
  }
  if (was_good) {
    warn_of_clock(context);
  }
  return !was_good && !clock_problem_;
}

void HostFacts::warn_of_clock(StepContext context) const {
  if (clock_problem_) {
    envelopes_.warn(context,
                    {AlarmCode::clock_unsynchronised,
                     {},
                     {},
                     format_text("node {} prepares nothing that emits: {}", envelopes_.node.value, clock_problem_->message),
                     clock_problem_->next_command});
  }
}

bool HostFacts::listen(const PeersListen& listening) {
  return std::exchange(listens_at_, listening.endpoint) != listening.endpoint;
}

void HostFacts::learn(StepContext context, const PeerAddresses& addresses) {
  if (std::exchange(peers_digest_, addresses.digest) != addresses.digest) {
    context.sink->emit(LearnPeers{addresses.peers});
  }
}

void HostFacts::describe(Hello& hello) const {
  hello.fabric = identity_;
  hello.listens_at = listens_at_;
}

void HostFacts::tell_turned_away(StepContext context, const Error& why) {
  if (std::exchange(turned_away_, why.message) != why.message) {
    context.sink->emit(
        RaiseAlarm{{AlarmCode::agent_duplicate,
                    envelopes_.node,
                    {},
                    "the controller turned this agent away: " + why.message,
                    why.next_command.empty() ? format_text("loom node show {}", envelopes_.node.value) : why.next_command}});
  }
}

}  // namespace loom
