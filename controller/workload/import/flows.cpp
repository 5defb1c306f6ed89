// SPDX-License-Identifier: Apache-2.0
// Which algorithm carries which collective. Rings: Patarasuk and Yuan 2009 (bandwidth-optimal all-reduce).
#include "controller/workload/import/flows.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// A pipeline's piece; NCCL slices its broadcasts to the same order of size.
constexpr std::int64_t kPieceBytes = 65'536;
constexpr std::int64_t kPiecesMax = 4'096;
/// 35 TB a buffer and so many repetitions: sums over 65,536 ranks stay within 64 bits.
constexpr std::int64_t kBytesMax = std::int64_t{1} << 45;
constexpr std::uint32_t kCountMax = 65'536;

/// A ring's step s sends chunk (i - s) mod n; reduce-scatter and all-gather each leave one chunk out per link.
std::int64_t ring_bytes(const Collective& collective, std::uint32_t size, std::uint32_t position) {
  const std::int64_t total = collective.bytes.count;
  const auto left_out = [&](std::uint32_t offset) { return part_of(total, size, (position + offset) % size); };
  switch (collective.kind) {
    case CollectiveKind::all_reduce:
      return 2 * total - left_out(1) - left_out(2);
    case CollectiveKind::all_gather:
      return total - left_out(2);
    case CollectiveKind::reduce_scatter:
      return total - left_out(1);
    default:
      return 0;
  }
}

}  // namespace

CollectivePlan plan_of(const Collective& collective, std::uint32_t node_count) {
  const auto size = collective.ranks.empty() ? node_count : static_cast<std::uint32_t>(collective.ranks.size());
  if (size < 2) {
    return {Movement::nothing, size, 0, 1};
  }
  switch (collective.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::barrier:
      return {Movement::ring, size, 2 * (size - 1), 1};
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return {Movement::ring, size, size - 1, 1};
    case CollectiveKind::all_to_all:
      return {Movement::direct, size, 1, 1};
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return {Movement::chain, size, size - 1,
              static_cast<std::uint32_t>(std::clamp<std::int64_t>(collective.bytes.count / kPieceBytes, 1, kPiecesMax))};
    case CollectiveKind::point_to_point:
      return {Movement::single, size, 1, 1};
  }
  return {};
}

std::vector<std::uint32_t> ranks_of(const Collective& collective, std::uint32_t node_count) {
  if (!collective.ranks.empty()) {
    return collective.ranks;
  }
  std::vector<std::uint32_t> all(node_count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

std::int64_t all_to_all_bytes(const Collective& collective, std::uint32_t size, std::uint32_t i, std::uint32_t j) {
  if (!collective.splits.empty()) {
    return collective.splits[std::size_t{i} * size + j].count;
  }
  return part_of(collective.bytes.count, size, j);
}

std::vector<Flow> flows_of(const Collective& collective, std::uint32_t node_count) {
  const CollectivePlan plan = plan_of(collective, node_count);
  const std::vector<std::uint32_t> ranks = ranks_of(collective, node_count);
  std::vector<Flow> flows;
  const auto add = [&](std::uint32_t i, std::uint32_t j, std::int64_t bytes) {
    if (i != j && bytes > 0) {
      flows.push_back({ranks[i], ranks[j], bytes});
    }
  };
  switch (plan.movement) {
    case Movement::nothing:
      break;
    case Movement::ring:
      for (std::uint32_t i = 0; i < plan.size; ++i) {
        add(i, (i + 1) % plan.size, ring_bytes(collective, plan.size, i));
      }
      break;
    case Movement::chain:
      for (std::uint32_t i = 0; i + 1 < plan.size; ++i) {
        const std::uint32_t first = collective.kind == CollectiveKind::reduce ? i + 1 : i;
        add(first, (first + 1) % plan.size, collective.bytes.count);
      }
      break;
    case Movement::direct:
      for (std::uint32_t i = 0; i < plan.size; ++i) {
        for (std::uint32_t j = 0; j < plan.size; ++j) {
          add(i, j, all_to_all_bytes(collective, plan.size, i, j));
        }
      }
      break;
    case Movement::single:
      add(0, 1, collective.bytes.count);
      break;
  }
  std::sort(flows.begin(), flows.end(), [](const Flow& a, const Flow& b) {
    return a.source != b.source ? a.source < b.source : a.destination < b.destination;
  });
  return flows;
}

std::string fault_of(const Collective& collective, std::uint32_t node_count) {
  const std::string what{to_string(collective.kind)};
  if (collective.bytes.count < 0 || collective.bytes.count > kBytesMax) {
    return format_text("{} of {} bytes: outside 0 .. {}", what, collective.bytes.count, kBytesMax);
  }
  if (collective.count < 1 || collective.count > kCountMax) {
    return format_text("{} {} times: outside 1 .. {}", what, collective.count, kCountMax);
  }
  std::vector<std::uint32_t> sorted = collective.ranks;
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.back() >= node_count) {
    return format_text("{}: rank {} of {}", what, sorted.back(), node_count);
  }
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return what + ": a rank takes part twice";
  }
  const std::size_t size = sorted.empty() ? node_count : sorted.size();
  if (collective.kind == CollectiveKind::point_to_point && size != 2) {
    return format_text("{}: needs two ranks, has {}", what, size);
  }
  if (!collective.splits.empty()) {
    if (collective.kind != CollectiveKind::all_to_all || collective.splits.size() != size * size) {
      return format_text("{}: {} splits among {} ranks", what, collective.splits.size(), size);
    }
    if (std::any_of(collective.splits.begin(), collective.splits.end(),
                    [](Bytes split) { return split.count < 0 || split.count > kBytesMax; })) {
      return format_text("{}: a split outside 0 .. {} bytes", what, kBytesMax);
    }
  }
  return {};
}

}  // namespace loom
