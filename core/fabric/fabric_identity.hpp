// SPDX-License-Identifier: Apache-2.0
// FabricIdentity: what an agent says of the fabric that it was started with, short enough for a hello, so that a controller
// with another one is not followed. It covers everything that plans rest on; where buses are found is each host's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"

namespace loom {

/// Enough marks that the place of a difference is told within a thirty-second of the fabric.
inline constexpr std::size_t kFabricMarks = 32;

struct FabricIdentity {
  std::string name;
  std::uint64_t digest = 0;  ///< of everything; 0: not said
  std::uint32_t nodes = 0;
  std::uint32_t elements = 0;
  std::uint32_t fibres = 0;
  std::uint32_t devices = 0;
  /// Mark k is the digest of the first (k + 1) * step items, where items are nodes, elements, fibres and devices one behind the
  /// other, and step is the smallest power of two that makes at most kFabricMarks.
  std::vector<std::uint64_t> marks;
  bool operator==(const FabricIdentity&) const = default;
};

FabricIdentity identity_of(const Fabric& fabric);

/// One sentence: both digests, counts that differ, and the name of the first item that can be told to differ, or of the items
/// between which it is. Empty: the same fabric, or `theirs` was not said.
std::string difference_between(const Fabric& ours, const FabricIdentity& theirs);

/// As sentences have a digest: 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);

}  // namespace loom
