// SPDX-License-Identifier: Apache-2.0
// What nodes report becomes one job's demand, and when its light follows.
#include <catch2/catch.hpp>

#include <random>

#include "controller/control/jobs/demand_watch.hpp"
#include "controller/control/jobs/measured_demand.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Instant kStart{seconds{1'000}};
constexpr Duration kDark = milliseconds{200};
constexpr Duration kHold = 10 * kDark;

Job job_of(std::uint32_t nodes) {
  Job job;
  job.id = JobId{3};
  for (std::uint32_t node = 0; node < nodes; ++node) {
    job.nodes.push_back(NodeId{node + 4});
  }
  return job;
}

using Traffic = std::map<NodeId, NodeTraffic>;

/// A communicator of these ranks of the job, in the order of its own ranks.
void add(Traffic& traffic, const Job& job, std::uint64_t id, const std::vector<std::uint32_t>& ranks,
         std::vector<RepeatedCollective> period, Duration length = milliseconds{100}) {
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    NodeTraffic& node = traffic[job.nodes[ranks[i]]];
    node.received = kStart;
    node.report.communicators.push_back({id, i, static_cast<std::uint32_t>(ranks.size()), period, length});
  }
}

RepeatedCollective all_reduce(std::int64_t bytes, std::uint32_t count = 1) {
  return {CollectiveKind::all_reduce, {bytes}, count};
}

Collective collective(std::int64_t bytes, std::vector<std::uint32_t> ranks = {}, std::uint32_t count = 1) {
  return {CollectiveKind::all_reduce, std::move(ranks), {bytes}, count};
}

DemandReading reading_of(const Job& job, const Traffic& traffic, Instant now = kStart) {
  return read_demand(job, traffic, now, AdaptPolicy{});
}

/// A job's demand over time, judged every 50 ms.
struct Life {
  DemandWatch watch{};
  std::vector<Collective> made_for{collective(1'000)};
  Instant now = kStart;
  std::uint32_t followed = 0;

  void pass(Duration time, const std::vector<Collective>& measured, const std::string& why_not = {}) {
    for (const Instant end = now + time; now < end; now += milliseconds{50}) {
      if (watch.judge(now, {measured, milliseconds{100}, why_not}, {"job 3", 4, &made_for, kDark})) {
        ++followed;
        watch.begin("on trial");
        made_for = measured;
        watch.moved(now, "followed");
      }
    }
  }
};

const std::vector<Collective> kDeclared{collective(1'000)};
const std::vector<Collective> kPairs{collective(1'000, {0, 1}), collective(1'000, {2, 3})};
const std::vector<Collective> kHalves{collective(1'000, {0, 2}), collective(1'000, {1, 3})};

}  // namespace

TEST_CASE("communicators become groups of the job's ranks", "[demand]") {
  const Job job = job_of(4);
  Traffic traffic;
  add(traffic, job, 1, {0, 1, 2, 3}, {all_reduce(500, 2)});
  add(traffic, job, 2, {3, 1}, {all_reduce(70)}, milliseconds{50});
  const DemandReading reading = reading_of(job, traffic);
  INFO(reading.why_not);
  REQUIRE(reading.collectives.size() == 2);
  CHECK(reading.collectives[0] == collective(500, {}, 2));     // all, in their order
  CHECK(reading.collectives[1] == collective(70, {3, 1}, 2));  // twice in an iteration
  CHECK(reading.iteration == milliseconds{100});
}

TEST_CASE("a demand is not concluded from part of a communicator", "[demand]") {
  const Job job = job_of(4);
  Traffic traffic;
  add(traffic, job, 1, {0, 1, 2, 3}, {all_reduce(500)});
  const auto why_not = [&](const Traffic& with, Instant now = kStart) { return reading_of(job, with, now).why_not; };
  Traffic silent = traffic;
  silent.erase(NodeId{6});
  CHECK(why_not(silent).find("node 6 reports no traffic") == 0);
  Traffic empty = traffic;
  empty[NodeId{6}].report.communicators.clear();
  CHECK(why_not(empty).find("3 of its 4 ranks are reported; rank 2 is not") != std::string::npos);
  Traffic troubled = traffic;
  troubled[NodeId{5}].report.trouble = "communicator 0x1 is new";
  CHECK(why_not(troubled) == "node 5: communicator 0x1 is new");
  CHECK(why_not(traffic, kStart + seconds{4}).find("has not reported its traffic for 3 s") != std::string::npos);
  Traffic apart = traffic;
  apart[NodeId{7}].report.communicators[0].period = {all_reduce(501)};
  CHECK(why_not(apart).find("do not repeat the same; node 7 differs") != std::string::npos);
  Traffic twice = traffic;
  twice[NodeId{7}].report.communicators[0].rank = 0;
  CHECK(why_not(twice).find("says that it is rank 0 of 4") != std::string::npos);
  Traffic idle;
  for (const NodeId node : job.nodes) {
    idle[node].received = kStart;
  }
  CHECK(why_not(idle) == "no node reports a collective");
}

TEST_CASE("periods without a common iteration are no demand", "[demand]") {
  const Job job = job_of(4);
  Traffic traffic;
  add(traffic, job, 1, {0, 1, 2, 3}, {all_reduce(500)}, milliseconds{100});
  add(traffic, job, 2, {0, 1}, {all_reduce(70)}, milliseconds{64});
  CHECK(reading_of(job, traffic).why_not.find("no common iteration") != std::string::npos);
}

TEST_CASE("demands are apart by the bytes that only one of them has", "[demand]") {
  CHECK(demand_distance(kDeclared, kDeclared, 4) == 0);
  CHECK(demand_distance(kDeclared, {collective(400), collective(300, {}, 2)}, 4) == 0);  // cut otherwise
  CHECK(demand_distance(kDeclared, {collective(1'000, {1, 2, 3, 0})}, 4) == 0);          // begun elsewhere
  CHECK(demand_distance(kDeclared, {collective(950)}, 4) == Approx(0.05));
  CHECK(demand_distance(kDeclared, kPairs, 4) == Approx(1.5));
  CHECK(describe_demand(kPairs, 4) == "all_reduce of 2 ranks (2 groups), 0.001 MB an iteration");
}

TEST_CASE("demand that differs is followed once it has been steady for a hold", "[demand]") {
  Life life;
  life.pass(seconds{5}, kDeclared);
  CHECK(life.watch.says() == "as the light is made for");
  life.pass(kHold - milliseconds{50}, kPairs);
  CHECK(life.followed == 0);
  CHECK(life.watch.says().find("followed in") != std::string::npos);
  life.pass(milliseconds{150}, kPairs);
  CHECK(life.followed == 1);
}

TEST_CASE("what is within the tolerance is the same demand", "[demand]") {
  Life life;
  for (int i = 0; i < 40; ++i) {
    life.pass(milliseconds{500}, {collective(i % 2 == 0 ? 960 : 1'040)});
  }
  CHECK(life.followed == 0);
  CHECK_FALSE(life.watch.is_restless());
}

TEST_CASE("light is held after it has moved", "[demand]") {
  Life life;
  life.pass(seconds{5}, kPairs);
  REQUIRE(life.followed == 1);
  const Instant moved = life.now;
  life.pass(seconds{30}, kHalves);
  CHECK(life.followed == 2);
  CHECK(life.now - moved > kHold);
}

TEST_CASE("demand that flips faster than a hold is never followed, and the reason says so", "[demand]") {
  Life life;
  life.pass(seconds{5}, kDeclared);
  for (int i = 0; i < 20; ++i) {
    life.pass(milliseconds{1'500}, i % 2 == 0 ? kPairs : kHalves);
  }
  CHECK(life.followed == 0);
  CHECK(life.watch.is_restless());
  INFO(life.watch.says());
  CHECK(life.watch.says().find("demand of job 3 changed ") == 0);
  CHECK(life.watch.says().find("its light takes 0.2 s to move and is held for ") != std::string::npos);
  life.pass(seconds{30}, kHalves);
  CHECK_FALSE(life.watch.is_restless());
  CHECK(life.followed == 1);
}

TEST_CASE("demand that flips a little slower than a hold is followed less and less", "[demand]") {
  Life life;
  life.pass(seconds{5}, kDeclared);
  for (int i = 0; i < 20; ++i) {
    life.pass(milliseconds{2'600}, i % 2 == 0 ? kPairs : kHalves);
  }
  CHECK(life.followed <= 2);
  CHECK(life.watch.is_restless());
}

TEST_CASE("what was tried and is not worth it is not tried again until demand is another one", "[demand]") {
  DemandWatch watch;
  const std::vector<Collective> made_for = kDeclared;
  Instant now = kStart;
  const auto judge = [&](const std::vector<Collective>& demand) {
    now += seconds{5};
    return watch.judge(now, {demand, milliseconds{100}, {}}, {"job 3", 4, &made_for, kDark});
  };
  CHECK_FALSE(judge(kPairs));
  REQUIRE(judge(kPairs));
  watch.begin("on trial");
  CHECK_FALSE(judge(kPairs));
  watch.kept(now, "less than 5 % better; kept");
  CHECK_FALSE(judge(kPairs));
  CHECK_FALSE(judge(kPairs));
  CHECK(watch.says() == "less than 5 % better; kept");
  CHECK_FALSE(judge(kHalves));
  CHECK(judge(kHalves));
}

TEST_CASE("an unrest that nobody reports any more is over", "[demand]") {
  Life life;
  life.pass(seconds{5}, kDeclared);
  for (int i = 0; i < 6; ++i) {
    life.pass(milliseconds{1'000}, i % 2 == 0 ? kPairs : kHalves);
  }
  REQUIRE(life.watch.is_restless());
  life.pass(seconds{30}, {}, "node 4 reports no traffic");
  CHECK_FALSE(life.watch.is_restless());
  CHECK(life.watch.says() == "not measured: node 4 reports no traffic; kept");
}

TEST_CASE("whatever is measured, light never moves twice within a hold", "[demand][property]") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance(seed);
    const std::vector<std::vector<Collective>> demands{kDeclared, kPairs, kHalves, {collective(1'050)}, {}};
    Life life;
    std::vector<Instant> moves;
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t before = life.followed;
      const Duration time = milliseconds{50 * (1 + chance() % 100)};
      const auto& demand = demands[chance() % demands.size()];
      for (Duration passed{}; passed < time; passed += milliseconds{50}) {
        const std::uint32_t count = life.followed;
        life.pass(milliseconds{50}, demand, "nothing");
        if (life.followed != count) {
          moves.push_back(life.now);
        }
      }
      CHECK(life.followed >= before);
    }
    for (std::size_t i = 1; i < moves.size(); ++i) {
      CHECK(moves[i] - moves[i - 1] >= kHold);
    }
  }
}

TEST_CASE("random reports are read as lawful demand or named", "[demand][property]") {
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    INFO("seed " << seed);
    std::mt19937 generator(seed);
    const auto chance = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(generator() % limit); };
    const Job job = job_of(4);
    Traffic traffic;
    for (const NodeId node : job.nodes) {
      if (chance(8) == 0) {
        continue;
      }
      traffic[node].received = kStart - milliseconds{chance(4'000)};
      for (std::uint64_t id = 0; id < chance(3); ++id) {
        const auto ranks = 1 + chance(4);
        traffic[node].report.communicators.push_back(
            {id, chance(ranks), ranks, {all_reduce(1 + chance(3), 1 + chance(3))}, milliseconds{1 + chance(50)}});
      }
    }
    const DemandReading reading = reading_of(job, traffic);
    CHECK(reading.collectives.empty() != reading.why_not.empty());
    for (const Collective& each : reading.collectives) {
      CHECK(each.count >= 1);
      for (const std::uint32_t rank : each.ranks) {
        CHECK(rank < 4);
      }
    }
  }
}
