// SPDX-License-Identifier: Apache-2.0
// How far the newest elements agree with those one period earlier, for every period at once.
#include "agents/traffic/period.hpp"

#include <algorithm>
#include <vector>

namespace loom {
namespace {

/// By place: how many elements from there on are the same as from the start on.
std::vector<std::size_t> agreements(std::span<const std::uint64_t> text) {
  std::vector<std::size_t> agree(text.size(), 0);
  std::size_t left = 0;
  std::size_t right = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (i < right) {
      agree[i] = std::min(right - i, agree[i - left]);
    }
    while (i + agree[i] < text.size() && text[agree[i]] == text[i + agree[i]]) {
      ++agree[i];
    }
    if (i + agree[i] > right) {
      left = i;
      right = i + agree[i];
    }
  }
  return agree;
}

}  // namespace

std::optional<Period> period_of(std::span<const std::uint64_t> oldest_first) {
  const std::vector<std::uint64_t> newest_first(oldest_first.rbegin(), oldest_first.rend());
  const std::vector<std::size_t> agree = agreements(newest_first);
  std::optional<Period> best;
  for (std::size_t length = 1; 2 * length <= newest_first.size(); ++length) {
    const std::size_t covered = length + agree[length];
    if (covered >= 2 * length && (!best || covered > best->covered)) {
      best = Period{length, covered};
    }
  }
  return best;
}

}  // namespace loom
