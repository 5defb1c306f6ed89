// SPDX-License-Identifier: Apache-2.0
// The incremental fluid against the slow one: random small networks, random arrivals, every completion time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/engine/transfers.hpp"
#include "controller/predict/networks/graph_routes.hpp"
#include "tests/property/slow_fluid.hpp"

namespace loom {
namespace {

using testing::SlowFlow;

std::uint32_t below(std::mt19937& chance, std::size_t limit) { return static_cast<std::uint32_t>(chance() % limit); }

/// Runs `flows` (source, destination, start, bytes) on Transfers; when each last byte left.
struct Asked {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  double start = 0;
  double bytes = 0;
};

std::vector<double> run(const Network& network, const std::vector<Asked>& flows) {
  Transfers transfers;
  transfers.reset(network);
  std::vector<std::uint32_t> order(flows.size());
  for (std::uint32_t i = 0; i < flows.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return flows[a].start < flows[b].start; });
  std::vector<double> left(flows.size(), -1);
  std::size_t next = 0;
  double now = 0;
  while (next < order.size() || transfers.active() > 0) {
    const double arrival = next < order.size() ? flows[order[next]].start : std::numeric_limits<double>::infinity();
    now = std::min(arrival, transfers.next());
    if (!std::isfinite(now)) {
      break;
    }
    transfers.advance(now, [&](std::uint32_t token, double) { left[token] = now; });
    for (; next < order.size() && flows[order[next]].start <= now; ++next) {
      const Asked& flow = flows[order[next]];
      REQUIRE(transfers.start(now, flow.source, flow.destination, 0, flow.bytes, order[next]));
    }
    transfers.settle(now);
  }
  return left;
}

/// Nodes joined by random links of random rates; a third of the cases has few distinct rates and sizes, hence many ties.
Network random_network(std::mt19937& chance, std::uint32_t nodes, bool has_ties) {
  std::vector<NodePair> directed;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    directed.emplace_back(i, (i + 1) % nodes);
    for (std::uint32_t more = below(chance, 3); more > 0; --more) {
      const std::uint32_t to = below(chance, nodes);
      if (to != i) {
        directed.emplace_back(i, to);
      }
    }
  }
  const NetworkTerms terms{.nodes = nodes, .rate = gigabits(8)};
  auto network = begin_network("random", terms);
  REQUIRE(network);
  REQUIRE(connect(*network, directed, terms, {}));
  for (NetworkLink& link : network->links) {
    link.bytes_per_ns = has_ties ? 1 + below(chance, 2) : 0.1 + 1e-3 * below(chance, 5000);
  }
  return *network;
}

TEST_CASE("every_completion_equals_that_of_the_slow_fluid") {
  std::size_t compared = 0;
  for (unsigned seed = 1; seed <= 1500; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance{seed};
    const bool has_ties = seed % 3 == 0;
    const std::uint32_t nodes = 3 + below(chance, 8);
    const Network network = random_network(chance, nodes, has_ties);
    std::vector<Asked> asked;
    std::vector<SlowFlow> slow;
    const std::uint32_t count = 2 + below(chance, 30);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t source = below(chance, nodes);
      const std::uint32_t destination = (source + 1 + below(chance, nodes - 1)) % nodes;
      const double start = has_ties ? 100.0 * below(chance, 5) : 0.5 * below(chance, 5000);
      const double bytes = has_ties ? 120.0 * (1 + below(chance, 3)) : 1.0 + below(chance, 3000);
      asked.push_back({source, destination, start, bytes});
      SlowFlow flow{{}, start, bytes};
      for_each_path(network, source, destination, 0,
                    [&](std::span<const std::uint32_t> path, double) { flow.links.assign(path.begin(), path.end()); });
      slow.push_back(flow);
    }
    std::vector<double> capacity;
    for (const NetworkLink& link : network.links) {
      capacity.push_back(link.bytes_per_ns);
    }
    testing::run_slowly(capacity, slow);
    const std::vector<double> left = run(network, asked);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      CAPTURE(i, left[i], slow[i].left_at);
      REQUIRE(std::abs(left[i] - slow[i].left_at) <= 1e-9 * slow[i].left_at);
      ++compared;
    }
  }
  CHECK(compared > 20'000);
}

TEST_CASE("rates_after_many_changes_equal_rates_from_scratch") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance{seed};
    const std::uint32_t links = 4 + below(chance, 40);
    MaxMin changing;
    changing.reset(links);
    std::vector<double> capacity(links);
    for (std::uint32_t i = 0; i < links; ++i) {
      capacity[i] = seed % 2 == 0 ? 1.0 + below(chance, 3) : 0.01 * (1 + below(chance, 1000));
      changing.set_capacity(i, capacity[i]);
    }
    std::vector<std::vector<std::uint32_t>> routes;
    for (std::uint32_t c = 0; c < 100; ++c) {
      std::vector<std::uint32_t> all(links);
      for (std::uint32_t i = 0; i < links; ++i) {
        all[i] = i;
      }
      std::shuffle(all.begin(), all.end(), chance);
      all.resize(1 + below(chance, 4));
      routes.push_back(all);
      changing.add(all);
    }
    for (std::uint32_t step = 0; step < 300; ++step) {
      for (std::uint32_t changes = 1 + below(chance, 3); changes > 0; --changes) {
        changing.set_multiplicity(below(chance, routes.size()), below(chance, 2) * below(chance, 4));
      }
      if (step % 37 == 0) {
        const std::uint32_t link = below(chance, links);
        capacity[link] = below(chance, 4) * 0.5;
        changing.set_capacity(link, capacity[link]);
      }
      changing.resolve();
      MaxMin fresh;
      fresh.reset(links);
      for (std::uint32_t i = 0; i < links; ++i) {
        fresh.set_capacity(i, capacity[i]);
      }
      for (std::uint32_t c = 0; c < routes.size(); ++c) {
        fresh.add(routes[c]);
        fresh.set_multiplicity(c, changing.multiplicity(c));
      }
      fresh.resolve();
      for (std::uint32_t c = 0; c < routes.size(); ++c) {
        CAPTURE(step, c);
        if (changing.multiplicity(c) > 0) {
          REQUIRE(changing.rate(c) == Approx(fresh.rate(c)).epsilon(1e-10).margin(1e-12));
        }
      }
    }
  }
}

TEST_CASE("flows_of_one_route_share_it_and_leave_in_order_of_size") {
  const auto network = make_ideal_switch({.nodes = 2, .rate = gigabits(8)});  // a byte a nanosecond
  REQUIRE(network);
  const std::vector<double> left = run(*network, {{0, 1, 0, 100}, {0, 1, 0, 300}, {0, 1, 50, 200}, {1, 0, 0, 70}});
  // Halves until 50 (25 each), thirds until the first has its last 75 B at 275, halves of what is left, then alone.
  CHECK(left[0] == Approx(275));
  CHECK(left[2] == Approx(525));
  CHECK(left[1] == Approx(600));
  CHECK(left[3] == Approx(70));
}

TEST_CASE("a_transfer_over_several_ways_is_done_when_its_last_part_is") {
  const NetworkTerms terms{.nodes = 4, .rate = gigabits(8), .link_latency = Duration{10}};
  auto network = begin_network("square", terms);
  REQUIRE(network);
  REQUIRE(connect(*network, {{0, 1}, {1, 2}, {0, 3}, {3, 2}}, terms, {.ways = 2}));
  Transfers transfers;
  transfers.reset(*network);
  REQUIRE(transfers.start(0, 0, 2, 0, 1000, 7));
  REQUIRE(transfers.start(0, 0, 1, 0, 500, 8));
  transfers.settle(0);
  struct Departure {
    std::uint32_t token;
    double left;
    double arrives;
  };
  std::vector<Departure> seen;
  while (transfers.active() > 0) {
    const double now = transfers.next();
    transfers.advance(now, [&](std::uint32_t token, double arrives) { seen.push_back({token, now, arrives}); });
    transfers.settle(now);
  }
  REQUIRE(seen.size() == 2);
  CHECK(seen[1].token + seen[0].token == 15);
  for (const Departure& each : seen) {
    CHECK(each.left == Approx(1000));  // 500 + 500 B share the link to node 1
    CHECK(each.arrives == Approx(each.token == 7 ? 1020 : 1010));
  }
}

}  // namespace
}  // namespace loom
