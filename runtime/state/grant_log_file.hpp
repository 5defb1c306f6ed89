// SPDX-License-Identifier: Apache-2.0
// GrantLogFile: what became of the grants of one process's agents, on disk a few times a second. Loop's thread only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agents/agent.hpp"
#include "runtime/append_lane.hpp"
#include "runtime/loop.hpp"

namespace loom {

class GrantLogFile {
 public:
  /// Begins the file anew. The agents outlive this.
  GrantLogFile(AsioLoop& loop, const std::string& path, std::vector<Agent*> agents);
  ~GrantLogFile();
  GrantLogFile(const GrantLogFile&) = delete;
  GrantLogFile& operator=(const GrantLogFile&) = delete;

 private:
  void gather();
  void write_now_and_then();

  AsioLoop& loop_;
  AppendLane lane_;
  std::vector<Agent*> agents_;
  std::string text_;
};

}  // namespace loom
