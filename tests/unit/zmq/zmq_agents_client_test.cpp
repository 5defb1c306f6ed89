// SPDX-License-Identifier: Apache-2.0
// An operator who asks agents themselves, over real sockets with CURVE: who is let in, as whom, and what is answered.
#include <future>

#include "runtime/zmq/agents_client.hpp"
#include "runtime/zmq/peer/peer_links.hpp"
#include "tests/unit/zmq/zmq_rig.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct Nobody final : MessageSeam {
  void on_receive(Receive) override {}
  void on_refuse(Refuse) override {}
  void send(Peer, std::string_view) override {}
};

/// A process of nodes 0 and 1, whose agents answer everything with their node's number.
struct Process {
  explicit Process(Role role) : operator_keys(make_keys()) {
    const KeyPair keys = make_keys();
    Keyring keyring;
    REQUIRE(keyring.add({keys.public_key, Role::agent, "agents-0", {{NodeId{0}, NodeId{1}}}}));
    REQUIRE(keyring.add({operator_keys.public_key, role, "alice", {}}));
    PeerLinksOptions options;
    options.processes.push_back(
        {{{NodeId{0}, NodeId{1}}}, keys.public_key, []() -> Result<std::string> { return std::string{}; }});
    options.keys = keys;
    options.keyring = keyring;
    auto opened = PeerLinks::open(io, std::move(options));
    REQUIRE(opened);
    links = std::move(*opened);
    place = {"agents-0", links->endpoint(), keys.public_key, {NodeId{0}, NodeId{1}}};
    for (std::uint32_t node = 0; node < 2; ++node) {
      MessageSeam& seam = links->port(NodeId{node}, nobody);
      seam.on_refuse([](const MessageRefused&) {});
      seam.on_receive([this, &seam, node](Peer from, std::string_view principal, Role as, std::string_view bytes) {
        auto envelope = decode_envelope(bytes);
        REQUIRE(envelope);
        received.push_back({from, std::string{principal}, as, *envelope});
        if (node == silent) {
          return;
        }
        OperatorReply reply;
        reply.request = std::get<OperatorRequest>(envelope->body).request;
        NodeReport row;
        row.node = NodeId{node};
        reply.rows = std::vector<NodeReport>{row};
        Envelope answer;
        answer.node = NodeId{node};
        answer.body = std::move(reply);
        seam.send(from, encode(answer));
      });
    }
  }
  /// What `alice` gets, while the process runs.
  std::vector<AgentAnswer> ask(const OperatorAsk& what, Duration timeout = seconds{20}) {
    auto asking = std::async(std::launch::async, [&] { return ask_agents({place}, operator_keys, what, timeout); });
    while (asking.wait_for(seconds{0}) != std::future_status::ready) {
      io.restart();
      io.run_for(milliseconds{5});
    }
    auto answers = asking.get();
    REQUIRE(answers);
    return std::move(*answers);
  }

  asio::io_context io;
  KeyPair operator_keys;
  Nobody nobody;
  std::unique_ptr<PeerLinks> links;
  AgentProcess place;
  std::vector<Received> received;
  std::uint32_t silent = ~0u;
};

}  // namespace

TEST_CASE("an_operators_request_comes_to_each_agent_as_from_that_operator_and_each_answers") {
  const Role role = GENERATE(Role::operator_, Role::admin);
  Process process(role);
  const auto answers = process.ask(LasersRequest{false});
  REQUIRE(answers.size() == 2);
  for (std::uint32_t node = 0; node < 2; ++node) {
    CHECK(answers[node].node == NodeId{node});
    REQUIRE(answers[node].reply);
    CHECK(std::get<std::vector<NodeReport>>(answers[node].reply->rows).front().node == NodeId{node});
  }
  REQUIRE(process.received.size() >= 2);
  for (const Received& one : process.received) {
    CHECK(one.from.kind == Peer::Kind::operator_);
    CHECK(one.role == role);
    CHECK(one.principal == "alice");
    CHECK(std::get<LasersRequest>(std::get<OperatorRequest>(one.envelope.body).ask).on == false);
  }
}

TEST_CASE("a_viewers_key_does_not_get_to_an_agent") {
  Process process(Role::viewer);
  const auto answers = process.ask(LasersRequest{false}, milliseconds{700});
  REQUIRE(answers.size() == 2);
  CHECK_FALSE(answers[0].reply);
  CHECK(answers[0].reply.error().message.find("agents-0 at tcp://") != std::string::npos);
  CHECK(process.received.empty());
}

TEST_CASE("an_agent_that_does_not_answer_is_asked_again_and_named_and_the_others_answers_stand") {
  Process process(Role::operator_);
  process.silent = 1;
  const auto answers = process.ask(LasersRequest{false}, milliseconds{1'300});
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].reply);
  REQUIRE_FALSE(answers[1].reply);
  CHECK(answers[1].reply.error().code == ErrorCode::unreachable);
  CHECK(std::ranges::count_if(process.received, [](const Received& one) { return one.envelope.node == NodeId{1}; }) >= 2);
  CHECK(std::ranges::count_if(process.received, [](const Received& one) { return one.envelope.node == NodeId{0}; }) == 1);
}

TEST_CASE("a_process_whose_address_is_not_known_is_named") {
  Process process(Role::operator_);
  process.place.endpoint.clear();
  const auto answers = process.ask(LasersRequest{false}, milliseconds{200});
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].reply.error().message.find("agents-0 has not written where it listens") != std::string::npos);
}
