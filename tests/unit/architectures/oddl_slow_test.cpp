// SPDX-License-Identifier: Apache-2.0
// ODDL's slow plane: maps with relays, orders of the AWG, planes of transmitters, growth and shrinkage.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/oddl/planes.hpp"
#include "controller/predict/predict.hpp"
#include "tests/unit/architectures/oddl_lab.hpp"

namespace {

using namespace loom;
using loom::testing::groups_of;
using Lab = loom::testing::OddlLab;
using std::chrono::milliseconds;

/// Which pairs of ranks have light in which timeslots of a job's only stage.
std::map<std::pair<NodeId, NodeId>, std::vector<std::size_t>> timeslots_of(const Stage& stage) {
  std::map<std::pair<NodeId, NodeId>, std::vector<std::size_t>> lit;
  for (std::size_t i = 0; i < stage.timeslots.size(); ++i) {
    for (const Circuit& circuit : stage.timeslots[i].circuits) {
      lit[{circuit.source, circuit.destination}].push_back(i);
    }
  }
  return lit;
}

TEST_CASE("latin_map_reaches_every_pair_in_two_hops") {
  Lab lab(groups_of(4, 4, 4));
  lab.add(1, 16, CollectiveKind::all_to_all).spec.options["map"] = "latin";
  const auto made = lab.planned();
  const JobSchedule& schedule = made->schedule.jobs[0];
  REQUIRE(schedule.stages.size() == 1);
  CHECK(schedule.stages[0].cycles == 1);
  CHECK(schedule.stages[0].timeslots.size() > 4);  // once for what ranks send, once for what relays pass on
  const auto lit = timeslots_of(schedule.stages[0]);
  const auto& nodes = made->intent.jobs[0].nodes;
  std::uint32_t direct = 0;
  for (std::uint32_t source = 0; source < 16; ++source) {
    for (std::uint32_t destination = 0; destination < 16; ++destination) {
      const std::uint32_t via = schedule.forwarding.next(source, destination);
      if (source == destination) {
        continue;
      }
      REQUIRE(lit.contains({nodes[source], nodes[via]}));
      direct += via == destination ? 1 : 0;
      if (via != destination) {
        REQUIRE(lit.contains({nodes[via], nodes[destination]}));
      }
    }
  }
  CHECK(direct == 4 * 16 - 4);  // each rank reaches one of each port; four of them are themselves
  CHECK(switches_moved_by(made->plan) == 8);
}

TEST_CASE("prediction_counts_what_relays_pass_on") {
  Lab lab(groups_of(4, 4, 4));
  lab.add(1, 16, CollectiveKind::all_to_all, 160'000'000).spec.options["map"] = "latin";
  const auto made = lab.planned();
  JobSpec spec = made->intent.jobs[0].spec;
  spec.placement = made->intent.jobs[0].nodes;
  const auto relayed = predict_schedule(spec, made->schedule.jobs[0], {});
  INFO((relayed ? "" : relayed.error().message));
  REQUIRE(relayed);
  // 15 x 10 MB from each rank, nearly twice over the wire at 100 Gb/s: more than once and at most twice, and the guards.
  const double wire = 15 * 0.8e-3;
  CHECK(seconds_of(relayed->iteration) > wire * 1.5);
  CHECK(seconds_of(relayed->iteration) <= made->schedule.objective + 1e-3);
  JobSchedule direct_only = made->schedule.jobs[0];
  direct_only.forwarding = {};
  CHECK_FALSE(predict_schedule(spec, direct_only, {}));  // without relays most pairs never have light
}

TEST_CASE("the_cheaper_kind_of_all_to_all_is_taken_and_says_why") {
  OddlParameters slow = groups_of(4, 4, 4);
  slow.wss_settle_max = milliseconds{1'000};
  Lab lab(slow);
  lab.add(1, 16, CollectiveKind::all_to_all);
  const auto relayed = lab.planned();
  CHECK(relayed->schedule.jobs[0].stages.size() == 1);
  CHECK_FALSE(relayed->schedule.jobs[0].forwarding.empty());
  CHECK(relayed->schedule.jobs[0].note.starts_with("latin map with relays, "));
  CHECK(relayed->schedule.jobs[0].note.find("for WSS moves") != std::string::npos);

  OddlParameters quick = groups_of(2, 4, 4);
  quick.wss_settle_max = milliseconds{1};
  Lab other(quick);
  other.add(1, 8, CollectiveKind::all_to_all, 80'000'000'000);  // bytes weigh more than a WSS that moves in 1 ms
  const auto mapped = other.planned();
  CHECK(mapped->schedule.jobs[0].stages.size() == 2);
  CHECK(mapped->schedule.jobs[0].forwarding.empty());
  CHECK(mapped->schedule.jobs[0].note.starts_with("2 maps in turn, "));
}

TEST_CASE("custom_map_is_played_or_refused_by_name") {
  Lab lab(groups_of(2, 2, 2));
  Job& job = lab.add(1, 4, CollectiveKind::all_to_all);
  job.spec.options = {{"map", "custom"}, {"map_groups", "0-1-1-0"}};  // port 0 stays, port 1 crosses
  const auto made = lab.planned();
  CHECK(made->schedule.jobs[0].stages.size() == 1);
  CHECK(made->schedule.jobs[0].note == "custom, as asked");

  const auto refusal = [](std::string map) {
    Lab again(groups_of(2, 2, 2));
    Job& asked = again.add(7, 4, CollectiveKind::all_to_all);
    asked.spec.options = {{"map", "custom"}, {"map_groups", std::move(map)}};
    const auto refused = again.plan();
    REQUIRE_FALSE(refused);
    return refused.error().message;
  };
  CHECK(refusal("0-0-1-0").find("job 7: its map leads port 1 of group 0 and of group 1 to group 0") != std::string::npos);
  CHECK(refusal("0-1-1").find("nearest: 4 (2 groups x 2 ports)") != std::string::npos);
  CHECK(refusal("0-1-1-5").find("it has the groups 0..1") != std::string::npos);
  CHECK(refusal("0-0-1-1").find("nearest: map = maps") != std::string::npos);  // nobody ever leaves his group
}

TEST_CASE("rings_are_striped_over_planes") {
  OddlParameters parameters = groups_of(2, 4, 4);
  parameters.planes = 3;
  Lab lab(parameters);
  lab.add(1, 8, CollectiveKind::all_reduce);
  const auto made = lab.planned();
  CHECK(made->plan.circuits.size() == 3 * 8);
  std::map<std::pair<NodeId, NodeId>, std::set<ElementId>> transmitters;
  for (const Circuit& circuit : made->plan.circuits) {
    transmitters[{circuit.source, circuit.destination}].insert(circuit.transmitter);
  }
  CHECK(transmitters.size() == 8);
  for (const auto& [ends, own] : transmitters) {
    CHECK(own.size() == 3);
  }
  CHECK(made->schedule.objective == Approx(2.0 * 7 / 8 * 8e6 / 3e11));
  CHECK(made->schedule.jobs[0].note == "striped over 3 planes");
  JobSpec spec = made->intent.jobs[0].spec;
  spec.placement = made->intent.jobs[0].nodes;
  const auto predicted = predict_schedule(spec, made->schedule.jobs[0], {.latency = Duration{0}});
  REQUIRE(predicted);
  CHECK(seconds_of(predicted->iteration) == Approx(made->schedule.objective).epsilon(0.01));
}

TEST_CASE("all_to_all_is_split_over_planes") {
  OddlParameters parameters = groups_of(1, 4, 4);
  Lab narrow(parameters);
  narrow.add(1, 4, CollectiveKind::all_to_all, 4'000'000'000);
  parameters.planes = 2;
  Lab wide(parameters);
  wide.add(1, 4, CollectiveKind::all_to_all, 4'000'000'000);
  const Timeslot one = narrow.planned()->schedule.jobs[0].stages[0].timeslots[0];
  const Timeslot two = wide.planned()->schedule.jobs[0].stages[0].timeslots[0];
  CHECK(two.circuits.size() == 2 * one.circuits.size());
  const Duration room = OddlParameters{}.laser_control_max + OddlParameters{}.laser_blank_max;
  CHECK(2 * (two.hold - room) == one.hold - room);
}

TEST_CASE("planes_go_by_traffic_and_stay") {
  OddlParameters parameters = groups_of(4, 4, 6);
  parameters.planes = 4;
  Lab lab(parameters);
  lab.add(1, 4, CollectiveKind::all_reduce, 4'000'000);
  lab.add(2, 4, CollectiveKind::all_reduce, 1'000'000);
  const auto first = lab.planned();
  CHECK(first->intent.jobs[0].share.at("planes") == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(first->intent.jobs[1].share.at("planes").size() == 1);
  lab.add(3, 4, CollectiveKind::all_reduce, 400'000'000);
  const auto second = lab.planned();
  CHECK(second->intent.jobs[0].share.at("planes").size() == 4);  // what it was admitted with
  CHECK(second->plan.touched.size() == 4 * 4);                   // the new job's alone
}

TEST_CASE("a_job_grows_and_shrinks_while_others_run_untouched") {
  Lab lab(groups_of(4, 4, 6));
  lab.add(1, 4, CollectiveKind::all_reduce);
  lab.add(2, 3, CollectiveKind::all_reduce);
  const auto first = lab.planned();
  const auto light_of = [](const PlanResult& result, JobId job) {
    std::vector<Circuit> circuits;
    std::copy_if(result.plan.circuits.begin(), result.plan.circuits.end(), std::back_inserter(circuits),
                 [&](const Circuit& circuit) { return circuit.job == job; });
    return circuits;
  };
  lab.request.intent.jobs[1].spec.node_count = 6;
  const auto grown = lab.planned();
  CHECK(grown->intent.jobs[1].nodes.size() == 6);
  CHECK(
      std::equal(first->intent.jobs[1].nodes.begin(), first->intent.jobs[1].nodes.end(), grown->intent.jobs[1].nodes.begin()));
  CHECK(grown->intent.jobs[1].nodes[3] == NodeId{7});  // the rest of its own group first
  CHECK(light_of(*grown, JobId{1}) == light_of(*first, JobId{1}));
  CHECK(light_of(*grown, JobId{2}).size() == 6);
  CHECK(grown->plan.touched.size() == 5);  // 2 -> 0 ends; 2 -> 3, 3 -> 4, 4 -> 5 and 5 -> 0 begin
  lab.request.intent.jobs[1].spec.node_count = 2;
  const auto shrunk = lab.planned();
  CHECK(shrunk->intent.jobs[1].nodes.size() == 2);
  CHECK(light_of(*shrunk, JobId{1}) == light_of(*first, JobId{1}));
  CHECK(light_of(*shrunk, JobId{2}).size() == 2);
}

TEST_CASE("a_refusal_names_who_has_the_nodes_and_the_nearest_request") {
  Lab lab(groups_of(4, 4, 6));
  lab.add(1, 10, CollectiveKind::all_reduce);
  lab.planned();
  lab.add(2, 17, CollectiveKind::all_reduce);
  const auto larger = lab.plan();
  REQUIRE_FALSE(larger);
  CHECK(larger.error().message == "infeasible: job 2 needs 17 nodes, fabric oddl-16 has 16; nearest: 6 nodes");
  lab.request.intent.jobs.pop_back();
  lab.add(2, 7, CollectiveKind::all_reduce);
  const auto full = lab.plan();
  REQUIRE_FALSE(full);
  CHECK(full.error().message == "infeasible: job 2 needs 7 nodes, 6 free (job 1 has 10); nearest: 6 nodes");
  lab.request.intent.jobs.pop_back();
  lab.request.intent.jobs[0].spec.node_count = 20;
  const auto grown = lab.plan();
  REQUIRE_FALSE(grown);
  CHECK(grown.error().message == "infeasible: job 1 needs 10 nodes more, 6 free (job 1 has 10); nearest: 16 nodes");
}

TEST_CASE("jobs_on_planes_of_their_own_are_physically_isolated_within_one_group") {
  OddlParameters parameters = groups_of(2, 4, 4);
  parameters.planes = 2;
  Lab lab(parameters);
  lab.add(1, 2, CollectiveKind::all_reduce).share["planes"] = {0};
  lab.add(2, 2, CollectiveKind::all_reduce).share["planes"] = {1};
  const auto made = lab.planned();
  CHECK(made->plan.circuits.size() == 4);
  CHECK(made->plan.certificate.physically_isolated);
}

TEST_CASE("a_fabric_whose_nodes_differ_in_planes_is_refused_by_name") {
  OddlParameters parameters = groups_of(2, 2, 2);
  parameters.planes = 2;
  Fabric fabric = make_oddl(parameters);
  fabric.nodes[1].receivers.pop_back();
  const auto fewer = read_oddl(fabric);
  REQUIRE_FALSE(fewer);
  CHECK(fewer.error().message.find("node-1 is on 1 planes, node 0 on 2") != std::string::npos);
  fabric.nodes[1].receivers.clear();
  const auto none = read_oddl(fabric);
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("node-1 has no cyclic AWG before its receiver") != std::string::npos);
}

}  // namespace
