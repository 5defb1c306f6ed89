// SPDX-License-Identifier: Apache-2.0
// Links that go through shared memory: who agrees on it, what still goes over ZeroMQ, and how a link comes back. What is alike
// over both is in zmq_peer_links_test.cpp.
#include <zmq.hpp>

#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/keys/keys.hpp"
#include "tests/unit/zmq/peer_pair.hpp"

using namespace loom;
using namespace loom::test;

namespace {

constexpr std::array<std::optional<ClockId>, 2> kOneHost{ClockId{7}, ClockId{7}};

std::uint64_t number_of_request(const Received& one) {
  return std::get<StreamRequest>(std::get<GrantPlaneMessage>(one.envelope.body).message).number;
}

}  // namespace

TEST_CASE("two_processes_of_one_host_agree_on_shared_memory_and_their_messages_cross_it_in_order") {
  PeerPair pair(kOneHost);
  CHECK(pair.transport(0) == PeerTransport::none);
  pair.await_agreement();
  for (std::uint64_t number = 1; number <= 500; ++number) {
    pair.seams[0]->send(agent_peer(NodeId{3}), grant_request(NodeId{0}, NodeId{3}, number));
    pair.seams[3]->send(agent_peer(NodeId{0}), grant_request(NodeId{3}, NodeId{0}, number));
  }
  REQUIRE(pair.run_until([&] { return pair.received[0].size() == 500 && pair.received[3].size() == 500; }));
  for (std::uint64_t number = 1; number <= 500; ++number) {
    CHECK(number_of_request(pair.received[0][number - 1]) == number);
    CHECK(number_of_request(pair.received[3][number - 1]) == number);
  }
  CHECK(pair.received[0].back().principal == "agents-1");
  for (const auto& links : pair.links) {
    CHECK(links->counters().shared_out == 500);
    CHECK(links->counters().shared_in == 500);
    CHECK(links->counters().words_in == 500);
    CHECK(links->counters().words_out == 500);
  }
  std::ranges::sort(pair.reported);
  CHECK(pair.reported == std::vector<std::string>{"the link to agents-0 goes through shared memory",
                                                  "the link to agents-1 goes through shared memory"});
}

TEST_CASE("processes_of_two_hosts_and_those_that_know_no_host_stay_with_zeromq") {
  const auto kernels = GENERATE(std::array<std::optional<ClockId>, 2>{ClockId{7}, ClockId{8}},
                                std::array<std::optional<ClockId>, 2>{ClockId{7}, std::nullopt},
                                std::array<std::optional<ClockId>, 2>{std::nullopt, ClockId{7}});
  PeerPair pair(kernels);
  REQUIRE(pair.deliver_until_received(NodeId{3}, NodeId{0}, 1));
  REQUIRE(pair.deliver_until_received(NodeId{0}, NodeId{3}, 2));
  CHECK(pair.transport(0) == PeerTransport::zeromq);
  CHECK(pair.transport(1) == PeerTransport::zeromq);
  CHECK(pair.links[0]->counters().malformed == 0);
  CHECK(pair.refused.empty());
  CHECK(pair.reported.empty());
}

TEST_CASE("a_process_that_dies_leaves_its_link_to_zeromq_until_it_is_back_and_has_agreed_anew") {
  PeerPair pair(kOneHost);
  pair.await_agreement();
  const auto dead = GENERATE(0U, 1U);
  const std::uint32_t kept = 1 - dead;
  pair.links[dead].reset();
  REQUIRE(pair.run_until([&] { return pair.transport(kept) != PeerTransport::shared_memory; }));
  CHECK(pair.links[kept]->counters().shared_ended == 1);
  CHECK(pair.reported.back().find("over ZeroMQ: the other process has ended or hung up") != std::string::npos);
  pair.open(dead);
  REQUIRE(pair.run_until([&] { return pair.is_shared(); }));
  const auto before = pair.links[kept]->counters().shared_in;
  REQUIRE(pair.deliver_until_received(NodeId{2 * dead}, NodeId{2 * kept}, 5));
  CHECK(pair.links[kept]->counters().shared_in > before);
}

TEST_CASE("messages_that_find_the_ring_full_go_over_zeromq_and_are_counted") {
  PeerPair pair(kOneHost);
  REQUIRE(pair.deliver_until_received(NodeId{3}, NodeId{0}, 1));
  pair.await_agreement();
  constexpr std::uint64_t kMessages = 20'000;  // nobody reads meanwhile
  const std::size_t before = pair.received[3].size();
  for (std::uint64_t number = 1; number <= kMessages; ++number) {
    pair.seams[0]->send(agent_peer(NodeId{3}), grant_request(NodeId{0}, NodeId{3}, number));
  }
  const PeerLinksCounters& counters = pair.links[0]->counters();
  CHECK(counters.shared_full > 0);
  CHECK(counters.shared_out + counters.shared_full == kMessages);
  REQUIRE(pair.run_until([&] { return pair.received[3].size() - before == kMessages; }));
  CHECK(counters.dropped == 0);
}

TEST_CASE("a_revoked_key_ends_the_shared_link_at_once_with_what_waited_in_it") {
  PeerPair pair(kOneHost);
  pair.await_agreement();
  const auto lost = GENERATE(0U, 1U);
  const std::uint32_t kept = 1 - lost;
  pair.seams[2 * lost]->send(agent_peer(NodeId{2 * kept}), grant_request(NodeId{2 * lost}, NodeId{2 * kept}, 1));
  Keyring fewer = pair.keyring;
  REQUIRE(fewer.remove(pair.keys[lost].public_key));
  pair.links[kept]->replace_keyring(fewer);
  CHECK(pair.transport(kept) == PeerTransport::none);
  REQUIRE(pair.run_until([&] { return pair.transport(lost) != PeerTransport::shared_memory; }));
  CHECK(pair.received[2 * kept].empty());
  CHECK(pair.links[kept]->counters().shared_in == 0);
}

TEST_CASE("an_offer_that_is_none_is_refused_by_name_and_one_of_an_operator_is_not_followed") {
  PeerPair pair({ClockId{7}, std::nullopt});
  const bool is_agent = GENERATE(true, false);
  const KeyPair other = make_keys();
  REQUIRE(pair.keyring.add({other.public_key, is_agent ? Role::agent : Role::operator_, "another",
                            is_agent ? std::vector<NodeRange>{{NodeId{2}, NodeId{3}}} : std::vector<NodeRange>{}}));
  pair.links[0]->replace_keyring(pair.keyring);
  if (is_agent) {
    pair.links[0]->replace_peer_key(1, other.public_key);
  }
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::curve_serverkey, pair.keys[0].public_key);
  socket.set(zmq::sockopt::curve_publickey, other.public_key);
  socket.set(zmq::sockopt::curve_secretkey, other.secret_key);
  socket.connect(pair.address[0]);
  Batch batch;
  batch.add(std::string(4, '\xFF') + std::string("\1far too short", 14));
  REQUIRE(socket.send(zmq::buffer(batch.bytes())));
  REQUIRE(pair.run_until([&] { return pair.links[0]->counters().malformed == 1; }));
  CHECK(pair.transport(0) != PeerTransport::shared_memory);
  REQUIRE_FALSE(pair.refused.empty());
  if (is_agent) {
    CHECK(pair.refused.front().error.message == "an offer of shared memory has 14 bytes, wanted 57");
  }
}
