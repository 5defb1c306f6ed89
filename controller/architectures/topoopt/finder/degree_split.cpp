// SPDX-License-Identifier: Apache-2.0
// Shares of links, rounded as each variant rounds.
#include "controller/architectures/topoopt/finder/degree_split.hpp"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

std::uint32_t whole(double links, std::uint32_t most) {
  return static_cast<std::uint32_t>(std::clamp(links, 0.0, static_cast<double>(most)));
}

}  // namespace

DegreeShares split_degree(DegreeSplit how, std::uint32_t degree, double ring_traffic, double pair_traffic,
                          RingDirections directions) {
  const std::uint32_t ring = links_of_ring(directions);
  const double all = ring_traffic + pair_traffic;
  if (how == DegreeSplit::as_in_code_release || !(all > 0)) {
    return {degree, 0};
  }
  DegreeShares shares;
  if (how == DegreeSplit::as_in_paper) {
    shares.rings = std::max(1U, whole(std::ceil(degree * (ring_traffic / all)), degree));
    shares.pairs = degree;
  } else {
    shares.rings = whole(static_cast<double>(std::lround(ring_traffic / all * degree)), degree);
    shares.pairs = whole(static_cast<double>(std::lround(pair_traffic / all * degree)), degree - shares.rings);
  }
  if (shares.rings % ring != 0) {
    shares.rings += shares.rings < degree ? 1 : -1;
  }
  shares.rings = std::max(shares.rings, ring);
  shares.pairs = std::min(shares.pairs, degree - shares.rings);
  return shares;
}

std::vector<RingClass> share_rings(RingShare how, std::uint32_t nodes, std::uint32_t links, std::vector<RingClass> classes,
                                   RingDirections directions) {
  const std::uint32_t of_ring = links_of_ring(directions);
  std::uint32_t left = links / of_ring;
  double all = 0;
  for (const RingClass& each : classes) {
    all += each.traffic;
  }
  std::sort(classes.begin(), classes.end(), [](const RingClass& a, const RingClass& b) {
    return a.traffic != b.traffic ? a.traffic > b.traffic : a.size > b.size;
  });
  for (RingClass& each : classes) {
    const double ratio = how == RingShare::as_in_paper ? each.traffic / all : all / each.traffic;
    const double wanted = each.traffic > 0 ? std::ceil(std::ceil(links * ratio) / of_ring) : 0;
    each.rings = whole(wanted, left);
    left -= each.rings;
  }
  auto whole_job = std::find_if(classes.begin(), classes.end(), [&](const RingClass& each) { return each.size == nodes; });
  if (whole_job == classes.end()) {
    whole_job = classes.insert(classes.end(), {nodes, 0, 0});
  }
  whole_job->rings += left;
  if (whole_job->rings == 0) {
    const auto last = std::find_if(classes.rbegin(), classes.rend(), [](const RingClass& each) { return each.rings > 0; });
    --last->rings;
    whole_job->rings = 1;
  }
  return classes;
}

}  // namespace loom
