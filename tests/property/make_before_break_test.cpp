// SPDX-License-Identifier: Apache-2.0
// Light that is replaced stays until what replaces it stands, where both have room beside each other; and never otherwise.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "controller/plan/make_before_break.hpp"
#include "controller/plan/verify/verify.hpp"
#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {
namespace {

/// One circuit of a job: from, to, over which of the switches.
using Way = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
using Ways = std::set<Way>;

/// Eight nodes of SiP-OCS with three switches, whose jobs have the circuits that the test gives them.
struct ByHand : Planning {
  explicit ByHand() : Planning(fabric_of()) { request.make_before_break = true; }

  static std::shared_ptr<const Fabric> fabric_of() {
    SipOcsParameters parameters;
    parameters.nodes = 8;
    parameters.switches = 3;
    return std::make_shared<const Fabric>(make_sip_ocs(parameters));
  }

  /// `nodes`: of the job.
  void give(std::uint64_t id, const std::vector<std::uint32_t>& nodes, const Ways& ways) {
    std::erase_if(request.intent.jobs, [&](const Job& job) { return job.id == JobId{id}; });
    std::erase_if(request.intent.pinned, [&](const JobSchedule& pin) { return pin.job == JobId{id}; });
    request.intent.jobs.push_back(placed_job(id, nodes));
    std::ranges::sort(request.intent.jobs, {}, &Job::id);
    JobSchedule schedule;
    schedule.job = JobId{id};
    schedule.stages.resize(1);
    schedule.stages[0].timeslots.resize(1);
    for (const auto& [from, to, over] : ways) {
      const ElementId transmitter = fabric->nodes[from].transmitters[over];
      const auto& laser = std::get<Transmitter>(fabric->element(transmitter).kind);
      schedule.stages[0].timeslots[0].circuits.push_back({{},
                                                          JobId{id},
                                                          NodeId{from},
                                                          NodeId{to},
                                                          transmitter,
                                                          fabric->nodes[to].receivers[over],
                                                          laser.channels.first,
                                                          laser.rate});
    }
    request.intent.pinned.push_back(std::move(schedule));
    std::ranges::sort(request.intent.pinned, {}, &JobSchedule::job);
  }

  std::shared_ptr<const PlanResult> made() {
    const auto base = request.base;
    auto result = attempt();
    INFO((result ? "" : result.error().message));
    REQUIRE(result);
    CHECK(verify(*fabric, (*result)->plan, base.get(), (*result)->intent).empty());
    return *result;
  }

  /// As the controller asks for what follows.
  std::shared_ptr<const PlanResult> followed() {
    request.make_before_break = false;
    auto result = made();
    request.make_before_break = true;
    return result;
  }

  Ways ways_of(const PlanResult& result, std::uint64_t job) const {
    Ways ways;
    for (const Circuit& circuit : result.plan.circuits) {
      if (circuit.job == JobId{job}) {
        const auto& own = fabric->nodes[circuit.source.value].transmitters;
        ways.emplace(circuit.source.value, circuit.destination.value,
                     static_cast<std::uint32_t>(std::ranges::find(own, circuit.transmitter) - own.begin()));
      }
    }
    return ways;
  }
};

Ways both(Ways a, const Ways& b) {
  a.insert(b.begin(), b.end());
  return a;
}

std::uint32_t waiting_of(const PlanResult& result, std::uint64_t job) {
  return std::ranges::find(result.schedule.jobs, JobId{job}, &JobSchedule::job)->waiting;
}

bool is_untouched(const PlanResult& result, const PlanResult& before) {
  return std::ranges::all_of(before.plan.circuits, [&](const Circuit& circuit) {
    return std::ranges::find(result.plan.circuits, circuit) != result.plan.circuits.end() &&
           !std::ranges::binary_search(result.plan.touched, circuit.id);
  });
}

const Ways kRing{{0, 1, 0}, {1, 2, 0}, {2, 0, 0}};
const Ways kRingOnAnother{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}};

TEST_CASE("light that moves to free transceivers is lit there before it goes dark where it was") {
  ByHand by_hand;
  by_hand.give(1, {0, 1, 2}, kRing);
  const auto before = by_hand.made();
  by_hand.give(1, {0, 1, 2}, kRingOnAnother);
  const std::vector<JobSchedule> asked = by_hand.request.intent.pinned;
  const auto first = by_hand.made();
  CHECK(by_hand.ways_of(*first, 1) == both(kRing, kRingOnAnother));
  CHECK(is_untouched(*first, *before));
  CHECK(first->plan.touched.size() == 3);
  CHECK(waiting_of(*first, 1) == 3);
  CHECK(first->intent.pinned == asked);  // what is asked for is not what is lit for now
  const auto then = by_hand.followed();
  CHECK(by_hand.ways_of(*then, 1) == kRingOnAnother);
  CHECK(waiting_of(*then, 1) == 0);
  CHECK(then->plan.touched.size() == 3);
  for (const Circuit& circuit : then->plan.circuits) {
    CHECK(std::ranges::find(first->plan.circuits, circuit) != first->plan.circuits.end());
  }
}

TEST_CASE("nothing is held where nobody asks for it, nothing is replaced, or a pair keeps other light") {
  ByHand by_hand;
  by_hand.give(1, {0, 1, 2}, kRing);
  by_hand.made();
  SECTION("nobody asks") {
    by_hand.give(1, {0, 1, 2}, kRingOnAnother);
    CHECK(by_hand.ways_of(*by_hand.followed(), 1) == kRingOnAnother);
  }
  SECTION("nothing changes") { CHECK(by_hand.ways_of(*by_hand.made(), 1) == kRing); }
  SECTION("other nodes") {
    const Ways others{{0, 2, 1}, {2, 1, 1}, {1, 0, 1}};
    by_hand.give(1, {0, 1, 2}, others);
    CHECK(by_hand.ways_of(*by_hand.made(), 1) == others);
  }
  SECTION("another job between the same nodes") {
    by_hand.request.intent.jobs.clear();
    by_hand.request.intent.pinned.clear();
    by_hand.give(2, {0, 1, 2}, kRingOnAnother);
    const auto made = by_hand.made();
    CHECK(by_hand.ways_of(*made, 1).empty());
    CHECK(by_hand.ways_of(*made, 2) == kRingOnAnother);
  }
  SECTION("one of two circuits goes elsewhere") {
    by_hand.give(1, {0, 1, 2}, both(kRing, {{0, 1, 1}}));
    by_hand.made();
    const Ways moved = both(kRing, {{0, 1, 2}});
    by_hand.give(1, {0, 1, 2}, moved);
    const auto made = by_hand.made();
    CHECK(by_hand.ways_of(*made, 1) == moved);
    CHECK(waiting_of(*made, 1) == 0);
  }
  SECTION("lasers are off") {
    by_hand.give(1, {0, 1, 2}, kRingOnAnother);
    by_hand.request.intent.lasers_off = true;
    CHECK(by_hand.made()->plan.circuits.empty());
  }
}

TEST_CASE("nothing is held beside light that nobody planned, or devices that follow no order") {
  ByHand by_hand;
  by_hand.give(1, {0, 1, 2}, kRing);
  by_hand.made();
  by_hand.give(1, {0, 1, 2}, kRingOnAnother);
  SECTION("a device") {
    const DeviceId laser = *by_hand.fabric->device_of_element[by_hand.fabric->nodes[5].transmitters[0].value];
    by_hand.request.unusable = {{laser}};
  }
  SECTION("light") {
    const ElementId transmitter = by_hand.fabric->nodes[5].transmitters[0];
    const auto slot = std::get<Transmitter>(by_hand.fabric->element(transmitter).kind).channels.first;
    by_hand.request.observed = {{*by_hand.fabric->device_of_element[transmitter.value], {slot, Dbm{0}, true}, true}};
  }
  CHECK(by_hand.ways_of(*by_hand.made(), 1) == kRingOnAnother);
}

TEST_CASE("a pin that was taken from a plan that another follows lets nothing wait") {
  ByHand by_hand;
  by_hand.give(1, {0, 1, 2}, kRing);
  by_hand.request.intent.pinned[0].waiting = 3;
  CHECK(waiting_of(*by_hand.made(), 1) == 0);
}

TEST_CASE("light between pairs that take each other's ends is broken first") {
  ByHand by_hand;
  by_hand.give(1, {0, 1, 2}, {{0, 1, 0}, {0, 2, 1}});
  by_hand.made();
  const Ways exchanged{{0, 1, 1}, {0, 2, 0}};
  by_hand.give(1, {0, 1, 2}, exchanged);
  const auto made = by_hand.made();
  CHECK(by_hand.ways_of(*made, 1) == exchanged);
  CHECK(waiting_of(*made, 1) == 0);
}

TEST_CASE("light of which new light needs an end goes dark for it, and nothing that is new waits") {
  ByHand by_hand;
  SECTION("the only light of its pair") {
    by_hand.give(1, {0, 1, 2}, {{0, 1, 0}, {2, 1, 2}});
    by_hand.made();
    const Ways wanted{{0, 1, 1}, {2, 1, 0}};  // 2 to 1 ends where 0 to 1 did
    by_hand.give(1, {0, 1, 2}, wanted);
    const auto first = by_hand.made();
    CHECK(by_hand.ways_of(*first, 1) == both(wanted, {{2, 1, 2}}));
    CHECK(waiting_of(*first, 1) == 1);
    CHECK(by_hand.ways_of(*by_hand.followed(), 1) == wanted);
  }
  SECTION("one of two") {
    by_hand.give(1, {0, 1, 2}, {{0, 1, 0}, {0, 1, 1}});
    by_hand.made();
    const Ways wanted{{0, 1, 2}, {2, 1, 0}};
    by_hand.give(1, {0, 1, 2}, wanted);
    const auto first = by_hand.made();
    CHECK(by_hand.ways_of(*first, 1) == both(wanted, {{0, 1, 1}}));
    CHECK(by_hand.ways_of(*by_hand.followed(), 1) == wanted);
  }
}

TEST_CASE("by two plans or by one, the light in the end is the same, and pairs whose new light has room are never dark") {
  std::mt19937 chance{11};
  std::size_t bridged = 0;
  for (int round = 0; round < 150; ++round) {
    ByHand by_hand;
    const auto random_ways = [&] {
      Ways ways;
      std::set<std::pair<std::uint32_t, std::uint32_t>> sends;
      std::set<std::pair<std::uint32_t, std::uint32_t>> receives;
      for (int i = 0; i < 6; ++i) {
        const auto from = static_cast<std::uint32_t>(chance() % 4);
        const auto to = static_cast<std::uint32_t>((from + 1 + chance() % 3) % 4);
        const auto over = static_cast<std::uint32_t>(chance() % 3);
        if (sends.emplace(from, over).second) {
          if (receives.emplace(to, over).second) {
            ways.emplace(from, to, over);
          }
        }
      }
      return ways;
    };
    CAPTURE(round);
    by_hand.give(1, {0, 1, 2, 3}, random_ways());
    const auto before = by_hand.made();
    const Ways wanted = random_ways();
    by_hand.give(1, {0, 1, 2, 3}, wanted);
    const auto first = by_hand.made();
    const Ways lit = by_hand.ways_of(*first, 1);
    const std::uint32_t waiting = waiting_of(*first, 1);
    if (waiting == 0) {
      CHECK(lit == wanted);
      continue;
    }
    ++bridged;
    const Ways was = by_hand.ways_of(*before, 1);
    std::uint32_t held = 0;
    for (const auto& [from, to, over] : lit) {
      if (wanted.contains({from, to, over})) {
        continue;
      }
      ++held;
      CHECK(was.contains({from, to, over}));  // it was lit, and light that replaces it is beside it
      CHECK(std::ranges::any_of(wanted, [&, from = from, to = to](const Way& way) {
        return std::get<0>(way) == from && std::get<1>(way) == to && lit.contains(way) && !was.contains(way);
      }));
    }
    CHECK(held == waiting);
    CHECK(std::ranges::includes(lit, wanted));
    const auto then = by_hand.followed();
    CHECK(by_hand.ways_of(*then, 1) == wanted);
    CHECK(waiting_of(*then, 1) == 0);
  }
  CHECK(bridged > 10);
}

TEST_CASE("light in timeslots is no standing light, and is laid as a whole") {
  ByHand by_hand;
  by_hand.give(1, {0, 1, 2}, kRing);
  by_hand.made();
  by_hand.give(1, {0, 1, 2}, kRingOnAnother);
  Stage& stage = by_hand.request.intent.pinned[0].stages[0];
  stage.timeslots[0].guard = std::chrono::milliseconds{100};
  stage.timeslots[0].hold = std::chrono::milliseconds{10};
  stage.cycles = 0;
  const auto made = by_hand.made();
  CHECK(by_hand.ways_of(*made, 1) == kRingOnAnother);
  CHECK(waiting_of(*made, 1) == 0);
}

}  // namespace
}  // namespace loom::test
