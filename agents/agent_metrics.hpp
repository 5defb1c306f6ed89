// SPDX-License-Identifier: Apache-2.0
// What the agents of one process count, summed over its nodes, as metrics (docs/metrics.md): a series a node would be a
// thousand. An agent keeps plain numbers; they are copied here between two steps, and its firing path knows nothing of this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "agents/agent.hpp"
#include "core/messages/metric.hpp"

namespace loom {

class AgentSums {
 public:
  void add(const Agent& agent);
  void add_metrics(MetricList& list) const;

 private:
  void add_drivers(MetricList& list) const;

  static constexpr std::size_t kSessionStates = 3;

  std::array<std::uint32_t, kSessionStates> sessions_{};  ///< index: SessionState
  std::uint32_t latched_ = 0;
  AgentCounters messages_;
  std::uint64_t stale_ = 0;
  std::uint64_t early_ = 0;
  std::map<std::string_view, DriverFigures> drivers_;  ///< by model, as files name it
  GrantPlaneCounters grants_;
  PassBarrierCounters passes_;
  TrafficCounters traffic_;
  EdgeCounters edges_;
};

}  // namespace loom
