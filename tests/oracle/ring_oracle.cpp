// SPDX-License-Identifier: Apache-2.0
// Level by level: is there an allocation that gives every pair so much?
#include "tests/oracle/ring_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/result.hpp"
#include "tests/oracle/programme.hpp"

namespace loom {
namespace {

using ArcSet = std::set<std::uint32_t>;  ///< pairs whose arcs are disjoint

/// Every largest set of pairs that one wavelength of this direction can carry.
std::vector<ArcSet> patterns_of(std::uint32_t nodes, RingDirection direction, const std::vector<RingPair>& pairs) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> index;
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    index[{pairs[i].source, pairs[i].destination}] = i;
  }
  std::set<ArcSet> found;
  for (std::uint32_t mask = 0; mask < 1U << nodes; ++mask) {
    std::vector<std::uint32_t> stops;
    for (std::uint32_t node = 0; node < nodes; ++node) {
      if ((mask >> node & 1) != 0) {
        stops.push_back(node);
      }
    }
    ArcSet arcs;
    for (std::size_t i = 0; stops.size() > 1 && i < stops.size(); ++i) {
      const std::uint32_t here = stops[i];
      const std::uint32_t next = stops[(i + 1) % stops.size()];
      const auto pair = direction == RingDirection::clockwise ? index.find({here, next}) : index.find({next, here});
      if (pair != index.end()) {
        arcs.insert(pair->second);
      }
    }
    found.insert(std::move(arcs));
  }
  std::vector<ArcSet> largest;
  for (const ArcSet& each : found) {
    const bool is_part = std::any_of(found.begin(), found.end(), [&](const ArcSet& other) {
      return other.size() > each.size() && std::includes(other.begin(), other.end(), each.begin(), each.end());
    });
    if (!is_part && !each.empty()) {
      largest.push_back(each);
    }
  }
  return largest;
}

/// Which pairs a column serves.
using Columns = std::vector<std::pair<int, std::uint32_t>>;

Columns bound_loads(Programme& programme, std::uint32_t nodes, const std::vector<RingBus>& buses,
                    const std::vector<RingPair>& pairs) {
  Columns columns;
  for (const RingBus& bus : buses) {
    std::vector<std::vector<int>> crossing(nodes);
    for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) {
      const int column = programme.add_count(bus.channels);
      columns.emplace_back(column, pair);
      const RingArc way = arc_of(nodes, bus.direction, pairs[pair].source, pairs[pair].destination);
      for (std::uint32_t i = 0; i < way.length; ++i) {
        crossing[(way.first + i) % nodes].push_back(column);
      }
    }
    for (const std::vector<int>& segment : crossing) {
      programme.add_limit(segment, 'L', bus.channels);
    }
  }
  return columns;
}

Columns choose_patterns(Programme& programme, std::uint32_t nodes, const std::vector<RingBus>& buses,
                        const std::vector<RingPair>& pairs) {
  Columns columns;
  for (const RingDirection direction : {RingDirection::clockwise, RingDirection::counter_clockwise}) {
    double channels = 0;
    for (const RingBus& bus : buses) {
      channels += bus.direction == direction ? bus.channels : 0;
    }
    std::vector<int> all;
    for (const ArcSet& pattern : patterns_of(nodes, direction, pairs)) {
      all.push_back(programme.add_count(channels));
      for (const std::uint32_t pair : pattern) {
        columns.emplace_back(all.back(), pair);
      }
    }
    programme.add_limit(all, 'L', channels);
  }
  return columns;
}

/// How many wavelengths a level of `worst` asks of a pair.
double need(double worst, double demand, double largest) { return std::ceil(worst * demand / largest - 1e-9); }

}  // namespace

std::optional<RingOptimum> ring_optimum(std::uint32_t nodes, const std::vector<RingBus>& buses,
                                        const std::vector<RingPair>& pairs, WavelengthSense sense, double seconds) {
  LOOM_ASSERT(nodes <= 12);
  RingOptimum optimum{0, std::vector<std::uint32_t>(pairs.size())};
  double largest = 0;
  std::uint32_t channels = 0;
  for (const RingPair& pair : pairs) {
    largest = std::max(largest, pair.demand);
  }
  for (const RingBus& bus : buses) {
    channels += bus.channels;
  }
  std::set<double> levels;  // those that some pair can have
  for (const RingPair& pair : pairs) {
    for (std::uint32_t count = 1; count <= channels; ++count) {
      levels.insert(count * largest / pair.demand);
    }
  }
  const std::vector<double> rising(levels.begin(), levels.end());
  const bool is_proven = climb(rising, [&](double level) {
    Programme programme;
    const Columns columns = sense == WavelengthSense::as_in_code ? bound_loads(programme, nodes, buses, pairs)
                                                                 : choose_patterns(programme, nodes, buses, pairs);
    for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) {
      std::vector<int> serving;
      for (const auto& [column, serves] : columns) {
        if (serves == pair) {
          serving.push_back(column);
        }
      }
      programme.add_limit(serving, 'G', need(level, pairs[pair].demand, largest));
    }
    const Programme::Answer answer = programme.solve(seconds);
    if (answer == Programme::Answer::fits) {
      optimum.served.assign(pairs.size(), 0);
      for (const auto& [column, serves] : columns) {
        optimum.served[serves] += programme.value(column);
      }
    }
    return answer;
  });
  if (!is_proven) {
    return std::nullopt;
  }
  optimum.worst = worst_served(pairs, optimum.served);
  return optimum;
}

}  // namespace loom
