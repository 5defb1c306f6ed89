// SPDX-License-Identifier: Apache-2.0
// The account of a job's light, from plans and windows written by hand: what is dark, what of it was planned, why, and how many
// iterations it carried.
#include <algorithm>
#include <catch2/catch.hpp>

#include "sim_backend/judge/job_account.hpp"
#include "sim_backend/judge/job_light.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr JobId kJob{1};

/// A job whose circuits lead from node i to node i + 1 of `nodes`, in a ring.
struct PlanOf {
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> touched{};  ///< whose lasers go dark for it
  Duration slot{};                       ///< not zero: one timeslot for each circuit, this long, one pass
  bool lasers_off = false;
};

class History {
 public:
  History() : fabric(test::small_oddl(8, 4)), plans(fabric) {}

  void going(Duration at, std::uint64_t revision, const PlanOf& of) {
    plans.learn(Instant{at}, CommitRecord{CommitDecision::going, Revision{revision}, CircuitId{1},
                                          std::make_shared<const Plan>(plan(revision, of))});
  }
  void ended(Duration at, std::uint64_t revision, CommitDecision how = CommitDecision::confirmed) {
    plans.learn(Instant{at}, CommitRecord{how, Revision{revision}, CircuitId{1}, nullptr});
  }
  /// A revision that is in light from `lit` on: `at` going, 100 ms later confirmed.
  void commit(Duration at, std::uint64_t revision, const PlanOf& of) {
    going(at, revision, of);
    ended(at + milliseconds{100}, revision);
  }
  void lasers(Duration at, bool on) {
    IntentRecord row;
    row.intent.lasers_off = !on;
    plans.learn(Instant{at}, row);
  }
  void window(std::uint32_t source, std::uint32_t destination, Duration from, Duration to = kForever) {
    light.push_back({NodeId{source}, NodeId{destination}, Instant{from}, Instant{to}, gigabits(100),
                     fabric->nodes[source].transmitters.front(), fabric->nodes[destination].receivers.front()});
  }
  void ring(const std::vector<std::uint32_t>& nodes, Duration from, Duration to = kForever) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      window(nodes[i], nodes[(i + 1) % nodes.size()], from, to);
    }
  }

  JobLight account(Duration from, Duration until) const {
    return job_light(plans, LinkWindows(light), {kJob, Instant{from}, Instant{until}}, faults);
  }

  std::shared_ptr<const Fabric> fabric;
  PlanHistory plans;
  LightTimeline light;
  std::vector<FaultNote> faults;

 private:
  DevicePlan laser(std::uint32_t node, std::size_t number, const PlanOf& of) const {
    DevicePlan device;
    device.device = *fabric->device_of_element[fabric->nodes[node].transmitters.front().value];
    device.touched = std::ranges::find(of.touched, node) != of.touched.end();
    const TransmitterSetpoint on{test::slot_of_channel(1), Dbm{0}, !of.lasers_off};
    if (of.slot == Duration{}) {
      device.timeline = {{{}, {}, kForever, on}};
      return device;
    }
    for (std::size_t k = 0; k < of.nodes.size(); ++k) {
      TransmitterSetpoint setpoint = on;
      setpoint.emit = k == number;
      device.timeline.push_back({of.slot * static_cast<std::int64_t>(k), {}, of.slot, setpoint});
    }
    return device;
  }

  Plan plan(std::uint64_t revision, const PlanOf& of) const {
    Plan plan;
    plan.revision = Revision{revision};
    for (const Node& node : fabric->nodes) {
      NodePlan own;
      own.node = node.id;
      plan.nodes.push_back(own);
    }
    for (std::size_t i = 0; i < of.nodes.size(); ++i) {
      const std::uint32_t source = of.nodes[i];
      const std::uint32_t destination = of.nodes[(i + 1) % of.nodes.size()];
      plan.circuits.push_back({CircuitId{i + 1}, kJob, NodeId{source}, NodeId{destination},
                               fabric->nodes[source].transmitters.front(), fabric->nodes[destination].receivers.front(),
                               test::slot_of_channel(1), gigabits(100)});
      plan.nodes.edit(source).devices.push_back(laser(source, i, of));
      plan.nodes.edit(source).cycle = of.slot * static_cast<std::int64_t>(of.nodes.size());
    }
    return plan;
  }
};

Duration unplanned(const JobLight& light) {
  Duration sum{};
  for (const DarkTime& time : light.dark) {
    sum += time.planned ? Duration{} : time.span.length();
  }
  return sum;
}

const std::vector<std::uint32_t> kRing{0, 1, 2, 3};

}  // namespace

TEST_CASE("a_job_is_dark_by_plan_until_its_first_commit_and_then_lit") {
  History history;
  history.commit(milliseconds{1'050}, 1, {kRing, kRing});
  history.ring(kRing, milliseconds{1'140});
  const JobLight light = history.account(seconds{1}, seconds{5});
  CHECK(light.lit == TimeSpans{{Instant{milliseconds{1'140}}, Instant{seconds{5}}}});
  REQUIRE(light.dark.size() == 1);
  CHECK(light.dark[0].span == TimeSpan{Instant{seconds{1}}, Instant{milliseconds{1'140}}});
  CHECK(light.dark[0].planned);
  CHECK(light.dark[0].why == "revision 1 lights it");
}

TEST_CASE("light_that_goes_without_a_commit_is_dark_with_its_times_and_its_fault") {
  History history;
  history.commit(milliseconds{1'050}, 1, {kRing, kRing});
  history.window(0, 1, milliseconds{1'140});
  history.window(1, 2, milliseconds{1'140});
  history.window(2, 3, milliseconds{1'140}, seconds{10});
  history.window(2, 3, seconds{12});
  history.window(3, 0, milliseconds{1'140});
  history.faults = {{Instant{seconds{3}}, Instant{seconds{4}}, "laser-0: dim"},
                    {Instant{milliseconds{9'990}}, kNever, "wss-in-0: wss-dead"}};
  const JobLight light = history.account(seconds{1}, seconds{20});
  REQUIRE(light.dark.size() == 2);
  CHECK(light.dark[1].span == TimeSpan{Instant{seconds{10}}, Instant{seconds{12}}});
  CHECK_FALSE(light.dark[1].planned);
  CHECK(light.dark[1].why == "1 of 4 circuits are dark, first from node-2 to node-3; wss-in-0: wss-dead");
  CHECK(light.lit_time() + light.dark_time() == seconds{19});
}

TEST_CASE("a_commit_that_moves_a_job_plans_its_darkness_and_no_other") {
  History history;
  history.commit(milliseconds{1'050}, 1, {kRing, kRing});
  history.commit(seconds{5}, 2, {kRing, {2}});  // touches one laser
  for (const std::uint32_t node : {0U, 1U}) {
    history.window(node, node + 1, milliseconds{1'140});
  }
  history.window(2, 3, milliseconds{1'140}, milliseconds{5'010});
  history.window(2, 3, milliseconds{5'080});
  history.window(3, 0, milliseconds{1'140});
  const JobLight quiet = history.account(seconds{1}, seconds{9});
  CHECK(unplanned(quiet) == Duration{});
  CHECK(quiet.dark.back().why == "revision 2 moves it");
  CHECK(quiet.dark.back().span.length() == milliseconds{70});

  // Another circuit of the job goes out meanwhile, which the commit does not touch.
  std::erase_if(history.light, [](const LitWindow& window) { return window.source == NodeId{0}; });
  history.window(0, 1, milliseconds{1'140}, milliseconds{5'020});
  history.window(0, 1, milliseconds{5'060});
  CHECK(unplanned(history.account(seconds{1}, seconds{9})) == milliseconds{60});  // from then until all is back
}

TEST_CASE("darkness_that_outlasts_its_commit_is_not_planned") {
  History history;
  history.commit(milliseconds{1'050}, 1, {kRing, kRing});
  history.commit(seconds{5}, 2, {kRing, kRing});
  history.ring(kRing, milliseconds{1'140}, milliseconds{5'010});
  history.ring(kRing, seconds{7});
  const JobLight light = history.account(seconds{1}, seconds{9});
  CHECK(unplanned(light) > milliseconds{1'890});
  CHECK(unplanned(light) <= milliseconds{1'900});  // from the confirmation, and what a receiver takes
}

TEST_CASE("a_repair_does_not_plan_the_darkness_that_it_mends") {
  History history;
  history.commit(milliseconds{1'050}, 1, {kRing, kRing});
  history.ring(kRing, milliseconds{1'140}, seconds{3});
  history.commit(seconds{4}, 2, {kRing, kRing});
  history.ring(kRing, milliseconds{4'090});
  const JobLight light = history.account(seconds{1}, seconds{6});
  CHECK(unplanned(light) == milliseconds{1'090});
}

TEST_CASE("a_commit_that_fails_is_taken_back_once_by_plan") {
  History history;
  history.commit(milliseconds{1'050}, 1, {kRing, kRing});
  history.ring(kRing, milliseconds{1'140}, milliseconds{3'050});
  history.going(seconds{3}, 2, {{0, 2, 1, 3}, {0, 1, 2, 3}});
  history.ended(milliseconds{3'200}, 2, CommitDecision::returned);
  SECTION("the next one brings it back") {
    history.commit(milliseconds{3'300}, 3, {kRing, kRing});
    history.ring(kRing, milliseconds{3'390});
    CHECK(unplanned(history.account(seconds{1}, seconds{6})) == Duration{});
  }
  SECTION("nobody brings it back") { CHECK(unplanned(history.account(seconds{1}, seconds{6})) == milliseconds{2'800}); }
  SECTION("that fails too, and too much is too much") {
    history.going(milliseconds{3'300}, 3, {kRing, kRing});
    history.ended(milliseconds{3'500}, 3, CommitDecision::returned);
    history.commit(milliseconds{4'500}, 4, {kRing, kRing});
    history.ring(kRing, milliseconds{4'590});
    CHECK(unplanned(history.account(seconds{1}, seconds{6})) == milliseconds{1'090});
  }
}

TEST_CASE("a_job_that_waits_longer_than_the_bound_for_its_first_light_is_dark") {
  History history;
  const JobLight light = history.account(seconds{1}, seconds{15});
  REQUIRE(light.dark.size() == 2);
  CHECK(light.dark[0].planned);
  CHECK(light.dark[0].span.length() == kFirstLightBound);
  CHECK_FALSE(light.dark[1].planned);
  CHECK(light.lit.empty());
}

TEST_CASE("lasers_that_are_ordered_off_darken_by_plan_until_they_are_due_again") {
  History history;
  history.commit(milliseconds{1'050}, 1, {kRing, kRing});
  history.ring(kRing, milliseconds{1'140}, seconds{3});
  history.lasers(milliseconds{2'990}, false);
  history.commit(milliseconds{3'100}, 2, {kRing, kRing, {}, true});
  history.lasers(seconds{5}, true);
  SECTION("lit again") {
    history.commit(milliseconds{5'100}, 3, {kRing, kRing});
    history.ring(kRing, milliseconds{5'190});
    const JobLight light = history.account(seconds{1}, seconds{9});
    CHECK(unplanned(light) == Duration{});
    CHECK(light.lit_time() == milliseconds{1'860 + 3'810});
  }
  SECTION("forgotten") { CHECK(unplanned(history.account(seconds{1}, seconds{20})) == seconds{5}); }
}

TEST_CASE("timeslots_are_dark_between_each_other_by_plan_and_want_nothing_once_they_are_played") {
  History history;
  history.commit(seconds{1}, 1, {kRing, kRing, milliseconds{10}});
  for (std::uint32_t k = 0; k < 4; ++k) {
    history.window(k, (k + 1) % 4, milliseconds{1'091 + 10 * k}, milliseconds{1'099 + 10 * k});
  }
  const JobLight light = history.account(seconds{1}, seconds{5});
  CHECK(light.lit == TimeSpans{{Instant{milliseconds{1'091}}, Instant{milliseconds{1'131}}}});
  CHECK(unplanned(light) == Duration{});

  std::erase_if(history.light, [](const LitWindow& window) { return window.source == NodeId{2}; });
  const JobLight short_of_one = history.account(seconds{1}, seconds{5});
  CHECK(unplanned(short_of_one) > Duration{});
  CHECK(short_of_one.dark.back().why == "1 of 4 circuits had no light in any of their timeslots");
}

TEST_CASE("spans_of_time_unite_intersect_and_subtract") {
  const auto at = [](int ms) { return Instant{milliseconds{ms}}; };
  const TimeSpans a = united({{at(5), at(7)}, {at(1), at(3)}, {at(3), at(4)}, {at(9), at(9)}});
  CHECK(a == TimeSpans{{at(1), at(4)}, {at(5), at(7)}});
  const TimeSpans b{{at(2), at(6)}, {at(8), kNever}};
  CHECK(intersection(a, b) == TimeSpans{{at(2), at(4)}, {at(5), at(6)}});
  CHECK(difference(a, b) == TimeSpans{{at(1), at(2)}, {at(6), at(7)}});
  CHECK(difference(b, a) == TimeSpans{{at(4), at(5)}, {at(8), kNever}});
  CHECK(bridged(a, milliseconds{1}) == TimeSpans{{at(1), at(7)}});
  CHECK(length_of(a) == milliseconds{5});
}
