// SPDX-License-Identifier: Apache-2.0
// The software executor: what it loads, which rows it takes, and that a laser is lit only inside a row, by its owner, once it
// has settled, and that a row is over only when its darkness is proven.
#include "tests/unit/agents/grant_plane_bench.hpp"

namespace loom::testing {
namespace {

using Catch::Matchers::Contains;
using test::Op;

struct ExecutorBench : PlaneBench {
  explicit ExecutorBench(std::uint32_t planes = 1) : PlaneBench(planes) { REQUIRE(executor.load(plan()).has_value()); }

  GrantRow row(NodeId to, Duration tune, Duration light, Duration dark, std::uint64_t sequence = 1) const {
    return {0, {kPlaneJob, 1, kSelf, to}, {kRoutedBy.value, sequence}, start + tune, start + light, start + dark, Bytes{1'000}};
  }
  /// As an agent would: whenever a device answers, and whenever the executor asked to be stepped.
  void run(Duration until) {
    const auto each = [&](StepContext context) {
      wake = executor.step(context, ended);
      executor.take_tuned(tuned_now);
      tuned.insert(tuned.end(), tuned_now.begin(), tuned_now.end());
    };
    step(each);  // what was written since asks to be stepped too
    while (now < start + until) {
      run_until(std::clamp(wake, now, start + until), each);
    }
  }
  std::size_t count(Op op) const {
    return static_cast<std::size_t>(std::count_if(
        log.begin(), log.end(), [&](const test::Actuation& each) { return each.device == lasers[0] && each.op == op; }));
  }
  /// When the laser was told so the last time.
  Instant ordered(Op op) const {
    Instant at{};
    for (const test::Actuation& each : log) {
      at = each.op == op ? each.ordered : at;
    }
    return at;
  }

  Instant start = now;
  Instant wake = kNever;
  std::vector<RowEnded> ended;
  std::vector<TunedAhead> tuned;
  std::vector<TunedAhead> tuned_now;
};

// --- loading ------------------------------------------------------------------------------------------------------------

TEST_CASE("executor: a table of a laser that is elsewhere, or without its wavelength, is refused by name") {
  PlaneBench bench;
  NodePlan elsewhere = bench.plan();
  elsewhere.grants->wavelengths[1].laser = DeviceId{9'999};
  auto refused = bench.executor.load(elsewhere);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().message == "grant table: device 9999 is not driven here");
  NodePlan colourless = bench.plan();
  colourless.grants->wavelengths[1].slot.n += 16;
  refused = bench.executor.load(colourless);
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error().message, Contains("has no such wavelength in its set"));
  NodePlan dark = bench.plan();  // an entry that does not emit is no wavelength of the wavelength set
  std::get<TransmitterSetpoint>(dark.devices[0].timeline[1].setpoint).emit = false;
  CHECK_FALSE(bench.executor.load(dark).has_value());
  NodePlan absent = bench.plan();
  absent.devices.clear();
  CHECK_FALSE(bench.executor.load(absent).has_value());
  CHECK(bench.executor.load(bench.plan()).has_value());
  CHECK(bench.executor.transmitters() == 1);
}

TEST_CASE("executor: as many lasers as the limit says are taken, and not one more") {
  const auto with = [](std::uint32_t planes) {
    PlaneBench bench(planes);
    NodePlan plan = bench.plan();
    plan.grants->wavelengths.clear();
    plan.devices.clear();
    for (const DeviceId laser : bench.lasers) {
      plan.devices.push_back({laser, true, {{Duration{}, Duration{}, milliseconds{1}, plane_light(0)}}});
      plan.grants->wavelengths.push_back({kNear, laser, plane_light(0).slot});
    }
    REQUIRE(bench.lasers.size() == planes);
    const auto loaded = bench.executor.load(plan);
    return loaded ? std::string{} : loaded.error().message;
  };
  CHECK(with(limits::kTransmittersPerNode).empty());
  CHECK(with(limits::kTransmittersPerNode + 1) == "grant table: 9 lasers exceed limits::kTransmittersPerNode = 8");
}

// --- rows ---------------------------------------------------------------------------------------------------------------

TEST_CASE("executor: a row is taken for a transmitter that there is, a wavelength that it has, and a laser that is free") {
  ExecutorBench bench;
  const auto why = [&](const GrantRow& row) {
    const auto written = bench.executor.write(row);
    return written ? std::string{} : written.error().message;
  };
  GrantRow row = bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40});
  row.transmitter = 1;
  CHECK(why(row) == "grant table: transmitter 1 does not exist");
  CHECK(why(bench.row(kStranger, milliseconds{5}, milliseconds{20}, milliseconds{40})) ==
        "grant table: no wavelength leads to node 3 here");
  REQUIRE(bench.lanes.take(bench.lane(), Activity::commit));
  CHECK(why(bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})) ==
        "grant table: device " + std::to_string(bench.lasers[0].value) + " is held by somebody above");
  bench.lanes.release(bench.lane(), Activity::commit);
  CHECK(why(bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).empty());
  CHECK_THAT(why(bench.row(kFar, milliseconds{39}, milliseconds{50}, milliseconds{60}, 2)),
             Contains("must follow the one before it"));
  CHECK(why(bench.row(kFar, milliseconds{40}, milliseconds{50}, milliseconds{60}, 2)).empty());
  CHECK_THAT(why(bench.row(kFar, milliseconds{60}, milliseconds{70}, milliseconds{80}, 3)), Contains("holds 2 of 2 rows"));
  PlaneBench unloaded;
  const auto nothing = unloaded.executor.write(row);
  REQUIRE_FALSE(nothing.has_value());
  CHECK(nothing.error().code == ErrorCode::out_of_range);
}

TEST_CASE("executor: a row tunes in the dark, lights at its instant, and is dark at its end") {
  ExecutorBench bench;
  REQUIRE(bench.executor.write(bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  bench.run(milliseconds{5} - Duration{1});
  CHECK(bench.log.empty());
  CHECK(bench.wake == bench.start + milliseconds{5});
  bench.run(milliseconds{20} - Duration{1});
  CHECK(bench.count(Op::move) == 1);
  CHECK(bench.laser().setpoint == darkened(Setpoint{plane_light(0)}));
  CHECK_FALSE(bench.is_lit());
  CHECK_FALSE(bench.executor.is_dark() == bench.is_lit());
  bench.run(milliseconds{40} - Duration{1});
  CHECK(bench.is_lit());
  // Its driver looks before it writes, so that each order reaches the laser one reply after its trigger.
  CHECK(bench.ordered(Op::light) == bench.start + milliseconds{20} + bench.laser().reply_delay);
  CHECK_FALSE(bench.executor.is_dark());
  CHECK(bench.ended.empty());
  bench.run(milliseconds{60});
  CHECK_FALSE(bench.is_lit());
  CHECK(bench.ordered(Op::dark) == bench.start + milliseconds{40} + bench.laser().reply_delay);
  REQUIRE(bench.ended.size() == 1);
  CHECK(bench.ended[0].row.key.sequence == 1);
  CHECK(bench.ended[0].lit_from > bench.start + milliseconds{20});  // proven, not ordered
  CHECK(bench.ended[0].lit_from < bench.start + milliseconds{21});
  CHECK(bench.ended[0].dark_from == bench.start + milliseconds{40});
  CHECK(bench.executor.underflows() == 0);
  CHECK(bench.executor.is_dark());
  CHECK(bench.lanes[bench.lane()].claim.owner() == Activity::none);  // audits may read it again
}

TEST_CASE("executor: a row is over only when its darkness is proven") {
  ExecutorBench bench;
  REQUIRE(bench.executor.write(bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  bench.run(milliseconds{40} - Duration{1});
  bench.laser().reply_delay = milliseconds{10};  // the order to be dark and its read-back take ten milliseconds each
  bench.run(milliseconds{59});
  CHECK(bench.ended.empty());
  CHECK_FALSE(bench.executor.is_dark());
  CHECK(bench.lanes[bench.lane()].claim.owner() == Activity::timeline);
  bench.run(milliseconds{70});
  CHECK(bench.ended.size() == 1);
  CHECK(bench.executor.is_dark());
}

TEST_CASE("executor: a laser that failed is read by audits after its row, and its darkness stays unproven") {
  ExecutorBench bench;
  REQUIRE(bench.executor.write(bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  bench.run(milliseconds{2});
  bench.laser().refuses = Op::read;
  bench.run(milliseconds{39});
  CHECK(bench.lanes[bench.lane()].progress == Progress::failed);
  CHECK(bench.lanes[bench.lane()].claim.owner() == Activity::timeline);  // its order to be dark is still to come
  bench.run(milliseconds{60});
  CHECK(bench.lanes[bench.lane()].claim.owner() == Activity::none);
  CHECK(bench.ended.empty());
  CHECK_FALSE(bench.executor.is_dark());
}

TEST_CASE("executor: a laser that settles late lights late, and never after its row's end") {
  ExecutorBench late;
  late.laser().settle_time = milliseconds{20};
  REQUIRE(late.executor.write(late.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  late.run(milliseconds{24});
  CHECK_FALSE(late.is_lit());
  late.run(milliseconds{39});
  CHECK(late.is_lit());
  CHECK(late.ordered(Op::light) >= late.start + milliseconds{25});
  late.run(milliseconds{60});
  REQUIRE(late.ended.size() == 1);
  CHECK(late.ended[0].lit_from >= late.start + milliseconds{25});
  CHECK(late.executor.underflows() == 0);

  ExecutorBench never;
  never.laser().settle_time = milliseconds{50};
  REQUIRE(never.executor.write(never.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  never.run(milliseconds{100});
  CHECK(never.count(Op::light) == 0);
  REQUIRE(never.ended.size() == 1);
  CHECK(never.ended[0].lit_from == never.ended[0].dark_from);  // it carried nothing
  CHECK(never.executor.underflows() == 1);
}

TEST_CASE("executor: two rows of one wavelength need no tuning between them") {
  ExecutorBench bench;
  REQUIRE(bench.executor.write(bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  REQUIRE(bench.executor.write(bench.row(kNear, milliseconds{45}, milliseconds{45}, milliseconds{60}, 2)).has_value());
  bench.run(milliseconds{80});
  CHECK(bench.count(Op::move) == 1);
  CHECK(bench.count(Op::light) == 2);
  CHECK(bench.ended.size() == 2);
  ExecutorBench other;
  REQUIRE(other.executor.write(other.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  REQUIRE(other.executor.write(other.row(kFar, milliseconds{45}, milliseconds{60}, milliseconds{70}, 2)).has_value());
  other.run(milliseconds{80});
  CHECK(other.count(Op::move) == 2);
  CHECK(other.laser().setpoint == darkened(Setpoint{plane_light(1)}));
}

TEST_CASE("executor: whoever takes the laser ends its light here, whatever the row says") {
  ExecutorBench bench;
  REQUIRE(bench.executor.write(bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  bench.run(milliseconds{15});
  REQUIRE(bench.lanes.take(bench.lane(), Activity::interlock));
  bench.run(milliseconds{60});
  CHECK(bench.count(Op::light) == 0);
  CHECK_FALSE(bench.is_lit());
  ExecutorBench settling;  // its light is due and waits for it to settle
  settling.laser().settle_time = milliseconds{20};
  REQUIRE(settling.executor.write(settling.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  settling.run(milliseconds{22});
  REQUIRE(settling.lanes.take(settling.lane(), Activity::interlock));
  settling.run(milliseconds{60});
  CHECK(settling.count(Op::move) == 1);
  CHECK(settling.count(Op::light) == 0);
  CHECK(settling.lanes[settling.lane()].claim.owner() == Activity::interlock);
  ExecutorBench untuned;
  REQUIRE(untuned.executor.write(untuned.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  REQUIRE(untuned.lanes.take(untuned.lane(), Activity::commit));
  untuned.run(milliseconds{60});
  CHECK(untuned.log.empty());  // not even tuned
  CHECK(untuned.lanes[untuned.lane()].claim.owner() == Activity::commit);
}

TEST_CASE("executor: what is cleared is not lit any more, and its laser is let go") {
  ExecutorBench bench;
  REQUIRE(bench.executor.write(bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  bench.run(milliseconds{15});
  bench.executor.clear();
  CHECK(bench.lanes[bench.lane()].claim.owner() == Activity::none);
  bench.run(milliseconds{60});
  CHECK(bench.count(Op::light) == 0);
  CHECK(bench.ended.empty());
  CHECK_FALSE(bench.executor.write(bench.row(kNear, milliseconds{65}, milliseconds{80}, milliseconds{90})).has_value());
}

// --- tuning ahead -------------------------------------------------------------------------------------------------------

struct AheadBench : ExecutorBench {
  using ExecutorBench::ExecutorBench;
  void pre_tune(NodeId to, std::uint32_t transmitter = 0) {
    step([&](StepContext context) { executor.pre_tune(context, {transmitter, to}); });
  }
};

TEST_CASE("executor: a wish tunes an idle laser in the dark and is told once it has come true") {
  AheadBench bench;
  bench.pre_tune(kFar);
  bench.run(milliseconds{1});
  CHECK(bench.tuned.empty());
  bench.run(milliseconds{20});
  REQUIRE(bench.tuned.size() == 1);
  CHECK(bench.tuned[0].destination == kFar);
  CHECK(bench.tuned[0].transmitter == 0);
  CHECK(bench.laser().setpoint == darkened(Setpoint{plane_light(1)}));
  CHECK(bench.count(Op::light) == 0);
  bench.run(milliseconds{40});
  CHECK(bench.tuned.size() == 1);
  bench.pre_tune(kFar);  // it is there already: nothing moves, and it is said again
  bench.run(milliseconds{60});
  CHECK(bench.tuned.size() == 2);
  CHECK(bench.count(Op::move) == 1);
}

TEST_CASE("executor: a wish is dropped for a laser with a row, in somebody else's hands, lit, or without that wavelength") {
  AheadBench with_row;
  REQUIRE(with_row.executor.write(with_row.row(kNear, milliseconds{30}, milliseconds{45}, milliseconds{60})).has_value());
  with_row.pre_tune(kFar);
  with_row.run(milliseconds{20});
  CHECK(with_row.log.empty());

  AheadBench held;
  REQUIRE(held.lanes.take(held.lane(), Activity::commit));
  held.pre_tune(kFar);
  held.run(milliseconds{20});
  CHECK(held.log.empty());
  CHECK(held.tuned.empty());

  AheadBench elsewhere;
  elsewhere.pre_tune(kStranger);
  elsewhere.pre_tune(kFar, 1);
  elsewhere.run(milliseconds{20});
  CHECK(elsewhere.log.empty());

  AheadBench unloaded;
  unloaded.executor.clear();
  unloaded.pre_tune(kFar);
  unloaded.run(milliseconds{20});
  CHECK(unloaded.log.empty());
}

TEST_CASE("executor: a wish waits for nobody's darkness") {
  AheadBench bench;
  REQUIRE(bench.executor.write(bench.row(kNear, milliseconds{5}, milliseconds{20}, milliseconds{40})).has_value());
  bench.run(milliseconds{40} - Duration{1});
  bench.laser().reply_delay = milliseconds{10};
  bench.run(milliseconds{45});  // the row has left the table, its darkness is not proven
  bench.pre_tune(kFar);
  bench.run(milliseconds{100});
  CHECK(bench.tuned.empty());
  CHECK(bench.count(Op::move) == 1);
  CHECK(bench.ended.size() == 1);
}

TEST_CASE("executor: a row that comes takes the place of a wish") {
  AheadBench bench;
  bench.pre_tune(kFar);
  bench.run(milliseconds{1});
  REQUIRE(bench.executor.write(bench.row(kNear, milliseconds{20}, milliseconds{35}, milliseconds{50})).has_value());
  bench.run(milliseconds{15});
  CHECK(bench.tuned.empty());
  bench.run(milliseconds{70});
  CHECK(bench.tuned.empty());
  CHECK(bench.count(Op::light) == 1);
  CHECK(bench.ended.size() == 1);
}

}  // namespace
}  // namespace loom::testing
