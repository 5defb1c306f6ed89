// SPDX-License-Identifier: Apache-2.0
// How long one collective takes: closed forms where all links are alike, a dependency recurrence where every link has a rate
// and latency of its own. The two agree where both apply. Nanoseconds as doubles: chunks are fractions of bytes here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "controller/workload/import/flows.hpp"
#include "core/demand.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

struct LinkTerms {
  double ns_per_byte = 0;
  double latency_ns = 0;
};

LinkTerms link_terms(BitRate rate, Duration latency);

/// Bytes of the rank that sends or receives most in an all-to-all, its own share not counted.
double busiest_rank_bytes(const Collective& collective, std::uint32_t size);

/// One repetition of `collective` over uniform links that it has to itself; a node sends and receives at once, at most one
/// rate's worth each. O(1), but O(n^2) for uneven splits. Ring all-reduce: 2(n-1)/n S/B + 2(n-1) latency (Patarasuk and Yuan
/// 2009).
double uniform_ns(const Collective& collective, std::uint32_t node_count, LinkTerms link);

/// A ring of links.size() ranks, link i from rank i to the next, `steps` rounds of `chunk_bytes` each: a rank sends in round
/// s what arrived in round s-1, one chunk after the other on its link. O(steps x ranks) time, O(ranks) memory.
double ring_ns(std::span<const LinkTerms> links, std::uint32_t steps, double chunk_bytes);

/// The same for ranks that start at `starts`, ring order; entry i of `cost_ns` and `latency_ns` is the link from rank i on.
/// Returns when each rank has sent and received everything, ring order.
std::vector<double> ring_finishes_ns(std::span<const double> starts, std::span<const double> cost_ns,
                                     std::span<const double> latency_ns, std::uint32_t steps);

}  // namespace loom
