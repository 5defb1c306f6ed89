// SPDX-License-Identifier: Apache-2.0
// Binaries, their limits, and the climb.
#include "tests/oracle/switch_oracle.hpp"

#include <algorithm>
#include <set>

#include "tests/oracle/programme.hpp"

namespace loom {
namespace {

/// Columns of pair p on medium m: one a medium that may serve it.
using Columns = std::vector<std::vector<int>>;

template <class Build>
std::optional<double> max_min(std::uint32_t media, const std::vector<SwitchPair>& pairs, double seconds, const Build& build) {
  double largest = 0;
  for (const SwitchPair& pair : pairs) {
    largest = std::max(largest, static_cast<double>(pair.demand));
  }
  std::set<double> levels;
  for (const SwitchPair& pair : pairs) {
    for (std::uint32_t count = 1; count <= media; ++count) {
      levels.insert(count * largest / static_cast<double>(pair.demand));
    }
  }
  double best = 0;
  const bool is_proven = climb(std::vector<double>(levels.begin(), levels.end()), [&](double level) {
    Programme programme;
    const Columns columns = build(programme);
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      programme.add_limit(columns[pair], 'G', std::ceil(level * static_cast<double>(pairs[pair].demand) / largest - 1e-9));
    }
    const Programme::Answer answer = programme.solve(seconds);
    best = answer == Programme::Answer::fits ? std::max(best, level) : best;
    return answer;
  });
  return is_proven ? std::optional<double>(best) : std::nullopt;
}

}  // namespace

std::optional<double> switch_optimum(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs,
                                     double seconds) {
  return max_min(switches, pairs, seconds, [&](Programme& programme) {
    Columns columns(pairs.size());
    for (std::uint32_t on = 0; on < switches; ++on) {
      Columns ports(2 * std::size_t{nodes});  // senders, then receivers
      for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
        const int column = programme.add_count(1);
        columns[pair].push_back(column);
        ports[pairs[pair].source].push_back(column);
        ports[nodes + pairs[pair].destination].push_back(column);
      }
      for (const std::vector<int>& port : ports) {
        programme.add_limit(port, 'L', 1);
      }
    }
    return columns;
  });
}

std::optional<double> shared_wavelength_optimum(std::uint32_t wavelengths, const std::vector<SwitchPair>& pairs,
                                                double seconds) {
  return max_min(wavelengths, pairs, seconds, [&](Programme& programme) {
    Columns columns(pairs.size());
    for (std::uint32_t wave = 0; wave < wavelengths; ++wave) {
      std::vector<int> sharing;
      for (std::vector<int>& own : columns) {
        own.push_back(programme.add_count(1));
        sharing.push_back(own.back());
      }
      programme.add_limit(sharing, 'L', 1);
    }
    return columns;
  });
}

}  // namespace loom
