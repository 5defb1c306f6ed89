// SPDX-License-Identifier: Apache-2.0
// Agents of other hosts: whom the controller takes in, what it tells them of each other, and what its own clock holds back.
#include <catch2/catch.hpp>

#include "controller/control/commit/fire_skew.hpp"
#include "controller/control/peer_book.hpp"
#include "tests/unit/control/controller_bench.hpp"

namespace loom::testing {
namespace {

Hello hello_of(const Fabric& fabric, NodeId node) {
  Hello hello{"test", 100 + node.value, {}, {}, false, {}};
  hello.fabric = identity_of(fabric);
  return hello;
}

const Unwelcome* last_unwelcome(const ControllerBench& bench) {
  for (auto send = bench.sent.rbegin(); send != bench.sent.rend(); ++send) {
    if (const auto* unwelcome = std::get_if<Unwelcome>(&send->envelope.body)) {
      return unwelcome;
    }
  }
  return nullptr;
}

TEST_CASE("an_agent_with_another_fabric_is_turned_away_and_told_what_differs") {
  ControllerBench bench;
  const NodeId node{3};
  bench.sent.clear();
  bench.receive(node, hello_of(*bench.fabric, node));
  CHECK(bench.count_sent<Welcome>() == 1);
  Fabric other = *bench.fabric;
  other.nodes[5].name = "renamed";
  bench.sent.clear();
  bench.alarms.clear();
  bench.receive(node, hello_of(other, node));
  bench.receive(node, hello_of(other, node));
  CHECK(bench.count_sent<Welcome>() == 0);
  REQUIRE(last_unwelcome(bench) != nullptr);
  const Error& why = last_unwelcome(bench)->error;
  CHECK(why.code == ErrorCode::conflict);
  CHECK_THAT(why.message, Catch::Contains(digest_text(identity_of(*bench.fabric).digest)));
  CHECK_THAT(why.message, Catch::Contains(digest_text(identity_of(other).digest)));
  CHECK_THAT(why.message, Catch::Contains("node '"));
  CHECK(std::count_if(bench.alarms.begin(), bench.alarms.end(),
                      [](const Alarm& alarm) { return alarm.code == AlarmCode::agent_duplicate; }) == 1);
  bench.sent.clear();
  bench.receive(node, hello_of(*bench.fabric, node));  // started again with the right files
  CHECK(bench.count_sent<Welcome>() == 1);
}

TEST_CASE("an_agent_on_another_clock_is_turned_away_and_both_clocks_are_named") {
  ControllerBench bench;
  bench.sent.clear();
  bench.feed(MessageArrived{
      agent_peer(NodeId{2}),
      {kWireVersion, "agent", Role::agent, Term{1}, NodeId{2}, kTaiClock, {}, hello_of(*bench.fabric, NodeId{2})}});
  CHECK(bench.count_sent<Welcome>() == 0);
  REQUIRE(last_unwelcome(bench) != nullptr);
  CHECK_THAT(last_unwelcome(bench)->error.message, Catch::Contains("virtual time"));
  CHECK_THAT(last_unwelcome(bench)->error.message, Catch::Contains("TAI"));
  CHECK_THAT(last_unwelcome(bench)->error.next_command, Catch::Contains("--clock tai"));
}

TEST_CASE("no_commit_begins_while_the_controllers_clock_is_lost_and_darkness_needs_none") {
  ControllerBench bench;
  bench.pass(milliseconds{200});
  bench.feed(ClockJudged{Error{ErrorCode::refused, "clock is not synchronised", "chronyc tracking"}});
  CHECK(bench.alarms.back().code == AlarmCode::clock_unsynchronised);
  bench.sent.clear();
  bench.submit(4);
  bench.pass(seconds{2});
  CHECK(bench.count_sent<Prepare>() == 0);
  bench.ask(LasersRequest{false});
  CHECK(bench.count_sent<SetLasers>() > 0);
  bench.ask(LasersRequest{true});
  bench.feed(ClockJudged{});
  bench.pass(seconds{2});
  CHECK(bench.count_sent<Prepare>() > 0);
}

TEST_CASE("a_process_is_told_through_one_node_until_it_knows") {
  constexpr Instant kNow{seconds{1}};
  PeerBook book;
  CHECK_FALSE(book.note(NodeId{4}, "agents-1", "", kNow));
  CHECK(book.note(NodeId{4}, "agents-1", "tcp://b:7610", kNow));
  CHECK(book.note(NodeId{0}, "agents-0", "tcp://a:7610", kNow));
  CHECK_FALSE(book.note(NodeId{1}, "agents-0", "tcp://a:7610", kNow));
  CHECK(book.addresses().peers == std::vector<PeerAddress>{{NodeId{0}, "tcp://a:7610"}, {NodeId{4}, "tcp://b:7610"}});
  const std::uint64_t digest = book.addresses().digest;
  CHECK(digest != 0);
  CHECK(book.lacks(NodeId{0}, "agents-0", 0));
  CHECK_FALSE(book.lacks(NodeId{0}, "agents-0", digest));
  CHECK_FALSE(book.lacks(NodeId{1}, "agents-0", 0));  // told through node 0
  CHECK_FALSE(book.lacks(NodeId{0}, "agents-7", 0));
  CHECK(book.note(NodeId{4}, "agents-1", "tcp://b:40001", kNow));  // started again elsewhere
  CHECK(book.lacks(NodeId{0}, "agents-0", digest));
  CHECK(book.note(NodeId{4}, "agents-1", "", kNow));
  CHECK(book.addresses().peers.size() == 1);
  // Of two keys that say one endpoint both stay: who dials proves whom he finds.
  CHECK(book.note(NodeId{9}, "agents-9", "tcp://a:7610", kNow));
  CHECK(book.addresses().peers.size() == 2);
}

TEST_CASE("a_process_that_moves_without_end_is_believed_a_few_times") {
  PeerBook book;
  Instant now{seconds{1}};
  CHECK(book.note(NodeId{0}, "agents-0", "tcp://a:1", now));
  std::size_t believed = 0;
  for (int port = 2; port < 1'000; ++port) {
    believed += book.note(NodeId{0}, "agents-0", "tcp://a:" + std::to_string(port), now) ? 1 : 0;
  }
  CHECK(believed == 4);
  now += seconds{5};
  CHECK(book.note(NodeId{0}, "agents-0", "tcp://a:7610", now));
  CHECK(book.addresses().peers == std::vector<PeerAddress>{{NodeId{0}, "tcp://a:7610"}});
}

TEST_CASE("agents_that_say_where_they_listen_are_told_of_each_other") {
  ControllerBench bench;
  for (const NodeId node : {NodeId{0}, NodeId{1}}) {
    Hello hello = hello_of(*bench.fabric, node);
    hello.listens_at = "tcp://10.0.0.11:7610";
    bench.receive(node, hello);
  }
  bench.sent.clear();
  bench.receive(NodeId{0}, Heartbeat{});
  REQUIRE(bench.count_sent<PeerAddresses>() == 1);
  const auto told = std::find_if(bench.sent.begin(), bench.sent.end(),
                                 [](const Send& send) { return std::holds_alternative<PeerAddresses>(send.envelope.body); });
  const auto addresses = std::get<PeerAddresses>(told->envelope.body);
  CHECK(addresses.peers == std::vector<PeerAddress>{{NodeId{0}, "tcp://10.0.0.11:7610"}});
  Heartbeat knows;
  knows.peers_digest = addresses.digest;
  bench.sent.clear();
  bench.receive(NodeId{0}, knows);
  bench.receive(NodeId{5}, Heartbeat{});  // says nothing of where it listens
  CHECK(bench.count_sent<PeerAddresses>() == 0);
}

TEST_CASE("fire_skew_is_the_p999_rounded_up_and_never_less_again") {
  const auto add = [](FireSkew& skew, int count, Duration lateness) {
    for (int i = 0; i < count; ++i) {
      skew.add(lateness);
    }
  };
  FireSkew skew;
  add(skew, 999, Duration{1'000'000});
  CHECK(skew.p999() == Duration{});  // too few to say
  add(skew, 1, Duration{-1'000'000});
  CHECK(skew.p999() == Duration{1 << 20});
  add(skew, 10'000, Duration{10});
  CHECK(skew.p999() == Duration{1 << 20});
  CHECK(skew.count() == 11'000);
  FireSkew rare;
  add(rare, 1'999, Duration{100});
  add(rare, 1, Duration{50'000'000});  // one in two thousand is beyond p99.9
  CHECK(rare.p999() == Duration{128});
  add(rare, 4, Duration{50'000'000});
  CHECK(rare.p999() == Duration{1 << 26});
}

}  // namespace
}  // namespace loom::testing
