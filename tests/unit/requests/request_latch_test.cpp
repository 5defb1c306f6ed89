// SPDX-License-Identifier: Apache-2.0
// What agents latched by themselves, as a controller deals with it: it says so, lights nothing, and lifts what an operator
// meant.
#include "controller/schedule/estimate.hpp"
#include "tests/unit/requests/request_bench.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Every lifting order that went to this node since the last look.
std::vector<SetLasers> lifts(RequestBench& bench, NodeId node) {
  std::vector<SetLasers> found;
  for (const Envelope& envelope : bench.sent) {
    const auto* lasers = std::get_if<SetLasers>(&envelope.body);
    if (lasers != nullptr && lasers->on && envelope.node == node) {
      found.push_back(*lasers);
    }
  }
  bench.sent.clear();
  return found;
}

bool is_alarmed(RequestBench& bench, const std::string& part) {
  const auto rows = bench.rows<StandingAlarm>(Noun::alarms);
  return std::any_of(rows.begin(), rows.end(), [&](const StandingAlarm& row) {
    return !row.cleared && row.alarm.code == AlarmCode::lasers_off && row.alarm.evidence.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("an agent that latched by itself is alarmed with its cause and listed with it") {
  RequestBench bench;
  bench.light(8);
  bench.open_contact(NodeId{3}, 1);
  CHECK(is_alarmed(bench, "node 3 has latched its lasers off by itself: interlock contact door is open since noon"));
  const auto rows = bench.rows<NodeReport>(Noun::nodes, 3);
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().lasers_latched_off);
  CHECK(rows.front().dark_because == "interlock contact door is open since noon");
}

TEST_CASE("a rearm lifts what its operator could know of, and nothing that came after it") {
  RequestBench bench;
  bench.light(8);
  bench.open_contact(NodeId{3}, 1);
  bench.run_for(seconds{2});
  for (const SetLasers& order : lifts(bench, NodeId{3})) {
    CHECK(order.own_latch == 0);
  }
  CHECK(bench.latched.contains(NodeId{3}));
  bench.open_contact(NodeId{3}, 2);
  CHECK(bench.ask(LasersRequest{true}).outcome.ok());
  bench.open_contact(NodeId{3}, 3);  // on its way the door was opened again
  bench.run_for(seconds{2});
  for (const SetLasers& order : lifts(bench, NodeId{3})) {
    CHECK(order.own_latch <= 2);
  }
  CHECK(bench.latched.contains(NodeId{3}));
  CHECK(bench.ask(LasersRequest{true}).outcome.ok());
  bench.settle();
  bench.run_for(seconds{2});
  CHECK_FALSE(bench.latched.contains(NodeId{3}));
  CHECK_FALSE(is_alarmed(bench, "door"));
}

TEST_CASE("the end of another nodes maintenance lifts no latch that an agent closed by itself") {
  RequestBench bench;
  bench.light(4);
  REQUIRE(bench.ask(NodeRequest{NodeId{7}, NodeAction::maintain}).outcome.ok());
  bench.settle();
  bench.open_contact(NodeId{1}, 1);
  REQUIRE(bench.ask(NodeRequest{NodeId{7}, NodeAction::release}).outcome.ok());
  bench.settle();
  bench.run_for(seconds{2});
  CHECK(bench.latched.contains(NodeId{1}));
}

TEST_CASE("a controller that comes back finds latches in the hellos, says so and lights nothing there") {
  RequestBench bench;
  bench.light(8);
  for (const Node& node : bench.fabric->nodes) {
    bench.latched.insert(node.id);  // `loom lasers off` while it was dead
    bench.own_latches[node.id] = {1, "lasers off was ordered at this agent by ada"};
  }
  bench.start_unsettled(kVirtualClock);
  bench.read_as_planned();
  bench.run_for(seconds{5});
  CHECK(is_alarmed(bench, "ordered at this agent by ada"));
  CHECK(bench.latched.size() == 8);
  CHECK(bench.ask(LasersRequest{true}).outcome.ok());
  bench.run_for(seconds{5});
  CHECK(bench.latched.empty());
}

TEST_CASE("nothing that is said about one node lifts lasers off that no journal could keep") {
  RequestBench bench;
  bench.light(8);  // every node has a part in it
  const NodeId node{3};
  for (const Node& each : bench.fabric->nodes) {
    bench.latched.insert(each.id);  // `lasers off` was followed, and its row was lost with its controller
  }
  bench.start_unsettled(kVirtualClock);
  bench.read_as_planned();
  SECTION("its maintenance is refused") { CHECK_FALSE(bench.ask(NodeRequest{node, NodeAction::maintain}).outcome.ok()); }
  SECTION("it goes into maintenance and comes back") {
    bench.ask(NodeRequest{node, NodeAction::maintain, true});
    bench.run_for(seconds{2});
    bench.ask(NodeRequest{node, NodeAction::release});
  }
  SECTION("and its controller starts again") {
    bench.ask(NodeRequest{node, NodeAction::maintain, true});
    bench.run_for(seconds{2});
    bench.start_unsettled(kVirtualClock);
    bench.read_as_planned();
  }
  bench.run_for(seconds{5});
  CHECK(bench.latched.size() == 8);
  CHECK(std::ranges::none_of(lifts(bench, node), [](const SetLasers& order) { return !order.of_node; }));
  CHECK(bench.ask(LasersRequest{true}).outcome.ok());
  bench.run_for(seconds{5});
  CHECK(bench.latched.empty());
}

TEST_CASE("light that lasers off made dark comes back where it was, also by a controller that has started since") {
  RequestBench bench(16);
  const JobId first = bench.light(4);
  bench.light(4);
  REQUIRE(bench.ask(CancelJob{first, false}).outcome.ok());
  bench.settle();
  const auto before = bench.shown();  // where the first job's light would be free now
  const bool restarts = GENERATE(false, true);
  REQUIRE(bench.ask(LasersRequest{false}).outcome.ok());
  bench.settle();
  REQUIRE(bench.latched.size() == 16);
  if (restarts) {
    bench.start(kVirtualClock);
    bench.read_as_planned();
  }
  const JobSpec newcomer = [] {
    JobSpec spec;
    spec.name = "newcomer";
    spec.node_count = 4;
    spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
    return spec;
  }();
  REQUIRE(bench.ask(SubmitJob{newcomer, false}).outcome.ok());
  bench.settle();
  REQUIRE(bench.ask(LasersRequest{true}).outcome.ok());
  bench.run_for(milliseconds{500});
  bench.settle();
  REQUIRE(bench.planned_for->darkened);  // what the scheduler keeps for who had it
  const Demand demand = estimate(bench.planned_for->intent, bench.planned_for->base.get(), bench.planned_for->darkened.get());
  const auto old = std::ranges::find(demand.jobs, before.front().job, &JobDemand::job);
  REQUIRE(old != demand.jobs.end());
  CHECK(bench.planned_for->base->circuits.empty());
  CHECK(old->held.size() == before.size());
  for (const ScheduledCircuit& each : before) {
    CHECK(std::ranges::any_of(old->held, [&](const Circuit& held) {
      return held.source == each.source && held.destination == each.destination && held.slot == each.slot;
    }));
  }
  auto after = bench.shown();
  std::erase_if(after, [&](const ScheduledCircuit& each) { return each.job != before.front().job; });
  CHECK(after == before);
}

TEST_CASE("a rearm whose commit failed is tried again") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const NodeId node = bench.shown().front().source;
  REQUIRE(bench.ask(LasersRequest{false}).outcome.ok());
  bench.settle();
  REQUIRE(bench.ask(LasersRequest{true}).outcome.ok());
  const Instant hears_from = bench.now + seconds{6};  // it speaks, and hears no Prepare until then
  const Revision confirmed = bench.controller->confirmed();
  bench.misbehave = [&, hears_from](const Envelope& word) -> std::optional<Body> {
    const bool is_lost = word.node == node && std::holds_alternative<Prepare>(word.body) && bench.now < hears_from;
    return is_lost ? std::optional<Body>(Heartbeat{confirmed, confirmed}) : std::nullopt;
  };
  bench.run_for(seconds{15});
  bench.settle();
  const JobState state = bench.controller->jobs().at(job).state;
  CHECK((state == JobState::lit || state == JobState::degraded));  // confirmed; of late nobody has read its devices here
}

TEST_CASE("what drifted while lasers were off is set before light comes to it") {
  RequestBench bench;
  bench.light(4);
  const NodeId node = bench.shown().front().destination;
  const auto& own = bench.fabric->devices_of_agent[node.value];
  const auto heater =
      std::ranges::find_if(own, [&](DeviceId id) { return bench.fabric->device(id).role == DeviceRole::filter; });
  REQUIRE(heater != own.end());
  REQUIRE(bench.ask(LasersRequest{false}).outcome.ok());
  bench.settle();
  bench.run_for(seconds{1});
  Observation cold{*heater, DeviceHealth::ready, bench.now, {}, {}};  // its power was gone for a moment
  cold.reading = FilterObservation{std::vector<std::int32_t>(bench.fabric->device(*heater).elements.size())};
  bench.receive(node, ObservationReport{{cold}});
  bench.pump();
  bench.sent.clear();
  REQUIRE(bench.ask(LasersRequest{true}).outcome.ok());
  bench.run_for(milliseconds{500});
  Revision set;
  Revision lit;
  for (const Envelope& envelope : bench.sent) {
    const auto* prepare = std::get_if<Prepare>(&envelope.body);
    for (const DevicePlan& device : prepare == nullptr ? std::vector<DevicePlan>{} : prepare->plan.devices) {
      const bool lights = device.touched && emits(device.timeline.front().setpoint);
      lit = lights && lit == Revision{} ? envelope.revision : lit;
      set = device.device == *heater && device.touched && set == Revision{} ? envelope.revision : set;
    }
  }
  REQUIRE(lit.value > 0);
  CHECK(set.value == lit.value);
}
