// SPDX-License-Identifier: Apache-2.0
// What one agent's key may say to a controller: of its own node and devices only, and numbers that an honest agent can come to
// say. A lie is refused, counted and named with its key; the same agent goes on being heard, and so does everybody else.
#include "core/messages/intake_limits.hpp"
#include "tests/unit/control/controller_bench.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using testing::ControllerBench;
using testing::milliseconds;
using testing::seconds;

constexpr NodeId kLiar{1};
constexpr NodeId kOther{5};

/// One job in light, node 1 takes part in it.
class ClaimsBench : public ControllerBench {
 public:
  ClaimsBench() {
    submit(8);
    pass(seconds{1});
    REQUIRE(controller->confirmed_plan() != nullptr);
    own = fabric->devices_of_agent[kLiar.value].front();
    foreign = fabric->devices_of_agent[kOther.value].front();
    alarms.clear();
  }
  /// From whoever speaks as `node`, with a key of the principal "stolen".
  void deliver(NodeId node, Body body, Revision revision = {}) {
    Envelope envelope{kWireVersion, "stolen", Role::agent, Term{1}, node, kVirtualClock, revision, std::move(body)};
    feed(MessageArrived{agent_peer(node), std::move(envelope)});
  }
  StatusReport status() {
    sent.clear();
    ask(Query{Noun::status, {}});
    return std::get<StatusReport>(std::get<OperatorReply>(sent.back().envelope.body).rows);
  }
  std::uint64_t refused(RefusalKind kind) { return status().refusals[static_cast<std::size_t>(kind)]; }
  /// Is one refused, of this kind, by name, and does the agent that said it go on?
  void expect_refused(RefusalKind kind, const std::string& evidence, const Body& lie, Revision revision = {}) {
    INFO(evidence);
    const std::uint64_t before = refused(kind);
    alarms.clear();
    now += seconds{2};  // alarms are told once a second and key
    deliver(kLiar, lie, revision);
    CHECK(refused(kind) == before + 1);
    REQUIRE(alarms.size() == 1);
    CHECK(alarms.front().code == AlarmCode::malformed_message);
    CHECK(alarms.front().node == kLiar);
    CHECK_THAT(alarms.front().evidence, Contains(evidence) && Contains("key of stolen"));
    expect_honest_received();
  }
  /// The liar's own honest words, and another job of everybody.
  void expect_honest_received() {
    now += milliseconds{1};
    const Instant read_at = now;
    receive(kLiar, ObservationReport{{{own, DeviceHealth::ready, read_at, TransmitterObservation{}, ""}}});
    sent.clear();
    ask(Query{Noun::devices, own.value});
    const auto rows = std::get<std::vector<DeviceReport>>(std::get<OperatorReply>(sent.back().envelope.body).rows);
    CHECK(rows.at(0).observation.read_at == read_at);
  }
  Revision next() const { return Revision{controller->history().back().revision.value + 1}; }

  DeviceId own;
  DeviceId foreign;
};

Outcome blames(DeviceId device) { return {Error{ErrorCode::device_error, "broken", {}, device}}; }

}  // namespace

// --- a key speaks only for its nodes --------------------------------------------------------------------------------------

TEST_CASE("an agent's key speaks of no other node's devices, whatever the message") {
  ClaimsBench bench;
  const Observation theirs{bench.foreign, DeviceHealth::failed, bench.now, TransmitterObservation{}, "burnt"};
  const Observation ours{bench.own, DeviceHealth::ready, bench.now, TransmitterObservation{}, ""};
  const auto foreign = [&](const Body& body) { bench.expect_refused(RefusalKind::foreign, "which is node 5's", body); };
  SECTION("hello") { foreign(Hello{"test", 101, {}, {}, false, {{bench.foreign, DeviceHealth::failed}}}); }
  SECTION("prepared") { foreign(Prepared{blames(bench.foreign), {}}); }
  SECTION("armed") { foreign(Armed{blames(bench.foreign), {}}); }
  SECTION("darkened") { foreign(Darkened{blames(bench.foreign), {}}); }
  SECTION("settled") { foreign(Settled{blames(bench.foreign), {}}); }
  SECTION("applied") { foreign(Applied{blames(bench.foreign), {}}); }
  SECTION("observation") { foreign(ObservationReport{{theirs}}); }
  SECTION("alarm of a device") { foreign(AlarmReport{{AlarmCode::device_failed, kLiar, bench.foreign, "burnt", ""}}); }
  SECTION("alarm of a node") {
    bench.expect_refused(RefusalKind::foreign, "raises an alarm of node 5",
                         AlarmReport{{AlarmCode::lasers_off, kOther, {}, "dark", ""}});
  }
  SECTION("reset of another's device") { foreign(DeviceReset{bench.foreign, 1, {}, 0, theirs}); }
  SECTION("reset of its own with a reading of another's") { foreign(DeviceReset{bench.own, 1, {}, 0, theirs}); }
  SECTION("reset that blames another's") { foreign(DeviceReset{bench.own, 1, blames(bench.foreign), 0, ours}); }
  bench.sent.clear();
  bench.ask(Query{Noun::devices, bench.foreign.value});
  const auto rows = std::get<std::vector<DeviceReport>>(std::get<OperatorReply>(bench.sent.back().envelope.body).rows);
  CHECK(rows.at(0).observation.fault.empty());
  CHECK(rows.at(0).unusable.empty());
}

TEST_CASE("a reset is answered with a reading of the device that was reset, or not at all") {
  ClaimsBench bench;
  bench.ask(ResetRequest{bench.own});
  const std::uint64_t order = std::get<ResetDevice>(bench.sent.back().envelope.body).order;
  const DeviceId beyond{4'000'000};
  bench.deliver(kLiar,
                DeviceReset{bench.own, order, {}, 0, {beyond, DeviceHealth::ready, bench.now, TransmitterObservation{}, ""}});
  CHECK(bench.refused(RefusalKind::malformed) == 1);
  bench.deliver(
      kLiar, DeviceReset{bench.own, order, {}, 0, {bench.own, DeviceHealth::ready, bench.now, TransmitterObservation{}, ""}});
  CHECK(bench.count_sent<OperatorReply>() > 0);
}

TEST_CASE("cycles, traffic and heartbeats are said in one's own name only") {
  ClaimsBench bench;
  for (const Body& body : {Body(Heartbeat{}), Body(CycleDone{1, 0}), Body(TrafficReport{1, {}, "", 0}), Body(Settled{})}) {
    const std::uint64_t before = bench.refused(RefusalKind::foreign);
    Envelope envelope{kWireVersion, "stolen", Role::agent, Term{1}, kOther, kVirtualClock, {}, body};
    bench.feed(MessageArrived{agent_peer(kLiar), std::move(envelope)});
    CHECK(bench.refused(RefusalKind::foreign) == before + 1);
  }
}

TEST_CASE("what no agent sends to a controller is refused") {
  ClaimsBench bench;
  const auto of_nobody = [&](const Body& body) { bench.expect_refused(RefusalKind::malformed, "no agent", body); };
  of_nobody(GrantPlaneMessage{StreamRequest{}});
  of_nobody(Beat{});
  of_nobody(SetLasers{false, 1});
  of_nobody(OperatorRequest{});
  of_nobody(AlarmReport{{AlarmCode::agent_dead, kLiar, {}, "I am dead", ""}});
}

// --- numbers that no honest agent says -----------------------------------------------------------------------------------

TEST_CASE("a number or an instant that no honest agent can come to say is refused by name") {
  ClaimsBench bench;
  const std::uint64_t max = ~0ULL;
  const auto lie = [&](const std::string& evidence, const Body& body, Revision revision = {}) {
    bench.expect_refused(RefusalKind::implausible, evidence, body, revision);
  };
  SECTION("term of a hello") { lie("kTermJump", Hello{"test", 101, Term{max - 1}, {}, false, {}}); }
  SECTION("revision that a hello has applied") { lie("kRevisionJump", Hello{"test", 101, {}, Revision{max}, false, {}}); }
  SECTION("revision that a hello says is on its way") {
    lie("kRevisionJump", Hello{"test", 101, {}, {}, false, {}}, Revision{max});
  }
  SECTION("lead of years") { lie("kArmLeadNs", Prepared{{}, Duration{limits::kDurationNs}}); }
  SECTION("slack") { lie("kMeasuredNs", Armed{{}, -Duration{limits::kDurationNs}}); }
  SECTION("lateness") { lie("kMeasuredNs", Darkened{{}, Duration{limits::kDurationNs}}); }
  SECTION("settling") { lie("kMeasuredNs", Settled{{}, Duration{limits::kDurationNs}}); }
  SECTION("darkness") { lie("kMeasuredNs", Applied{{}, {{}, {}, {}, Duration{limits::kDurationNs}, 0}}); }
  SECTION("underflows") { lie("kUnderflows", CycleDone{1, ~0U}); }
  SECTION("revision of a cycle") { lie("speaks of revision", CycleDone{1, 0}, Revision{max}); }
  SECTION("revision of an answer") { lie("speaks of revision", Applied{}, Revision{max}); }
  SECTION("applied revision") { lie("has applied revision", Heartbeat{Revision{max}, {}, false}); }
  SECTION("confirmed revision") { lie("has confirmed revision", Heartbeat{{}, Revision{max}, false}); }
  SECTION("revision of an alarm") {
    lie("alarm of revision", AlarmReport{{AlarmCode::fire_underflow, kLiar, {}, "late", "", Revision{max}}});
  }
  SECTION("instant of a reading") {
    const Instant ahead = bench.now + seconds{2} + Duration{limits::kClockAheadNs} + milliseconds{1};
    lie("kClockAheadNs", ObservationReport{{{bench.own, DeviceHealth::ready, ahead, TransmitterObservation{}, ""}}});
    lie("kClockAheadNs", ObservationReport{{{bench.own, DeviceHealth::ready, Instant{Duration{limits::kInstantNs}}, {}, ""}}});
  }
  SECTION("instant of a reset's reading") {
    const Observation ahead{bench.own, DeviceHealth::ready, Instant{Duration{limits::kInstantNs}}, TransmitterObservation{},
                            ""};
    lie("kClockAheadNs", DeviceReset{bench.own, 1, {}, 0, ahead});
  }
  // The fabric goes on: another job is planned and reaches light, with the liar's help.
  const Revision before = bench.controller->confirmed();
  bench.ask(CancelJob{JobId{1}, false});
  bench.pass(seconds{1});
  CHECK(bench.controller->confirmed() > before);
  CHECK(bench.status().term.value < 10);
}

TEST_CASE("a lie about the lead does not put the instant of a commit years ahead") {
  ControllerBench bench;
  bench.mute = {kLiar};
  bench.submit(8);
  bench.pass(milliseconds{200});
  REQUIRE(bench.count_sent<Prepare>() > 0);
  bench.receive(kLiar, Prepared{{}, Duration{limits::kDurationNs}}, Revision{1});
  CHECK(bench.count_sent<Arm>() == 0);
  bench.receive(kLiar, Prepared{{}, milliseconds{1}}, Revision{1});
  REQUIRE(bench.count_sent<Arm>() > 0);
  for (const Send& send : bench.sent) {
    if (const auto* arm = std::get_if<Arm>(&send.envelope.body)) {
      CHECK(arm->fire_at < bench.now + seconds{5});
    }
  }
}

TEST_CASE("hellos raise terms and revisions only so many times, and cost no row each") {
  ClaimsBench bench;
  const auto rows_of_terms = [&] {
    return std::count_if(bench.records.begin(), bench.records.end(),
                         [](const Record& record) { return std::holds_alternative<TermRecord>(record); });
  };
  const auto rows_before = rows_of_terms();
  const std::uint64_t term_before = bench.status().term.value;
  for (int i = 0; i < 1'000; ++i) {
    bench.deliver(kLiar, Hello{"test", 101, Term{bench.status().term.value + limits::kTermJump}, {}, false, {}});
  }
  CHECK(rows_of_terms() == rows_before + limits::kClaimsBelieved);
  CHECK(bench.status().term.value == term_before + limits::kClaimsBelieved * (limits::kTermJump + 1));
  CHECK(bench.refused(RefusalKind::implausible) == 1'000 - limits::kClaimsBelieved);
  SECTION("and one more after a while, as an honest one may come") {
    bench.now += Duration{limits::kClaimIntervalNs};
    bench.deliver(kLiar, Hello{"test", 101, Term{bench.status().term.value + 1}, {}, false, {}});
    CHECK(rows_of_terms() == rows_before + limits::kClaimsBelieved + 1);
  }
  SECTION("while agents that know no higher one are welcomed as ever") {
    bench.sent.clear();
    bench.receive(kOther, Hello{"test", 105, {}, {}, false, {}});
    CHECK(bench.count_sent<Welcome>() == 1);
  }
  SECTION("and revisions are raised out of the same measure") {
    const Revision before = bench.controller->confirmed();
    bench.deliver(kLiar, Hello{"test", 101, {}, Revision{before.value + limits::kRevisionJump}, false, {}});
    bench.ask(CancelJob{JobId{1}, false});
    bench.pass(seconds{1});
    CHECK(bench.controller->confirmed().value < before.value + 100);
  }
}

TEST_CASE("a traffic report with an absurd number is followed by honest ones") {
  ClaimsBench bench;
  const auto report = [](std::uint64_t number, std::string trouble) {
    return TrafficReport{number, {}, std::move(trouble), 0};
  };
  JobSpec spec;
  spec.name = "adaptive";
  spec.node_count = 8;
  spec.adapt = true;
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000}, 1}};
  bench.ask(CancelJob{JobId{1}, false});
  bench.ask(SubmitJob{spec, false});
  bench.pass(seconds{1});
  const auto decision = [&] {
    for (const Node& node : bench.fabric->nodes) {
      if (node.id != kLiar) {
        bench.receive(node.id, report(1 + static_cast<std::uint64_t>(ns_of(bench.now)), ""));
      }
    }
    bench.pass(seconds{1});
    bench.sent.clear();
    bench.ask(Query{Noun::jobs, 2});
    return std::get<std::vector<JobReport>>(std::get<OperatorReply>(bench.sent.back().envelope.body).rows).at(0).decision;
  };
  bench.deliver(kLiar, report(~0ULL, "a lie"));
  CHECK_THAT(decision(), Contains("a lie"));
  bench.pass(Duration{limits::kOvertakenNs});
  bench.receive(kLiar, report(7, "an honest word"));
  CHECK_THAT(decision(), Contains("an honest word"));
}

TEST_CASE("a launcher cannot be quiet for revisions that are yet to come") {
  ClaimsBench bench;
  bench.sent.clear();
  bench.ask(AttendJob{JobId{1}, Revision{~0ULL}});
  const auto& reply = std::get<OperatorReply>(bench.sent.back().envelope.body);
  REQUIRE(reply.outcome.error.has_value());
  CHECK(reply.outcome.error->code == ErrorCode::out_of_range);
}

// --- one alarm a key -----------------------------------------------------------------------------------------------------

TEST_CASE("a key that lies a thousand times is one alarm that counts, and is well again once it is quiet") {
  ClaimsBench bench;
  const std::size_t before = bench.controller->alarms().size();
  for (int i = 0; i < 1'000; ++i) {
    bench.deliver(kLiar, Heartbeat{Revision{~0ULL}, {}, false});
  }
  CHECK(bench.alarms.size() == 1);
  REQUIRE(bench.controller->alarms().size() == before + 1);
  bench.now += seconds{1};
  bench.deliver(kLiar, Heartbeat{Revision{~0ULL}, {}, false});
  CHECK(bench.alarms.size() == 2);
  CHECK_THAT(bench.alarms.back().evidence, Contains("1001 implausible"));
  REQUIRE(bench.controller->alarms().size() == before + 1);
  const AlarmId id = bench.controller->alarms().back().id;
  bench.feed(
      MessageRefused{{Peer::Kind::operator_, 9}, {ErrorCode::busy, "too many"}, RefusalKind::over_quota, 3'900, "curious"});
  REQUIRE(bench.controller->alarms().size() == before + 2);  // another key, another alarm
  CHECK_THAT(bench.controller->alarms().back().alarm.evidence, Contains("key of curious") && Contains("3900 over_quota"));
  CHECK(bench.refused(RefusalKind::over_quota) == 3'900);
  CHECK(bench.status().malformed == 1'001);
  bench.ask(AcknowledgeAlarm{id});
  bench.pass(Duration{limits::kRefusalQuietNs} + seconds{1});
  const auto& rows = bench.controller->alarms();
  CHECK(std::none_of(rows.begin(), rows.end(), [&](const StandingAlarm& row) { return row.id == id; }));
  CHECK(std::any_of(rows.begin(), rows.end(), [](const StandingAlarm& row) {
    return row.cleared && row.alarm.evidence.find("key of curious") != std::string::npos;
  }));
}

TEST_CASE("an agent's alarms displace its own, and never another node's") {
  ClaimsBench bench;
  bench.receive(kOther, AlarmReport{{AlarmCode::fire_underflow, kOther, {}, "late", "", Revision{1}}});
  for (std::uint64_t revision = 2; revision < 500; ++revision) {
    bench.deliver(kLiar, AlarmReport{{AlarmCode::fire_underflow, kLiar, {}, "late", "", Revision{revision}}});
  }
  const auto& rows = bench.controller->alarms();
  CHECK(std::count_if(rows.begin(), rows.end(), [](const StandingAlarm& row) { return row.alarm.node == kLiar; }) ==
        limits::kAlarmsPerNode);
  CHECK(std::count_if(rows.begin(), rows.end(), [](const StandingAlarm& row) { return row.alarm.node == kOther; }) == 1);
}

TEST_CASE("dry runs are planned one at a time, a few of one principal wait, and an order waits behind one of them") {
  ClaimsBench bench;
  bench.sent.clear();
  for (std::size_t i = 0; i < limits::kDryRunsPerPrincipal + 3; ++i) {
    bench.ask(CancelJob{JobId{1}, true});
  }
  REQUIRE(bench.orders.size() == 1);  // at the planner
  std::size_t busy = 0;
  for (const Send& send : bench.sent) {
    const auto* reply = std::get_if<OperatorReply>(&send.envelope.body);
    if (reply != nullptr && reply->outcome.error) {
      CHECK(reply->outcome.error->code == ErrorCode::busy);
      CHECK_THAT(reply->outcome.error->message, Contains("dry runs and diffs of ada") && Contains("kDryRunsPerPrincipal"));
      ++busy;
    }
  }
  CHECK(busy == 3);
  CHECK(bench.refused(RefusalKind::over_quota) == 3);
  bench.feed(
      MessageArrived{{Peer::Kind::operator_, 8},
                     {kWireVersion, "eve", Role::viewer, {}, {}, {}, {}, OperatorRequest{RequestId{1}, DiffSchedule{}}}});
  bench.sent.clear();
  std::size_t planned = 0;
  while (!bench.orders.empty()) {
    bench.make_next_plan();
    ++planned;
  }
  CHECK(planned >= limits::kDryRunsPerPrincipal + 1);
  CHECK(bench.count_sent<OperatorReply>() >= limits::kDryRunsPerPrincipal + 1);  // all of ada's, and eve's
  bench.ask(CancelJob{JobId{1}, true});
  bench.ask(CancelJob{JobId{1}, true});
  CHECK(bench.orders.size() == 1);
  bench.ask(ResizeJob{JobId{1}, 4, false});
  CHECK(bench.orders.size() == 2);  // behind one question, before the other
}

TEST_CASE("pages of every noun join to the whole, and only the rows of a page are made") {
  ClaimsBench bench;
  const auto reply = [&](const Query& query) {
    bench.sent.clear();
    bench.ask(query);
    return std::get<OperatorReply>(bench.sent.back().envelope.body);
  };
  for (const Noun noun : {Noun::nodes, Noun::devices, Noun::circuits, Noun::jobs, Noun::history, Noun::alarms}) {
    const OperatorReply whole = reply({noun, {}, 0, 0});
    const std::size_t count = std::visit(
        []<class Rows>(const Rows& rows) -> std::size_t {
          if constexpr (requires { rows.size(); }) {
            return rows.size();
          }
          return 0;
        },
        whole.rows);
    CAPTURE(static_cast<int>(noun));
    CHECK(count == whole.total_rows);
    for (std::uint32_t offset = 0; offset < count; ++offset) {
      const OperatorReply page = reply({noun, {}, offset, 1});
      CHECK(page.total_rows == count);
      std::visit(
          [&]<class Rows>(const Rows& all) {
            if constexpr (requires { all.size(); }) {
              REQUIRE(std::get<Rows>(page.rows).size() == 1);
              CHECK(std::get<Rows>(page.rows).front() == all[offset]);
            }
          },
          whole.rows);
    }
    CHECK(std::visit(
        []<class Rows>(const Rows& rows) {
          if constexpr (requires { rows.empty(); }) {
            return rows.empty();
          }
          return true;
        },
        reply({noun, {}, static_cast<std::uint32_t>(count), 0}).rows));
  }
}

TEST_CASE("an order of a viewer's key is refused and counted") {
  ClaimsBench bench;
  bench.feed(MessageArrived{
      {Peer::Kind::operator_, 7},
      {kWireVersion, "eve", Role::viewer, {}, {}, {}, {}, OperatorRequest{RequestId{9'999}, LasersRequest{false}}}});
  CHECK(bench.refused(RefusalKind::role) == 1);
  CHECK(bench.alarms.empty());
}

}  // namespace loom
