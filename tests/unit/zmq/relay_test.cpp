// SPDX-License-Identifier: Apache-2.0
// Agents behind a relay: heard as who they are, answered, and held to their own nodes.
#include "runtime/zmq/relay/relay.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <zmq.hpp>

#include "runtime/zmq/batch.hpp"
#include "tests/unit/zmq/zmq_rig.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using test::heartbeat;
using test::Rig;

/// A controller, a relay for nodes 0 to 7, and hosts behind it.
struct Relayed {
  Rig rig;
  KeyPair relay_keys;
  std::unique_ptr<Relay> relay;
  Keyring at_relay;
  std::vector<MessageRefused> turned_away;
  std::vector<std::pair<LinkTrouble, std::string>> troubles;

  explicit Relayed(std::vector<NodeRange> nodes = {{{0}, {7}}}) : relay_keys(make_keys()) {
    REQUIRE(rig.keyring.add({relay_keys.public_key, Role::agent, "relay-0", std::move(nodes), true}).has_value());
    rig.listen();
  }

  KeyPair known(Role role, std::string principal, std::vector<NodeRange> nodes = {}) {
    KeyPair keys = make_keys();
    for (Keyring* keyring : {&at_relay, &rig.keyring}) {
      REQUIRE(keyring->add({keys.public_key, role, principal, nodes}).has_value());
    }
    if (rig.controller) {
      rig.controller->replace_keyring(rig.keyring);
    }
    return keys;
  }

  void open() {
    RelayOptions options;
    options.agents.endpoints = {"tcp://127.0.0.1:*"};
    options.agents.keys = relay_keys;
    options.agents.keyring = at_relay;
    options.agents.now = [this] { return rig.now; };
    options.controller = {rig.endpoint(), rig.controller_keys.public_key, relay_keys, Connections::shared};
    options.controller.patience = std::chrono::milliseconds{200};
    options.controller.on_trouble = [this](LinkTrouble trouble, const std::string& sentence) {
      troubles.emplace_back(trouble, sentence);
    };
    options.turned_away = [this](const MessageRefused& refused) { turned_away.push_back(refused); };
    auto opened = Relay::open(rig.io, std::move(options));
    REQUIRE(opened.has_value());
    relay = std::move(*opened);
  }

  std::unique_ptr<AgentTransport> agents(const KeyPair& keys) {
    auto connected =
        AgentTransport::connect(rig.io, {relay->endpoints().front(), relay_keys.public_key, keys, Connections::shared});
    REQUIRE(connected.has_value());
    return std::move(*connected);
  }

  bool is_unanswered() const {
    return std::ranges::any_of(troubles, [](const auto& told) { return told.first == LinkTrouble::unanswered; });
  }

  std::string principal_of(NodeId node) const {
    for (const test::Received& one : rig.received) {
      if (one.from == agent_peer(node)) {
        return one.principal;
      }
    }
    return {};
  }
};

TEST_CASE("agents_behind_a_relay_are_heard_as_who_they_are_and_each_is_answered") {
  Relayed lab;
  const KeyPair a = lab.known(Role::agent, "agents-0", {{{0}, {3}}});
  const KeyPair b = lab.known(Role::agent, "agents-1", {{{4}, {7}}});
  lab.open();
  const auto host_a = lab.agents(a);
  const auto host_b = lab.agents(b);
  std::map<std::uint32_t, std::vector<std::uint64_t>> answers;
  for (std::uint32_t node = 0; node < 8; ++node) {
    MessageSeam& port = **(node < 4 ? host_a : host_b)->port({node});
    port.on_receive([&answers, node](Peer from, std::string_view principal, Role role, std::string_view bytes) {
      CHECK(from == controller_peer());
      CHECK(principal == "controller");
      CHECK(role == Role::controller);
      answers[node].push_back(test::number_of(*decode_envelope(bytes)));
    });
    REQUIRE(lab.rig.speak_until(port, {node}, 100 + node));
    lab.rig.controller->send(agent_peer({node}), heartbeat({node}, 200 + node));
  }
  REQUIRE(lab.rig.run_until([&] { return answers.size() == 8; }));
  for (const auto& [node, numbers] : answers) {
    CHECK(numbers == std::vector<std::uint64_t>{200 + node});
    CHECK(lab.principal_of({node}) == (node < 4 ? "relay-0/agents-0" : "relay-0/agents-1"));
  }
  CHECK(lab.rig.refused.empty());
  CHECK(lab.relay->from_agents().envelopes_in >= 8);
}

TEST_CASE("a_relay_lets_a_key_speak_for_its_own_nodes_alone_and_operators_not_at_all") {
  Relayed lab;
  const KeyPair a = lab.known(Role::agent, "agents-0", {{{0}, {3}}});
  const KeyPair b = lab.known(Role::agent, "agents-1", {{{4}, {7}}});
  const KeyPair admin = lab.known(Role::admin, "grace");
  lab.open();
  const auto host_a = lab.agents(a);
  const auto host_b = lab.agents(b);
  const auto operator_tool = lab.agents(admin);
  MessageSeam& other = **host_a->port({5});
  REQUIRE(lab.rig.speak_until(**host_b->port({5}), {5}, 1));
  other.send(controller_peer(), heartbeat({5}, 2));
  (*operator_tool->port({6}))->send(controller_peer(), heartbeat({6}, 3));
  REQUIRE(lab.rig.run_until([&] { return lab.relay->from_agents().unauthorised > 0; }));
  REQUIRE(lab.rig.speak_until(**host_a->port({0}), {0}, 4));
  for (const test::Received& one : lab.rig.received) {
    CHECK(test::number_of(one.envelope) != 2);
    CHECK(test::number_of(one.envelope) != 3);
  }
}

TEST_CASE("a_relay_sends_an_operator_to_the_controller_and_a_relay_too_and_knows_no_stranger") {
  Relayed lab;
  const KeyPair admin = lab.known(Role::admin, "grace");
  const KeyPair other = make_keys();
  REQUIRE(lab.at_relay.add({other.public_key, Role::agent, "relay-1", {{{0}, {7}}}, true}).has_value());
  const KeyPair stranger = make_keys();
  lab.open();
  const auto why = [&](const KeyPair& keys) {
    lab.turned_away.clear();
    const auto host = lab.agents(keys);
    const auto of_this_key = [&](const MessageRefused& one) {
      return one.error.message.find(keys.public_key) != std::string::npos;
    };
    REQUIRE(lab.rig.run_until([&] { return std::ranges::any_of(lab.turned_away, of_this_key); }));
    return std::ranges::find_if(lab.turned_away, of_this_key)->error.message;
  };
  CHECK_THAT(why(admin), Contains("is the key of grace, whose role is admin: operators connect to the controller itself"));
  CHECK_THAT(why(other), Contains("is the key of relay relay-1: a relay connects to the controller itself"));
  CHECK_THAT(why(stranger), Contains("is not in the keyring; if it is ours, `loom keys grant"));
  lab.at_relay.remove(admin.public_key);
  lab.relay->replace_keyring(lab.at_relay);
  CHECK_THAT(why(admin), Contains("is not in the keyring"));
}

TEST_CASE("a_relay_that_has_passed_on_nothing_is_owed_no_answer") {
  Relayed lab;
  const KeyPair a = lab.known(Role::agent, "agents-0", {{{0}, {3}}});
  lab.open();
  lab.rig.run_for(std::chrono::milliseconds{800}, [] { return false; });
  CHECK_FALSE(lab.is_unanswered());
  const auto host = lab.agents(a);
  REQUIRE(lab.rig.speak_until(**host->port({1}), {1}, 1));  // and this controller answers nothing
  REQUIRE(lab.rig.run_until([&] { return lab.is_unanswered(); }));
  CHECK(lab.troubles.back().second ==
        "the controller at " + lab.rig.endpoint() + " knows our key and answers none of our nodes");
}

TEST_CASE("a_relay_s_key_speaks_for_the_nodes_that_the_controller_grants_it_and_says_for_whom") {
  Relayed lab(std::vector<NodeRange>{{{0}, {3}}});
  const KeyPair all = lab.known(Role::agent, "agents-0", {{{0}, {7}}});
  lab.open();
  const auto host = lab.agents(all);
  REQUIRE(lab.rig.speak_until(**host->port({3}), {3}, 1));
  CHECK_FALSE(lab.rig.speak_until(**host->port({4}), {4}, 2));  // the relay lets it, the controller does not
  REQUIRE(!lab.rig.refused.empty());
  CHECK(lab.rig.refused.front().kind == RefusalKind::unauthorised);

  // Its key in other hands, which say nothing of whom they speak for.
  lab.rig.refused.clear();
  lab.relay.reset();
  const auto bare = lab.rig.agents(lab.relay_keys);
  lab.rig.now += std::chrono::seconds{10};
  CHECK_FALSE(lab.rig.speak_until(**bare->port({2}), {2}, 3));
  REQUIRE(!lab.rig.refused.empty());
  CHECK(lab.rig.refused.front().kind == RefusalKind::malformed);
  CHECK_THAT(lab.rig.refused.front().error.message, Contains("relay-0 passes on an envelope and does not say whose"));
}

TEST_CASE("a_key_that_a_relay_no_longer_knows_is_not_passed_on") {
  Relayed lab;
  const KeyPair a = lab.known(Role::agent, "agents-0", {{{0}, {3}}});
  lab.open();
  const auto host = lab.agents(a);
  REQUIRE(lab.rig.speak_until(**host->port({1}), {1}, 1));
  lab.at_relay.remove(a.public_key);
  lab.relay->replace_keyring(lab.at_relay);
  lab.rig.received.clear();
  for (std::uint64_t i = 0; i < 10; ++i) {
    (*host->port({1}))->send(controller_peer(), heartbeat({1}, 2));
    lab.rig.run_for(std::chrono::milliseconds{10}, [] { return false; });
  }
  CHECK(lab.rig.received.empty());
}

TEST_CASE("a_key_that_is_revoked_at_the_controller_is_not_heard_through_a_relay_that_knows_it_still") {
  Relayed lab;
  const KeyPair a = lab.known(Role::agent, "agents-0", {{{0}, {3}}});
  const KeyPair b = lab.known(Role::agent, "agents-1", {{{4}, {7}}});
  lab.open();
  const auto host_a = lab.agents(a);
  const auto host_b = lab.agents(b);
  REQUIRE(lab.rig.speak_until(**host_a->port({1}), {1}, 1));
  REQUIRE(lab.rig.speak_until(**host_b->port({5}), {5}, 1));
  REQUIRE(lab.rig.keyring.remove(a.public_key));
  lab.rig.controller->replace_keyring(lab.rig.keyring);
  lab.rig.refused.clear();
  CHECK_FALSE(lab.rig.speak_until(**host_a->port({1}), {1}, 2));
  REQUIRE(!lab.rig.refused.empty());
  CHECK(lab.rig.refused.front().kind == RefusalKind::unauthorised);
  CHECK_THAT(lab.rig.refused.front().error.message, Contains("relay-0 passes on what agents-0 says for node 1"));
  CHECK(lab.rig.speak_until(**host_b->port({5}), {5}, 2));
}

TEST_CASE("a_relay_that_went_and_came_back_is_found_again") {
  Relayed lab;
  const KeyPair a = lab.known(Role::agent, "agents-0", {{{0}, {3}}});
  lab.open();
  const auto host = lab.agents(a);
  REQUIRE(lab.rig.speak_until(**host->port({1}), {1}, 1));
  const std::string endpoint = lab.relay->endpoints().front();
  lab.relay.reset();
  lab.rig.now += std::chrono::seconds{10};
  RelayOptions options;
  options.agents.endpoints = {endpoint};
  options.agents.keys = lab.relay_keys;
  options.agents.keyring = lab.at_relay;
  options.agents.now = [&lab] { return lab.rig.now; };
  options.controller = {lab.rig.endpoint(), lab.rig.controller_keys.public_key, lab.relay_keys, Connections::shared};
  auto again = Relay::open(lab.rig.io, std::move(options));
  REQUIRE(again.has_value());
  REQUIRE(lab.rig.speak_until(**host->port({1}), {1}, 2));
}

}  // namespace
}  // namespace loom
