// SPDX-License-Identifier: Apache-2.0
// One list, and its digest.
#include "controller/control/peer_book.hpp"

#include <algorithm>
#include <chrono>

#include "core/digest.hpp"

namespace loom {

namespace {

/// An honest process moves when it starts again or takes up another pair.
constexpr TokenRate kMoves{4, 1, std::chrono::seconds{5}};

}  // namespace

bool PeerBook::note(NodeId node, const std::string& principal, const std::string& endpoint, Instant now) {
  const auto known = processes_.find(principal);
  if (known == processes_.end()) {
    if (endpoint.empty() || processes_.size() == kPeerProcesses) {
      return false;
    }
    processes_.emplace(principal, Process{node, endpoint, TokenBucket(kMoves)});
    write();
    return true;
  }
  Process& process = known->second;
  const bool has_moved = endpoint != process.endpoint;
  if ((!has_moved && node >= process.first) || (has_moved && process.moves.take(1, now) == 0)) {
    return false;
  }
  process.first = std::min(process.first, node);
  process.endpoint = endpoint;
  write();
  return true;
}

bool PeerBook::lacks(NodeId node, const std::string& principal, std::uint64_t digest) const {
  const auto process = processes_.find(principal);
  return process != processes_.end() && process->second.first == node && digest != addresses_.digest;
}

void PeerBook::write() {
  addresses_.peers.clear();
  for (const auto& [principal, process] : processes_) {
    if (!process.endpoint.empty()) {
      addresses_.peers.push_back({process.first, process.endpoint});
    }
  }
  std::sort(addresses_.peers.begin(), addresses_.peers.end(),
            [](const PeerAddress& a, const PeerAddress& b) { return a.node < b.node; });
  Digest digest;
  for (const PeerAddress& peer : addresses_.peers) {
    digest.add(peer.node.value);
    digest.add(peer.endpoint);
  }
  addresses_.digest = digest.value() == 0 ? 1 : digest.value();  // 0 says that nothing is known
}

}  // namespace loom
