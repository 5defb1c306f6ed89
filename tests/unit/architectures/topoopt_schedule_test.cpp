// SPDX-License-Identifier: Apache-2.0
// TopoOpt as a scheduler: topologies as circuits of verified plans, what an arrival, a change and an end touch, who forwards
// for whom, and what is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "controller/architectures/registry.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/architectures/topoopt/duplex.hpp"
#include "controller/architectures/topoopt/fabric.hpp"
#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/architectures/topoopt/schedule.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/predict/forwarded_light.hpp"
#include "core/limits.hpp"

namespace {

using namespace loom;

std::shared_ptr<const Fabric> fabric_of(const TopooptParameters& parameters, ReturnPath back = ReturnPath::electrical) {
  Fabric fabric = make_topoopt(parameters);
  fabric.return_path = back;
  return std::make_shared<const Fabric>(std::move(fabric));
}

Collective all_reduce(std::int64_t bytes, std::vector<std::uint32_t> ranks = {}) {
  return {CollectiveKind::all_reduce, std::move(ranks), Bytes{bytes}};
}

Job job_of(std::uint64_t id, std::uint32_t nodes, std::vector<Collective> collectives) {
  Job job;
  job.id = JobId{id};
  job.spec.name = "job-" + std::to_string(id);
  job.spec.node_count = nodes;
  job.spec.collectives = std::move(collectives);
  return job;
}

/// A controller's revisions, one after the other.
class Pipeline {
 public:
  explicit Pipeline(std::shared_ptr<const Fabric> fabric) {
    request_.fabric = std::move(fabric);
    request_.algorithm = "topoopt";
  }

  Intent& intent() { return request_.intent; }
  Result<std::shared_ptr<const PlanResult>> plan() {
    ++request_.revision.value;
    auto made = make_plan(all_architectures(), request_);
    if (made) {
      base_ = *made;
      request_.base = {base_, &base_->plan};
      request_.intent = base_->intent;
      request_.next_circuit = base_->next_circuit;
    }
    return made;
  }
  /// A plan that must be accepted.
  const PlanResult& go() {
    const auto made = plan();
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    return **made;
  }
  std::string refusal() {
    const auto made = plan();
    REQUIRE_FALSE(made);
    return made.error().message;
  }

 private:
  PlanRequest request_;
  std::shared_ptr<const PlanResult> base_;
};

std::vector<Circuit> circuits_of(const PlanResult& result, std::uint64_t job) {
  std::vector<Circuit> circuits;
  std::copy_if(result.plan.circuits.begin(), result.plan.circuits.end(), std::back_inserter(circuits),
               [&](const Circuit& circuit) { return circuit.job == JobId{job}; });
  return circuits;
}

std::size_t shared(const std::vector<Circuit>& a, const std::vector<Circuit>& b) {
  return static_cast<std::size_t>(std::count_if(
      a.begin(), a.end(), [&](const Circuit& circuit) { return std::find(b.begin(), b.end(), circuit) != b.end(); }));
}

using Matching = std::multiset<std::pair<std::uint32_t, std::uint32_t>>;

Matching ends_of(const std::vector<Circuit>& circuits) {
  Matching ends;
  for (const Circuit& circuit : circuits) {
    ends.emplace(circuit.source.value, circuit.destination.value);
  }
  return ends;
}

TEST_CASE("a_job_gets_rings_on_all_interfaces_of_its_own_servers") {
  Pipeline pipeline(fabric_of({}));
  pipeline.intent().jobs = {job_of(1, 8, {all_reduce(1'000'000)})};
  const PlanResult& result = pipeline.go();
  CHECK(circuits_of(result, 1).size() == 8 * 4);
  std::map<std::uint32_t, std::set<std::uint32_t>> jumps;
  for (const Circuit& circuit : result.plan.circuits) {
    jumps[(circuit.destination.value + 8 - circuit.source.value) % 8].insert(circuit.source.value);
  }
  for (const auto& [jump, sources] : jumps) {
    CHECK(jump % 2 == 1);  // prime to 8: each alone is a ring of all
    CHECK(sources.size() == 8);
  }
  CHECK(jumps.contains(1));
  CHECK(jumps.contains(7));
  CHECK(result.schedule.jobs[0].forwarding.mode == ForwardingMode::cut_through);
  CHECK(result.schedule.jobs[0].forwarding.empty());  // rings have circuits all the way
  CHECK(result.schedule.objective == Approx(2 * 7.0 / 8 * 8e6 / 4 / 100e9));
  CHECK(result.schedule.objective == Approx(result.schedule.bound));
}

TEST_CASE("every_pair_that_talks_has_a_circuit_or_a_route_over_circuits") {
  Pipeline pipeline(fabric_of({}));
  Collective shuffle{CollectiveKind::all_to_all, {}, Bytes{12'000'000}};
  pipeline.intent().jobs = {job_of(1, 12, {all_reduce(1'000'000), shuffle})};
  const PlanResult& result = pipeline.go();
  const Matching lit = ends_of(result.plan.circuits);
  std::set<std::pair<std::uint32_t, std::uint32_t>> reached(lit.begin(), lit.end());
  const ForwardingTable& table = result.schedule.jobs[0].forwarding;
  table.for_each([&](std::uint32_t source, std::uint32_t destination, std::span<const std::uint32_t> through) {
    REQUIRE_FALSE(through.empty());
    std::uint32_t at = table.nodes[source].value;
    for (const std::uint32_t rank : through) {
      CHECK(lit.contains({at, table.nodes[rank].value}));
      at = table.nodes[rank].value;
    }
    CHECK(lit.contains({at, table.nodes[destination].value}));
    CHECK(reached.emplace(table.nodes[source].value, table.nodes[destination].value).second);  // not where a circuit leads
  });
  CHECK(reached.size() == 12 * 11);
}

TEST_CASE("a_job_that_comes_or_goes_touches_no_other_jobs_circuits") {
  Pipeline pipeline(fabric_of({}));
  pipeline.intent().jobs = {job_of(1, 6, {all_reduce(1'000'000)})};
  const auto first = circuits_of(pipeline.go(), 1);
  Collective shuffle{CollectiveKind::all_to_all, {}, Bytes{1'000'000}};
  pipeline.intent().jobs.push_back(job_of(2, 5, {shuffle}));
  const PlanResult with = pipeline.go();
  CHECK(circuits_of(with, 1) == first);
  CHECK(with.plan.touched.size() == circuits_of(with, 2).size());
  CHECK(with.plan.changed.size() <= 5 + 4);  // its servers, and those that drive the switches
  std::erase_if(pipeline.intent().jobs, [](const Job& job) { return job.id == JobId{1}; });
  const PlanResult without = pipeline.go();
  CHECK(circuits_of(without, 2) == circuits_of(with, 2));
  CHECK(without.plan.touched.size() == first.size());
}

TEST_CASE("a_job_whose_traffic_changes_keeps_the_links_that_both_topologies_have") {
  for (const std::uint32_t per_switch : {1U, 2U}) {
    TopooptParameters parameters;
    parameters.interfaces_per_switch = per_switch;
    Pipeline pipeline(fabric_of(parameters, ReturnPath::optical));
    pipeline.intent().jobs = {job_of(1, 12, {all_reduce(90'000'000)}), job_of(2, 4, {all_reduce(1'000)})};
    const auto before = pipeline.go();
    Collective pairs{CollectiveKind::point_to_point, {0, 6}, Bytes{4'000'000'000}};
    pipeline.intent().jobs[0].spec.collectives.push_back(pairs);
    const auto after = pipeline.go();
    const Matching old_links = ends_of(circuits_of(before, 1));
    const Matching new_links = ends_of(circuits_of(after, 1));
    Matching both;
    std::set_intersection(old_links.begin(), old_links.end(), new_links.begin(), new_links.end(),
                          std::inserter(both, both.end()));
    REQUIRE(old_links != new_links);
    REQUIRE(both.size() >= 24);  // one ring both ways at least
    INFO("interfaces a switch: " << per_switch);
    CHECK(shared(circuits_of(before, 1), circuits_of(after, 1)) == both.size());
    CHECK(circuits_of(after, 2) == circuits_of(before, 2));
    pipeline.intent().jobs[0].spec.collectives[0].bytes = Bytes{91'000'000};  // the same topology
    CHECK(pipeline.go().plan.touched.empty());
  }
}

TEST_CASE("duplex_cabling_puts_both_directions_of_a_link_on_the_same_two_interfaces_even_of_odd_rings") {
  TopooptParameters parameters;
  parameters.interfaces_per_switch = 2;
  Pipeline pipeline(fabric_of(parameters, ReturnPath::optical));
  pipeline.intent().jobs = {job_of(1, 7, {all_reduce(1'000'000)}), job_of(2, 9, {all_reduce(1'000'000)})};
  const PlanResult& result = pipeline.go();
  const Fabric fabric = make_topoopt(parameters);
  const auto interface_of = [&](NodeId node, ElementId element) {
    const Node& at = fabric.nodes[node.value];
    const auto sends = std::find(at.transmitters.begin(), at.transmitters.end(), element);
    const auto receives = std::find(at.receivers.begin(), at.receivers.end(), element);
    return sends != at.transmitters.end() ? sends - at.transmitters.begin() : receives - at.receivers.begin();
  };
  std::map<std::pair<NodeId, std::ptrdiff_t>, std::pair<NodeId, std::ptrdiff_t>> sends_to;
  for (const Circuit& circuit : result.plan.circuits) {
    sends_to[{circuit.source, interface_of(circuit.source, circuit.transmitter)}] = {
        circuit.destination, interface_of(circuit.destination, circuit.receiver)};
  }
  CHECK(sends_to.size() == 16 * 4);
  for (const auto& [from, to] : sends_to) {
    CHECK(sends_to.at(to) == from);
  }
}

TEST_CASE("links_are_balanced_whatever_the_graph_and_held_ones_turn_last") {
  for (std::uint32_t nodes = 2; nodes < 12; ++nodes) {
    std::vector<DuplexLink> links;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      for (const std::uint32_t jump : {1U, 2U}) {
        if (jump % nodes != 0) {
          links.push_back({std::min(i, (i + jump) % nodes), std::max(i, (i + jump) % nodes), false});
        }
      }
    }
    balance(nodes, 2, links);
    std::vector<std::uint32_t> firsts(nodes);
    std::vector<std::uint32_t> seconds(nodes);
    for (const DuplexLink& link : links) {
      ++firsts[link.first];
      ++seconds[link.second];
    }
    CHECK(*std::max_element(firsts.begin(), firsts.end()) <= 2);
    CHECK(*std::max_element(seconds.begin(), seconds.end()) <= 2);
    auto held = links;
    for (DuplexLink& link : held) {
      link.is_held = true;
    }
    const auto as_lit = held;
    balance(nodes, 2, held);
    CHECK(held == as_lit);
  }
}

TEST_CASE("prime_numbers_of_servers_and_disconnected_demand_get_a_ring_of_all") {
  Pipeline pipeline(fabric_of({}));
  // Two halves that never talk, and groups that do not divide 13.
  pipeline.intent().jobs = {job_of(1, 13, {all_reduce(1'000, {0, 1, 2, 3}), all_reduce(1'000, {4, 5, 6, 7, 8})})};
  const PlanResult& result = pipeline.go();
  const Matching lit = ends_of(result.plan.circuits);
  for (std::uint32_t i = 0; i < 13; ++i) {
    CHECK(lit.contains({i, (i + 1) % 13}));
    CHECK(lit.contains({(i + 1) % 13, i}));
  }
  const ForwardingTable& table = result.schedule.jobs[0].forwarding;
  REQUIRE(table.nodes[8] == NodeId{8});
  for (const auto& [last, first] : {std::pair{3U, 0U}, std::pair{8U, 4U}}) {  // what closes the groups' rings
    CHECK((!table.through(last, first).empty() || lit.contains({last, first})));
  }
}

TEST_CASE("servers_of_one_interface_get_a_ring_one_way_or_a_refusal_where_light_must_return") {
  TopooptParameters parameters;
  parameters.nodes = 6;
  parameters.degree = 1;
  Pipeline simplex(fabric_of(parameters));
  simplex.intent().jobs = {job_of(1, 6, {all_reduce(1'000)})};
  CHECK(simplex.go().plan.circuits.size() == 6);
  Pipeline duplex(fabric_of(parameters, ReturnPath::optical));
  duplex.intent().jobs = {job_of(1, 6, {all_reduce(1'000)})};
  const std::string refusal = duplex.refusal();
  CHECK(refusal.find("nearest: 2 servers, or servers of 2 interfaces") != std::string::npos);
  duplex.intent().jobs = {job_of(1, 2, {all_reduce(1'000)})};
  CHECK(duplex.go().plan.circuits.size() == 2);
}

TEST_CASE("what_no_topology_serves_is_refused_by_name_with_the_nearest_request") {
  using Catch::Matchers::Contains;
  TopooptParameters parameters;
  parameters.nodes = 20;
  parameters.switch_ports = 10;
  Pipeline pipeline(fabric_of(parameters));
  pipeline.intent().jobs = {job_of(1, 1, {all_reduce(1'000)})};
  CHECK_THAT(pipeline.refusal(), Contains("job 1 has one server") && Contains("nearest: 2 servers"));
  pipeline.intent().jobs = {job_of(2, 4, {})};
  CHECK_THAT(pipeline.refusal(), Contains("job 2 moves no bytes between its 4 servers") && Contains("nearest: one collective"));
  pipeline.intent().jobs = {job_of(3, 14, {all_reduce(1'000)})};
  CHECK_THAT(pipeline.refusal(), Contains("job 3 has 14 servers in 2 blocks") && Contains("nearest: 10 servers"));
  pipeline.intent().jobs = {job_of(4, 21, {all_reduce(1'000)})};
  CHECK_THAT(pipeline.refusal(), Contains("needs 21 nodes, fabric topoopt-20 has 20; nearest: 20 nodes"));
  pipeline.intent().jobs = {job_of(5, 4, {all_reduce(1'000, {0, 9})})};
  CHECK_THAT(pipeline.refusal(), Contains("job 5: all_reduce: rank 9 of 4") || Contains("job 5:"));
  Pipeline foreign(std::make_shared<const Fabric>(make_sip_ring({})));
  foreign.intent().jobs = {job_of(1, 4, {all_reduce(1'000)})};
  CHECK_THAT(foreign.refusal(), Contains("is not cabled to a circuit switch") && Contains("architecture sip-ring"));
}

// --- look-ahead panels ---------------------------------------------------------------------------------------------------

std::shared_ptr<const Fabric> panel_fabric() {
  TopooptParameters parameters;
  parameters.nodes = 12;
  parameters.layer = TopooptLayer::look_ahead_panels;
  return fabric_of(parameters);
}

/// "panel", "flip": what moves.
std::set<std::string> moved(const Fabric& fabric, const Plan& plan) {
  std::set<std::string> kinds;
  for (const DeviceId device : plan.moved_steering) {
    const std::string& name = fabric.device(device).name;
    kinds.insert(name.substr(0, name.find('-')) + (name.starts_with("panel") ? name.substr(name.size() - 1) : ""));
  }
  return kinds;
}

TEST_CASE("a_changed_job_keeps_its_light_while_the_look_ahead_panels_are_wired_and_then_flips_to_them") {
  const auto fabric = panel_fabric();
  Pipeline pipeline(fabric);
  pipeline.intent().jobs = {job_of(1, 8, {all_reduce(1'000'000)}), job_of(2, 4, {all_reduce(1'000)})};
  const auto lit = pipeline.go();
  CHECK(moved(*fabric, lit.plan) == std::set<std::string>{"flip", "panela"});
  pipeline.intent().jobs[0].spec.collectives = {{CollectiveKind::all_to_all, {}, Bytes{800'000'000}}};
  const auto wiring = pipeline.go();
  CHECK(wiring.plan.circuits == lit.plan.circuits);
  CHECK(wiring.plan.touched.empty());
  CHECK(moved(*fabric, wiring.plan) == std::set<std::string>{"panelb"});
  CHECK(wiring.schedule.jobs[0].waiting == 8 * 4);
  CHECK(wiring.schedule.jobs[1].waiting == 0);
  const auto flipped = pipeline.go();
  CHECK(moved(*fabric, flipped.plan) == std::set<std::string>{"flip"});
  CHECK(flipped.schedule.jobs[0].waiting == 0);
  CHECK(ends_of(circuits_of(flipped, 1)) != ends_of(circuits_of(lit, 1)));
  CHECK(circuits_of(flipped, 2) == circuits_of(lit, 2));
  CHECK(pipeline.go().plan.touched.empty());
  // Back again: panel a still has the wires, so the robot has nothing to do.
  pipeline.intent().jobs[0].spec.collectives = {all_reduce(1'000'000)};
  const auto back = pipeline.go();
  CHECK(moved(*fabric, back.plan) == std::set<std::string>{"flip"});
  CHECK(ends_of(circuits_of(back, 1)) == ends_of(circuits_of(lit, 1)));
  // Its end moves nothing, and whoever wants the same next finds it wired.
  pipeline.intent().jobs.erase(pipeline.intent().jobs.begin());
  CHECK(pipeline.go().plan.moved_steering.empty());
  pipeline.intent().jobs.push_back(job_of(3, 8, {all_reduce(2'000'000)}));
  CHECK(pipeline.go().plan.moved_steering.empty());
}

TEST_CASE("a_job_that_changes_its_mind_while_panels_are_wired_has_them_wired_anew_in_the_dark") {
  const auto fabric = panel_fabric();
  Pipeline pipeline(fabric);
  pipeline.intent().jobs = {job_of(1, 9, {all_reduce(1'000'000)})};
  const auto lit = pipeline.go();
  pipeline.intent().jobs[0].spec.collectives = {{CollectiveKind::all_to_all, {}, Bytes{900'000'000}}};
  CHECK(pipeline.go().schedule.jobs[0].waiting > 0);
  pipeline.intent().jobs[0].spec.collectives = {{CollectiveKind::point_to_point, {0, 4}, Bytes{900'000'000}}};
  const auto again = pipeline.go();
  CHECK(again.plan.circuits == lit.plan.circuits);
  CHECK(again.schedule.jobs[0].waiting > 0);
  CHECK(moved(*fabric, again.plan) == std::set<std::string>{"panelb"});
  CHECK(moved(*fabric, pipeline.go().plan) == std::set<std::string>{"flip"});
}

TEST_CASE("a_panel_that_carries_light_is_not_moved_by_hand") {
  const auto fabric = panel_fabric();
  Pipeline pipeline(fabric);
  pipeline.intent().jobs = {job_of(1, 8, {all_reduce(1'000'000)})};
  pipeline.go();
  const auto panel = std::find_if(fabric->devices.begin(), fabric->devices.end(),
                                  [](const Device& device) { return device.name == "panel-0a"; });
  pipeline.intent().overrides = {{panel->id, CircuitSwitchSetpoint{{{0, 5}}}}};
  const std::string refusal = pipeline.refusal();
  CHECK(refusal.find("panel-0a") != std::string::npos);
  CHECK(refusal.find("needs it") != std::string::npos);
}

// --- prediction and replay -----------------------------------------------------------------------------------------------

JobSpec placed(const PlanResult& result, std::size_t job) {
  JobSpec spec = result.intent.jobs[job].spec;
  spec.placement = result.intent.jobs[job].nodes;
  return spec;
}

/// The ways of a table, each over light of the plan, and what they join.
std::set<std::pair<std::uint32_t, std::uint32_t>> joined(const PlanResult& result) {
  const Matching lit = ends_of(result.plan.circuits);
  std::set<std::pair<std::uint32_t, std::uint32_t>> reached(lit.begin(), lit.end());
  const ForwardingTable& table = result.schedule.jobs[0].forwarding;
  table.for_each([&](std::uint32_t source, std::uint32_t destination, std::span<const std::uint32_t> through) {
    std::uint32_t at = table.nodes[source].value;
    for (const std::uint32_t rank : through) {
      CHECK(lit.contains({at, table.nodes[rank].value}));
      at = table.nodes[rank].value;
    }
    CHECK(lit.contains({at, table.nodes[destination].value}));
    reached.emplace(table.nodes[source].value, table.nodes[destination].value);
  });
  return reached;
}

TEST_CASE("servers_forward_over_the_circuits_that_an_operator_gave_and_not_over_those_that_they_replace") {
  Pipeline pipeline(fabric_of({}));
  Collective shuffle{CollectiveKind::all_to_all, {}, Bytes{12'000'000}};
  pipeline.intent().jobs = {job_of(1, 12, {all_reduce(1'000'000), shuffle})};
  const JobSchedule scheduled = pipeline.go().schedule.jobs[0];
  // The scheduler's own circuits, pinned: its table still serves, and stays.
  pipeline.intent().pinned = {scheduled};
  CHECK(pipeline.go().schedule.jobs[0].forwarding == scheduled.forwarding);
  // Other jumps: the way over the lost ones would be dark.
  FinderDemand demand{12, {{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1}}, {}};
  auto other = find_topology(demand, as_in_paper(2));
  REQUIRE(other);
  JobDemand job;
  job.job = JobId{1};
  job.nodes = pipeline.intent().jobs[0].nodes;
  const auto laid = lay_topology(make_topoopt({}), job, *other);
  REQUIRE(laid);
  CHECK(laid->stages[0].timeslots[0].circuits.size() == 24);
  pipeline.intent().pinned = {*laid};
  const PlanResult& changed = pipeline.go();
  CHECK(changed.plan.circuits.size() == 24);
  CHECK(joined(changed).size() == 12 * 11);
}

TEST_CASE("a_topology_that_cannot_be_laid_is_refused_by_name") {
  FinderDemand demand{8, {{{0, 1, 2, 3, 4, 5, 6, 7}, 1}}, {}};
  const auto wide = find_topology(demand, as_in_paper(6));
  REQUIRE(wide);
  const auto refusal = [&](const TopooptParameters& parameters, std::uint32_t servers) {
    JobDemand job;
    job.job = JobId{1};
    for (std::uint32_t node = 0; node < servers; ++node) {
      job.nodes.push_back(NodeId{node});
    }
    const auto laid = lay_topology(make_topoopt(parameters), job, *wide);
    REQUIRE_FALSE(laid);
    return laid.error().message;
  };
  CHECK(refusal({}, 8).find("has 6 links from server 0") != std::string::npos);
  CHECK(refusal({}, 7).find("7 servers, its topology 8") != std::string::npos);
  TopooptParameters panels;
  panels.layer = TopooptLayer::look_ahead_panels;
  CHECK(refusal(panels, 8).find("look-ahead panels") != std::string::npos);
}

TEST_CASE("a_job_says_what_the_finder_shall_do_for_it") {
  const auto jumps_with = [](const JobOptions& options) {
    Pipeline pipeline(fabric_of({}));
    Collective shuffle{CollectiveKind::all_to_all, {}, Bytes{12'000'000}};
    pipeline.intent().jobs = {job_of(1, 12, {all_reduce(1'000'000), shuffle})};
    pipeline.intent().jobs[0].spec.options = options;
    return ends_of(pipeline.go().plan.circuits);
  };
  const Matching as_paper = jumps_with({});
  const Matching as_code = jumps_with({{"variant", "as-in-code"}});
  CHECK(as_paper != as_code);  // as in the released code all links are rings, whatever pairs want
  CHECK(jumps_with({{"split", "as-in-code"}, {"share", "as-in-code"}, {"discount", "harmonic"}}) == as_code);
  Pipeline pipeline(fabric_of({}));
  pipeline.intent().jobs = {job_of(1, 8, {all_reduce(1'000'000)})};
  pipeline.intent().jobs[0].spec.options = {{"variant", "as-in-papr"}};
  CHECK(pipeline.refusal().find("as-in-papr") != std::string::npos);
}

TEST_CASE("an_all_reduce_is_predicted_over_all_rings_at_once") {
  Pipeline pipeline(fabric_of({}));
  pipeline.intent().jobs = {job_of(1, 8, {all_reduce(800'000'000)})};
  const PlanResult& result = pipeline.go();
  ScheduleTimings timings;
  timings.latency = Duration{};
  const auto predicted = predict_schedule(placed(result, 0), result.schedule.jobs[0], timings);
  REQUIRE(predicted);
  // Patarasuk and Yuan: 2 (n - 1) / n of the bytes, over four circuits of 12.5 B/ns.
  CHECK(predicted->iteration.count() == Approx(2 * 7.0 / 8 * 800e6 / (4 * 12.5)).epsilon(1e-6));
}

TEST_CASE("forwarded_bytes_share_links_and_pay_for_every_hop") {
  TopooptParameters parameters;
  parameters.nodes = 5;
  parameters.degree = 1;
  Pipeline pipeline(fabric_of(parameters));
  pipeline.intent().jobs = {job_of(1, 5,
                                   {{CollectiveKind::point_to_point, {0, 3}, Bytes{125'000'000}},
                                    {CollectiveKind::point_to_point, {1, 4}, Bytes{125'000'000}}})};
  pipeline.intent().jobs[0].spec.collectives[1].needed = kForever;
  const PlanResult& result = pipeline.go();
  const ForwardingTable& table = result.schedule.jobs[0].forwarding;
  CHECK(table.pairs() == ForwardedPairs{2, 3});
  CHECK(std::ranges::equal(table.through(0, 3), std::vector<std::uint32_t>{1, 2}));
  CHECK(std::ranges::equal(table.through(1, 4), std::vector<std::uint32_t>{2, 3}));
  ScheduleTimings timings;
  timings.latency = std::chrono::microseconds{1};
  timings.forward = std::chrono::microseconds{2};
  const auto predicted = predict_schedule(placed(result, 0), result.schedule.jobs[0], timings);
  REQUIRE(predicted);
  // One after the other in issue order, 10 ms each at 12.5 B/ns; three links of 1 us and two servers of 2 us a way.
  CHECK(predicted->iteration.count() == Approx(2 * (10e6 + 7e3)).epsilon(1e-3));
}

TEST_CASE("replayed_over_standing_light_an_iteration_takes_what_was_predicted_and_darkness_is_waited_for") {
  Pipeline pipeline(fabric_of({}));
  Collective shuffle{CollectiveKind::all_to_all, {}, Bytes{50'000'000}};
  pipeline.intent().jobs = {job_of(1, 10, {all_reduce(100'000'000), shuffle})};
  const PlanResult& result = pipeline.go();
  const JobSpec spec = placed(result, 0);
  const JobSchedule& schedule = result.schedule.jobs[0];
  REQUIRE_FALSE(schedule.forwarding.empty());
  const auto predicted = predict_schedule(spec, schedule, {});
  REQUIRE(predicted);
  const Instant start{std::chrono::seconds{5}};
  LightTimeline light = light_of(schedule, start, {});
  ReplayOptions options;
  options.start = start;
  options.order = order_of(schedule);
  options.schedule = &schedule;
  const auto replayed = replay(spec, light, options);
  REQUIRE(replayed);
  CHECK(replayed->iteration == predicted->iteration);
  CHECK(replayed->dark == Duration{});
  const Duration hole = std::chrono::milliseconds{3};
  LightTimeline broken;
  for (LitWindow window : light) {
    window.end = start + std::chrono::milliseconds{1};
    broken.push_back(window);
    window.begin = window.end + hole;
    window.end = kNever;
    broken.push_back(window);
  }
  const auto late = replay(spec, broken, options);
  REQUIRE(late);
  CHECK(late->iteration.count() == Approx((predicted->iteration + hole).count()).epsilon(1e-6));
  CHECK(late->dark.count() == Approx(hole.count()).epsilon(1e-4));
  std::erase_if(light, [&](const LitWindow& window) { return window.source == spec.placement[4]; });
  const auto never = replay(spec, light, options);
  REQUIRE_FALSE(never);
  CHECK(never.error().message.find("circuits never have light: nodes 4 -> ") != std::string::npos);
}

}  // namespace
