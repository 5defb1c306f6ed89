// Indexing of light.
#include "controller/predict/light_windows.hpp"

#include <algorithm>

namespace loom {
namespace {

std::uint64_t key_of(NodeId source, NodeId destination) { return std::uint64_t{source.value} << 32 | destination.value; }

}  // namespace

LightWindows::LightWindows(const LightTimeline& light, Instant origin) {
  std::vector<const LitWindow*> order;
  order.reserve(light.size());
  for (const LitWindow& lit : light) {
    if (lit.begin < lit.end && lit.rate.bits_per_second > 0) {
      order.push_back(&lit);
    }
  }
  std::sort(order.begin(), order.end(), [](const LitWindow* a, const LitWindow* b) {
    const auto left = key_of(a->source, a->destination);
    const auto right = key_of(b->source, b->destination);
    return left != right ? left < right : a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
  });
  windows_.reserve(order.size());
  for (const LitWindow* lit : order) {
    add(*lit, origin);
  }
}

void LightWindows::add(const LitWindow& lit, Instant origin) {
  Window window{static_cast<double>((lit.begin - origin).count()),
                lit.end == kNever ? kNoLightEver : static_cast<double>((lit.end - origin).count()),
                8e9 / static_cast<double>(lit.rate.bits_per_second)};
  const std::uint64_t key = key_of(lit.source, lit.destination);
  if (pairs_.empty() || pairs_.back().key != key) {
    pairs_.push_back({key, windows_.size(), 1});
    windows_.push_back(window);
    return;
  }
  Window& before = windows_.back();
  window.begin = std::max(window.begin, before.end);
  if (window.begin >= window.end) {
    return;
  }
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
