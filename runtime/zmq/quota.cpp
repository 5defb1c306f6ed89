// SPDX-License-Identifier: Apache-2.0
// By role, and by nodes.
#include "runtime/zmq/quota.hpp"

#include <algorithm>

#include "core/messages/intake_limits.hpp"

namespace loom {
namespace {

constexpr std::chrono::seconds kSecond{1};

/// Ranges may overlap: at most a little more than it needs.
std::uint64_t nodes_of(const Grant& grant) {
  std::uint64_t nodes = 0;
  for (const NodeRange& range : grant.nodes) {
    nodes += range.last.value - range.first.value + std::uint64_t{1};
  }
  return std::max<std::uint64_t>(nodes, 1);
}

}  // namespace

IntakeQuota quota_of(const Grant& grant) {
  using namespace limits;
  if (grant.role == Role::agent) {
    const std::uint64_t nodes = nodes_of(grant);
    return {IntakeRank::agent,
            {std::min<std::uint64_t>(nodes * kAgentBurst, kKeyBurst),
             std::min<std::uint64_t>(nodes * kAgentMessages, kKeyMessages), kSecond},
            "kAgentMessages for each of its nodes",
            kAgentQueueBytes,
            "kAgentQueueBytes"};
  }
  if (grant.role == Role::viewer) {
    return {IntakeRank::operator_,
            {kViewerBurst, kViewerRequests, kSecond},
            "kViewerRequests",
            kOperatorQueueBytes,
            "kOperatorQueueBytes"};
  }
  return {IntakeRank::operator_,
          {kOperatorBurst, kOperatorRequests, kSecond},
          "kOperatorRequests",
          kOperatorQueueBytes,
          "kOperatorQueueBytes"};
}

std::size_t connections_of(const Grant& grant) {
  switch (grant.role) {
    case Role::agent:
      return limits::kConnectionsPerKey + static_cast<std::size_t>(nodes_of(grant));
    case Role::viewer:
      return limits::kConnectionsPerKey;
    default:
      return limits::kOperatorConnections;
  }
}

IntakeQuota peer_quota() {
  return {IntakeRank::agent,
          {limits::kKeyBurst, limits::kKeyMessages, kSecond},
          "kKeyMessages",
          limits::kAgentQueueBytes,
          "kAgentQueueBytes"};
}

}  // namespace loom
