// SPDX-License-Identifier: Apache-2.0
// Period: where a sequence that repeats begins again. Iterations of a training job are not reported, only their collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace loom {

struct Period {
  std::size_t length = 0;   ///< of one, in elements
  std::size_t covered = 0;  ///< newest elements that repeat so: two lengths at least
  bool operator==(const Period&) const = default;
};

/// The period that explains most of the newest elements, two whole ones at least; the shortest of those that explain as much.
/// `oldest_first`: one number for everything that tells two elements apart. None: nothing has been there twice in a row.
/// Linear in the length (Z-function: Gusfield 1997, section 1.3).
std::optional<Period> period_of(std::span<const std::uint64_t> oldest_first);

}  // namespace loom
