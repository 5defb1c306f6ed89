// SPDX-License-Identifier: Apache-2.0
// Duplex links on pairs of interfaces (Petersen, Acta Math. 15 (1891) 193: a graph of even degree falls apart into rings).
// Every link gets a first and a second end so that no server is first or second of more than half of its interfaces' links;
// Koenig's colouring of first ends against second ends then names the pair of interfaces. Works for every number of servers,
// where a colouring of undirected links with as many colours as interfaces need not exist (any ring of odd length). Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace loom {

/// `first`, `second`: its ends. `is_held`: it is lit that way round, and stays so if it can.
struct DuplexLink {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool is_held = false;
  bool operator==(const DuplexLink&) const = default;
};

/// Turns links round until every node is first of at most `most` and second of at most `most`; held ones only where nothing
/// else serves, and the fewest on each way. Precondition: no node has more than 2 x `most` links. A link that is turned is no
/// longer held. O(links) a link that must be turned.
void balance(std::uint32_t nodes, std::uint32_t most, std::vector<DuplexLink>& links);

}  // namespace loom
