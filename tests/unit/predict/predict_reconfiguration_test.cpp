// SPDX-License-Identifier: Apache-2.0
// Light that comes and goes: duty cycles, rotors, what stays lit, and where every byte went. Analytic invariants of T19.
#include <catch2/catch.hpp>
#include <numeric>
#include <optional>

#include "controller/architectures/ocs_reconfig/greedy_degree.hpp"
#include "controller/predict/networks/direct_connect.hpp"
#include "controller/predict/networks/matchings.hpp"
#include "controller/predict/predict_graph.hpp"

namespace loom {
namespace {

/// A byte a nanosecond, no latency.
NetworkTerms terms(std::uint32_t nodes) { return {.nodes = nodes, .rate = gigabits(8)}; }

std::vector<std::uint32_t> all(std::uint32_t nodes) {
  std::vector<std::uint32_t> ids(nodes);
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

TaskGraph all_to_all(std::uint32_t nodes, std::int64_t bytes_a_pair) {
  TaskGraphBuilder made{"all to all", nodes};
  made.communicate("exchange", made.family(all(nodes), nodes), CollectiveKind::all_to_all, Bytes{bytes_a_pair * nodes},
                   made.choice({}), 0);
  return *std::move(made).build();
}

TaskGraph sends(std::uint32_t nodes, const std::vector<NodePair>& pairs, std::int64_t bytes) {
  TaskGraphBuilder made{"sends", nodes};
  for (const auto& [source, destination] : pairs) {
    const std::vector<std::uint32_t> pair{source, destination};
    made.communicate("send", made.family(pair, 2), CollectiveKind::point_to_point, Bytes{bytes}, made.choice({}), 0);
  }
  return *std::move(made).build();
}

struct Played {
  double iteration = 0;
  double carried = 0;
  double dark_most = 0;
  double dark_least = 0;
  std::uint32_t changes = 0;
};

Played play(const TaskGraph& graph, const Network& network, Reconfiguration changing) {
  auto predictor = Predictor::make(graph, network, {});
  REQUIRE(predictor);
  const auto time = predictor->run(&changing);
  INFO((time ? "" : time.error().message));
  REQUIRE(time);
  const std::vector<double> carried = predictor->carried();
  Played played{*time, std::accumulate(carried.begin(), carried.end(), 0.0), 0, 1e300, changing.changes()};
  for (const double dark : changing.dark_ns()) {
    played.dark_most = std::max(played.dark_most, dark);
    played.dark_least = std::min(played.dark_least, dark);
  }
  return played;
}

TopologyPolicy always(const Network& network) {
  return [network](double, std::span<const Transfers::Left>) -> Result<Network> { return network; };
}

TEST_CASE("a_rotor_carries_an_all_to_all_in_one_cycle_of_n_minus_1_matchings") {
  for (const std::uint32_t nodes : {3U, 4U, 9U}) {
    const TaskGraph graph = all_to_all(nodes, 10'000);
    const auto cycle = rotor_cycle(nodes);
    const auto first = make_matchings(terms(nodes), std::span{cycle.data(), 1});
    REQUIRE(first);
    auto changing =
        Reconfiguration::make({.live = Duration{10'000}, .dark = Duration{700}}, *first, cycle_policy(terms(nodes), cycle));
    REQUIRE(changing);
    const Played played = play(graph, *first, std::move(*changing));
    CHECK(played.iteration == Approx((nodes - 1) * 10'000.0 + (nodes - 2) * 700.0).epsilon(1e-12));
    CHECK(played.changes == nodes - 2);
    CHECK(played.carried == Approx(nodes * (nodes - 1) * 10'000.0).epsilon(1e-12));
    CHECK(played.dark_most == Approx((nodes - 2) * 700.0));
  }
}

TEST_CASE("a_circuit_that_stops_for_every_change_has_the_duty_cycle_of_its_slots") {
  // Mordia: T lit, delta dark: throughput B T / (T + delta). SiP-ML's 100 us and 20 us: 5/6.
  const auto circuit = make_matchings(terms(2), std::vector<Matching>{{1, 0}});
  const TaskGraph graph = sends(2, {{0, 1}}, 1'000'000);
  auto changing = Reconfiguration::make(periodic_terms(std::chrono::microseconds{100}, std::chrono::microseconds{20}), *circuit,
                                        always(*circuit));
  const Played played = play(graph, *circuit, std::move(*changing));
  CHECK(played.iteration == Approx(10 * 100e3 + 9 * 20e3).epsilon(1e-12));
  CHECK(played.dark_most == Approx(9 * 20e3));
  CHECK(played.carried == Approx(1e6));
}

TEST_CASE("only_circuits_that_change_go_dark_when_not_all_stops") {
  const auto before = make_matchings(terms(4), std::vector<Matching>{{1, 0, 3, 2}});
  const auto after = make_matchings(terms(4), std::vector<Matching>{{1, 0, kIdlePort, kIdlePort}});
  const TaskGraph graph = sends(4, {{0, 1}}, 1'000'000);
  auto changing =
      Reconfiguration::make({.live = Duration{100'000}, .dark = Duration{20'000}, .all_stop = false}, *before, always(*after));
  const Played played = play(graph, *before, std::move(*changing));
  CHECK(played.iteration == Approx(1e6).epsilon(1e-12));  // never interrupted
  CHECK(played.dark_most == Approx(20e3));                // nodes 2 and 3, once; afterwards nothing changes
  CHECK(played.dark_least == 0);
}

TEST_CASE("a_period_is_live_drain_dark_link_up_in_this_order") {
  const auto circuit = make_matchings(terms(2), std::vector<Matching>{{1, 0}});
  auto machine =
      Reconfiguration::make({.live = Duration{400}, .drain = Duration{30}, .dark = Duration{100}, .link_up = Duration{7}},
                            *circuit, always(*circuit));
  REQUIRE(machine);
  std::vector<std::pair<double, LightPhase>> seen;
  for (int i = 0; i < 5; ++i) {
    const double at = machine->next();
    REQUIRE(machine->step(at, {}));
    seen.emplace_back(at, machine->phase());
  }
  CHECK(seen == std::vector<std::pair<double, LightPhase>>{{400, LightPhase::drain},
                                                           {430, LightPhase::dark},
                                                           {530, LightPhase::link_up},
                                                           {537, LightPhase::live},
                                                           {937, LightPhase::drain}});
  CHECK(machine->dark_ns() == std::vector<double>{107, 107});
  const ReconfigurationTerms ocs = ocs_reconfig_terms(std::chrono::milliseconds{10});
  CHECK(ocs.live + ocs.dark == std::chrono::milliseconds{50});  // demand is looked at every 5 delays
}

TEST_CASE("when_it_was_dark_is_kept_and_what_is_dark_at_the_end_counts_until_then") {
  const auto before = make_matchings(terms(4), std::vector<Matching>{{1, 0, 3, 2}});
  const auto after = make_matchings(terms(4), std::vector<Matching>{{1, 0, kIdlePort, kIdlePort}});
  bool is_after = false;
  const auto in_turns = [&](double, std::span<const Transfers::Left>) {
    is_after = !is_after;
    return Result<Network>(is_after ? *after : *before);
  };
  auto some = Reconfiguration::make({.live = Duration{400}, .dark = Duration{100}, .link_up = Duration{7}, .all_stop = false},
                                    *before, in_turns);
  auto all = Reconfiguration::make({.live = Duration{400}, .dark = Duration{100}}, *before, always(*before));
  REQUIRE(some);
  REQUIRE(all);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(some->step(some->next(), {}));
    REQUIRE(all->step(all->next(), {}));
  }
  some->end(950);
  all->end(950);
  const auto spans_of = [](const Reconfiguration& machine) {
    std::vector<std::tuple<double, double, std::vector<std::uint32_t>>> spans;
    for (const DarkSpan& span : machine.dark_spans()) {
      spans.emplace_back(span.from, span.to, span.nodes);
    }
    return spans;
  };
  using Spans = std::vector<std::tuple<double, double, std::vector<std::uint32_t>>>;
  CHECK(spans_of(*some) == Spans{{400, 507, {2, 3}}, {907, 950, {2, 3}}});
  CHECK(some->dark_ns() == std::vector<double>{0, 0, 150, 150});
  CHECK(spans_of(*all) == Spans{{400, 500, {}}, {900, 950, {}}});
  CHECK(all->dark_ns() == std::vector<double>{150, 150, 150, 150});
  CHECK_FALSE(all->forgot_dark());
}

TEST_CASE("what_is_under_way_drains_and_what_is_new_waits") {
  const auto circuit = make_matchings(terms(2), std::vector<Matching>{{1, 0}});
  TaskGraphBuilder made{"late", 2};
  made.graph().node_of_worker = all(2);
  const std::vector<std::uint32_t> pair{0, 1};
  const std::vector<std::uint32_t> one{0};
  const std::uint32_t family = made.family(pair, 2);
  const std::uint32_t early = made.communicate("early", family, CollectiveKind::point_to_point, Bytes{420}, made.choice({}), 0);
  const std::uint32_t work = made.compute("work", made.family(one, 1), Duration{410});
  const std::uint32_t late = made.communicate("late", family, CollectiveKind::point_to_point, Bytes{50}, made.choice({}), 0);
  made.edge(work, late);
  const auto graph = std::move(made).build();
  REQUIRE(graph);
  auto changing =
      Reconfiguration::make({.live = Duration{400}, .drain = Duration{30}, .dark = Duration{100}}, *circuit, always(*circuit));
  auto predictor = Predictor::make(*graph, *circuit, {});
  const auto time = predictor->run(&*changing);
  REQUIRE(time);
  CHECK(predictor->parts()[predictor->first_part()[early] + 1].finish == Approx(420));
  CHECK(predictor->parts()[predictor->first_part()[late] + 1].finish == Approx(580));
}

TEST_CASE("ocs_reconfig_serves_its_largest_demands_and_conserves_bytes") {
  const std::uint32_t nodes = 6;
  const TaskGraph graph = all_to_all(nodes, 50'000);
  for (const bool is_forwarded : {false, true}) {
    const TopologyPolicy policy = greedy_degree_policy(terms(nodes), 2, is_forwarded);
    const auto first = greedy_degree_policy(terms(nodes), 2, is_forwarded)(0, {});
    REQUIRE(first);
    auto changing = Reconfiguration::make(ocs_reconfig_terms(Duration{10'000}), *first, policy);
    const Played played = play(graph, *first, std::move(*changing));
    const double bytes = nodes * (nodes - 1) * 50'000.0;
    if (is_forwarded) {
      CHECK(played.carried > bytes);  // the bandwidth tax
    } else {
      CHECK(played.carried == Approx(bytes).epsilon(1e-9));
    }
    CHECK(played.iteration > 5 * 50'000 / 2.0);  // two links a node
    CHECK(played.iteration < 40 * 50'000.0);
  }
}

TEST_CASE("components_that_greedy_links_leave_apart_are_joined_by_exchanging_ends") {
  // Two groups of four that talk among themselves alone, three links a node: greedy leaves no link between them.
  std::vector<Transfers::Left> queued;
  for (std::uint32_t i = 0; i < 8; ++i) {
    for (std::uint32_t k = i + 1; k < i / 4 * 4 + 4; ++k) {
      queued.push_back({i, k, 0, 0, 1e6});
    }
  }
  const auto network = greedy_degree_policy(terms(8), 3, true)(0, queued);
  REQUIRE(network);
  std::uint32_t ways = 0;
  for_each_path(*network, 0, 7, 0, [&](std::span<const std::uint32_t>, double) { ++ways; });
  CHECK(ways == 1);
  std::vector<std::uint32_t> links(8, 0);
  for (const NetworkLink& link : network->links) {
    links[link.from] += static_cast<std::uint32_t>(std::lround(link.bytes_per_ns / bytes_per_ns(terms(8))));
  }
  CHECK(links == std::vector<std::uint32_t>(8, 3));
}

/// Hops to the farthest node from node 0; no value: somebody is not reached.
std::optional<std::uint32_t> farthest(const Network& network, std::uint32_t nodes) {
  std::vector<std::uint32_t> hops(nodes, nodes);
  std::vector<std::uint32_t> queue{0};
  hops[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const NetworkLink& link : network.links) {
      if (link.from == queue[i] && hops[link.to] == nodes) {
        hops[link.to] = hops[queue[i]] + 1;
        queue.push_back(link.to);
      }
    }
  }
  return queue.size() == nodes ? std::optional{hops[queue.back()]} : std::nullopt;
}

std::vector<Transfers::Left> uniform(std::uint32_t nodes) {
  std::vector<Transfers::Left> queued;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t k = 0; k < nodes; ++k) {
      if (i != k) {
        queued.push_back({i, k, 0, 0, 1e6});
      }
    }
  }
  return queued;
}

TEST_CASE("uniform_demand_makes_no_cliques_and_strands_nobody") {
  for (const std::uint32_t nodes : {6U, 11U, 16U, 21U, 26U, 31U, 36U, 41U, 128U}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      CAPTURE(nodes, seed);
      const auto network = greedy_degree_policy(terms(nodes), 4, true, seed)(0, uniform(nodes));
      REQUIRE(network);
      const auto hops = farthest(*network, nodes);
      REQUIRE(hops);
      CHECK(*hops <= 8);
    }
  }
}

TEST_CASE("a_node_that_nobody_has_a_link_to_spare_for_is_put_into_a_link") {
  // Nodes 0 .. 4 talk among themselves and use all of their links; node 5 sends a little to each of them and gets none.
  std::vector<Transfers::Left> queued = uniform(5);
  for (std::uint32_t i = 0; i < 5; ++i) {
    queued.push_back({5, i, 0, 0, 1});
  }
  const auto network = greedy_degree_policy(terms(6), 4, true)(0, queued);
  REQUIRE(network);
  CHECK(farthest(*network, 6));
  std::vector<std::uint32_t> links(6, 0);
  for (const NetworkLink& link : network->links) {
    links[link.from] += static_cast<std::uint32_t>(std::lround(link.bytes_per_ns / bytes_per_ns(terms(6))));
  }
  CHECK(links == std::vector<std::uint32_t>{4, 4, 4, 4, 4, links[5]});
  CHECK((links[5] == 2 || links[5] == 4));
}

TEST_CASE("circuits_without_forwarding_follow_the_direction_of_demand") {
  const std::vector<Transfers::Left> queued{{0, 1, 0, 0, 8e6}, {0, 2, 0, 0, 1e6}};
  const auto network = greedy_degree_policy(terms(3), 3, false)(0, queued);
  REQUIRE(network);
  REQUIRE(network->links.size() == 1);  // three links from 0 to 1 before its demand is down to a megabyte
  CHECK(network->links[0].from == 0);
  CHECK(network->links[0].to == 1);
  CHECK(network->links[0].bytes_per_ns == Approx(3 * bytes_per_ns(terms(3))));
}

TEST_CASE("valiants_balancing_halves_the_throughput_of_a_permutation") {
  for (const std::uint32_t nodes : {4U, 8U, 33U}) {
    std::vector<NodePair> pairs;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      pairs.emplace_back(i, (i + 1) % nodes);
    }
    const TaskGraph graph = sends(nodes, pairs, 1'000'000);
    const auto balanced = make_mesh(terms(nodes), true);
    const auto direct = make_mesh(terms(nodes), false);
    REQUIRE(balanced);
    const double at_full_rate = 1e6;
    CHECK(*Predictor::make(graph, *balanced, {})->run() == Approx(2 * at_full_rate).epsilon(1e-12));
    CHECK(*Predictor::make(graph, *direct, {})->run() == Approx((nodes - 1) * at_full_rate).epsilon(1e-12));
  }
}

TEST_CASE("light_that_never_reaches_who_waits_is_reported_not_waited_for") {
  const auto idle = make_matchings(terms(3), std::vector<Matching>{{1, 0, kIdlePort}});
  const TaskGraph graph = sends(3, {{0, 2}}, 100);
  auto changing = Reconfiguration::make({.live = Duration{100}, .dark = Duration{10}}, *idle, always(*idle));
  auto predictor = Predictor::make(graph, *idle, {});
  const auto time = predictor->run(&*changing);
  REQUIRE(!time);
  CHECK(time.error().code == ErrorCode::infeasible);
  CHECK(time.error().message.find("'send'") != std::string::npos);
  CHECK(!Reconfiguration::make({.live = Duration{0}}, *idle, always(*idle)));
}

}  // namespace
}  // namespace loom
