// SPDX-License-Identifier: Apache-2.0
// A made-up model and its made-up times, small enough to search in a test.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "controller/architectures/topoopt/search/alternating.hpp"

namespace loom {

inline constexpr std::uint32_t kTowerNodes = 8;

/// Four towers of three wide layers, joined, and two layers above: where each tower is alone decides how much is all-reduced.
inline SearchProblem towers() {
  SearchProblem problem;
  OpGraph& graph = problem.graph;
  graph = {"towers", kTowerNodes, 512, {}};
  std::vector<std::uint32_t> tops;
  for (int tower = 0; tower < 4; ++tower) {
    for (std::uint32_t layer = 0; layer < 3; ++layer) {
      const auto op = static_cast<std::uint32_t>(graph.operators.size());
      graph.operators.push_back(
          {"wide", {256}, layer == 0 ? std::vector<std::uint32_t>{} : std::vector{op - 1}, {{200'000'000}}});
    }
    tops.push_back(static_cast<std::uint32_t>(graph.operators.size() - 1));
  }
  graph.operators.push_back({"joined", {1024}, tops, {}});
  graph.operators.push_back({"wide", {256}, {12}, {{200'000'000}}});
  graph.operators.push_back({"last", {1}, {13}, {{1024}}});
  Measures measures{"made up", 512, kTowerNodes, {}};
  for (const std::uint32_t parts : {1U, 2U, 4U, 8U}) {
    for (const auto& [name, us] : {std::pair{"wide", 8000}, std::pair{"joined", 800}, std::pair{"last", 80}}) {
      measures.entries.push_back(
          {name, {1, parts}, std::chrono::microseconds{us / parts}, std::chrono::microseconds{2 * us / parts}, {}});
    }
  }
  problem.times = *times_of(graph, measures);
  problem.terms.nodes = kTowerNodes;
  problem.terms.rate = gigabits(100);
  problem.terms.link_latency = std::chrono::microseconds{1};
  return problem;
}

}  // namespace loom
