// SPDX-License-Identifier: Apache-2.0
// What a controller must remember from one moment to the next: lasers that were switched while a plan was being made, and what
// a commit that nobody heard the end of may have left behind.
#include "core/journal/journal_state.hpp"
#include "tests/unit/control/controller_bench.hpp"

namespace loom {
namespace {

using testing::ControllerBench;
using testing::milliseconds;
using testing::seconds;

bool emits_anywhere(const std::vector<NodePlan>& plans) {
  return std::any_of(plans.begin(), plans.end(), [](const NodePlan& plan) {
    return std::any_of(plan.devices.begin(), plan.devices.end(), [](const DevicePlan& device) {
      return std::any_of(device.timeline.begin(), device.timeline.end(),
                         [](const TimedSetpoint& entry) { return emits(entry.setpoint); });
    });
  });
}

// --- terms --------------------------------------------------------------------------------------------------------------

TEST_CASE("a term that no disk has kept is nobody's again, and an agent that was told another is believed once") {
  ControllerBench bench;
  bench.records.clear();
  bench.controller = std::make_unique<Controller>(ControllerOptions{bench.fabric, "oddl", {}, {}, {}});
  bench.feed(Started{2, kVirtualClock, {}});
  const auto term = [&] { return state_of(bench.records).term; };
  const auto greet = [&](std::uint32_t node, std::uint64_t seen) {
    bench.sent.clear();
    bench.receive(NodeId{node}, Hello{"test", 100 + node, Term{seen}, {}, false, {}});
    REQUIRE(bench.count_sent<Welcome>() == 1);
    CHECK(bench.sent.back().envelope.term == term());
  };
  CHECK(term() == Term{1});
  greet(0, 0);
  greet(0, 1);  // we have told it
  const auto beat = [&](std::uint32_t node, std::uint64_t follows) {
    bench.feed(
        MessageArrived{agent_peer(NodeId{node}),
                       {kWireVersion, "agent", Role::agent, Term{follows}, NodeId{node}, kVirtualClock, {}, Heartbeat{}}});
  };
  beat(1, 0);
  greet(1, 1);  // it was asked to say hello, in term 1
  CHECK(term() == Term{1});
  beat(2, 1);
  greet(2, 1);  // told by whom? An order to it may have the number of one of ours
  CHECK(term() == Term{2});
  greet(3, 1);
  greet(2, 2);
  CHECK(term() == Term{2});
}

TEST_CASE("a rearm in a term that another one had too is ordered again above what that one may have ordered") {
  const bool is_rearmed = GENERATE(true, false);
  ControllerBench bench;
  bench.records.clear();
  bench.controller = std::make_unique<Controller>(ControllerOptions{bench.fabric, "oddl", {}, {}, {}});
  bench.feed(Started{2, kVirtualClock, {}});
  if (is_rearmed) {
    bench.ask(LasersRequest{true});
  }
  const std::uint64_t ordered = is_rearmed ? std::uint64_t{1} << 20U : 0;
  CHECK(state_of(bench.records).laser_request_to_all == ordered);
  bench.receive(NodeId{2}, Hello{"test", 102, Term{1}, {}, true, {}});  // dark, in a term 1 that is not ours
  REQUIRE(state_of(bench.records).term == Term{2});
  // Darkness that nobody here has lifted stays: only an operator's word lifts it.
  bench.sent.clear();
  Heartbeat dark;
  dark.lasers_latched_off = true;
  bench.receive(NodeId{2}, dark);
  std::uint64_t newest = 0;
  for (const auto& each : bench.sent) {
    if (const auto* lasers = std::get_if<SetLasers>(&each.envelope.body); lasers != nullptr && lasers->on) {
      newest = std::max(newest, lasers->order);
    }
  }
  INFO("newest " << newest);
  CHECK((newest >= std::uint64_t{2} << 20U) == is_rearmed);
}

// --- lasers between planning and commit ---------------------------------------------------------------------------------

TEST_CASE("a plan that was made while the lasers were on is not committed once they are off") {
  ControllerBench bench;
  bench.submit(4);
  bench.pass(milliseconds{200}, false);
  REQUIRE(bench.orders.size() == 1);
  REQUIRE_FALSE(bench.orders.front()->intent.lasers_off);
  bench.ask(LasersRequest{false});
  bench.sent.clear();
  bench.make_next_plan();  // lit, and lawful when it was asked for
  bench.pass(milliseconds{100}, false);
  CHECK(bench.prepared().empty());
  REQUIRE(bench.orders.size() == 1);  // it is planned again instead
  CHECK(bench.orders.front()->intent.lasers_off);
  bench.pass(seconds{2});
  CHECK_FALSE(emits_anywhere(bench.prepared()));
  CHECK(bench.controller->intent().lasers_off);
}

TEST_CASE("a dark plan that was made while the lasers were off is not the answer once they are on") {
  ControllerBench bench;
  bench.ask(LasersRequest{false});
  bench.submit(4);
  bench.pass(milliseconds{200}, false);
  REQUIRE(bench.orders.size() == 1);
  REQUIRE(bench.orders.front()->intent.lasers_off);
  bench.ask(LasersRequest{true});
  bench.sent.clear();
  bench.make_next_plan();
  bench.pass(milliseconds{100}, false);
  CHECK(bench.prepared().empty());
  REQUIRE(bench.orders.size() == 1);
  CHECK_FALSE(bench.orders.front()->intent.lasers_off);
  bench.pass(seconds{2});
  CHECK(emits_anywhere(bench.prepared()));
  REQUIRE(bench.controller->confirmed_plan() != nullptr);
  CHECK(bench.controller->confirmed_plan()->plan.circuits.size() == 4);
}

TEST_CASE("lasers that were switched off and on again while a plan was made leave that plan good") {
  ControllerBench bench;
  bench.submit(4);
  bench.pass(milliseconds{200}, false);
  bench.ask(LasersRequest{false});
  bench.ask(LasersRequest{true});
  bench.sent.clear();
  bench.make_next_plan();
  bench.pass(milliseconds{100}, false);
  CHECK(emits_anywhere(bench.prepared()));
}

// --- a commit that nobody heard the end of ------------------------------------------------------------------------------

/// Job 1 on four nodes is confirmed as revision 1; then job 2 is on its way as revision 2 and the controller dies at `stage`.
ControllerBench interrupted(std::size_t stage) {
  ControllerBench bench;
  bench.submit(4);
  bench.pass(seconds{1});
  REQUIRE(bench.controller->confirmed() == Revision{1});
  bench.stops_at = stage;
  bench.submit(4);
  bench.pass(milliseconds{500});
  bench.stops_at.reset();
  return bench;
}

const CommitRecord& last_commit(const ControllerBench& bench) {
  const auto found = std::find_if(bench.records.rbegin(), bench.records.rend(),
                                  [](const Record& record) { return std::holds_alternative<CommitRecord>(record); });
  REQUIRE(found != bench.records.rend());
  return std::get<CommitRecord>(*found);
}

/// Of the commit that went last.
std::shared_ptr<const Plan> last_plan(const ControllerBench& bench) {
  const auto found = std::find_if(bench.records.rbegin(), bench.records.rend(), [](const Record& record) {
    const auto* commit = std::get_if<CommitRecord>(&record);
    return commit != nullptr && commit->plan != nullptr;
  });
  REQUIRE(found != bench.records.rend());
  const auto& planned = std::get<CommitRecord>(*found);
  CHECK(planned.decision == CommitDecision::planned);
  REQUIRE(planned.revision == last_commit(bench).revision);
  return planned.plan;
}

std::vector<DeviceId> touched_of(const Plan& plan) {
  std::vector<DeviceId> devices;
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (device.touched) {
        devices.push_back(device.device);
      }
    }
  }
  return devices;
}

bool is_touched(const std::vector<NodePlan>& plans, DeviceId id) {
  return std::any_of(plans.begin(), plans.end(), [&](const NodePlan& plan) {
    return std::any_of(plan.devices.begin(), plan.devices.end(),
                       [&](const DevicePlan& device) { return device.device == id && device.touched; });
  });
}

TEST_CASE("what a commit was going to move is touched by the first commit of the next life, though nobody wants it any more") {
  ControllerBench bench = interrupted(2);
  REQUIRE(last_commit(bench).decision == CommitDecision::going);
  REQUIRE(last_commit(bench).revision == Revision{2});
  const std::shared_ptr<const Plan> going = last_plan(bench);
  REQUIRE(going != nullptr);
  const std::vector<DeviceId> uncertain = touched_of(*going);
  REQUIRE(uncertain.size() >= 4);

  bench.start(Revision{1});
  CHECK(bench.controller->confirmed() == Revision{1});
  bench.ask(CancelJob{JobId{2}, false});  // then what is wanted is exactly what is confirmed
  bench.sent.clear();
  bench.pass(seconds{2});
  const std::vector<NodePlan> asked = bench.prepared();
  for (const DeviceId id : uncertain) {
    INFO(bench.fabric->device(id).name);
    CHECK(is_touched(asked, id));
  }
  for (const NodeId node : going->changed) {
    INFO("node " << node.value);
    CHECK(std::any_of(asked.begin(), asked.end(), [&](const NodePlan& plan) { return plan.node == node; }));
  }
  // Nobody else's light is dragged in, and once that commit is confirmed nothing is uncertain any more.
  const auto& lit = bench.controller->confirmed_plan()->plan;
  CHECK(lit.revision > Revision{2});
  CHECK(lit.circuits.size() == 4);
  for (const Circuit& circuit : lit.circuits) {
    CHECK_FALSE(is_touched(asked, *bench.fabric->device_of_element[circuit.transmitter.value]));
  }
  bench.sent.clear();
  bench.pass(seconds{2});
  CHECK(bench.prepared().empty());
  CHECK(bench.controller->is_idle());
}

TEST_CASE("switches that a commit was going to move are waited for by the first commit of the next life") {
  ControllerBench bench = interrupted(2);
  const std::shared_ptr<const Plan> going = last_plan(bench);
  REQUIRE(going != nullptr);
  REQUIRE_FALSE(going->moved_steering.empty());
  bench.start(Revision{1});
  bench.ask(CancelJob{JobId{2}, false});
  bench.pass(seconds{2});
  REQUIRE(bench.controller->confirmed_plan() != nullptr);
  const std::vector<DeviceId>& moved = bench.controller->confirmed_plan()->plan.moved_steering;
  for (const DeviceId id : going->moved_steering) {
    CHECK(std::find(moved.begin(), moved.end(), id) != moved.end());
  }
}

TEST_CASE("a commit that had not gone yet leaves nothing behind") {
  ControllerBench bench;
  bench.submit(4);
  bench.pass(seconds{1});
  REQUIRE(bench.controller->confirmed() == Revision{1});
  bench.stops_at = 1;
  bench.submit(4);
  bench.sent.clear();
  for (int i = 0; i < 10 && bench.count_sent<Arm>() == 0; ++i) {
    bench.pass(milliseconds{50});
  }
  bench.stops_at.reset();
  REQUIRE(bench.count_sent<Arm>() > 0);  // prepared, and nobody has armed; T is not there yet, after which it would be returned
  CHECK(last_commit(bench).decision == CommitDecision::confirmed);
  bench.start(Revision{1});
  bench.ask(CancelJob{JobId{2}, false});
  bench.sent.clear();
  bench.pass(seconds{2});
  CHECK(bench.prepared().empty());
  CHECK(bench.controller->is_idle());
}

TEST_CASE("a commit that was confirmed leaves nothing behind") {
  ControllerBench bench;
  bench.submit(4);
  bench.pass(seconds{1});
  bench.submit(4);
  bench.pass(seconds{1});
  REQUIRE(last_commit(bench).decision == CommitDecision::confirmed);
  REQUIRE(last_commit(bench).revision == Revision{2});
  bench.start(Revision{2});
  CHECK(bench.controller->confirmed() == Revision{2});
  bench.sent.clear();
  bench.pass(seconds{2});
  CHECK(bench.prepared().empty());
  CHECK(bench.controller->is_idle());
}

TEST_CASE("of two commits that were going one after the other both are touched") {
  ControllerBench bench = interrupted(2);
  const std::vector<DeviceId> first = touched_of(*last_plan(bench));
  bench.start(Revision{1});
  bench.stops_at = 2;
  bench.ask(CancelJob{JobId{1}, false});  // the second one darkens job 1 as well
  bench.pass(milliseconds{500});
  REQUIRE(last_commit(bench).decision == CommitDecision::going);
  REQUIRE(last_commit(bench).revision > Revision{2});
  const std::vector<DeviceId> second = touched_of(*last_plan(bench));
  bench.stops_at.reset();
  bench.start(Revision{1});
  bench.sent.clear();
  bench.pass(seconds{2});
  const std::vector<NodePlan> asked = bench.prepared();
  for (const auto& devices : {first, second}) {
    for (const DeviceId id : devices) {
      INFO(bench.fabric->device(id).name);
      CHECK(is_touched(asked, id));
    }
  }
}

}  // namespace
}  // namespace loom
