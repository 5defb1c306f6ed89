// SPDX-License-Identifier: Apache-2.0
// The engine on small graphs whose times can be worked out by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "controller/architectures/electrical/fat_tree.hpp"
#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/collective_time.hpp"
#include "controller/predict/networks/direct_connect.hpp"
#include "controller/predict/perfetto_trace.hpp"
#include "controller/predict/predict_graph.hpp"
#include "controller/schedule/pair_bytes.hpp"
#include "controller/workload/models/zoo.hpp"
#include "tests/oracle/closed_form.hpp"

namespace loom {
namespace {

NetworkTerms terms(std::uint32_t nodes, std::int64_t latency_ns = 1000) {
  return {.nodes = nodes, .rate = gigabits(100), .link_latency = Duration{latency_ns}};
}

std::vector<std::uint32_t> all(std::uint32_t nodes) {
  std::vector<std::uint32_t> ids(nodes);
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

TaskGraphBuilder builder(std::uint32_t nodes) {
  TaskGraphBuilder made{"by hand", nodes};
  made.graph().node_of_worker = all(nodes);
  return made;
}

TaskGraph one_collective(std::uint32_t nodes, CollectiveKind kind, std::int64_t bytes, const CollectiveChoice& choice = {}) {
  TaskGraphBuilder made = builder(nodes);
  made.communicate("collective", made.family(all(nodes), nodes), kind, Bytes{bytes}, made.choice(choice), 0);
  auto graph = std::move(made).build();
  REQUIRE(graph);
  return *graph;
}

double played(const TaskGraph& graph, const Network& network, const PlayOptions& options, PlayCounts* counts = nullptr) {
  auto predictor = Predictor::make(graph, network, options);
  REQUIRE(predictor);
  const auto time = predictor->run();
  REQUIRE(time);
  if (counts != nullptr) {
    *counts = predictor->counts();
  }
  return *time;
}

TEST_CASE("a_ring_all_reduce_takes_its_closed_form_computed_or_played") {
  for (const std::uint32_t nodes : {2U, 3U, 8U, 17U}) {
    const std::int64_t bytes = 561'152LL * nodes;
    const double closed = 2.0 * (nodes - 1) / nodes * static_cast<double>(bytes) / 12.5 + 2.0 * (nodes - 1) * 1000;
    const TaskGraph graph = one_collective(nodes, CollectiveKind::all_reduce, bytes);
    const auto network = make_ideal_switch(terms(nodes));
    PlayCounts counts;
    CHECK(played(graph, *network, {}, &counts) == Approx(closed).epsilon(1e-12));
    CHECK(counts.closed_forms == 1);
    CHECK(counts.played == 0);
    CHECK(played(graph, *network, {.plays_everything = true}, &counts) == Approx(closed).epsilon(1e-9));
    CHECK(counts.played == 1);
    CHECK(played(graph, *network, {.rounds = RoundOrder::barrier}) == Approx(closed).epsilon(1e-12));
    CHECK(played(graph, *network, {.rounds = RoundOrder::barrier, .plays_everything = true}) == Approx(closed).epsilon(1e-9));
  }
}

TEST_CASE("every_algorithm_takes_the_same_time_computed_and_played") {
  const auto network = make_ideal_switch(terms(8));
  const auto compare = [&](CollectiveKind kind, const CollectiveChoice& choice) {
    const TaskGraph graph = one_collective(8, kind, 8'000'000, choice);
    for (const RoundOrder rounds : {RoundOrder::by_rank, RoundOrder::barrier}) {
      CHECK(played(graph, *network, {.rounds = rounds}) ==
            Approx(played(graph, *network, {.rounds = rounds, .plays_everything = true})).epsilon(1e-9));
    }
  };
  compare(CollectiveKind::all_reduce, {.algorithm = CollectiveAlgorithm::ring, .strides = {1, 3}});
  compare(CollectiveKind::all_reduce, {.algorithm = CollectiveAlgorithm::bidirectional_ring, .strides = {1, 3}});
  compare(CollectiveKind::all_reduce, {.algorithm = CollectiveAlgorithm::halving_doubling});
  compare(CollectiveKind::all_reduce, {.algorithm = CollectiveAlgorithm::tree});
  compare(CollectiveKind::all_reduce, {.algorithm = CollectiveAlgorithm::hierarchical, .local_size = 4});
  compare(CollectiveKind::all_to_all, {});
  compare(CollectiveKind::all_to_all, {.algorithm = CollectiveAlgorithm::pairwise});
  compare(CollectiveKind::broadcast, {});
  compare(CollectiveKind::barrier, {});
}

TEST_CASE("a_ring_over_uneven_links_follows_the_recurrence_computed_or_played") {
  std::vector<BitRate> rates;
  std::vector<LinkTerms> links;
  for (std::uint32_t i = 0; i < 12; ++i) {
    rates.push_back(gigabits(10 + (i * 7) % 11 * 9));
  }
  const auto network = make_uneven_switch(terms(12), rates);
  REQUIRE(network);
  for (std::uint32_t i = 0; i < 12; ++i) {
    links.push_back(link_terms(std::min(rates[i], rates[(i + 1) % 12]), Duration{1000}));
  }
  const TaskGraph graph = one_collective(12, CollectiveKind::all_reduce, 12'000'000);
  const double recurrence = ring_ns(links, 22, 1e6);
  PlayCounts counts;
  CHECK(played(graph, *network, {}, &counts) == Approx(recurrence).epsilon(1e-12));
  CHECK(counts.recurrences == 1);
  CHECK(played(graph, *network, {.plays_everything = true}) == Approx(recurrence).epsilon(1e-9));
}

TEST_CASE("ranks_that_come_late_delay_a_ring_by_what_they_are_late") {
  TaskGraphBuilder ordered = builder(6);
  const std::uint32_t family = ordered.family(all(6), 6);
  for (std::uint32_t node = 0; node < 6; ++node) {
    const std::vector<std::uint32_t> one{node};
    ordered.compute("work", ordered.family(one, 1), std::chrono::microseconds{node == 4 ? 900 : 100 + node});
  }
  const std::uint32_t last =
      ordered.communicate("reduce", family, CollectiveKind::all_reduce, Bytes{6'000'000}, ordered.choice({}), 1);
  for (std::uint32_t node = 0; node < 6; ++node) {
    ordered.edge(node, last);
  }
  const auto graph = std::move(ordered).build();
  REQUIRE(graph);
  const auto network = make_ideal_switch(terms(6));
  PlayCounts counts;
  const double computed = played(*graph, *network, {}, &counts);
  CHECK(counts.recurrences == 1);
  CHECK(computed == Approx(played(*graph, *network, {.plays_everything = true})).epsilon(1e-9));
  CHECK(computed >= 900e3 + 10 * (80e3 + 1000) - 1e-3);  // nothing that needs the last rank's data is earlier
  CHECK(computed <= 900e3 + 10 * (80e3 + 1000) + 1e-3);
}

TEST_CASE("a_computed_collective_that_is_joined_on_its_links_is_played_on_from_there") {
  // A ring over all, and 300 us later a transfer from 0 to 1 of another stream over the same ports.
  TaskGraphBuilder made = builder(4);
  const std::uint32_t choice = made.choice({});
  made.communicate("ring", made.family(all(4), 4), CollectiveKind::all_reduce, Bytes{40'000'000}, choice, 1);
  const std::vector<std::uint32_t> first{0};
  const std::uint32_t work = made.compute("work", made.family(first, 1), std::chrono::microseconds{300});
  const std::vector<std::uint32_t> pair{0, 1};
  const std::uint32_t send =
      made.communicate("send", made.family(pair, 2), CollectiveKind::point_to_point, Bytes{5'000'000}, choice, 2);
  made.edge(work, send);
  const auto graph = std::move(made).build();
  REQUIRE(graph);
  for (const auto& network : {make_ideal_switch(terms(4)), make_ring(terms(4))}) {
    REQUIRE(network);
    PlayCounts counts;
    const double mixed = played(*graph, *network, {}, &counts);
    CHECK(counts.replayed == 1);
    CHECK(mixed == Approx(played(*graph, *network, {.plays_everything = true})).epsilon(1e-9));
    CHECK(mixed > 6 * (800e3 + 1000));
  }
}

TEST_CASE("workers_take_tasks_in_order_of_readiness_and_ties_by_index") {
  TaskGraphBuilder made = builder(1);
  const std::uint32_t family = made.family(all(1), 1);
  const std::uint32_t a = made.compute("a", family, Duration{100});
  const std::uint32_t b = made.compute("b", family, Duration{10});
  const std::uint32_t c = made.compute("c", family, Duration{1});
  made.edge(a, c);
  const auto graph = std::move(made).build();
  auto network = make_ideal_switch(terms(1));
  REQUIRE(network);
  auto predictor = Predictor::make(*graph, *network, {});
  REQUIRE(predictor);
  REQUIRE(*predictor->run() == 111);
  CHECK(predictor->parts()[a].start == 0);
  CHECK(predictor->parts()[b].start == 100);
  CHECK(predictor->parts()[c].start == 110);
  CHECK(predictor->critical_path() == std::vector<std::uint32_t>{c, b, a});
}

TEST_CASE("a_stream_keeps_its_tasks_in_order_and_no_stream_lets_them_share") {
  const auto make = [&](std::uint8_t stream) {
    TaskGraphBuilder made = builder(2);
    const std::vector<std::uint32_t> pair{0, 1};
    const std::uint32_t family = made.family(pair, 2);
    const std::uint32_t choice = made.choice({});
    made.communicate("first", family, CollectiveKind::point_to_point, Bytes{12'500}, choice, stream);
    made.communicate("second", family, CollectiveKind::point_to_point, Bytes{12'500}, choice, stream);
    return *std::move(made).build();
  };
  const auto network = make_ideal_switch(terms(2));
  const TaskGraph in_order = make(1);
  auto ordered = Predictor::make(in_order, *network, {});
  REQUIRE(*ordered->run() == Approx(3000));  // the source sends its second at once; 1000 each, then the latency
  CHECK(ordered->parts()[2].start == Approx(1000));
  const TaskGraph at_once = make(0);
  auto shared = Predictor::make(at_once, *network, {});
  CHECK(*shared->run() == Approx(3000));
  CHECK(shared->parts()[1].finish == Approx(3000));
}

TEST_CASE("a_node_waits_for_its_own_or_for_everybody") {
  const auto make = [&](Dependence dependence) {
    TaskGraphBuilder made = builder(2);
    made.graph().dependence = dependence;
    const std::vector<std::uint32_t> zero{0};
    const std::uint32_t slow = made.compute("slow", made.family(zero, 1), Duration{500});
    const std::uint32_t next = made.compute("next", made.family(all(2), 1), Duration{100});
    made.edge(slow, next);
    return *std::move(made).build();
  };
  const auto network = make_ideal_switch(terms(2));
  const TaskGraph by_node = make(Dependence::by_node);
  auto own = Predictor::make(by_node, *network, {});
  CHECK(*own->run() == 600);
  CHECK(own->parts()[2].start == 0);
  const TaskGraph whole = make(Dependence::whole);
  auto everybody = Predictor::make(whole, *network, {});
  CHECK(*everybody->run() == 600);
  CHECK(everybody->parts()[2].start == 500);
}

TEST_CASE("node_times_add_up_and_show_what_compute_hides") {
  TaskGraphBuilder made = builder(2);
  const std::uint32_t family = made.family(all(2), 1);
  const std::uint32_t forward = made.compute("forward", family, Duration{10'000});
  const std::uint32_t reduce =
      made.communicate("reduce", made.family(all(2), 2), CollectiveKind::all_reduce, Bytes{250'000}, made.choice({}), 1);
  const std::uint32_t backward = made.compute("backward", family, Duration{5'000});
  made.edge(forward, reduce);
  made.edge(forward, backward);
  const auto graph = std::move(made).build();
  const auto network = make_ideal_switch(terms(2));
  auto predictor = Predictor::make(*graph, *network, {});
  const double iteration = *predictor->run();
  CHECK(iteration == Approx(10'000 + 2 * (10'000 + 1000)));
  for (const NodeTimes& node : predictor->nodes()) {
    CHECK(node.compute == Approx(15'000));
    CHECK(node.overlap == Approx(5'000));
    CHECK(node.exposed == Approx(17'000));
    CHECK(node.compute + node.exposed + node.idle == Approx(iteration));
  }
  const std::vector<double> carried = predictor->carried();
  CHECK(carried[0] == Approx(250'000));
  CHECK(utilisation_of(*predictor, iteration)[0] == Approx(20'000 / iteration));
  const auto trace = nlohmann::json::parse(perfetto_json(*predictor, {}));
  CHECK(trace.at("traceEvents").size() == 2 + 6);
  CHECK(trace.at("otherData").at("nodes") == 2);
}

TEST_CASE("a_second_run_and_a_changed_op_equal_a_fresh_prediction") {
  TaskGraphBuilder made = builder(8);
  const std::uint32_t family = made.family(all(8), 1);
  const std::uint32_t ring = made.family(all(8), 8);
  const std::uint32_t work = made.compute("work", family, Duration{10'000});
  const std::uint32_t reduce = made.communicate("reduce", ring, CollectiveKind::all_reduce, Bytes{800'000}, made.choice({}), 1);
  made.edge(work, reduce);
  auto graph = std::move(made).build();
  const auto network = make_fat_tree(terms(8), {});
  auto predictor = Predictor::make(*graph, *network, {});
  const double before = *predictor->run();
  CHECK(*predictor->run() == before);
  REQUIRE(predictor->set_duration(work, Duration{20'000}));
  REQUIRE(predictor->set_bytes(reduce, Bytes{1'600'000}));
  const double after = *predictor->run();
  graph->tasks[work].duration = Duration{20'000};
  graph->tasks[reduce].bytes = Bytes{1'600'000};
  CHECK(after == *Predictor::make(*graph, *network, {})->run());
  CHECK(after > before + 10'000);
  CHECK(!predictor->set_bytes(work, Bytes{1}));
  CHECK(!predictor->set_duration(99, Duration{1}));
}

TEST_CASE("packets_and_step_latency_are_charged_where_they_are_given") {
  // FlexNetPacket: 2 (N-1) (ceil(chunk / 8936) x 8936 / B + 2 us) within 1 us (docs/predictor.md#peers).
  NetworkTerms packets = terms(16);
  packets.packets = {8936, 0};
  packets.step_latency = Duration{1000};
  const auto network = make_ideal_switch(packets);
  const TaskGraph graph = one_collective(16, CollectiveKind::all_reduce, 16 * 561'152);
  const double chunk = std::ceil(561'152 / 8936.0) * 8936;
  CHECK(played(graph, *network, {}) == Approx(30 * (chunk / 12.5 + 2000)));
  CHECK(played(graph, *network, {.plays_everything = true}) == Approx(30 * (chunk / 12.5 + 2000)));
}

TEST_CASE("who_cannot_be_reached_is_named") {
  const auto network = make_direct_connect(terms(3), {{0, 1}, {1, 0}}, {});
  REQUIRE(network);
  const TaskGraph graph = one_collective(3, CollectiveKind::all_to_all, 300);
  const auto refused = predict(graph, *network);
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::unreachable);
  CHECK(refused.error().message.find("node 0 to node 2") != std::string::npos);
  const auto small = make_ideal_switch(terms(2));
  const auto missing = predict(graph, *small);
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("what_is_too_large_to_play_is_refused_by_its_limit") {
  const TaskGraph graph = one_collective(8192, CollectiveKind::all_to_all, 8192);
  CHECK(predict(graph, *make_ideal_switch(terms(8192))));  // a closed form
  const auto refused = predict(graph, *make_fat_tree(terms(8192), {}));
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::out_of_range);
  CHECK(refused.error().message.find("kTransfersAtOnce") != std::string::npos);
}

TEST_CASE("a_prediction_of_a_graph_names_its_phases_and_assumptions") {
  const auto network = make_fat_tree(terms(16), {.oversubscription = 2});
  const TaskGraph graph = one_collective(16, CollectiveKind::all_reduce, 1'600'000);
  const auto prediction = predict(graph, *network);
  REQUIRE(prediction);
  REQUIRE(prediction->phases.size() == 1);
  CHECK(prediction->phases[0].ranks == 16);
  CHECK(prediction->phases[0].finish == prediction->iteration);
  CHECK(prediction->exposed == prediction->iteration - prediction->compute);
  CHECK(std::any_of(prediction->assumptions.begin(), prediction->assumptions.end(),
                    [](const std::string& each) { return each.starts_with("oversubscription"); }));
}

TEST_CASE("a_job_takes_as_long_by_the_engine_as_by_its_closed_forms") {
  for (const char* overlap : {"none", "bucketed"}) {
    CAPTURE(overlap);
    const auto job = make_workload("vgg19", {64, {{"overlap", overlap}}});
    if (!job) {
      FAIL(job.error().message);
    }
    const auto model = make_fabric_model("ideal-switch", gigabits(100), 64, {});
    const auto symbolic = predict(*job, {*model});
    const auto graph = graph_of(*job);
    REQUIRE(graph);
    const auto network = make_ideal_switch(terms(64));
    const auto played_out = predict(*graph, *network);
    REQUIRE(played_out);
    CHECK(milliseconds_of(played_out->iteration) == Approx(milliseconds_of(symbolic->iteration)).epsilon(1e-6));
  }
}

TEST_CASE("a_double_tree_takes_a_ring_s_bytes_and_a_tree_s_latency") {
  const auto time = [](CollectiveAlgorithm algorithm, std::int64_t bytes, std::int64_t latency_ns) {
    const auto network = make_ideal_switch(terms(32, latency_ns));
    REQUIRE(network);
    return played(one_collective(32, CollectiveKind::all_reduce, bytes, {.algorithm = algorithm}), *network, {});
  };
  // Large: ports bind, 2 S each; one tree's inner ranks send 3 S. Small: 62 rounds of a ring against twice the depth.
  constexpr std::int64_t kLarge = 64'000'000;
  const double port = 2.0 * kLarge / 12.5;
  CHECK(time(CollectiveAlgorithm::double_tree, kLarge, 1000) >= port * 31 / 32);
  CHECK(time(CollectiveAlgorithm::double_tree, kLarge, 1000) < 1.15 * port);
  CHECK(time(CollectiveAlgorithm::tree, kLarge, 1000) > 1.3 * port);
  CHECK(time(CollectiveAlgorithm::double_tree, 32'000, 10'000) * 4 < time(CollectiveAlgorithm::ring, 32'000, 10'000));
}

TEST_CASE("a_broadcast_on_a_ring_of_links_is_a_chain_in_pieces") {
  TaskGraph graph = one_collective(8, CollectiveKind::broadcast, 33'554'432);
  NetworkTerms a_link = terms(8);
  const auto ring = make_ring(a_link);
  REQUIRE(ring);
  const double tree = played(graph, *ring, {});
  REQUIRE(carry_rings(graph, {.algorithm = CollectiveAlgorithm::bidirectional_ring}));
  const double chain = played(graph, *ring, {});
  CAPTURE(tree, chain);
  CHECK(chain < tree / 3);
  CHECK(chain >= 33'554'432 / 12.5 / 2);  // half of the bytes each way round
}

}  // namespace
}  // namespace loom
