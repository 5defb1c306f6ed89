// SPDX-License-Identifier: Apache-2.0
// AgentsClient: what the command-line tool asks agents themselves with, while no controller answers: one request to each agent
// of several processes at once, over CURVE with the operator's key. For programs without a loop.
#pragma once

#include <string>
#include <vector>

#include "core/message.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom {

/// A process that hosts agents, as an operator knows it.
struct AgentProcess {
  std::string name;        ///< for sentences
  std::string endpoint;    ///< where it listens for its peers; empty: not known
  std::string public_key;  ///< Z85
  std::vector<NodeId> nodes;
};

struct AgentAnswer {
  NodeId node;
  Result<OperatorReply> reply;  ///< or why there is none
};

/// One answer a node, ascending. Blocks until all have answered, at most `timeout`; what is not answered is asked again. An
/// answer that says no is a reply with an error in it. Errors: malformed (a key), internal.
Result<std::vector<AgentAnswer>> ask_agents(const std::vector<AgentProcess>& processes, const KeyPair& keys,
                                            const OperatorAsk& what, Duration timeout);

}  // namespace loom
