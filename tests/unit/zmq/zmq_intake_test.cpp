// SPDX-License-Identifier: Apache-2.0
// Floods over real sockets: what one key may send, that a turn of the loop takes a bounded part of it, and that nothing that is
// refused goes uncounted. Nothing here asserts how fast.
#include <asio/post.hpp>
#include <functional>
#include <zmq.hpp>

#include "runtime/zmq/batch.hpp"
#include "tests/unit/zmq/zmq_rig.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using test::heartbeat;
using test::Rig;

/// A DEALER with lawful keys that says what no client of ours would.
class Dealer {
 public:
  Dealer(zmq::context_t& context, const Rig& rig, const KeyPair& keys, int frames_in = 1'000)
      : socket_(context, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvhwm, frames_in);
    socket_.set(zmq::sockopt::curve_serverkey, rig.controller_keys.public_key);
    socket_.set(zmq::sockopt::curve_publickey, keys.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, keys.secret_key);
    socket_.connect(rig.endpoint());
  }
  void send(const Batch& batch) { socket_.send(zmq::buffer(batch.bytes()), zmq::send_flags::none); }
  void send(std::string_view envelope) {
    Batch batch;
    batch.add(envelope);
    send(batch);
  }
  /// Every reply that has come since.
  std::vector<OperatorReply> replies() {
    std::vector<OperatorReply> all;
    for (zmq::message_t frame; socket_.recv(frame, zmq::recv_flags::dontwait);) {
      const auto envelopes = split_batch({frame.data<char>(), frame.size()});
      REQUIRE(envelopes.has_value());
      for (const std::string_view bytes : *envelopes) {
        all.push_back(std::get<OperatorReply>(decode_envelope(bytes)->body));
      }
    }
    return all;
  }

 private:
  zmq::socket_t socket_;
};

std::string query(std::uint64_t number) {
  Envelope envelope;
  envelope.role = Role::viewer;
  envelope.body = OperatorRequest{RequestId{number}, Query{Noun::status, {}}};
  return encode(envelope);
}

std::uint64_t sum_of(const std::vector<MessageRefused>& refused, RefusalKind kind) {
  std::uint64_t sum = 0;
  for (const MessageRefused& each : refused) {
    sum += each.kind == kind ? each.count : 0;
  }
  return sum;
}

/// Counts turns of the loop, for as long as it lives.
class Turns {
 public:
  explicit Turns(asio::io_context& io) : io_(io) { next(); }
  ~Turns() { *alive_ = false; }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  std::uint64_t count() const { return count_; }

 private:
  void next() {
    asio::post(io_, [this, alive = alive_] {
      if (*alive) {
        ++count_;
        next();
      }
    });
  }
  asio::io_context& io_;
  std::uint64_t count_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

TEST_CASE("every_query_of_a_flood_is_taken_or_answered_busy_or_counted") {
  constexpr std::uint64_t kQueries = 4'000;
  Rig rig;
  const KeyPair keys = rig.known(Role::viewer, "eve");
  rig.listen();
  zmq::context_t context;
  Dealer viewer(context, rig, keys);
  const bool is_one_frame = GENERATE(true, false);
  Batch batch;
  for (std::uint64_t number = 1; number <= kQueries; ++number) {
    if (is_one_frame) {
      batch.add(query(number));
    } else {
      viewer.send(query(number));
    }
  }
  if (is_one_frame) {
    viewer.send(batch);
  }
  REQUIRE(rig.run_until([&] { return rig.received.size() + rig.controller->counters().over_quota == kQueries; }));
  CHECK(rig.received.size() == limits::kViewerBurst);
  std::vector<OperatorReply> busy;
  REQUIRE(rig.run_until([&] {
    const auto more = viewer.replies();
    busy.insert(busy.end(), more.begin(), more.end());
    return busy.size() == limits::kRefusalsAnswered;
  }));
  for (const OperatorReply& reply : busy) {
    REQUIRE(reply.request.value > limits::kViewerBurst);
    REQUIRE(reply.outcome.error.has_value());
    REQUIRE(reply.outcome.error->code == ErrorCode::busy);
    REQUIRE_THAT(reply.outcome.error->message,
                 Contains("the key of eve") && Contains("limit kViewerRequests") && Contains("wait a second"));
    REQUIRE_FALSE(reply.outcome.error->next_command.empty());
  }
  // Reported in sums: at once, and the rest within a second.
  REQUIRE(rig.run_until([&] { return sum_of(rig.refused, RefusalKind::over_quota) == kQueries - limits::kViewerBurst; }));
  CHECK(rig.refused.size() <= 3);
  CHECK(rig.refused.front().principal == "eve");
  // With time the key is heard again.
  rig.now += std::chrono::seconds{1};
  viewer.send(query(9'999));
  REQUIRE(rig.run_until([&] { return rig.received.size() == limits::kViewerBurst + 1; }));
}

TEST_CASE("a_turn_takes_no_more_requests_than_its_time_allows_and_at_least_one") {
  Rig rig;
  const KeyPair keys = rig.known(Role::operator_, "grace");
  rig.listen();
  const Turns turns(rig.io);
  std::vector<std::uint64_t> at;
  rig.controller->on_receive([&](Peer, std::string_view, Role, std::string_view) {
    at.push_back(turns.count());
    rig.now += std::chrono::milliseconds{10};  // an expensive one
  });
  zmq::context_t context;
  Dealer client(context, rig, keys);
  Batch batch;
  for (std::uint64_t number = 1; number <= 50; ++number) {
    batch.add(query(number));
  }
  client.send(batch);
  REQUIRE(rig.run_until([&] { return at.size() == 50; }));
  for (std::size_t i = 1; i < at.size(); ++i) {
    REQUIRE(at[i] > at[i - 1]);  // whatever else the loop had to do came between
  }
}

TEST_CASE("a_frame_of_sixty_thousand_messages_is_taken_turn_by_turn") {
  constexpr std::uint32_t kNodes = 64;
  constexpr std::size_t kMessages = std::size_t{kNodes} * limits::kAgentBurst;
  static_assert(kMessages == limits::kEnvelopesPerFrame);
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "stolen", {{{0}, {kNodes - 1}}});
  rig.listen();
  const Turns turns(rig.io);
  std::size_t taken = 0;
  std::size_t of_this_turn = 0;
  std::uint64_t turn = ~0ULL;
  std::size_t most = 0;
  rig.controller->on_receive([&](Peer, std::string_view, Role, std::string_view) {
    of_this_turn = turn == turns.count() ? of_this_turn + 1 : 1;
    turn = turns.count();
    most = std::max(most, of_this_turn);
    ++taken;
  });
  zmq::context_t context;
  Dealer agent(context, rig, keys);
  Batch batch;
  for (std::size_t i = 0; i < kMessages; ++i) {
    batch.add(heartbeat({static_cast<std::uint32_t>(i) % kNodes}, i));
  }
  agent.send(batch);
  REQUIRE(rig.run_until([&] { return taken == kMessages; }));
  CHECK(most <=
        2 * limits::kAgentsPerRound);  // a turn of the loop may see the end of one of ours and the beginning of the next
}

TEST_CASE("a_stolen_agent_key_that_floods_is_cut_to_its_quota_and_others_lose_nothing") {
  Rig rig;
  const KeyPair stolen = rig.known(Role::agent, "stolen", {{{0}, {0}}});
  const KeyPair honest = rig.known(Role::agent, "host-b", {{{1}, {1}}});
  rig.listen();
  const auto agents = rig.agents(honest);
  MessageSeam& port = **agents->port({1});
  REQUIRE(rig.speak_until(port, {1}, 1));
  rig.received.clear();
  zmq::context_t context;
  Dealer liar(context, rig, stolen);
  constexpr std::uint64_t kFlood = 20'000;
  std::uint64_t sent = 0;
  std::uint64_t honest_sent = 0;
  REQUIRE(rig.run_until([&] {
    for (int i = 0; sent < kFlood && i < 200; ++i) {
      liar.send(heartbeat({0}, ++sent));
    }
    if (honest_sent < 100) {
      port.send(controller_peer(), heartbeat({1}, 1'000 + honest_sent++));
    }
    const auto of_honest = std::count_if(rig.received.begin(), rig.received.end(),
                                         [](const test::Received& each) { return each.principal == "host-b"; });
    return sent == kFlood && of_honest == 100 && rig.received.size() - 100 + rig.controller->counters().over_quota == kFlood;
  }));
  CHECK(rig.received.size() == 100 + limits::kAgentBurst);
  REQUIRE(rig.run_until([&] { return sum_of(rig.refused, RefusalKind::over_quota) == kFlood - limits::kAgentBurst; }));
  CHECK(rig.refused.front().principal == "stolen");
}

TEST_CASE("words_of_foreign_nodes_are_reported_once_a_second_with_their_number") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {3}}});
  rig.listen();
  zmq::context_t context;
  Dealer liar(context, rig, keys);
  Batch batch;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    batch.add(heartbeat({4}, i));
  }
  liar.send(batch);
  REQUIRE(rig.run_until([&] { return sum_of(rig.refused, RefusalKind::unauthorised) == 1'000; }));
  CHECK(rig.refused.size() <= 3);
  CHECK(rig.refused.front().from == agent_peer({4}));
  CHECK(rig.received.empty());
  CHECK(rig.controller->counters().unauthorised == 1'000);
}

TEST_CASE("a_key_has_so_many_connections_and_gone_ones_make_room") {
  Rig rig;
  const KeyPair keys = rig.known(Role::viewer, "eve");
  const KeyPair other = rig.known(Role::viewer, "grace");
  rig.listen();
  zmq::context_t context;
  std::vector<std::unique_ptr<Dealer>> crowd;
  for (std::size_t i = 0; i < limits::kConnectionsPerKey; ++i) {
    crowd.push_back(std::make_unique<Dealer>(context, rig, keys));
    crowd.back()->send(query(i));
  }
  REQUIRE(rig.run_until([&] { return rig.received.size() == limits::kConnectionsPerKey; }));
  Dealer late(context, rig, keys);
  late.send(query(1'000));
  REQUIRE(rig.run_until([&] { return rig.controller->counters().over_quota == 1; }));
  CHECK_THAT(rig.refused.back().error.message, Contains("the key of eve") && Contains("kConnectionsPerKey"));
  Dealer grace(context, rig, other);
  grace.send(query(1));
  REQUIRE(rig.run_until([&] { return rig.received.back().principal == "grace"; }));
  crowd.resize(1);
  const std::size_t before = rig.received.size();
  REQUIRE(rig.run_until([&] {
    rig.now += std::chrono::milliseconds{200};
    late.send(query(2'000));
    return rig.received.size() > before;
  }));
  CHECK(rig.received.back().principal == "eve");
}

TEST_CASE("who_reads_no_answers_is_cut_off_and_what_waited_goes_with_it") {
  Rig rig;
  const KeyPair keys = rig.known(Role::operator_, "grace");
  const KeyPair other = rig.known(Role::operator_, "ada");
  rig.listen();
  zmq::context_t context;
  Dealer deaf(context, rig, keys, 1);
  deaf.send(query(1));
  REQUIRE(rig.run_until([&] { return rig.received.size() == 1; }));
  const Peer peer = rig.received.front().from;
  const std::string answer(256u << 10, 'x');
  REQUIRE(rig.run_until([&] {
    rig.controller->send(peer, answer);
    return rig.controller->counters().dropped > 0;
  }));
  Dealer reading(context, rig, other);
  reading.send(query(2));
  REQUIRE(rig.run_until([&] { return rig.received.size() == 2; }));
  CHECK(rig.received.back().principal == "ada");
}

TEST_CASE("strangers_at_the_door_are_reported_in_sums") {
  Rig rig;
  rig.listen();
  std::vector<std::unique_ptr<AgentTransport>> strangers;
  for (int i = 0; i < 8; ++i) {
    strangers.push_back(rig.agents(make_keys()));  // they try again and again
  }
  REQUIRE(rig.run_until([&] { return sum_of(rig.refused, RefusalKind::unauthorised) >= 8; }));
  CHECK(rig.refused.size() < 8);
  CHECK(rig.refused.front().principal.empty());
}

TEST_CASE("the_number_of_a_request_is_read_without_decoding_it") {
  CHECK(peek_request(query(77)) == RequestId{77});
  CHECK(peek_request(query(~0ULL)) == RequestId{~0ULL});
  CHECK_FALSE(peek_request(heartbeat({1}, 1)).has_value());
  CHECK_FALSE(peek_request("").has_value());
  CHECK_FALSE(peek_request("\xff\xff\xff").has_value());
  const std::string whole = query(1'234);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    (void)peek_request(std::string_view{whole}.substr(0, length));  // never beyond its end
  }
}

}  // namespace
}  // namespace loom
