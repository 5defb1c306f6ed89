// SPDX-License-Identifier: Apache-2.0
// LeftMoving: switches and rings that a repair which failed has left on their way. Nobody knows where they stand until they
// have been read.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "controller/control/agent_sessions.hpp"
#include "controller/control/commit/commit.hpp"
#include "controller/control/watch/unusable_watch.hpp"

namespace loom {

class LeftMoving {
 public:
  void note(const FabricCommit& failed, const Fabric& fabric, Instant now);
  /// Those that have not been read since, ascending; the others are forgotten.
  std::vector<DeviceId> unread(const AgentSessions& sessions);
  /// One of them that follows no order, once: plans go around it.
  std::optional<DeviceId> take_unusable(const UnusableWatch& unusable);

 private:
  struct Row {
    Instant since{};
    bool is_taken = false;
  };
  std::map<DeviceId, Row> rows_;
};

}  // namespace loom
