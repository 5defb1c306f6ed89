// SPDX-License-Identifier: Apache-2.0
// Random networks and task graphs for the properties of the predictor; the generator decides everything.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "controller/architectures/electrical/expander.hpp"
#include "controller/architectures/electrical/fat_tree.hpp"
#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/networks/direct_connect.hpp"
#include "controller/workload/task_graph.hpp"

namespace loom::random_graphs {

inline std::uint32_t below(std::mt19937& chance, std::size_t limit) { return static_cast<std::uint32_t>(chance() % limit); }

inline Network random_network(std::mt19937& chance, std::uint32_t nodes) {
  const NetworkTerms terms{.nodes = nodes, .rate = gigabits(8), .link_latency = Duration{below(chance, 3) * 500}};
  switch (below(chance, 6)) {
    case 0: {
      std::vector<BitRate> rates;
      for (std::uint32_t i = 0; i < nodes; ++i) {
        rates.push_back(gigabits(1 + below(chance, 9)));
      }
      return *make_uneven_switch(terms, rates);
    }
    case 1:
      return *make_fat_tree(terms, {.oversubscription = 1.0 + below(chance, 3), .seed = chance()});
    case 2:
      return *make_ring(terms);
    case 3:
      return *make_jump_rings(terms, {.jumps = {1, 3}, .ways = 1 + below(chance, 2)});
    case 4:
      return *make_expander(terms, {.degree = 4, .seed = chance(), .routing = {.ways = 1 + below(chance, 3), .longer = 1}});
    default:
      return *make_ideal_switch(terms);
  }
}

inline CollectiveChoice random_choice(std::mt19937& chance, CollectiveKind kind) {
  if (kind != CollectiveKind::all_reduce) {
    return {};
  }
  switch (below(chance, 4)) {
    case 0:
      return {.algorithm = CollectiveAlgorithm::bidirectional_ring};
    case 1:
      return {.algorithm = CollectiveAlgorithm::halving_doubling};
    case 2:
      return {.algorithm = CollectiveAlgorithm::tree};
    default:
      return {};
  }
}

inline TaskGraph random_graph(std::mt19937& chance, std::uint32_t nodes) {
  TaskGraphBuilder made{"random", nodes};
  std::vector<std::uint32_t> all(nodes);
  std::iota(all.begin(), all.end(), 0U);
  made.graph().node_of_worker = all;
  made.graph().dependence = below(chance, 4) == 0 ? Dependence::whole : Dependence::by_node;
  const std::uint32_t tasks = 2 + below(chance, 12);
  for (std::uint32_t task = 0; task < tasks; ++task) {
    std::vector<std::uint32_t> members = all;
    std::shuffle(members.begin(), members.end(), chance);
    const bool is_all = below(chance, 2) == 0;
    if (below(chance, 2) == 0) {
      members.resize(is_all ? nodes : 1 + below(chance, nodes));
      made.compute("work", made.family(is_all ? all : members, 1), Duration{below(chance, 4) * 20'000});
    } else {
      static constexpr std::array kKinds{CollectiveKind::all_reduce, CollectiveKind::all_reduce, CollectiveKind::all_to_all,
                                         CollectiveKind::all_gather, CollectiveKind::point_to_point};
      const CollectiveKind kind = kKinds[below(chance, kKinds.size())];
      const std::uint32_t size = kind == CollectiveKind::point_to_point ? 2 : is_all ? nodes : 2 + below(chance, nodes - 1);
      members.resize(nodes / size * size);
      made.communicate("move", made.family(is_all && size == nodes ? all : members, size), kind,
                       Bytes{1 + below(chance, 100'000)}, made.choice(random_choice(chance, kind)),
                       static_cast<std::uint8_t>(below(chance, 3)));
    }
    for (std::uint32_t before = 0; before < task; ++before) {
      if (below(chance, 3) == 0) {
        made.edge(before, task);
      }
    }
  }
  auto graph = std::move(made).build();
  REQUIRE(graph);
  return *graph;
}

/// Collectives among all nodes, each as soon as a step of compute on all of them ends, so that many run at once and all nodes
/// do the same; now and then a transfer between two nodes, or an all-reduce of some, disturbs them.
inline TaskGraph random_steps(std::mt19937& chance, std::uint32_t nodes, bool is_disturbed) {
  TaskGraphBuilder made{"steps", nodes};
  std::vector<std::uint32_t> all(nodes);
  std::iota(all.begin(), all.end(), 0U);
  made.graph().node_of_worker = all;
  const std::uint32_t family = made.family(all, nodes);
  const std::uint32_t workers = made.family(all, 1);
  const bool is_alike = below(chance, 2) == 0;
  const std::uint32_t steps = 2 + below(chance, 7);
  std::uint32_t last = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint32_t work = made.compute("work", workers, Duration{below(chance, 4) * 7'000});
    if (step > 0) {
      made.edge(last, work);
    }
    last = work;
    static constexpr std::array kKinds{CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all};
    const CollectiveKind kind = is_alike ? CollectiveKind::all_reduce : kKinds[below(chance, kKinds.size())];
    const CollectiveChoice choice =
        is_alike ? CollectiveChoice{.algorithm = CollectiveAlgorithm::ring, .strides = {}} : random_choice(chance, kind);
    const std::uint32_t reduce =
        made.communicate("all", family, kind, Bytes{1 + below(chance, 400'000)}, made.choice(choice), 0);
    made.edge(work, reduce);
    if (is_disturbed && below(chance, 4) == 0) {
      std::vector<std::uint32_t> some = all;
      std::shuffle(some.begin(), some.end(), chance);
      some.resize(2 + below(chance, nodes - 2));
      const bool is_pair = below(chance, 2) == 0;
      some.resize(is_pair ? 2 : some.size());
      const std::uint32_t other = made.communicate("some", made.family(some, static_cast<std::uint32_t>(some.size())),
                                                   is_pair ? CollectiveKind::point_to_point : CollectiveKind::all_reduce,
                                                   Bytes{1 + below(chance, 50'000)}, made.choice({}), 0);
      const std::uint32_t before = made.compute("other", workers, Duration{below(chance, 9'000)});
      made.edge(work, before);
      made.edge(before, other);
    }
  }
  auto graph = std::move(made).build();
  REQUIRE(graph);
  return *graph;
}

}  // namespace loom::random_graphs
