// SPDX-License-Identifier: Apache-2.0
// Closed forms and the ring's recurrence.
#include "controller/predict/collective_time.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace loom {

LinkTerms link_terms(BitRate rate, Duration latency) {
  LOOM_ASSERT(rate.bits_per_second > 0);
  return {8e9 / static_cast<double>(rate.bits_per_second), static_cast<double>(latency.count())};
}

double busiest_rank_bytes(const Collective& collective, std::uint32_t size) {
  const auto ranks = static_cast<double>(size);
  if (collective.splits.empty()) {
    return static_cast<double>(collective.bytes.count) * (ranks - 1) / ranks;
  }
  std::int64_t most = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    std::int64_t sent = 0;
    std::int64_t received = 0;
    for (std::uint32_t j = 0; j < size; ++j) {
      sent += i == j ? 0 : all_to_all_bytes(collective, size, i, j);
      received += i == j ? 0 : all_to_all_bytes(collective, size, j, i);
    }
    most = std::max({most, sent, received});
  }
  return static_cast<double>(most);
}

double uniform_ns(const Collective& collective, std::uint32_t node_count, LinkTerms link) {
  const CollectivePlan plan = plan_of(collective, node_count);
  const auto bytes = static_cast<double>(collective.kind == CollectiveKind::barrier ? 0 : collective.bytes.count);
  const auto size = static_cast<double>(plan.size);
  const auto steps = static_cast<double>(plan.steps);
  switch (plan.movement) {
    case Movement::nothing:
      return 0;
    case Movement::ring:
      return steps / size * bytes * link.ns_per_byte + steps * link.latency_ns;
    case Movement::chain: {
      const auto pieces = static_cast<double>(plan.pieces);
      return (pieces + size - 2) / pieces * bytes * link.ns_per_byte + (size - 1) * link.latency_ns;
    }
    case Movement::direct:
      return busiest_rank_bytes(collective, plan.size) * link.ns_per_byte + link.latency_ns;
    case Movement::single:
      return bytes * link.ns_per_byte + link.latency_ns;
  }
  return 0;
}

std::vector<double> ring_finishes_ns(std::span<const double> starts, std::span<const double> cost_ns,
                                     std::span<const double> latency_ns, std::uint32_t steps) {
  constexpr std::size_t kBlock = 8;  // a known number of equal turns: compilers make vectors of them
  const std::size_t ranks = starts.size();
  const std::size_t padded = (ranks + kBlock - 1) / kBlock * kBlock;
  std::vector<double> cost(padded, 0);
  std::vector<double> latency(padded, 0);
  std::vector<double> link_free(padded, 0);
  std::vector<double> before(padded + 1, 0);  // entry i: arrived at rank i in the round before
  std::vector<double> arriving(padded + 1, 0);
  std::copy(cost_ns.begin(), cost_ns.end(), cost.begin());
  std::copy(latency_ns.begin(), latency_ns.end(), latency.begin());
  std::copy(starts.begin(), starts.end(), link_free.begin());
  std::copy(starts.begin(), starts.end(), before.begin());
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::size_t block = 0; block < padded; block += kBlock) {
      const double* __restrict received = &before[block];
      const double* __restrict own_cost = &cost[block];
      const double* __restrict own_latency = &latency[block];
      double* __restrict free_at = &link_free[block];
      double* __restrict arrives = &arriving[block + 1];
      for (std::size_t i = 0; i < kBlock; ++i) {
        const double begins = received[i] > free_at[i] ? received[i] : free_at[i];
        free_at[i] = begins + own_cost[i];
        arrives[i] = free_at[i] + own_latency[i];
      }
    }
    arriving[0] = arriving[ranks];
    std::swap(before, arriving);
  }
  std::vector<double> finishes(starts.begin(), starts.end());
  for (std::size_t i = 0; i < ranks && steps > 0; ++i) {
    finishes[i] = std::max(before[i], link_free[i]);
  }
  return finishes;
}

double ring_ns(std::span<const LinkTerms> links, std::uint32_t steps, double chunk_bytes) {
  if (links.empty()) {
    return 0;
  }
  std::vector<double> cost;
  std::vector<double> latency;
  for (const LinkTerms& link : links) {
    cost.push_back(chunk_bytes * link.ns_per_byte);
    latency.push_back(link.latency_ns);
  }
  const std::vector<double> finishes = ring_finishes_ns(std::vector<double>(links.size(), 0), cost, latency, steps);
  return *std::max_element(finishes.begin(), finishes.end());
}

}  // namespace loom
