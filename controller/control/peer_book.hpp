// SPDX-License-Identifier: Apache-2.0
// PeerBook: where the processes that host agents listen for each other, as each has said in its hello. One key is one process.
// It passes addresses on and believes nothing of them: whoever dials has the other's key pinned.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/message.hpp"
#include "core/messages/token_bucket.hpp"

namespace loom {

class PeerBook {
 public:
  /// Of a hello; an empty endpoint: it listens for nobody. True: what others have to know is another than before. Processes
  /// beyond kPeerProcesses are not taken, nor is another endpoint of one that has named too many: each costs all others a
  /// message.
  bool note(NodeId node, const std::string& principal, const std::string& endpoint, Instant now);
  /// Is its process told through this node, and does it know something else than what is known here?
  bool lacks(NodeId node, const std::string& principal, std::uint64_t digest) const;
  const PeerAddresses& addresses() const { return addresses_; }

 private:
  struct Process {
    NodeId first;  ///< of its nodes that have said hello: the one that it is told through
    std::string endpoint;
    TokenBucket moves;
  };
  void write();

  std::map<std::string, Process, std::less<>> processes_;  ///< by principal
  PeerAddresses addresses_;
};

}  // namespace loom
