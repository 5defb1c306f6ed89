// What agents latched by themselves, as a controller deals with it: it says so, lights nothing, and lifts what an operator
// meant.
#include "desk_bench.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::seconds;

namespace {

/// Every lifting order that went to this node since the last look.
std::vector<SetLasers> lifts(DeskBench& desk, NodeId node) {
  std::vector<SetLasers> found;
  for (const Envelope& envelope : desk.sent) {
    const auto* lasers = std::get_if<SetLasers>(&envelope.body);
    if (lasers != nullptr && lasers->on && envelope.node == node) {
      found.push_back(*lasers);
    }
  }
  desk.sent.clear();
  return found;
}

bool is_alarmed(DeskBench& desk, const std::string& part) {
  const auto rows = desk.rows<StandingAlarm>(Noun::alarms);
  return std::any_of(rows.begin(), rows.end(), [&](const StandingAlarm& row) {
    return !row.cleared && row.alarm.code == AlarmCode::lasers_off && row.alarm.evidence.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("an agent that latched by itself is alarmed with its cause and listed with it") {
  DeskBench desk;
  desk.light(8);
  desk.open_contact(NodeId{3}, 1);
  CHECK(is_alarmed(desk, "node 3 has latched its lasers off by itself: interlock contact door is open since noon"));
  const auto rows = desk.rows<NodeReport>(Noun::nodes, 3);
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().lasers_latched_off);
  CHECK(rows.front().dark_because == "interlock contact door is open since noon");
}

TEST_CASE("a rearm lifts what its operator could know of, and nothing that came after it") {
  DeskBench desk;
  desk.light(8);
  desk.open_contact(NodeId{3}, 1);
  desk.run_for(seconds{2});
  for (const SetLasers& order : lifts(desk, NodeId{3})) {
    CHECK(order.own_latch == 0);
  }
  CHECK(desk.latched.contains(NodeId{3}));
  desk.open_contact(NodeId{3}, 2);
  CHECK(desk.ask(OrderLasers{true}).outcome.ok());
  desk.open_contact(NodeId{3}, 3);  // on its way the door was opened again
  desk.run_for(seconds{2});
  for (const SetLasers& order : lifts(desk, NodeId{3})) {
    CHECK(order.own_latch <= 2);
  }
  CHECK(desk.latched.contains(NodeId{3}));
  CHECK(desk.ask(OrderLasers{true}).outcome.ok());
  desk.settle();
  desk.run_for(seconds{2});
  CHECK_FALSE(desk.latched.contains(NodeId{3}));
  CHECK_FALSE(is_alarmed(desk, "door"));
}

TEST_CASE("the end of another nodes maintenance lifts no latch that an agent closed by itself") {
  DeskBench desk;
  desk.light(4);
  REQUIRE(desk.ask(OrderNode{NodeId{7}, NodeOrder::maintain}).outcome.ok());
  desk.settle();
  desk.open_contact(NodeId{1}, 1);
  REQUIRE(desk.ask(OrderNode{NodeId{7}, NodeOrder::release}).outcome.ok());
  desk.settle();
  desk.run_for(seconds{2});
  CHECK(desk.latched.contains(NodeId{1}));
}

TEST_CASE("a controller that comes back finds latches in the hellos, says so and lights nothing there") {
  DeskBench desk;
  desk.light(8);
  for (const Node& node : desk.fabric->nodes) {
    desk.latched.insert(node.id);  // `loom lasers off` while it was dead
    desk.own_latches[node.id] = {1, "lasers off was ordered at this agent by ada"};
  }
  desk.start_unsettled(kVirtualClock);
  desk.read_as_planned();
  desk.run_for(seconds{5});
  CHECK(is_alarmed(desk, "ordered at this agent by ada"));
  CHECK(desk.latched.size() == 8);
  CHECK(desk.ask(OrderLasers{true}).outcome.ok());
  desk.run_for(seconds{5});
  CHECK(desk.latched.empty());
}
