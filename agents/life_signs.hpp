// SPDX-License-Identifier: Apache-2.0
// LifeSigns: what an agent's heartbeat says of it, and whether that is news. When one is due is the session's to know.
#pragma once

#include "agents/commit/commit.hpp"
#include "agents/devices/interlock.hpp"
#include "agents/envelope_sender.hpp"
#include "agents/host_facts.hpp"

namespace loom {

class LifeSigns {
 public:
  LifeSigns(const EnvelopeSender& envelopes, const AgentCommit& commit, const Interlock& interlock, const HostFacts& host)
      : envelopes_(envelopes), commit_(commit), interlock_(interlock), host_(host) {}

  /// The next heartbeat is not the last one again.
  bool has_news() const { return now() != sent_; }
  void send_heartbeat(StepContext context);

 private:
  Heartbeat now() const;

  const EnvelopeSender& envelopes_;
  const AgentCommit& commit_;
  const Interlock& interlock_;
  const HostFacts& host_;
  Heartbeat sent_;  ///< the last one
};

}  // namespace loom
