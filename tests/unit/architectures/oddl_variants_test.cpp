// SPDX-License-Identifier: Apache-2.0
// ODDL's variants: receivers that hear several orders of their AWG, and routers inside the groups.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/oddl/planes.hpp"
#include "controller/plan/verify/verify.hpp"
#include "controller/predict/granted_light.hpp"
#include "controller/predict/predict.hpp"
#include "tests/unit/architectures/oddl_lab.hpp"

namespace {

using namespace loom;
using Catch::Matchers::Contains;
using loom::testing::groups_of;
using loom::testing::OddlLab;

OddlParameters open_groups(std::uint32_t groups, std::uint32_t size, std::int32_t channels) {
  OddlParameters parameters = groups_of(groups, size, channels);
  parameters.receiver = OddlReceiver::open;
  return parameters;
}

OddlParameters routed_groups(std::uint32_t groups, std::uint32_t size, std::int32_t channels) {
  OddlParameters parameters = open_groups(groups, size, channels);
  parameters.inside = OddlInside::awgr;
  return parameters;
}

void check_lawful(const OddlLab& lab, const PlanResult& made) {
  for (const auto& fault : verify(*lab.request.fabric, made.plan, nullptr, made.intent)) {
    FAIL_CHECK(fault.rule << ": " << fault.evidence);
  }
}

Duration predicted(const PlanResult& made, std::size_t job) {
  JobSpec spec = made.intent.jobs[job].spec;
  spec.placement = made.intent.jobs[job].nodes;
  const auto prediction = predict_schedule(spec, made.schedule.jobs[job], {.stage_change = std::chrono::milliseconds{100}});
  INFO((prediction ? "" : prediction.error().message));
  REQUIRE(prediction);
  return prediction->iteration;
}

std::size_t stages_of(const PlanResult& made, std::size_t job) { return made.schedule.jobs[job].stages.size(); }

TEST_CASE("open_receivers_reach_as_many_groups_in_one_map_as_the_awg_has_orders") {
  const auto stages = [](std::int32_t channels) {
    OddlLab lab(open_groups(3, 4, channels));
    lab.add(1, 12, CollectiveKind::all_to_all).spec.options["map"] = "maps";
    const auto made = lab.planned();
    check_lawful(lab, *made);
    CHECK(made->schedule.jobs[0].forwarding.empty());
    return stages_of(*made, 0);
  };
  CHECK(stages(4) == 3);
  CHECK(stages(8) == 2);
  CHECK(stages(12) == 1);
  CHECK(stages(6) == 3);  // half an order: ports 2 and 3 have one channel only
}

TEST_CASE("one_map_without_relays_beats_a_latin_map_and_is_taken") {
  OddlLab lab(open_groups(3, 4, 12));
  lab.add(1, 12, CollectiveKind::all_to_all, 20'000'000'000);  // else guards weigh more than bytes
  const auto made = lab.planned();
  CHECK(made->schedule.jobs[0].forwarding.empty());
  CHECK_THAT(made->schedule.jobs[0].note, Contains("1 map") && Contains("a latin map with relays takes"));
  OddlLab filtered(groups_of(3, 4, 12));
  filtered.add(1, 12, CollectiveKind::all_to_all, 20'000'000'000);
  const auto relayed = filtered.planned();
  CHECK(predicted(*made, 0) < predicted(*relayed, 0));
}

TEST_CASE("orders_go_by_traffic_and_a_guest_always_finds_one") {
  OddlLab lab(open_groups(4, 4, 16));
  lab.add(1, 10, CollectiveKind::all_to_all, 100'000'000);  // two groups and a half: it leaves an order to others
  const auto first = lab.planned();
  CHECK(first->intent.jobs[0].share.at("orders") == std::vector<std::uint32_t>{0, 1, 2});
  lab.add(2, 6, CollectiveKind::all_to_all, 20'000'000);
  const auto second = lab.planned();
  CHECK(second->intent.jobs[0].share.at("orders") == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(second->intent.jobs[1].share.count("orders") == 0);  // one order: as it needs them
  for (const Circuit& circuit : first->plan.circuits) {
    CHECK(std::find(second->plan.circuits.begin(), second->plan.circuits.end(), circuit) != second->plan.circuits.end());
  }
}

TEST_CASE("a_router_inside_the_group_moves_no_wss") {
  OddlLab lab(routed_groups(3, 4, 5));
  lab.add(1, 4, CollectiveKind::all_to_all);
  const auto made = lab.planned();
  check_lawful(lab, *made);
  CHECK(made->plan.moved_steering.empty());
  CHECK(stages_of(*made, 0) == 1);
  CHECK(made->schedule.jobs[0].stages[0].timeslots.size() == 3);
}

TEST_CASE("behind_routers_partners_carry_what_goes_to_other_groups") {
  OddlLab lab(routed_groups(4, 4, 5));
  lab.add(1, 16, CollectiveKind::all_to_all, 16'000'000);
  const auto made = lab.planned();
  check_lawful(lab, *made);
  const JobSchedule& schedule = made->schedule.jobs[0];
  CHECK(schedule.stages.size() == 3);  // one map for each other group
  CHECK(schedule.stages[0].timeslots.size() == 4);
  CHECK(schedule.stages[1].timeslots.size() == 1);
  const auto shape = read_oddl(*lab.request.fabric);
  REQUIRE(shape);
  const auto& nodes = made->intent.jobs[0].nodes;
  std::set<std::pair<NodeId, NodeId>> lit;
  for (const Stage& stage : schedule.stages) {
    for (const Timeslot& timeslot : stage.timeslots) {
      for (const Circuit& circuit : timeslot.circuits) {
        lit.emplace(circuit.source, circuit.destination);
      }
    }
  }
  for (std::uint32_t source = 0; source < 16; ++source) {
    for (std::uint32_t destination = 0; destination < 16; ++destination) {
      const std::uint32_t via = schedule.forwarding.next(source, destination);
      if (source != destination) {
        CHECK(lit.contains({nodes[source], nodes[via]}));
        CHECK((via == destination || lit.contains({nodes[via], nodes[destination]})));
      }
    }
  }
  CHECK(predicted(*made, 0) > Duration{0});
}

TEST_CASE("orders_save_maps_behind_routers_too") {
  OddlLab lab(routed_groups(4, 4, 15));
  lab.add(1, 16, CollectiveKind::all_to_all, 16'000'000);
  const auto made = lab.planned();
  check_lawful(lab, *made);
  CHECK(made->intent.jobs[0].share.at("orders") == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(stages_of(*made, 0) == 1);
}

TEST_CASE("rings_of_whole_groups_run_behind_routers") {
  for (const std::uint32_t size : {2U, 3U, 4U, 8U}) {
    OddlLab lab(routed_groups(3, size, static_cast<std::int32_t>(size + 1)));
    lab.add(1, 3 * size, CollectiveKind::all_reduce);
    const auto made = lab.planned();
    check_lawful(lab, *made);
    CHECK(made->plan.circuits.size() == 3 * size);
  }
}

TEST_CASE("who_is_no_partner_is_refused_by_name") {
  OddlLab lab(routed_groups(2, 4, 5));
  lab.add(1, 2, CollectiveKind::all_reduce).spec.placement = {NodeId{1}, NodeId{5}};
  const auto refused = lab.plan();
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Contains("from node 1 to node 5 of group 1") && Contains("there node 6"));
  OddlLab torn(routed_groups(2, 4, 5));
  torn.add(1, 2, CollectiveKind::all_to_all).spec.placement = {NodeId{1}, NodeId{5}};
  const auto parted = torn.plan();
  REQUIRE_FALSE(parted);
  CHECK_THAT(parted.error().message, Contains("nobody in the group of rank 0 is the partner of rank 1"));
  OddlLab granted(routed_groups(2, 4, 5));
  granted.add(1, 8, CollectiveKind::all_to_all).spec.transmit = Transmit::grants;
  const auto asked = granted.plan();
  REQUIRE_FALSE(asked);
  CHECK_THAT(asked.error().message, Contains("transmit=slots"));
}

TEST_CASE("under_grants_an_open_receiver_is_asked_by_several_groups_in_one_stage") {
  OddlLab lab(open_groups(2, 4, 8));
  lab.add(1, 8, CollectiveKind::all_to_all).spec.transmit = Transmit::grants;
  const auto made = lab.planned();
  check_lawful(lab, *made);
  REQUIRE(stages_of(*made, 0) == 1);
  CHECK(made->schedule.jobs[0].stages[0].streams.size() == 56);
}

TEST_CASE("under_grants_a_ring_that_no_window_has_room_for_comes_in_parts") {
  OddlLab lab(groups_of(2, 4, 6));
  Job& job = lab.add(1, 4, CollectiveKind::all_reduce, 20'000'000'000);
  job.spec.transmit = Transmit::grants;
  const auto made = lab.planned();
  check_lawful(lab, *made);
  const auto& streams = made->schedule.jobs[0].stages[0].streams;
  const BitRate rate = OddlParameters{}.rate;
  std::map<std::uint64_t, std::size_t> edges_of;
  std::int64_t sent = 0;
  for (const OfferedStream& stream : streams) {
    ++edges_of[stream.collective];
    sent += stream.source == streams.front().source ? stream.bytes.count : 0;
    CHECK(time_of(stream.bytes, rate) <= kGrantQuantum);
  }
  CHECK(edges_of.size() == 6);  // 30 GB an edge are 2.4 s of light, and a window has 0.5 s, of which lights begin 30 ms apart
  CHECK(edges_of.rbegin()->first == 5);
  for (const auto& [number, edges] : edges_of) {
    CHECK(edges == 4);
  }
  CHECK(sent >= 30'000'000'000);
  CHECK(predicted(*made, 0) >= std::chrono::milliseconds{2'400});
}

TEST_CASE("a_router_of_33_ports_leaks_too_much_at_35_db_and_the_verifier_says_so") {
  const auto planned = [](Db isolation) {
    OddlParameters parameters = routed_groups(2, 32, 48);
    parameters.awg_isolation = isolation;
    OddlLab lab(parameters);
    lab.add(1, 64, CollectiveKind::all_reduce);
    return lab.plan();
  };
  const auto refused = planned(Db{3500});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Contains("crosstalk"));
  CHECK(planned(Db{4000}));
}

}  // namespace
