// SPDX-License-Identifier: Apache-2.0
// Links between agents' processes over real sockets: who may speak for whom, what is lost, and how a restart is found again.
#include "tests/unit/zmq/peer_pair.hpp"

using namespace loom;
using namespace loom::test;

TEST_CASE("agents_of_one_process_speak_in_memory_and_of_two_over_one_link_both_ways") {
  PeerPair pair(either_transport());
  pair.await_agreement();
  REQUIRE(pair.deliver_until_received(NodeId{0}, NodeId{1}, 1));
  CHECK(pair.links[0]->counters().local >= 1);
  CHECK(pair.links[0]->counters().words_out == 0);
  REQUIRE(pair.deliver_until_received(NodeId{3}, NodeId{0}, 2));  // the one that dials
  REQUIRE(pair.deliver_until_received(NodeId{1}, NodeId{2}, 3));  // the one that listens
  CHECK(pair.received[0].back().principal == "agents-1");
  CHECK(pair.received[2].back().principal == "agents-0");
  CHECK(pair.links[1]->counters().unauthorised == 0);
  pair.seams[0]->send(controller_peer(), "what the controller hears");
  CHECK(pair.nobody.sent == 1);
  CHECK(pair.nobody.receives);
}

TEST_CASE("a_key_that_speaks_for_another_process_node_is_refused_by_name") {
  PeerPair pair(either_transport());
  pair.await_agreement();
  REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 1));
  REQUIRE(pair.deliver_until_received(NodeId{0}, NodeId{2}, 1));
  const std::string forged = grant_request(NodeId{1}, NodeId{0}, 7);  // node 1 is not of process 1
  REQUIRE(pair.run_until([&] {
    pair.seams[2]->send(agent_peer(NodeId{0}), forged);
    pair.io.restart();
    pair.io.run_for(std::chrono::milliseconds{10});
    return !pair.refused.empty();
  }));
  CHECK(pair.refused.front().error.code == ErrorCode::refused);
  CHECK(pair.refused.front().error.message.find("agents-1 may not speak for node 1") != std::string::npos);
  CHECK(pair.links[0]->counters().unauthorised >= 1);
  CHECK(std::none_of(pair.received[0].begin(), pair.received[0].end(),
                     [](const Received& one) { return one.envelope.node == NodeId{1}; }));
}

TEST_CASE("a_process_that_starts_anew_elsewhere_is_found_again") {
  PeerPair pair(either_transport());
  pair.await_agreement();
  REQUIRE(pair.deliver_until_received(NodeId{3}, NodeId{1}, 1));
  const std::string before = pair.address[0];
  pair.links[0].reset();
  pair.open(0);
  CHECK(pair.address[0] != before);
  REQUIRE(pair.deliver_until_received(NodeId{3}, NodeId{1}, 2));
  REQUIRE(pair.deliver_until_received(NodeId{1}, NodeId{3}, 3));
}

TEST_CASE("a_word_without_a_link_or_beyond_the_limit_is_dropped_and_counted") {
  PeerPair pair(either_transport());
  pair.await_agreement();
  pair.seams[0]->send(agent_peer(NodeId{17}), grant_request(NodeId{0}, NodeId{3}, 1));
  CHECK(pair.links[0]->counters().dropped == 1);
  pair.seams[0]->send(agent_peer(NodeId{3}), std::string(limits::kGrantMessageBytes + 1, 'x'));
  CHECK(pair.links[0]->counters().dropped == 2);
}

TEST_CASE("a_stranger_key_gets_no_word_through") {
  PeerPair pair(either_transport());
  pair.await_agreement();
  REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 1));
  const std::size_t before = pair.received[0].size();
  pair.links[1].reset();
  pair.keys[1] = make_keys();  // not in the keyring of process 0
  const Keyring known = pair.keyring;
  pair.open(1);
  pair.seams[2]->send(agent_peer(NodeId{0}), grant_request(NodeId{2}, NodeId{0}, 9));
  REQUIRE(pair.run_until([&] { return pair.links[0]->counters().unauthorised > 0; }));
  CHECK(pair.received[0].size() == before);
}

TEST_CASE("a_process_whose_key_is_revoked_is_not_heard_over_either_end_of_its_link") {
  PeerPair pair(either_transport());
  pair.await_agreement();
  REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 1));
  REQUIRE(pair.deliver_until_received(NodeId{0}, NodeId{2}, 1));
  const auto lost = GENERATE(0U, 1U);  // the one that listens, the one that dials
  const std::uint32_t kept = 1 - lost;
  Keyring fewer = pair.keyring;
  REQUIRE(fewer.remove(pair.keys[lost].public_key));
  pair.links[kept]->replace_keyring(fewer);
  const std::size_t before = pair.received[2 * kept].size();
  const auto dropped = pair.links[kept]->counters().dropped;
  for (std::uint64_t number = 10; number < 60; ++number) {
    pair.seams[2 * lost]->send(agent_peer(NodeId{2 * kept}), grant_request(NodeId{2 * lost}, NodeId{2 * kept}, number));
    pair.io.restart();
    pair.io.run_for(std::chrono::milliseconds{10});
  }
  CHECK(pair.received[2 * kept].size() == before);
  pair.seams[2 * kept]->send(agent_peer(NodeId{2 * lost}), grant_request(NodeId{2 * kept}, NodeId{2 * lost}, 99));
  REQUIRE(pair.run_until([&] { return pair.links[kept]->counters().dropped > dropped; }));
  pair.links[kept]->replace_keyring(pair.keyring);  // granted anew
  REQUIRE(pair.deliver_until_received(NodeId{2 * lost}, NodeId{2 * kept}, 100));
}

TEST_CASE("processes_take_up_new_pairs_and_find_each_other_again") {
  PeerPair pair(either_transport());
  pair.await_agreement();
  REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 1));
  const auto turned = GENERATE(0U, 1U);
  const KeyPair fresh = make_keys();
  const KeyPair old = pair.keys[turned];
  REQUIRE(pair.keyring.add(
      {fresh.public_key, Role::agent, "agents-" + std::to_string(turned), {{NodeId{2 * turned}, NodeId{2 * turned + 1}}}}));
  pair.links[0]->replace_keyring(pair.keyring);
  pair.links[1]->replace_keyring(pair.keyring);
  REQUIRE(pair.links[turned]->replace_keys(fresh));
  CHECK(pair.links[turned]->endpoint() == pair.address[turned]);  // whoever was told it finds it still
  pair.links[1 - turned]->replace_peer_key(turned, fresh.public_key);
  REQUIRE(pair.keyring.remove(old.public_key));
  pair.links[0]->replace_keyring(pair.keyring);
  pair.links[1]->replace_keyring(pair.keyring);
  REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 2));
  REQUIRE(pair.deliver_until_received(NodeId{0}, NodeId{2}, 3));
}

TEST_CASE("a_process_that_turns_its_keys_again_and_again_keeps_its_port") {
  PeerPair pair;
  REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 1));
  const std::string before = pair.links[0]->endpoint();
  for (std::uint64_t turn = 0; turn < 3; ++turn) {
    const KeyPair fresh = make_keys();
    REQUIRE(pair.keyring.remove(pair.keys[0].public_key));
    REQUIRE(pair.keyring.add({fresh.public_key, Role::agent, "agents-0", {{NodeId{0}, NodeId{1}}}}));
    pair.keys[0] = fresh;
    REQUIRE(pair.links[0]->replace_keys(fresh));
    REQUIRE(pair.links[0]->endpoint() == before);
    pair.links[0]->replace_keyring(pair.keyring);
    pair.links[1]->replace_keyring(pair.keyring);
    pair.links[1]->replace_peer_key(0, fresh.public_key);
    REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 10 + turn));
    REQUIRE(pair.deliver_until_received(NodeId{0}, NodeId{2}, 20 + turn));
  }
}

TEST_CASE("links_go_over_ipv6_where_the_address_says_so") {
  if (!has_ipv6()) {
    return;
  }
  PeerPair pair({}, "tcp://[::1]:*");
  CHECK_THAT(pair.address[0], Catch::Contains("tcp://[::1]:"));
  REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 1));
  REQUIRE(pair.deliver_until_received(NodeId{0}, NodeId{2}, 1));
}

TEST_CASE("a_process_at_every_interface_is_found_in_both_families") {
  if (!has_ipv6()) {
    return;
  }
  PeerPair pair({}, "tcp://*:*");
  const std::string port = pair.address[0].substr(pair.address[0].rfind(':'));
  CHECK(pair.address[0] == "tcp://[::]" + port);
  for (const char* host : {"127.0.0.1", "[::1]", "localhost"}) {
    pair.address[0] = "tcp://" + std::string(host) + port;
    pair.links[1].reset();
    pair.open(1);
    INFO(host);
    REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 1));
    pair.received[0].clear();
  }
}

TEST_CASE("a_process_that_was_refused_by_another_dials_it_anew_until_its_key_is_granted") {
  PeerPair pair(either_transport());
  pair.await_agreement();
  REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 1));
  const Keyring known = pair.keyring;
  REQUIRE(pair.keyring.remove(pair.keys[1].public_key));
  pair.links[0].reset();
  pair.open(0);  // it starts anew and does not know the other's key
  REQUIRE(pair.run_until([&] { return pair.links[0]->counters().unauthorised > 0; }));
  pair.links[0]->replace_keyring(known);
  REQUIRE(pair.deliver_until_received(NodeId{2}, NodeId{0}, 2));
  REQUIRE(pair.deliver_until_received(NodeId{0}, NodeId{2}, 3));
}
