// SPDX-License-Identifier: Apache-2.0
// Matching of model-parallel pairs (T3) and the whole finder: the artifact's rings on 12 nodes (T1), ports never
// oversubscribed, every pair routed over links that are there, and bad input named.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "controller/architectures/topoopt/finder/finder_account.hpp"
#include "controller/architectures/topoopt/finder/topology_file.hpp"
#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/schedule/general_matching.hpp"
#include "core/limits.hpp"
#include "tests/skip.hpp"

namespace loom {
namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers range(std::uint32_t first, std::uint32_t stride, std::uint32_t count) {
  Numbers members;
  for (std::uint32_t i = 0; i < count; ++i) {
    members.push_back(first + i * stride);
  }
  return members;
}

FinderDemand reduce_of_all(std::uint32_t nodes, std::int64_t bytes = 1'000'000) {
  return {nodes, {{range(0, 1, nodes), bytes}}, {}};
}

std::uint32_t draw(std::mt19937& random, std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); }

std::vector<PairDemand> random_demand(std::uint32_t nodes, std::uint32_t percent, std::mt19937& random) {
  std::vector<PairDemand> demand;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t j = 0; j < nodes; ++j) {
      if (i != j && random() % 100 < percent) {
        demand.push_back({i, j, static_cast<std::int64_t>(1 + random() % 1000)});
      }
    }
  }
  return demand;
}

/// Heaviest matching of nodes `from`.. by trying everything.
double heaviest(const std::vector<std::vector<double>>& weight, std::vector<bool>& is_used, std::size_t from) {
  while (from < is_used.size() && is_used[from]) {
    ++from;
  }
  if (from == is_used.size()) {
    return 0;
  }
  is_used[from] = true;
  double best = heaviest(weight, is_used, from + 1);
  for (std::size_t other = from + 1; other < is_used.size(); ++other) {
    if (!is_used[other]) {
      is_used[other] = true;
      best = std::max(best, weight[from][other] + heaviest(weight, is_used, from + 1));
      is_used[other] = false;
    }
  }
  is_used[from] = false;
  return best;
}

TEST_CASE("harmonic_discount_matches_x_x_x_y_and_halving_x_x_y_x") {
  const std::vector<PairDemand> demand{{0, 1, 100}, {2, 3, 100}, {0, 2, 30}, {1, 3, 30}};
  const Numbers x{1, 0, 3, 2};
  const Numbers y{2, 3, 0, 1};
  for (const MatchingMethod method : {MatchingMethod::exact, MatchingMethod::greedy}) {
    const auto partners = [&](LinkDiscount discount) {
      const auto rounds = match_rounds(4, demand, {4, discount, method});
      REQUIRE(rounds);
      std::vector<Numbers> all;
      for (const PairRound& round : *rounds) {
        all.push_back(round.partner);
      }
      return all;
    };
    CHECK(partners(LinkDiscount::halving) == std::vector<Numbers>{x, x, y, x});
    CHECK(partners(LinkDiscount::harmonic) == std::vector<Numbers>{x, x, x, y});
  }
  const auto links = match_pairs(4, demand, {4, LinkDiscount::harmonic, MatchingMethod::exact});
  REQUIRE(links);
  CHECK(*links == std::vector<PairLinks>{{0, 1, 3}, {0, 2, 1}, {1, 3, 1}, {2, 3, 3}});
}

TEST_CASE("exact_matching_weighs_as_much_as_the_best_of_all_and_greedy_at_least_half") {
  const std::uint32_t seed = 7;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t nodes = 2 + draw(random, 9);
    const std::vector<PairDemand> demand = random_demand(nodes, 20 + draw(random, 80), random);
    std::vector<std::vector<double>> weight(nodes, std::vector<double>(nodes));
    for (const PairDemand& each : demand) {
      weight[each.source][each.destination] += static_cast<double>(each.bytes);
      weight[each.destination][each.source] += static_cast<double>(each.bytes);
    }
    std::vector<bool> is_used(nodes);
    const double best = heaviest(weight, is_used, 0);
    const auto exact = match_rounds(nodes, demand, {1, LinkDiscount::harmonic, MatchingMethod::exact});
    const auto greedy = match_rounds(nodes, demand, {1, LinkDiscount::harmonic, MatchingMethod::greedy});
    REQUIRE(exact);
    REQUIRE(greedy);
    CHECK(exact->front().weight == Approx(best));
    CHECK(greedy->front().weight <= best + 1e-6);
    CHECK(greedy->front().weight >= best / 2 - 1e-6);
  }
}

TEST_CASE("a_matching_found_on_few_edges_is_the_matching_of_all_edges") {
  const std::uint32_t seed = 11;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (const std::uint32_t nodes : {40U, 61U}) {
    // Everybody wants the same few partners most: the heaviest edges of each node are not enough.
    std::vector<PairDemand> demand = random_demand(nodes, 100, random);
    for (PairDemand& each : demand) {
      each.bytes += each.destination < 9 ? 5'000 : 0;
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> sums;
    for (const PairDemand& each : demand) {
      sums[std::minmax(each.source, each.destination)] += each.bytes;
    }
    std::vector<MatchingEdge> edges;
    for (const auto& [ends, bytes] : sums) {
      edges.push_back({ends.first, ends.second, bytes});
    }
    const GeneralMatching whole = max_weight_matching(nodes, edges);
    double expected = 0;
    for (const MatchingEdge& edge : edges) {
      expected += whole.mate[edge.u] == edge.v ? static_cast<double>(edge.weight) : 0;
    }
    const auto rounds = match_rounds(nodes, demand, {1, LinkDiscount::halving, MatchingMethod::exact});
    REQUIRE(rounds);
    CHECK(rounds->front().weight == Approx(expected));
  }
}

TEST_CASE("every_round_of_matching_joins_all_nodes_but_an_odd_one") {
  const auto even = match_pairs(6, {{1, 4, 10}}, {1, LinkDiscount::harmonic, MatchingMethod::exact});
  REQUIRE(even);
  CHECK(*even == std::vector<PairLinks>{{0, 2, 1}, {1, 4, 1}, {3, 5, 1}});
  const auto odd = match_pairs(5, {{1, 4, 10}}, {2, LinkDiscount::harmonic, MatchingMethod::greedy});
  REQUIRE(odd);
  CHECK(*odd == std::vector<PairLinks>{{0, 2, 2}, {1, 4, 2}});
}

TEST_CASE("twelve_nodes_of_degree_4_get_the_rings_of_the_artifact") {
  const auto topology = find_topology(reduce_of_all(12), as_in_code_release(4));
  REQUIRE(topology);
  CHECK(topology->jumps == Numbers{1, 11, 5, 7});
  const auto jumps_of = [&](std::uint32_t size) {
    std::vector<Numbers> all;
    for (const RingPath& ring : topology->rings_of(size)) {
      all.push_back(ring.jumps);
    }
    return all;
  };
  CHECK(jumps_of(12) == std::vector<Numbers>{{1}, {11}, {5}, {7}});
  // The artifact: 6 [1,1] [11,11]; 4 [11,5,11] [1,7,1]; 3 [5,11] [7,1]; 2 [5,1] [7,11]. The order within a ring is a tie.
  const std::map<std::uint32_t, std::size_t> hops{{6, 2}, {4, 3}, {3, 2}, {2, 2}};
  for (const auto& [size, count] : hops) {
    const std::vector<Numbers> rings = jumps_of(size);
    INFO("groups of " << size);
    REQUIRE(rings.size() == 2);
    std::uint32_t sums = 0;
    for (const Numbers& ring : rings) {
      CHECK(ring.size() == count);
      const std::uint32_t jump = std::accumulate(ring.begin(), ring.end(), 0U) % 12;
      CHECK(std::gcd(12U, jump) == 12 / size);
      sums += jump;
    }
    CHECK(sums == 12);  // one each way round
  }
  CHECK(jumps_of(5).empty());
}

TEST_CASE("a_group_size_with_traffic_gets_rings_of_its_own_and_the_job_keeps_one") {
  FinderDemand demand{16, {}, {}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    demand.reduces.push_back({range(i, 4, 4), 1'000'000});
  }
  const auto topology = find_topology(demand, as_in_code_release(8));
  REQUIRE(topology);
  CHECK(topology->rings_of(4).size() == 6);  // +-4, +-12, and +-4 once more
  CHECK(topology->rings_of(4)[0].jumps == Numbers{4});
  CHECK(topology->rings_of(16).size() == 2);
  CHECK(topology->rings_of(8)[0].jumps.size() == 2);
  CHECK(topology->ring_routes.diameter() != kUnreachable);
}

TEST_CASE("groups_are_regular_when_they_are_one_coset_in_any_order") {
  CHECK(stride_of_group(16, Numbers{3, 7, 11, 15}) == 4);
  CHECK(stride_of_group(16, Numbers{11, 3, 15, 7}) == 4);
  CHECK(stride_of_group(16, range(0, 1, 16)) == 1);
  CHECK(stride_of_group(16, Numbers{0, 1, 2, 3}) == 0);
  CHECK(stride_of_group(16, Numbers{0, 4, 8, 8}) == 0);
  CHECK(stride_of_group(16, Numbers{0, 4, 9, 12}) == 0);
  CHECK(stride_of_group(16, Numbers{0, 5, 10}) == 0);
  CHECK(stride_of_group(16, Numbers{}) == 0);
}

void expect_sound(const DirectTopology& topology, const FinderDemand& demand, std::uint32_t degree) {
  const std::vector<DirectLink> links = topology.links();
  CHECK(std::is_sorted(links.begin(), links.end()));
  Numbers sends(topology.nodes);
  Numbers receives(topology.nodes);
  std::set<std::pair<std::uint32_t, std::uint32_t>> joined;
  for (const DirectLink& link : links) {
    CHECK(link.from != link.to);
    sends[link.from] += link.count;
    receives[link.to] += link.count;
    joined.insert({link.from, link.to});
  }
  CHECK(*std::max_element(sends.begin(), sends.end()) <= degree);
  CHECK(*std::max_element(receives.begin(), receives.end()) <= degree);
  for (const PairDemand& each : demand.pairs) {
    const auto paths = topology.paths(each.source, each.destination);
    REQUIRE_FALSE(paths.empty());
    for (const Numbers& path : paths) {
      REQUIRE(path.size() >= 2);
      CHECK(path.front() == each.source);
      CHECK(path.back() == each.destination);
      CHECK(path.size() <= paths.back().size());
      for (std::size_t i = 1; i < path.size(); ++i) {
        CHECK(joined.contains({path[i - 1], path[i]}));
      }
    }
  }
  for (const RingPath& ring : topology.rings) {
    const std::uint32_t jump = std::accumulate(ring.jumps.begin(), ring.jumps.end(), 0U) % topology.nodes;
    CHECK(std::gcd(topology.nodes, jump) == topology.nodes / ring.group_size);
    for (const std::uint32_t each : ring.jumps) {
      CHECK(joined.contains({5 % topology.nodes, (5 + each) % topology.nodes}));
    }
  }
}

TEST_CASE("every_variant_keeps_to_the_ports_and_routes_every_pair_over_links_that_are_there") {
  const std::uint32_t seed = 23;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (const std::uint32_t nodes : {2U, 3U, 7U, 12U, 16U, 30U}) {
    for (const std::uint32_t degree : {2U, 3U, 4U, 5U, 8U}) {
      for (FinderOptions options : {as_in_paper(degree), as_in_code_2021(degree), as_in_code_release(degree)}) {
        FinderDemand demand = reduce_of_all(nodes, 1'000 * nodes * draw(random, 3));
        demand.pairs = random_demand(nodes, 40, random);
        if (nodes % 2 == 0) {
          demand.reduces.push_back({range(1, 2, nodes / 2), 50'000});
        }
        options.directions = random() % 2 == 0 ? RingDirections::one_way : RingDirections::both_ways;
        options.paths_of_a_pair = 1 + draw(random, 3);
        options.matching = random() % 2 == 0 ? MatchingMethod::exact : MatchingMethod::greedy;
        const auto topology = find_topology(demand, options);
        INFO(nodes << " nodes, degree " << degree);
        REQUIRE(topology);
        CHECK(topology->shares.rings + topology->shares.pairs <= degree);
        expect_sound(*topology, demand, degree);
      }
    }
  }
}

TEST_CASE("the_same_seed_finds_the_same_topology") {
  std::mt19937 random(5);
  FinderDemand demand = reduce_of_all(24, 300'000);
  demand.pairs = random_demand(24, 60, random);
  const auto once = find_topology(demand, as_in_paper(6));
  const auto again = find_topology(demand, as_in_paper(6));
  REQUIRE(once);
  REQUIRE(again);
  CHECK(once->links() == again->links());
  CHECK(once->rings == again->rings);
  for (std::uint32_t to = 1; to < 24; ++to) {
    CHECK(once->paths(0, to) == again->paths(0, to));
  }
  std::reverse(demand.pairs.begin(), demand.pairs.end());  // nor does the order of the demand matter
  const auto reversed = find_topology(demand, as_in_paper(6));
  REQUIRE(reversed);
  CHECK(once->links() == reversed->links());
}

TEST_CASE("a_task_graph_becomes_all_reduces_and_pairs") {
  TaskGraph graph;
  graph.nodes = 8;
  graph.members = {0, 2, 4, 6, 1, 3, 5, 7, 0, 1, 2};
  graph.families = {{0, 4, 2}, {8, 2, 1}, {8, 3, 1}, {0, 1, 1}};
  Task task;
  task.kind = TaskKind::communicate;
  task.collective = CollectiveKind::all_reduce;
  task.bytes = {100};
  graph.tasks.push_back(task);
  graph.tasks.push_back(task);
  task.collective = CollectiveKind::all_gather;
  graph.tasks.push_back(task);
  task.collective = CollectiveKind::point_to_point;
  task.family = 1;
  graph.tasks.push_back(task);
  task.collective = CollectiveKind::all_to_all;
  task.family = 2;
  task.bytes = {30};
  graph.tasks.push_back(task);
  task.kind = TaskKind::compute;
  task.family = 3;
  graph.tasks.push_back(task);
  const FinderDemand demand = finder_demand(graph);
  CHECK(demand.nodes == 8);
  REQUIRE(demand.reduces.size() == 2);
  CHECK(demand.reduces[0].members == Numbers{0, 2, 4, 6});
  CHECK(demand.reduces[0].bytes == 250);
  CHECK(demand.reduces[1].members == Numbers{1, 3, 5, 7});
  REQUIRE(demand.pairs.size() == 6);
  CHECK(demand.pairs[0].destination == 1);
  CHECK(demand.pairs[0].bytes == 110);
  CHECK(demand.pairs[1].bytes == 10);
}

TEST_CASE("a_found_topology_is_written_with_a_duplex_link_once_and_a_route_a_pair") {
  FinderDemand demand = reduce_of_all(12, 1'000);
  demand.pairs = {{0, 6, 40'000}, {3, 9, 30'000}};
  const auto topology = find_topology(demand, as_in_paper(6));
  REQUIRE(topology);
  REQUIRE_FALSE(topology->pairs.empty());
  const auto network = network_of(*topology, gigabits(25));
  REQUIRE(network);
  CHECK(network->link_rate == gigabits(25));
  std::uint32_t ends = 0;
  for (const TopooptLink& link : network->links) {
    CHECK(link.from > link.to);
    ends += 2 * link.count;
  }
  CHECK(ends == 12 * 6);
  CHECK(network->rings.size() == topology->rings.size());
  const std::vector<TopooptRoute> routes = routes_of(*topology);
  REQUIRE(routes.size() == 12 * 11);
  CHECK(routes[5].from == 0);
  CHECK(routes[5].to == 6);
  CHECK(routes[5].paths == std::vector<Numbers>{{0, 6}});

  FinderOptions one_way = as_in_paper(3);
  one_way.directions = RingDirections::one_way;
  const auto directed = find_topology(reduce_of_all(12), one_way);
  REQUIRE(directed);
  const auto refused = network_of(*directed, gigabits(25));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unsupported);
  CHECK(refused.error().message.find("one way") != std::string::npos);
}

/// Of 16 servers, in 100 Gb/s switch strategies. Nothing: the data is absent, and the test is skipped.
std::optional<TaskGraph> public_graph(const std::string& name) {
  const auto file = testing::public_data("traces/topoopt/" + name + ".fbuf");
  if (!file) {
    return std::nullopt;
  }
  auto read = import_topoopt_graph(file->string());
  REQUIRE(read);
  return std::move(read->graph);
}

TEST_CASE("the_public_jobs_of_16_servers_get_the_published_jumps_as_in_the_release") {
  for (const char* name : {"100vgg_16", "100transformer_16", "100dlrm_16"}) {
    const auto graph = public_graph(name);
    if (!graph) {
      return;
    }
    const FinderDemand demand = finder_demand(*graph);
    const auto d4 = find_topology(demand, as_in_code_release(4));
    const auto d8 = find_topology(demand, as_in_code_release(8));
    INFO(name);
    REQUIRE(d4);
    REQUIRE(d8);
    CHECK(d4->jumps == Numbers{1, 15, 5, 11});
    CHECK(d8->jumps == Numbers{1, 15, 3, 13, 5, 11, 9, 7});
    CHECK(d8->pairs.empty());
    expect_sound(*d8, demand, 8);
  }
}

TEST_CASE("model_parallel_bytes_of_the_public_dlrm_get_links_of_their_own_as_in_the_paper") {
  const auto graph = public_graph("100dlrm_16");
  if (!graph) {
    return;
  }
  const FinderDemand demand = finder_demand(*graph);
  CHECK(demand.pairs.size() == 230);
  const auto topology = find_topology(demand, as_in_paper(8));
  REQUIRE(topology);
  // 285 MB x 31 + 21 MB x 15 of all-reduce against 1.07 GB of pairs: nine parts of ten, so all eight links.
  CHECK(topology->shares.rings == 8);
  FinderOptions options = as_in_code_2021(8);
  options.directions = RingDirections::one_way;
  const auto rounded = find_topology(demand, options);
  REQUIRE(rounded);
  CHECK(rounded->shares.rings == 7);
  CHECK(rounded->shares.pairs == 1);
  CHECK(rounded->pairs.size() == 8);
  expect_sound(*rounded, demand, 8);
}

void expect_refusal(const FinderDemand& demand, const FinderOptions& options, ErrorCode code, const std::string& words) {
  const auto topology = find_topology(demand, options);
  INFO(words);
  REQUIRE_FALSE(topology);
  CHECK(topology.error().code == code);
  INFO(topology.error().message);
  CHECK(topology.error().message.find(words) != std::string::npos);
}

TEST_CASE("the_finder_refuses_bad_input_by_name") {
  const auto pair = [](std::uint32_t source, std::uint32_t destination, std::int64_t bytes) {
    FinderDemand demand = reduce_of_all(8);
    demand.pairs = {{source, destination, bytes}};
    return demand;
  };
  expect_refusal(reduce_of_all(1), as_in_paper(4), ErrorCode::invalid_argument, "1 nodes");
  expect_refusal({}, as_in_paper(4), ErrorCode::invalid_argument, "0 nodes");
  expect_refusal({70'000, {}, {}}, as_in_paper(4), ErrorCode::out_of_range, "70000 nodes; the limit is 65536");
  expect_refusal(reduce_of_all(8), as_in_paper(0), ErrorCode::invalid_argument, "degree 0");
  expect_refusal(reduce_of_all(8), as_in_paper(1), ErrorCode::invalid_argument, "degree 1");
  expect_refusal(reduce_of_all(8), as_in_paper(~0U), ErrorCode::out_of_range, "degree 4294967295");
  expect_refusal(pair(0, 8, 1), as_in_paper(4), ErrorCode::invalid_argument, "from node 0 to 8");
  expect_refusal(pair(~0U, 1, 1), as_in_code_release(4), ErrorCode::invalid_argument, "node 4294967295");
  expect_refusal(pair(3, 3, 1), as_in_paper(4), ErrorCode::invalid_argument, "node 3 on itself");
  expect_refusal(pair(0, 1, -1), as_in_paper(4), ErrorCode::out_of_range, "-1 bytes");
  expect_refusal(pair(0, 1, limits::kTrafficBytes + 1), as_in_paper(4), ErrorCode::out_of_range, "from node 0 to 1");
  expect_refusal({8, {{{1, 8}, 5}}, {}}, as_in_paper(4), ErrorCode::invalid_argument, "node 8; there are 8");
  expect_refusal({8, {{{1, 1}, 5}}, {}}, as_in_paper(4), ErrorCode::invalid_argument, "node 1 is twice");
  expect_refusal({8, {{{1, 2}, -5}}, {}}, as_in_paper(4), ErrorCode::out_of_range, "-5 bytes");
  FinderOptions options = as_in_paper(4);
  options.paths_of_a_pair = 0;
  expect_refusal(reduce_of_all(8), options, ErrorCode::invalid_argument, "0 paths a pair");
  options.paths_of_a_pair = 65;
  expect_refusal(reduce_of_all(8), options, ErrorCode::out_of_range, "65 paths a pair");
}

}  // namespace
TEST_CASE("a_matching_that_sees_rings_gives_pairs_what_no_ring_joins_and_makes_no_cliques_of_uniform_demand") {
  FinderDemand demand{64, {}, {}};
  for (std::uint32_t u = 0; u < 64; ++u) {
    for (std::uint32_t v = 0; v < 64; ++v) {
      if (u != v) {
        demand.pairs.push_back({u, v, 1'000'000});
      }
    }
  }
  FinderOptions options = as_in_paper(4);
  const auto plain = find_topology(demand, options);
  options.sees = MatchingSees::rings;
  const auto seen = find_topology(demand, options);
  REQUIRE(plain);
  REQUIRE(seen);
  const auto is_ring_pair = [](const PairLinks& pair) { return pair.v - pair.u == 1 || pair.v - pair.u == 63; };
  CHECK(std::count_if(plain->pairs.begin(), plain->pairs.end(), is_ring_pair) > 16);
  CHECK(std::count_if(seen->pairs.begin(), seen->pairs.end(), is_ring_pair) == 0);
  const auto busiest = [&](const DirectTopology& topology) {
    const auto account = account_of(demand, topology, options, gigabits(100));
    REQUIRE(account);
    return account->wire.seconds;
  };
  CHECK(busiest(*seen) < busiest(*plain) / 2);  // 8.1 and 19.8 ms
  options.seed = 9;
  const auto other = find_topology(demand, options);
  REQUIRE(other);
  CHECK(other->pairs != seen->pairs);
}

}  // namespace loom
