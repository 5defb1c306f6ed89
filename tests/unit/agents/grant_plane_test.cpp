// SPDX-License-Identifier: Apache-2.0
// The grant plane of one node: whose words it hears, what it answers while it is dark, and that only a grant of the right
// arbiter, for this light, on this clock, ever becomes light.
#include "tests/unit/agents/grant_plane_bench.hpp"

namespace loom::testing {
namespace {

using Catch::Matchers::Contains;
using test::Op;

struct GrantPlaneBench : PlaneBench {
  GrantPlaneBench() : plane(envelopes, executor, 4) {}

  GrantPlaneBench& begin(const NodePlan& plan) {
    step([&](StepContext context) { plane.begin(context, std::make_shared<const NodePlan>(plan)); });
    advance();
    return *this;
  }
  GrantPlaneBench& begin() { return begin(plan()); }
  void advance() {
    step([&](StepContext context) { plane.advance(context); });
  }
  void receive(NodeId from, const GrantMessage& message, Revision revision = kRoutedBy, ClockId clock = kPlaneClock) {
    Envelope envelope;
    envelope.role = Role::agent;
    envelope.node = from;
    envelope.clock = clock;
    envelope.revision = revision;
    envelope.body = GrantPlaneMessage{message};
    step([&](StepContext context) { plane.receive(context, from, envelope, std::get<GrantPlaneMessage>(envelope.body)); });
    advance();
  }
  void run(Duration by) {
    run_until(now + by, [&](StepContext context) { plane.advance(context); });
  }

  StreamId to_near() const { return {kPlaneJob, 1, kSelf, kNear}; }
  /// What node 1's arbiter would grant our first request: a window that leaves time to tune.
  StreamGrant grant(std::uint64_t sequence = 1) const {
    StreamGrant grant;
    grant.stream = to_near();
    grant.sender_epoch = kRoutedBy.value;
    grant.number = 1;
    grant.key = {kRoutedBy.value, sequence};
    grant.start = now + milliseconds{15};
    grant.end = grant.start + milliseconds{10};
    grant.bytes = Bytes{12'500'000};
    return grant;
  }
  /// A lawful request of another node for our receiver.
  StreamRequest request(NodeId from, std::uint64_t number = 1) const {
    return {{kPlaneJob, 9, from, kSelf}, kRoutedBy.value, number, Bytes{1'000'000}, now, false};
  }
  std::size_t lights() const {
    return static_cast<std::size_t>(
        std::count_if(log.begin(), log.end(), [](const test::Actuation& each) { return each.op == Op::light; }));
  }

  GrantPlane plane;
};

// --- a lawful life ------------------------------------------------------------------------------------------------------

TEST_CASE("plane: a stream of the plan is asked for, granted, lit and said to be over") {
  GrantPlaneBench bench;
  bench.begin();
  const auto asked = bench.sent_of<StreamRequest>();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].stream == bench.to_near());
  CHECK(asked[0].remaining == Bytes{12'500'000});
  const Envelope& envelope = bench.sent.front().envelope;
  CHECK(bench.sent.front().to == agent_peer(kNear));
  CHECK(envelope.role == Role::agent);
  CHECK(envelope.node == kSelf);
  CHECK(envelope.clock == kPlaneClock);
  CHECK(envelope.revision == kRoutedBy);
  CHECK(envelope.term == Term{3});
  bench.receive(kNear, bench.grant());
  REQUIRE(bench.sent_of<StreamAccept>().size() == 1);
  CHECK_FALSE(bench.plane.is_done());
  bench.run(milliseconds{60});
  CHECK(bench.lights() == 1);
  CHECK_FALSE(bench.is_lit());
  REQUIRE(bench.sent_of<StreamRelease>().size() == 1);
  CHECK(bench.sent_of<StreamRelease>()[0].remaining == Bytes{0});
  CHECK(bench.plane.is_done());
  const auto times = bench.plane.take_times();
  REQUIRE(times.size() == 1);
  CHECK(times[0].sent == Bytes{12'500'000});
  CHECK(times[0].asked == Instant{seconds{10}});
  CHECK(times[0].granted == Instant{seconds{10}});
  CHECK(bench.plane.take_times().empty());
  CHECK(bench.alarms.empty());
}

TEST_CASE("plane: the cycle is said to be done when all is sent, and again until the cap") {
  GrantPlaneBench bench;
  bench.begin();
  const auto done = [&] {
    return std::count_if(bench.sent.begin(), bench.sent.end(),
                         [](const Send& send) { return std::holds_alternative<CycleDone>(send.envelope.body); });
  };
  const auto repeat = [&](int times) {
    for (int i = 0; i < times; ++i) {
      bench.step([&](StepContext context) { bench.plane.repeat_done(context); });
    }
  };
  repeat(3);
  CHECK(done() == 0);
  bench.receive(kNear, bench.grant());
  bench.run(milliseconds{60});
  CHECK(done() == 1);
  repeat(30);
  CHECK(done() == 21);
  bench.plane.send_again();
  repeat(30);
  CHECK(done() == 41);
  NodePlan idle = bench.plan();
  idle.grants->sends.clear();
  GrantPlaneBench nothing;
  nothing.begin(idle);
  CHECK(nothing.plane.is_done());
  CHECK(std::holds_alternative<CycleDone>(nothing.sent.back().envelope.body));
}

TEST_CASE("plane: our receiver is granted to whoever may ask for it") {
  GrantPlaneBench bench;
  bench.begin();
  bench.receive(kFar, bench.request(kFar));
  REQUIRE(bench.sent_of<StreamGrant>().size() == 1);
  CHECK(bench.sent_of<StreamGrant>()[0].stream.source == kFar);
  CHECK(bench.sent.back().to == agent_peer(kFar));
}

// --- whose words --------------------------------------------------------------------------------------------------------

TEST_CASE("plane: a stranger's words are dropped, counted, and told once") {
  GrantPlaneBench bench;
  bench.begin();
  const std::size_t before = bench.sent.size();
  bench.receive(kStranger, bench.request(kStranger));
  CHECK(bench.plane.counters().strangers == 1);
  CHECK(bench.sent_of<StreamGrant>().empty());
  REQUIRE(bench.alarms.size() == 1);
  CHECK(bench.alarms[0].code == AlarmCode::malformed_message);
  CHECK(bench.alarms[0].evidence ==
        "messages of node 3 about light are dropped: the plan of revision 5 routes no wavelength between it and node 0");
  CHECK(bench.alarms[0].next_command == "loom node show 3");
  bench.receive(kStranger, bench.request(kStranger, 2));
  CHECK(bench.plane.counters().strangers == 2);
  CHECK(bench.alarms.size() == 1);
  StreamGrant forged = bench.grant();
  bench.receive(kStranger, forged);
  CHECK(bench.plane.counters().strangers == 3);
  CHECK(bench.sent_of<StreamAccept>().empty());
  CHECK(bench.sent.size() == before + 1);  // the alarm's report, and nothing else
}

TEST_CASE("plane: who may ask us may not grant us, and the other way round") {
  GrantPlaneBench bench;
  NodePlan plan = bench.plan();
  plan.grants->sources = {kFar};
  plan.grants->wavelengths.pop_back();  // light leads to node 1 only
  plan.devices[0].timeline.pop_back();
  bench.begin(plan);
  bench.receive(kNear, bench.request(kNear));
  CHECK(bench.plane.counters().strangers == 1);
  CHECK(bench.sent_of<StreamGrant>().empty());
  StreamGrant grant = bench.grant();
  bench.receive(kFar, grant);
  CHECK(bench.plane.counters().strangers == 2);
  CHECK(bench.sent_of<StreamAccept>().empty());
  bench.receive(kFar, bench.request(kFar));
  CHECK(bench.sent_of<StreamGrant>().size() == 1);
  bench.receive(kNear, grant);
  CHECK(bench.sent_of<StreamAccept>().size() == 1);
}

TEST_CASE("plane: words of another clock, of another light or for no light mean nothing") {
  GrantPlaneBench bench;
  bench.receive(kNear, bench.grant());
  CHECK(bench.plane.counters().other_revision == 1);
  bench.begin();
  const std::size_t before = bench.sent.size();
  bench.receive(kNear, bench.grant(), kRoutedBy, ClockId{kPlaneClock.value + 1});
  CHECK(bench.plane.counters().other_clock == 1);
  bench.receive(kNear, bench.grant(), Revision{kRoutedBy.value - 1});
  bench.receive(kNear, bench.grant(), Revision{kRoutedBy.value + 1});
  CHECK(bench.plane.counters().other_revision == 3);
  bench.receive(kFar, bench.request(kFar), kRoutedBy, ClockId{});
  bench.receive(kFar, bench.request(kFar), Revision{});
  CHECK(bench.sent.size() == before);
  CHECK(bench.alarms.empty());
  bench.run(milliseconds{60});
  CHECK(bench.lights() == 0);
  bench.receive(kNear, bench.grant());
  CHECK(bench.sent_of<StreamAccept>().size() == 1);
}

TEST_CASE("plane: a forged grant lights nothing and is told by what is wrong with it") {
  const auto refusal_of = [](auto forge) {
    GrantPlaneBench bench;
    bench.begin();
    StreamGrant grant = bench.grant();
    forge(grant);
    bench.receive(kNear, grant);
    CHECK(bench.sent_of<StreamAccept>().empty());
    CHECK(bench.plane.counters().forged == 1);
    CHECK(bench.alarms.size() == 1);
    bench.receive(kNear, grant);  // again: counted, not told
    CHECK(bench.plane.counters().forged == 2);
    CHECK(bench.alarms.size() == 1);
    bench.run(milliseconds{60});
    CHECK(bench.lights() == 0);
    return bench.alarms.front().evidence;
  };
  const std::string head = "grant 5.1 of node 1 for 12500000 bytes is refused: ";
  CHECK(refusal_of([](StreamGrant& grant) { grant.stream.source = kFar; }) ==
        head + "for another source or not from its destination");
  CHECK(refusal_of([](StreamGrant& grant) { grant.stream.destination = kFar; }) ==
        head + "for another source or not from its destination");
  CHECK(refusal_of([](StreamGrant& grant) { grant.end = grant.start; }) ==
        head + "of a window that is none, or longer or further ahead than any lawful one");
  CHECK(refusal_of([](StreamGrant& grant) { grant.end = grant.start + Duration{limits::kGrantWindowNs + 1}; }) ==
        head + "of a window that is none, or longer or further ahead than any lawful one");
  CHECK(refusal_of([](StreamGrant& grant) { grant.sender_epoch += 1; }) ==
        head + "for an incarnation of this sender that is yet to come");
}

TEST_CASE("plane: a request in another node's name, or beyond the limits, is refused and told once") {
  const auto refusal_of = [](auto forge) {
    GrantPlaneBench bench;
    bench.begin();
    StreamRequest request = bench.request(kFar);
    forge(request);
    bench.receive(kFar, request);
    CHECK(bench.sent_of<StreamGrant>().empty());
    CHECK(bench.sent_of<StreamQueued>().empty());
    CHECK(bench.plane.counters().forged == 1);
    bench.receive(kFar, request);
    CHECK(bench.plane.counters().forged == 2);
    REQUIRE(bench.alarms.size() == 1);
    CHECK(bench.alarms[0].next_command == "loom node show 2");
    return bench.alarms[0].evidence;
  };
  const std::string tail = " is refused: this is the receiver of node 0, for 1 to " + std::to_string(limits::kStreamBytes) +
                           " bytes of the node that asks";
  CHECK(refusal_of([](StreamRequest& request) { request.stream.source = kNear; }) ==
        "a request of node 2 for 1000000 bytes from node 1 to node 0" + tail);
  CHECK(refusal_of([](StreamRequest& request) { request.stream.destination = kNear; }) ==
        "a request of node 2 for 1000000 bytes from node 2 to node 1" + tail);
  CHECK(refusal_of([](StreamRequest& request) { request.remaining = Bytes{0}; }) ==
        "a request of node 2 for 0 bytes from node 2 to node 0" + tail);
  CHECK(refusal_of([](StreamRequest& request) {
          request.remaining = Bytes{limits::kStreamBytes + 1};
        }).starts_with("a request of node 2 for " + std::to_string(limits::kStreamBytes + 1) + " bytes"));
}

TEST_CASE("plane: a grant of a window far ahead holds no transmitter, and an honest one is lit") {
  GrantPlaneBench bench;
  bench.begin();
  StreamGrant years_ahead = bench.grant();
  years_ahead.start += Duration{limits::kDurationNs};
  years_ahead.end = years_ahead.start + milliseconds{10};
  bench.receive(kNear, years_ahead);
  CHECK(bench.sent_of<StreamAccept>().empty());
  CHECK(bench.plane.counters().forged == 1);
  bench.receive(kNear, bench.grant());
  CHECK(bench.sent_of<StreamAccept>().size() == 1);
  bench.run(milliseconds{60});
  CHECK(bench.lights() == 1);
}

TEST_CASE("plane: words of an epoch that is yet to come make no honest word old") {
  GrantPlaneBench bench;
  bench.begin();
  StreamGrant of_later = bench.grant();
  of_later.key.epoch = ~0ULL;
  bench.receive(kNear, of_later);
  bench.receive(kNear, StreamQueued{bench.to_near(), kRoutedBy.value, 1, ~0ULL, true});
  StreamRequest request = bench.request(kFar);
  request.sender_epoch = ~0ULL;
  bench.receive(kFar, request);
  CHECK(bench.plane.counters().implausible == 3);
  CHECK(bench.alarms.size() == 1);
  bench.receive(kNear, bench.grant());
  CHECK(bench.sent_of<StreamAccept>().size() == 1);
  bench.receive(kFar, bench.request(kFar));
  CHECK(bench.sent_of<StreamGrant>().size() == 1);
}

TEST_CASE("plane: numbers that no peer comes to make no honest word old") {
  GrantPlaneBench bench;
  bench.begin();
  bench.receive(kFar, bench.request(kFar, ~0ULL));
  CHECK(bench.sent_of<StreamGrant>().empty());
  bench.receive(kFar, bench.request(kFar, 1));
  CHECK(bench.sent_of<StreamGrant>().size() == 1);
  bench.receive(kNear, bench.grant(~0ULL));
  CHECK(bench.sent_of<StreamAccept>().empty());
  bench.receive(kNear, bench.grant(1));
  CHECK(bench.sent_of<StreamAccept>().size() == 1);
}

TEST_CASE("plane: a promise beyond its window is ignored and told") {
  GrantPlaneBench bench;
  bench.begin();
  bench.receive(kFar, bench.request(kFar));
  const StreamGrant ours = bench.sent_of<StreamGrant>().at(0);
  bench.receive(kFar, StreamAccept{ours.stream, ours.sender_epoch, ours.key, ours.end + Duration{1}});
  CHECK(bench.plane.counters().forged == 1);
  REQUIRE(bench.alarms.size() == 1);
  CHECK(bench.alarms[0].evidence == "a promise of node 2 beyond the window that it was granted is ignored");
  CHECK(bench.plane.arbiter()->counters().accepts == 0);
}

// --- lasers that are not ours to light ----------------------------------------------------------------------------------

TEST_CASE("plane: a grant for a laser in somebody else's hands is given back at once, unlit") {
  GrantPlaneBench bench;
  bench.begin();
  REQUIRE(bench.lanes.take(bench.lane(), Activity::commit));
  bench.receive(kNear, bench.grant());
  REQUIRE(bench.sent_of<StreamRelease>().size() == 1);
  CHECK(bench.sent_of<StreamRelease>()[0].remaining == Bytes{12'500'000});  // nothing was sent
  CHECK(bench.sent_of<StreamRelease>()[0].dark_at == bench.now + plane_timings().flight);
  bench.run(milliseconds{60});
  CHECK(bench.lights() == 0);
  CHECK(bench.sent_of<StreamRequest>().size() >= 2);  // it asks anew
}

TEST_CASE("plane: a halted node refuses what it is granted, once it is proven dark and not before") {
  GrantPlaneBench bench;
  NodePlan plan = bench.plan();
  plan.grants->sends[0].bytes = Bytes{100'000'000};  // eight milliseconds of light
  bench.begin(plan);
  StreamGrant long_one = bench.grant();
  long_one.bytes = plan.grants->sends[0].bytes;
  bench.receive(kNear, long_one);
  bench.run(milliseconds{20});
  REQUIRE(bench.is_lit());
  bench.plane.halt();
  CHECK(bench.plane.sender() == nullptr);
  CHECK(bench.plane.is_on());
  bench.sent.clear();
  bench.receive(kNear, bench.grant(2));
  CHECK(bench.sent.empty());  // its laser is not proven dark: whoever heard a refusal would let the next one in
  CHECK(bench.plane.counters().answered_dark == 0);
  // Somebody above darkens it.
  REQUIRE(bench.lanes.take(bench.lane(), Activity::interlock));
  bench.step([&](StepContext context) {
    bench.lanes.command(context, bench.lane(), Activity::interlock, bench.lanes.dark(bench.lane()));
  });
  bench.receive(kNear, bench.grant(3));
  CHECK(bench.sent.empty());
  bench.run(milliseconds{5});
  const StreamGrant grant = bench.grant(4);
  bench.receive(kNear, grant);
  const auto refused = bench.sent_of<StreamRefusal>();
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].key == grant.key);
  CHECK(refused[0].stream == grant.stream);
  CHECK(refused[0].reason == RefusalReason::unknown);
  CHECK(refused[0].dark_at == bench.now + plane_timings().flight);
  CHECK(bench.sent.back().to == agent_peer(kNear));
  CHECK(bench.plane.counters().answered_dark == 1);
  StreamGrant other = bench.grant(5);
  other.stream.source = kFar;  // not ours to refuse
  bench.receive(kNear, other);
  CHECK(bench.sent_of<StreamRefusal>().size() == 1);
  StreamQueued queued{bench.to_near(), kRoutedBy.value, 1, kRoutedBy.value, false};
  bench.receive(kNear, queued);
  CHECK(bench.sent_of<StreamRefusal>().size() == 1);
}

TEST_CASE("plane: a halted node asks for nothing and still grants its receiver") {
  GrantPlaneBench bench;
  bench.begin();
  bench.plane.halt();
  bench.sent.clear();
  bench.run(seconds{1});
  CHECK(bench.sent_of<StreamRequest>().empty());
  bench.receive(kFar, bench.request(kFar));
  CHECK(bench.sent_of<StreamGrant>().size() == 1);
  GrantPlaneBench off;
  off.plane.halt();
  CHECK_FALSE(off.plane.is_on());
}

TEST_CASE("plane: the light of a lease ends with it, although nobody says another word") {
  GrantPlaneBench bench;
  bench.begin();
  const StreamGrant grant = bench.grant();
  bench.receive(kNear, grant);
  const Instant promised = bench.sent_of<StreamAccept>().at(0).until;
  CHECK(promised <= grant.end);
  bench.run(promised - bench.now - milliseconds{1});
  CHECK(bench.is_lit());
  bench.run(milliseconds{3});
  CHECK_FALSE(bench.is_lit());
  const auto dark =
      std::find_if(bench.log.begin(), bench.log.end(), [](const test::Actuation& each) { return each.op == Op::dark; });
  REQUIRE(dark != bench.log.end());
  CHECK(dark->ordered <= grant.end - plane_timings().flight);
}

TEST_CASE("plane: nothing is lit, asked or granted once it has ended") {
  GrantPlaneBench bench;
  bench.begin();
  bench.receive(kNear, bench.grant());
  bench.run(milliseconds{8});
  bench.plane.end();
  bench.sent.clear();
  bench.run(seconds{1});
  CHECK(bench.lights() == 0);
  CHECK(bench.sent.empty());
  CHECK_FALSE(bench.plane.is_on());
  CHECK(bench.plane.map() == nullptr);
  CHECK_FALSE(bench.plane.works(bench.lasers[0]));
}

TEST_CASE("plane: a table that cannot be loaded is told, and nothing of it is lit") {
  GrantPlaneBench bench;
  NodePlan plan = bench.plan();
  plan.devices[0].timeline.pop_back();  // wavelength 1 is in the table and not in the wavelength set
  bench.begin(plan);
  REQUIRE(bench.alarms.size() == 1);
  CHECK(bench.alarms[0].code == AlarmCode::device_failed);
  CHECK_THAT(bench.alarms[0].evidence, Contains("has no such wavelength in its set"));
  bench.receive(kNear, bench.grant());
  bench.run(milliseconds{60});
  CHECK(bench.lights() == 0);
  CHECK(bench.plane.works(bench.lasers[0]));
  CHECK_FALSE(bench.plane.works(DeviceId{9'999}));
}

// --- peers that are silent ----------------------------------------------------------------------------------------------

TEST_CASE("plane: an arbiter that is silent is asked again a second later, and that is told once") {
  GrantPlaneBench bench;
  bench.begin();
  bench.run(seconds{3});
  CHECK(bench.plane.counters().unreachable == 1);  // 2000 control latencies are two seconds
  REQUIRE(bench.alarms.size() == 1);
  CHECK(bench.alarms[0].code == AlarmCode::receiver_withheld);
  CHECK(bench.alarms[0].node == kSelf);  // of our own receiver; whether that node is alive is the controller's to say
  CHECK(bench.alarms[0].next_command == "loom node show 1");
  CHECK(bench.alarms[0].evidence == "node 1 has not answered the requests of node 0 for light; they are repeated");
  const std::size_t asked = bench.sent_of<StreamRequest>().size();
  bench.run(milliseconds{500});
  CHECK(bench.sent_of<StreamRequest>().size() > asked);
  CHECK(bench.sent_of<StreamRequest>().back().number == 2);
  bench.run(seconds{4});
  CHECK(bench.plane.counters().unreachable >= 2);
  CHECK(bench.alarms.size() == 1);
}

TEST_CASE("plane: a sender that never says that it is dark closes our receiver, and that is told after a second") {
  GrantPlaneBench bench;
  bench.begin();
  bench.receive(kFar, bench.request(kFar));
  const StreamGrant ours = bench.sent_of<StreamGrant>().at(0);
  bench.receive(kFar, StreamAccept{ours.stream, ours.sender_epoch, ours.key, ours.end});
  const auto reports = [&] {
    return std::count_if(bench.alarms.begin(), bench.alarms.end(), [](const Alarm& alarm) {
      return alarm.code == AlarmCode::receiver_withheld && alarm.node == kSelf && alarm.next_command == "loom node show 2";
    });
  };
  bench.run(ours.end - bench.now + milliseconds{900});
  CHECK(reports() == 0);
  bench.run(milliseconds{300});
  REQUIRE(reports() == 1);
  CHECK(
      bench.alarms.back().evidence ==
      "node 2 was granted the receiver of node 0 and has not said that it is dark again: nobody else is granted it until then");
  bench.receive(kNear, bench.request(kNear));
  CHECK(bench.sent_of<StreamGrant>().back().stream.source == kFar);  // nobody else is granted it
  bench.run(seconds{5});
  CHECK(reports() == 1);
  bench.receive(kFar, StreamRelease{ours.stream, ours.sender_epoch, ours.key, bench.now, Bytes{0}});
  bench.run(milliseconds{100});
  CHECK(bench.sent_of<StreamGrant>().back().stream.source == kNear);
}

// --- maps that machines can be made of ----------------------------------------------------------------------------------

TEST_CASE("plane: a map is checked for what its machines need") {
  const auto why = [](auto change) {
    PlaneBench bench;
    GrantMap map = *bench.plan().grants;
    change(map);
    const auto checked = check_grant_map(map, kSelf, 4);
    return checked ? std::string{} : checked.error().message;
  };
  CHECK(why([](GrantMap&) {}).empty());
  const GrantTimings timings = plane_timings();
  const Duration longest = Duration{limits::kGrantWindowNs} - overhead_of(timings) - 5 * timings.control;
  CHECK(why([&](GrantMap& map) { map.quantum = longest; }).empty());
  CHECK(why([&](GrantMap& map) { map.quantum = longest + Duration{1}; }) ==
        "grants of node 0: a window of 1000000001 ns, the limit is 1000000000 ns (and 1 us of control latency)");
  CHECK(why([](GrantMap& map) { map.timings.control = std::chrono::microseconds{1}; }).empty());
  CHECK_FALSE(why([](GrantMap& map) { map.timings.control = Duration{999}; }).empty());
  CHECK_FALSE(why([](GrantMap& map) { map.quantum = Duration{0}; }).empty());
  CHECK(why([](GrantMap& map) { map.routed_by = Revision{}; }) ==
        "grants of node 0: 1 lasers, routed by revision 0; allowed 8 and a revision above 0");
  const auto lasers = [](std::uint32_t count) {
    return [count](GrantMap& map) {
      map.wavelengths.clear();
      for (std::uint32_t i = 0; i < count; ++i) {
        map.wavelengths.push_back({kNear, DeviceId{i}, {}});
      }
    };
  };
  CHECK(why(lasers(8)).empty());
  CHECK(why(lasers(9)) == "grants of node 0: 9 lasers, routed by revision 5; allowed 8 and a revision above 0");
  const std::string head = "grants of node 0: a stream from node ";
  CHECK(why([](GrantMap& map) { map.sends[0].source = kNear; }) == head + "1 to node 1 of 4");
  CHECK(why([](GrantMap& map) { map.sends[0].destination = kSelf; }) == head + "0 to node 0 of 4");
  CHECK(why([](GrantMap& map) { map.sends[0].destination = NodeId{4}; }) == head + "0 to node 4 of 4");
  CHECK(why([](GrantMap& map) { map.sends[0].destination = NodeId{3}; }).empty());
  CHECK(why([](GrantMap& map) { map.sources = {NodeId{3}}; }).empty());
  CHECK(why([](GrantMap& map) { map.sources = {NodeId{4}}; }) == "grants of node 0: a source beyond the fabric's 4 nodes");
}

}  // namespace
}  // namespace loom::testing
