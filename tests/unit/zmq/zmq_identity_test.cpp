// SPDX-License-Identifier: Apache-2.0
// Who somebody is comes from its key alone: neither a routing id that another key had before, nor a word about itself, gives
// anybody a node, a role or another's answers.
#include <zmq.hpp>

#include <optional>

#include "runtime/zmq/batch.hpp"
#include "tests/unit/zmq/zmq_rig.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using test::Rig;

std::string framed(std::string_view envelope) {
  Batch batch;
  batch.add(envelope);
  return batch.bytes();
}

/// A DEALER that chooses its own routing id, as no AgentTransport does. Once it is gone, another one may choose the same.
class NamedPeer {
 public:
  NamedPeer(const Rig& rig, const KeyPair& keys, const std::string& routing_id) : socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::routing_id, routing_id);
    socket_.set(zmq::sockopt::curve_serverkey, rig.controller_keys.public_key);
    socket_.set(zmq::sockopt::curve_publickey, keys.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, keys.secret_key);
    socket_.connect(rig.endpoint());
  }
  void send(const std::string& envelope) {
    const std::string frame = framed(envelope);
    socket_.send(zmq::buffer(frame), zmq::send_flags::dontwait);
  }
  /// Everything that came for it and was no probe.
  std::size_t answers() {
    zmq::message_t frame;
    while (socket_.recv(frame, zmq::recv_flags::dontwait)) {
      answers_ += frame.size() > 0 ? 1 : 0;
    }
    return answers_;
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::size_t answers_ = 0;
};

/// A peer of this routing id that the controller has heard or refused: the library turns it away as long as it holds the former
/// one for alive, so it comes again until it is let in.
std::unique_ptr<NamedPeer> let_in(Rig& rig, const KeyPair& keys, const std::string& routing_id, const std::string& envelope) {
  const std::size_t received = rig.received.size();
  const std::size_t refused = rig.refused.size();
  for (int attempt = 0; attempt < 200; ++attempt) {
    auto peer = std::make_unique<NamedPeer>(rig, keys, routing_id);
    peer->send(envelope);
    if (rig.run_for(std::chrono::milliseconds{100},
                    [&] { return rig.received.size() > received || rig.refused.size() > refused; })) {
      return peer;
    }
  }
  FAIL("the controller never let " << routing_id << " in again");
  return nullptr;
}

std::string claiming(NodeId node, std::uint64_t number, Role role, std::string principal) {
  Envelope envelope;
  envelope.node = node;
  envelope.role = role;
  envelope.principal = std::move(principal);
  envelope.body = Heartbeat{{number}, {}, false};
  return encode(envelope);
}

TEST_CASE("another_agent_key_with_the_same_routing_id_does_not_inherit_the_node") {
  Rig rig;
  const KeyPair first = rig.known(Role::agent, "host-a", {{{1}, {1}}});
  const KeyPair second = rig.known(Role::agent, "host-b", {{{2}, {2}}});
  rig.listen();
  auto former = let_in(rig, first, "same", test::heartbeat({1}, 10));
  REQUIRE(rig.received.size() == 1);
  REQUIRE(rig.received[0].principal == "host-a");
  former.reset();
  // Its first word is one for the node of the other key: nothing may be left of the grant under this routing id.
  const auto latter = let_in(rig, second, "same", test::heartbeat({1}, 20));
  REQUIRE(rig.received.size() == 1);
  REQUIRE(rig.refused.size() == 1);
  CHECK(rig.refused[0].error.code == ErrorCode::refused);
  CHECK_THAT(rig.refused[0].error.message, Contains("the key of host-b may not speak for node 1"));
  CHECK(rig.controller->counters().unauthorised == 1);
  // Nor does it hear what is for that node.
  rig.controller->send(agent_peer({1}), test::heartbeat({1}, 30));
  CHECK(rig.controller->counters().dropped == 1);
  latter->send(test::heartbeat({2}, 40));
  REQUIRE(rig.run_until([&] { return rig.received.size() == 2; }));
  CHECK(rig.received[1].principal == "host-b");
  CHECK(rig.received[1].from == agent_peer({2}));
  rig.controller->send(agent_peer({2}), test::heartbeat({2}, 50));
  REQUIRE(rig.run_until([&] { return latter->answers() > 0; }));
  CHECK(latter->answers() == 1);
}

TEST_CASE("an_operator_key_with_an_agents_routing_id_is_no_agent") {
  Rig rig;
  const KeyPair agent = rig.known(Role::agent, "host-a", {{{1}, {1}}});
  const KeyPair viewer = rig.known(Role::viewer, "grace");
  rig.listen();
  auto former = let_in(rig, agent, "same", test::heartbeat({1}, 10));
  REQUIRE(rig.received.size() == 1);
  former.reset();
  const auto latter = let_in(rig, viewer, "same", claiming({1}, 20, Role::agent, "host-a"));
  REQUIRE(rig.received.size() == 2);
  CHECK(rig.received[1].role == Role::viewer);
  CHECK(rig.received[1].principal == "grace");
  CHECK(rig.received[1].from.kind == Peer::Kind::operator_);
  rig.controller->send(agent_peer({1}), test::heartbeat({1}, 30));
  CHECK(rig.controller->counters().dropped == 1);
}

TEST_CASE("a_viewers_key_with_an_admins_routing_id_has_neither_its_role_nor_its_answers") {
  Rig rig;
  const KeyPair admin = rig.known(Role::admin, "ada");
  const KeyPair viewer = rig.known(Role::viewer, "grace");
  rig.listen();
  auto former = let_in(rig, admin, "same", test::heartbeat({}, 10));
  REQUIRE(rig.received.size() == 1);
  CHECK(rig.received[0].role == Role::admin);
  const Peer ada = rig.received[0].from;
  former.reset();
  const auto latter = let_in(rig, viewer, "same", claiming({}, 20, Role::admin, "ada"));
  REQUIRE(rig.received.size() == 2);
  CHECK(rig.received[1].role == Role::viewer);
  CHECK(rig.received[1].principal == "grace");
  CHECK_FALSE(rig.received[1].from == ada);
  rig.controller->send(ada, test::heartbeat({}, 30));  // the answer to the admin's last question
  CHECK(rig.controller->counters().dropped == 1);
  rig.controller->send(rig.received[1].from, test::heartbeat({}, 40));
  REQUIRE(rig.run_until([&] { return latter->answers() > 0; }));
  CHECK(latter->answers() == 1);
}

TEST_CASE("the_same_key_with_the_same_routing_id_is_itself_again") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{1}, {1}}});
  rig.listen();
  auto former = let_in(rig, keys, "same", test::heartbeat({1}, 10));
  former.reset();
  const auto latter = let_in(rig, keys, "same", test::heartbeat({1}, 20));
  REQUIRE(rig.received.size() == 2);
  CHECK(rig.received[1].from == agent_peer({1}));
  CHECK(rig.refused.empty());
  rig.controller->send(agent_peer({1}), test::heartbeat({1}, 30));
  REQUIRE(rig.run_until([&] { return latter->answers() > 0; }));
}

TEST_CASE("every_role_is_the_keys_whatever_the_message_says_of_itself") {
  for (const Role role : {Role::viewer, Role::operator_, Role::admin, Role::agent}) {
    Rig rig;
    const bool is_agent = role == Role::agent;  // no other key speaks for nodes
    const KeyPair keys =
        rig.known(role, "its-own-name", is_agent ? std::vector<NodeRange>{{{1}, {1}}} : std::vector<NodeRange>{});
    rig.listen();
    for (const Role claimed : {Role::viewer, Role::operator_, Role::admin, Role::agent, Role::controller}) {
      const std::size_t before = rig.received.size();
      const auto peer =
          let_in(rig, keys, "peer-" + std::to_string(static_cast<int>(claimed)), claiming({1}, 1, claimed, "another-name"));
      REQUIRE(rig.received.size() == before + 1);
      CHECK(rig.received.back().role == role);
      CHECK(rig.received.back().principal == "its-own-name");
      CHECK((rig.received.back().from.kind == Peer::Kind::agent) == is_agent);
    }
  }
}

}  // namespace
}  // namespace loom
