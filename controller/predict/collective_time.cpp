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

double ring_ns(std::span<const LinkTerms> links, std::uint32_t steps, double chunk_bytes) {
  const std::size_t ranks = links.size();
  if (ranks == 0) {
    return 0;
  }
  std::vector<double> cost(ranks);
  std::vector<double> latency(ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    cost[i] = chunk_bytes * links[i].ns_per_byte;
    latency[i] = links[i].latency_ns;
  }
  std::vector<double> arrived(ranks, 0);  // over link i, in the round before
  std::vector<double> arriving(ranks, 0);
  std::vector<double> link_free(ranks, 0);
  for (std::uint32_t step = 0; step < steps; ++step) {
    double before = arrived[ranks - 1];
    for (std::size_t i = 0; i < ranks; ++i) {
      link_free[i] = std::max(before, link_free[i]) + cost[i];
      arriving[i] = link_free[i] + latency[i];
      before = arrived[i];
    }
    std::swap(arrived, arriving);
  }
  return *std::max_element(arrived.begin(), arrived.end());
}

}  // namespace loom
