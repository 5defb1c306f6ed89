// SPDX-License-Identifier: Apache-2.0
// The transports over real sockets: who gets a word through, that nothing is lost, that damage and strangers are counted.
#include <asio/post.hpp>
#include <thread>
#include <zmq.hpp>

#include "core/text/format_text.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/operator_client.hpp"
#include "tests/unit/zmq/zmq_rig.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using test::heartbeat;
using test::Rig;

/// A bare DEALER with lawful keys, to say what no AgentTransport would.
class BareDealer {
 public:
  BareDealer(const Rig& rig, const KeyPair& keys) : socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::curve_serverkey, rig.controller_keys.public_key);
    socket_.set(zmq::sockopt::curve_publickey, keys.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, keys.secret_key);
    socket_.connect(rig.endpoint());
  }
  void deliver(std::string_view part, bool has_more = false) {
    socket_.send(zmq::buffer(part), has_more ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
};

std::string framed(std::string_view envelope) {
  Batch batch;
  batch.add(envelope);
  return batch.bytes();
}

TEST_CASE("an_agent_is_heard_with_what_its_key_proves_and_answered") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{3}, {7}}});
  rig.listen();
  const auto agents = rig.agents(keys);
  MessageSeam& port = **agents->port({5});
  std::vector<std::string> answers;
  port.on_receive([&](Peer from, std::string_view principal, Role role, std::string_view bytes) {
    REQUIRE(from == controller_peer());
    REQUIRE(principal == "controller");
    REQUIRE(role == Role::controller);
    answers.emplace_back(bytes);
  });
  REQUIRE(rig.speak_until(port, {5}, 42));
  REQUIRE(rig.received[0].from == agent_peer({5}));
  REQUIRE(rig.received[0].principal == "host-a");
  REQUIRE(rig.received[0].role == Role::agent);
  REQUIRE(test::number_of(rig.received[0].envelope) == 42);
  rig.controller->send(agent_peer({5}), heartbeat({5}, 43));
  REQUIRE(rig.run_until([&] { return !answers.empty(); }));
  REQUIRE(answers[0] == heartbeat({5}, 43));
}

TEST_CASE("a_key_that_is_not_in_the_keyring_is_never_delivered_and_reported") {
  Rig rig;
  rig.listen();
  const KeyPair stranger = make_keys();
  const auto agents = rig.agents(stranger);
  MessageSeam& port = **agents->port({5});
  REQUIRE_FALSE(rig.speak_until(port, {5}, 1));
  REQUIRE(rig.refused.at(0).error.code == ErrorCode::refused);
  REQUIRE_THAT(rig.refused[0].error.message, Contains(stranger.public_key) && Contains("not in the keyring"));
  REQUIRE(rig.received.empty());
  REQUIRE(rig.controller->counters().frames_in == 0);
}

TEST_CASE("a_controller_with_another_key_is_not_believed") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  auto agents = AgentTransport::connect(rig.io, {rig.endpoint(), make_keys().public_key, keys, Connections::shared});
  REQUIRE(agents.has_value());
  MessageSeam& port = **(*agents)->port({5});
  const bool is_received = rig.run_for(std::chrono::milliseconds{300}, [&] {
    port.send(controller_peer(), heartbeat({5}, 1));
    return !rig.received.empty();
  });
  REQUIRE_FALSE(is_received);
  REQUIRE((*agents)->counters().envelopes_out == 0);
  REQUIRE((*agents)->counters().dropped > 0);
}

/// What is told of a link's troubles.
struct Troubles {
  std::vector<LinkTrouble> kinds;
  std::vector<std::string> sentences;
  auto listener() {
    return [this](LinkTrouble kind, const std::string& sentence) {
      kinds.push_back(kind);
      sentences.push_back(sentence);
    };
  }
};

TEST_CASE("whoever_listens_where_a_relay_should_and_has_another_key_is_not_that_relay") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  Troubles told;
  AgentTransportOptions options{rig.endpoint(), make_keys().public_key, keys, Connections::shared, told.listener()};
  options.called = "relay-1";
  options.key_file = "relay-1.pub";
  const auto agents = AgentTransport::connect(rig.io, options);
  REQUIRE(agents.has_value());
  const auto is_told = [&] { return std::ranges::find(told.kinds, LinkTrouble::other_key) != told.kinds.end(); };
  REQUIRE(rig.run_until(is_told));
  CHECK(told.sentences.back() ==
        format_text("whoever listens at {} is not relay-1: it does not hold the secret half of relay-1.pub; is that the "
                    "address of relay-1?",
                    rig.endpoint()));
}

TEST_CASE("an_outage_is_told_once_and_whoever_listens_elsewhere_afterwards_is_found_there") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  Troubles told;
  std::string written = "tcp://127.0.0.1:1";
  AgentTransportOptions options{written, rig.controller_keys.public_key, keys, Connections::shared, told.listener()};
  options.called = "relay-0";
  options.find = [&written] { return Result<std::string>(written); };
  options.patience = std::chrono::milliseconds{100};
  const auto agents = AgentTransport::connect(rig.io, options);
  REQUIRE(agents.has_value());
  REQUIRE(rig.run_until([&] { return !told.sentences.empty(); }));
  rig.run_for(std::chrono::milliseconds{500}, [] { return false; });
  CHECK(told.kinds == std::vector{LinkTrouble::unreachable});
  CHECK(told.sentences.front() == "nobody listens at tcp://127.0.0.1:1 (relay-0)");

  written = rig.endpoint();
  MessageSeam& port = **(*agents)->port({5});
  REQUIRE(rig.speak_until(port, {5}, 1));
  told = {};
  rig.controller.reset();  // the next outage
  REQUIRE(rig.run_until([&] { return !told.sentences.empty(); }));
  CHECK(told.sentences.front() == format_text("nobody listens at {} (relay-0)", written));
  rig.listen();  // at another port
  written = rig.endpoint();
  REQUIRE(rig.speak_until(port, {5}, 2));
}

TEST_CASE("an_agent_cannot_speak_for_a_node_that_is_not_its_own") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{3}, {7}}});
  rig.listen();
  const auto agents = rig.agents(keys);
  REQUIRE_FALSE(rig.speak_until(**agents->port({8}), {8}, 1));
  REQUIRE(rig.refused.at(0).error.code == ErrorCode::refused);
  REQUIRE_THAT(rig.refused[0].error.message, Contains("host-a may not speak for node 8"));
  REQUIRE(rig.speak_until(**agents->port({7}), {7}, 1));
}

TEST_CASE("a_viewer_speaks_as_an_operator_whatever_node_it_names") {
  Rig rig;
  const KeyPair keys = rig.known(Role::viewer, "grace");
  rig.listen();
  BareDealer viewer(rig, keys);
  viewer.deliver(framed(heartbeat({5}, 1)));
  REQUIRE(rig.run_until([&] { return !rig.received.empty(); }));
  REQUIRE(rig.received[0].from.kind == Peer::Kind::operator_);
  REQUIRE(rig.received[0].role == Role::viewer);
  REQUIRE(rig.received[0].principal == "grace");
  rig.controller->send(agent_peer({5}), heartbeat({5}, 2));  // it did not become node 5
  REQUIRE(rig.controller->counters().dropped == 1);
}

TEST_CASE("a_second_claimant_of_a_live_node_is_refused_and_reported") {
  Rig rig;
  const KeyPair first_keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  const KeyPair second_keys = rig.known(Role::agent, "host-b", {{{0}, {9}}});
  rig.listen();
  auto first = rig.agents(first_keys);
  const auto second = rig.agents(second_keys);
  REQUIRE(rig.speak_until(**first->port({5}), {5}, 1));
  REQUIRE_FALSE(rig.speak_until(**second->port({5}), {5}, 2));
  REQUIRE(rig.refused.at(0).error.code == ErrorCode::conflict);
  REQUIRE(rig.refused[0].from == agent_peer({5}));
  REQUIRE_THAT(rig.refused[0].error.message, Contains("node 5") && Contains("host-b") && Contains("host-a"));
  REQUIRE(rig.controller->counters().conflicts >= 1);
  REQUIRE(rig.speak_until(**first->port({5}), {5}, 3));  // the holder is not disturbed
  REQUIRE(rig.received.back().principal == "host-a");

  SECTION("and takes over when the holder has gone") {
    first.reset();
    REQUIRE(rig.run_until([&] {
      (*second->port({5}))->send(controller_peer(), heartbeat({5}, 4));
      return rig.received.back().principal == "host-b";
    }));
  }
  SECTION("and takes over when the holder was silent for the claim time-out") {
    rig.now += std::chrono::milliseconds{2'001};
    REQUIRE(rig.speak_until(**second->port({5}), {5}, 4));
    REQUIRE(rig.received.back().principal == "host-b");
  }
  SECTION("but not a moment before") {
    rig.now += std::chrono::milliseconds{2'000};
    REQUIRE_FALSE(rig.speak_until(**second->port({5}), {5}, 4));
  }
}

TEST_CASE("forty_thousand_messages_each_way_arrive_whole_and_in_order") {
  constexpr std::uint32_t kAgents = 64;
#ifdef __SANITIZE_THREAD__
  constexpr std::uint64_t kEach = 6'400 / kAgents;  // an instrumented decoder needs minutes for more
#else
  constexpr std::uint64_t kEach = 40'000 / kAgents;
#endif
  constexpr std::uint64_t kHello = 1'000'000;  // repeated; not counted
  const auto connections = GENERATE(Connections::shared, Connections::one_per_agent);
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {kAgents - 1}}});
  rig.listen();
  const auto agents = rig.agents(keys, connections);
  std::vector<MessageSeam*> ports;
  std::vector<std::uint64_t> down(kAgents, 0);
  std::vector<std::uint64_t> up(kAgents, 0);
  std::uint64_t disorder = 0;
  std::uint64_t arrived_down = 0;
  std::uint64_t arrived_up = 0;
  for (std::uint32_t node = 0; node < kAgents; ++node) {
    ports.push_back(*agents->port({node}));
    ports.back()->on_receive([&, node](Peer, std::string_view, Role, std::string_view bytes) {
      disorder += test::number_of(*decode_envelope(bytes)) != down[node]++;
      ++arrived_down;
    });
  }
  for (std::uint32_t node = 0; node < kAgents; ++node) {
    REQUIRE(rig.speak_until(*ports[node], {node}, kHello));  // connected
  }
  rig.controller->on_receive([&](Peer from, std::string_view, Role, std::string_view bytes) {
    const std::uint64_t number = test::number_of(*decode_envelope(bytes));
    if (number != kHello) {
      disorder += number != up[from.id]++;
      ++arrived_up;
    }
  });
  for (std::uint64_t number = 0; number < kEach; ++number) {
    for (std::uint32_t node = 0; node < kAgents; ++node) {
      ports[node]->send(controller_peer(), heartbeat({node}, number));
      rig.controller->send(agent_peer({node}), heartbeat({node}, number));
    }
    if (number % 8 == 0) {
      rig.io.poll();
      rig.io.restart();
    }
  }
  REQUIRE(rig.run_until([&] { return arrived_up == kEach * kAgents && arrived_down == kEach * kAgents; }));
  REQUIRE(disorder == 0);
  REQUIRE(rig.controller->counters().dropped == 0);
  if (connections == Connections::shared) {
    REQUIRE(rig.controller->counters().frames_out < kEach * kAgents / 64);  // coalesced
  }
}

TEST_CASE("agents_are_back_after_a_controller_restart") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  const auto agents = rig.agents(keys);
  MessageSeam& port = **agents->port({5});
  REQUIRE(rig.speak_until(port, {5}, 1));
  const std::string endpoint = rig.endpoint();
  rig.controller.reset();
  REQUIRE(rig.run_until([&] {  // nothing waits for a controller that is not there
    port.send(controller_peer(), heartbeat({5}, 2));
    return agents->counters().dropped > 0;
  }));
  rig.received.clear();
  rig.listen(endpoint);
  REQUIRE(rig.speak_until(port, {5}, 3));
  REQUIRE(test::number_of(rig.received[0].envelope) == 3);
}

TEST_CASE("garbage_is_counted_and_dropped_and_the_next_word_is_heard") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  BareDealer dealer(rig, keys);
  dealer.deliver("\xff\xff\xff\xff\xff\xff");  // no length
  dealer.deliver(
      "\x05"
      "abc");  // longer than it is
  dealer.deliver(framed("\xff no envelope"));
  dealer.deliver("a part", true);
  dealer.deliver("and another");
  dealer.deliver("");  // a lawful batch of nothing
  dealer.deliver(framed(heartbeat({5}, 1)));
  REQUIRE(rig.run_until([&] { return !rig.received.empty(); }));
  REQUIRE(rig.controller->counters().malformed == 4);
  REQUIRE(rig.refused.size() == 1);  // told once a claim time-out
  REQUIRE(rig.refused[0].error.code == ErrorCode::malformed);
  REQUIRE(rig.received.size() == 1);
}

TEST_CASE("an_oversize_frame_is_refused_and_the_connection_comes_back") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen("tcp://127.0.0.1:*", 10'000);
  BareDealer dealer(rig, keys);
  dealer.deliver(framed(heartbeat({5}, 1)));
  REQUIRE(rig.run_until([&] { return rig.received.size() == 1; }));
  dealer.deliver(std::string(10'001, 'x'));
  REQUIRE(rig.run_until([&] {
    dealer.deliver(framed(heartbeat({5}, 2)));
    return rig.received.size() > 1;
  }));
  REQUIRE(rig.controller->counters().malformed == 0);  // it never got as far as us
}

TEST_CASE("a_revoked_key_is_not_heard_any_more") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  const auto agents = rig.agents(keys);
  MessageSeam& port = **agents->port({5});
  REQUIRE(rig.speak_until(port, {5}, 1));
  rig.controller->replace_keyring({});
  rig.received.clear();
  const auto before = rig.controller->counters().unauthorised;
  REQUIRE(rig.run_until([&] {
    port.send(controller_peer(), heartbeat({5}, 2));
    return rig.controller->counters().unauthorised > before;
  }));
  REQUIRE(rig.received.empty());
}

TEST_CASE("an_address_in_use_is_an_error_that_names_it") {
  Rig rig;
  rig.listen();
  ControllerTransportOptions options;
  options.endpoints = {rig.endpoint()};
  options.keys = rig.controller_keys;
  options.now = [] { return Instant{}; };
  const auto second = ControllerTransport::bind(rig.io, std::move(options));
  REQUIRE(second.error().code == ErrorCode::unreachable);
  REQUIRE_THAT(second.error().message, Contains(rig.endpoint()));
}

TEST_CASE("an_endpoint_that_cannot_be_listened_at_is_named_with_what_is_wrong") {
  const auto words = [](const std::string& endpoint) {
    asio::io_context io;
    ControllerTransportOptions options;
    options.endpoints = {endpoint};
    options.keys = make_keys();
    options.now = [] { return Instant{}; };
    const auto bound = ControllerTransport::bind(io, std::move(options));
    REQUIRE_FALSE(bound);
    return bound.error().message;
  };
  CHECK_THAT(words("tcp://::1:7601"), Contains("an IPv6 address stands in brackets: [::1]:7601"));
  CHECK_THAT(words("tcp://[::g]:*"),
             Contains("expected tcp://HOST:PORT, where * is any; '[::g]:0' has host '[::g]' is no IPv6"));
  CHECK_THAT(words("tcp://10.0.0.300:*"), Contains("is no IPv4 address"));
  CHECK_THAT(words("7601"), Contains("found '7601'; expected tcp://HOST:PORT"));
  CHECK_THAT(words("tcp://192.0.2.1:*"), Contains("cannot listen at tcp://192.0.2.1:*: Cannot assign requested address"));
}

TEST_CASE("agents_reach_a_controller_over_ipv6") {
  if (!test::has_ipv6()) {
    return;
  }
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen(GENERATE("tcp://[::1]:*", "tcp://*:*"));
  const auto agents = rig.agents(keys);
  REQUIRE(rig.speak_until(**agents->port({5}), {5}, 1));
}

// --- operators -----------------------------------------------------------------------------------------------------------

/// Answers status queries with a term, on the rig's loop, while `ask` runs on a thread of its own.
template <class Ask>
void while_serving(Rig& rig, Ask ask) {
  bool is_done = false;
  std::jthread client([&] {
    ask();
    asio::post(rig.io, [&] { is_done = true; });
  });
  REQUIRE(rig.run_until([&] { return is_done; }));
}

TEST_CASE("an_operator_asks_and_is_answered") {
  Rig rig;
  const KeyPair keys = rig.known(Role::operator_, "grace");
  rig.listen();
  rig.controller->on_receive([&](Peer from, std::string_view principal, Role role, std::string_view bytes) {
    const auto envelope = decode_envelope(bytes);
    OperatorReply reply;
    reply.request = std::get<OperatorRequest>(envelope->body).request;
    reply.outcome.error = Error{ErrorCode::busy, std::string{principal} + " " + std::string{to_string(role)}};
    Envelope answer;
    answer.body = reply;
    rig.controller->send(from, encode(answer));
  });
  Result<OperatorReply> first = fail(ErrorCode::internal, "not asked");
  Result<OperatorReply> reply = first;
  while_serving(rig, [&] {
    auto client = OperatorClient::connect({rig.endpoint(), rig.controller_keys.public_key, keys});
    if (client) {
      first = client->ask({}, std::chrono::seconds{10});
      reply = client->ask({}, std::chrono::seconds{10});
    }
  });
  REQUIRE(first.has_value());
  REQUIRE(reply.has_value());
  REQUIRE(reply->request.value == first->request.value + 1);  // counted from a random number, for principals outlive programs
  REQUIRE(reply->outcome.error->message == "grace operator");
}

TEST_CASE("a_request_that_no_controller_takes_is_not_sent_and_an_interrupt_ends_the_wait") {
  Rig rig;
  const KeyPair keys = rig.known(Role::operator_, "grace");
  rig.listen();
  int received = 0;
  rig.controller->on_receive([&](Peer, std::string_view, Role, std::string_view) { ++received; });
  Error unlawful;
  ErrorCode interrupted = ErrorCode::internal;
  while_serving(rig, [&] {
    OperatorClientOptions options{rig.endpoint(), rig.controller_keys.public_key, keys};
    int asked = 0;
    options.is_interrupted = [&asked] { return ++asked > 3; };
    auto client = OperatorClient::connect({rig.endpoint(), rig.controller_keys.public_key, keys});
    OperatorRequest request;
    request.ask = DeviceRequest{DeviceId{0}, TransmitterSetpoint{{49'104, 8}, Dbm{0}, true}, false};
    unlawful = client ? client->ask(request, std::chrono::hours{1}).error() : client.error();
    auto impatient = OperatorClient::connect(std::move(options));
    interrupted = impatient ? impatient->ask({}, std::chrono::hours{1}).error().code : impatient.error().code;
  });
  CHECK(unlawful.code == ErrorCode::invalid_argument);
  CHECK(unlawful.message.find("slot_n = 49104") != std::string::npos);
  CHECK((interrupted == ErrorCode::timed_out || interrupted == ErrorCode::unreachable));
  CHECK(received <= 1);
}

TEST_CASE("a_controller_that_does_not_answer_is_a_time_out_and_one_that_is_not_there_is_unreachable") {
  Rig rig;
  const KeyPair keys = rig.known(Role::operator_, "grace");
  rig.listen();
  ErrorCode silent = ErrorCode::internal;
  ErrorCode stranger = ErrorCode::internal;
  while_serving(rig, [&] {
    auto client = OperatorClient::connect({rig.endpoint(), rig.controller_keys.public_key, keys});
    silent = client ? client->ask({}, std::chrono::milliseconds{50}).error().code : client.error().code;
    OperatorClientOptions unknown{rig.endpoint(), rig.controller_keys.public_key, make_keys()};
    unknown.connect_timeout = std::chrono::milliseconds{200};
    stranger = OperatorClient::connect(std::move(unknown)).error().code;
  });
  REQUIRE(silent == ErrorCode::timed_out);
  REQUIRE(stranger == ErrorCode::unreachable);
}

}  // namespace
}  // namespace loom
