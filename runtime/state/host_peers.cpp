// SPDX-License-Identifier: Apache-2.0
// Addresses by process.
#include "runtime/state/host_peers.hpp"

#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"

namespace loom {

Result<LoopClock> choose_clock(std::string_view word, const Scenario& scenario) {
  if (word == "auto") {
    return is_on_several_hosts(scenario) ? LoopClock::tai : LoopClock::monotonic;
  }
  if (word == "monotonic" || word == "tai") {
    return word == "tai" ? LoopClock::tai : LoopClock::monotonic;
  }
  return fail(ErrorCode::invalid_argument, format_text("--clock {}: it is one of auto, monotonic, tai", word));
}

std::string listening_endpoint(const Scenario& scenario, std::uint32_t process) {
  if (scenario.agents.hosts.empty()) {
    return "tcp://127.0.0.1:*";
  }
  const ScenarioHost& host = scenario.agents.hosts[process];
  return format_text("tcp://{}:{}", is_address(host.address) ? bracketed(host.address) : "*", host.port);
}

std::string announced_endpoint(const Scenario& scenario, std::uint32_t process, const std::string& bound) {
  if (scenario.agents.hosts.empty()) {
    return {};
  }
  return format_text("tcp://{}{}", bracketed(scenario.agents.hosts[process].address), bound.substr(bound.rfind(':')));
}

void HostPeers::learn(const std::vector<PeerAddress>& peers) {
  endpoints_.clear();
  for (const PeerAddress& peer : peers) {
    if (peer.node.value < scenario_.fabric->nodes.size()) {
      endpoints_[process_of_node(scenario_, peer.node)] = peer.endpoint;
    }
  }
}

Result<std::string> HostPeers::address_of(std::uint32_t process) const {
  const auto known = endpoints_.find(process);
  return known != endpoints_.end()
             ? Result<std::string>(known->second)
             : fail(ErrorCode::unreachable, format_text("the controller has not told where agents-{} listen", process));
}

}  // namespace loom
