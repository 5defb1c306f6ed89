// SPDX-License-Identifier: Apache-2.0
// What an agent process knows of its host: which clock its loop reads, where its agents listen, and where those of the other
// hosts do, as the controller told it. Loop's thread only.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/message.hpp"
#include "core/result.hpp"
#include "runtime/loop.hpp"

namespace loom {

/// "auto", "monotonic" or "tai". auto: TAI where the scenario is on several hosts, else the monotonic clock. Errors:
/// invalid_argument.
Result<LoopClock> choose_clock(std::string_view word, const Scenario& scenario);

/// Where a host's agents bind: its address where that is an IP address, else every interface. Without hosts: loopback.
std::string listening_endpoint(const Scenario& scenario, std::uint32_t process);
/// As the others reach what was bound at `bound`; empty: they need not be told, files of the state folder do.
std::string announced_endpoint(const Scenario& scenario, std::uint32_t process, const std::string& bound);

class HostPeers {
 public:
  explicit HostPeers(const Scenario& scenario) : scenario_(scenario) {}

  /// In the place of what was known. What names a node that the fabric does not have is left out.
  void learn(const std::vector<PeerAddress>& peers);
  /// Errors: unreachable (the controller has not told it yet).
  Result<std::string> address_of(std::uint32_t process) const;

 private:
  const Scenario& scenario_;
  std::map<std::uint32_t, std::string> endpoints_;  ///< by process
};

}  // namespace loom
