// SPDX-License-Identifier: Apache-2.0
// The simulated network: what it may do to messages, and that it does it.
#include "sim_backend/world/sim_network.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "sim_backend/world/virtual_loop.hpp"

using namespace loom;

namespace {

struct Pair {
  explicit Pair(NetworkOptions options, std::uint64_t seed = 3)
      : network(loop, options, seed),
        controller(network.attach(controller_peer(), "controller", Role::controller)),
        agent(network.attach(agent_peer(NodeId{4}), "agent-4", Role::agent)) {
    agent.on_receive([this](Peer from, std::string_view principal, Role role, std::string_view bytes) {
      CHECK(from == controller_peer());
      CHECK(principal == "controller");
      CHECK(role == Role::controller);
      received.push_back(std::stoi(std::string(bytes)));
      arrivals.push_back(loop.now());
    });
  }

  void send(int count) {
    for (int i = 0; i < count; ++i) {
      controller.send(agent_peer(NodeId{4}), std::to_string(i));
    }
  }
  void finish() {
    while (loop.run_next()) {
    }
  }

  VirtualLoop loop;
  SimNetwork network;
  MessageSeam& controller;
  MessageSeam& agent;
  std::vector<int> received;
  std::vector<Instant> arrivals;
};

}  // namespace

TEST_CASE("without_faults_every_message_arrives_once_in_order_within_the_delay") {
  NetworkOptions options;
  Pair pair(options);
  pair.send(500);
  pair.finish();
  REQUIRE(pair.received.size() == 500);
  CHECK(std::is_sorted(pair.received.begin(), pair.received.end()));
  CHECK(pair.arrivals.front() >= Instant{options.delay_min});
  CHECK(pair.arrivals.back() <= Instant{options.delay_max});
}

TEST_CASE("loss_duplication_and_reordering_happen_about_as_often_as_asked") {
  NetworkOptions options;
  options.loss_per_million = 100'000;
  options.duplication_per_million = 50'000;
  options.reorder_per_million = 100'000;
  Pair pair(options);
  pair.send(10'000);
  pair.finish();
  const std::set<int> distinct(pair.received.begin(), pair.received.end());
  CHECK(distinct.size() > 8'800);
  CHECK(distinct.size() < 9'200);
  CHECK(pair.received.size() - distinct.size() > 300);
  CHECK_FALSE(std::is_sorted(pair.received.begin(), pair.received.end()));
  CHECK(pair.network.counters().lost + distinct.size() == 10'000);
}

TEST_CASE("a_partition_drops_what_is_sent_and_what_is_under_way") {
  Pair pair(NetworkOptions{});
  pair.send(10);
  pair.network.set_joined(agent_peer(NodeId{4}), false);
  pair.send(10);
  pair.finish();
  CHECK(pair.received.empty());
  CHECK(pair.network.counters().cut == 20);
  pair.network.set_joined(agent_peer(NodeId{4}), true);
  pair.send(1);
  pair.finish();
  CHECK(pair.received.size() == 1);
}

TEST_CASE("a_message_for_nobody_is_counted") {
  Pair pair(NetworkOptions{});
  pair.controller.send(agent_peer(NodeId{99}), "x");
  pair.controller.send(Peer{Peer::Kind::operator_, 1}, "x");
  CHECK(pair.network.counters().unknown == 2);
}

TEST_CASE("the_same_seed_gives_the_same_arrivals_and_another_gives_others") {
  NetworkOptions options;
  options.loss_per_million = 200'000;
  Pair first(options, 11);
  Pair second(options, 11);
  Pair third(options, 12);
  for (Pair* pair : {&first, &second, &third}) {
    pair->send(200);
    pair->finish();
  }
  CHECK(first.received == second.received);
  CHECK(first.arrivals == second.arrivals);
  CHECK(first.received != third.received);
}

TEST_CASE("of_two_processes_that_speak_as_one_peer_each_hears_the_agents_that_are_connected_to_it") {
  Pair pair(NetworkOptions{});
  std::vector<int> first;
  std::vector<int> second;
  const auto listen = [](MessageSeam& seam, std::vector<int>& arrived) {
    seam.on_receive(
        [&arrived](Peer, std::string_view, Role, std::string_view bytes) { arrived.push_back(std::stoi(std::string(bytes))); });
  };
  listen(pair.controller, first);
  MessageSeam& newer = pair.network.take_over(controller_peer(), std::chrono::milliseconds{100});
  listen(newer, second);
  for (int i = 0; i < 20; ++i) {
    pair.loop.call_at(Instant{std::chrono::milliseconds{10 * i}}, Precision::ordinary,
                      [&pair, i] { pair.agent.send(controller_peer(), std::to_string(i)); });
  }
  pair.finish();
  REQUIRE(first.size() + second.size() == 20);
  CHECK(second.size() >= 10);  // it has moved over within 100 ms
  CHECK_FALSE(first.empty());
  CHECK((first.empty() || first.back() < second.front()));
  pair.send(1);
  newer.send(agent_peer(NodeId{4}), "1");
  pair.finish();
  CHECK(pair.received == std::vector<int>{0, 1});  // both may speak
  pair.network.end_first(controller_peer());
  pair.agent.send(controller_peer(), "20");
  pair.finish();
  CHECK(second.back() == 20);
}
