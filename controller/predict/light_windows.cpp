// SPDX-License-Identifier: Apache-2.0
// Indexing of light.
#include "controller/predict/light_windows.hpp"

#include <algorithm>

namespace loom {
namespace {

std::uint64_t key_of(NodeId source, NodeId destination) { return std::uint64_t{source.value} << 32 | destination.value; }

/// The rate of one pair changes.
struct Turn {
  std::uint64_t key = 0;
  Instant at{};
  std::int64_t rate = 0;
};

double ns_from(Instant origin, Instant at) { return at == kNever ? kNoLightEver : static_cast<double>((at - origin).count()); }

}  // namespace

LightWindows::LightWindows(const LightTimeline& light, Instant origin) {
  std::vector<Turn> turns;
  turns.reserve(2 * light.size());
  for (const LitWindow& lit : light) {
    if (lit.begin < lit.end && lit.rate.bits_per_second > 0) {
      const std::uint64_t key = key_of(lit.source, lit.destination);
      turns.push_back({key, lit.begin, lit.rate.bits_per_second});
      turns.push_back({key, lit.end, -lit.rate.bits_per_second});
    }
  }
  std::sort(turns.begin(), turns.end(),
            [](const Turn& a, const Turn& b) { return a.key != b.key ? a.key < b.key : a.at < b.at; });
  windows_.reserve(light.size());
  std::int64_t rate = 0;  // of the pair, now
  for (std::size_t i = 0; i < turns.size(); ++i) {
    rate += turns[i].rate;
    const bool lasts = i + 1 < turns.size() && turns[i + 1].key == turns[i].key && turns[i].at < turns[i + 1].at;
    if (rate > 0 && lasts) {
      add(turns[i].key, {ns_from(origin, turns[i].at), ns_from(origin, turns[i + 1].at), 8e9 / static_cast<double>(rate)});
    }
  }
}

void LightWindows::add(std::uint64_t key, Window window) {
  if (pairs_.empty() || pairs_.back().key != key) {
    pairs_.push_back({key, windows_.size(), 1});
    windows_.push_back(window);
    return;
  }
  Window& before = windows_.back();
  if (window.begin <= before.end && window.ns_per_byte <= before.ns_per_byte && before.ns_per_byte <= window.ns_per_byte) {
    before.end = window.end;
    return;
  }
  windows_.push_back(window);
  ++pairs_.back().count;
}

std::span<const Window> LightWindows::between(NodeId source, NodeId destination) const {
  const std::uint64_t key = key_of(source, destination);
  const auto found =
      std::lower_bound(pairs_.begin(), pairs_.end(), key, [](const Pair& p, std::uint64_t k) { return p.key < k; });
  if (found == pairs_.end() || found->key != key) {
    return {};
  }
  return {windows_.data() + found->first, found->count};
}

WindowLane LightWindows::lane(NodeId source, NodeId destination, double free) const {
  const auto windows = between(source, destination);
  return {windows.data(), windows.data() + windows.size(), free, 0};
}

}  // namespace loom
