// SPDX-License-Identifier: Apache-2.0
// The arena: every fabric made for a job and played; settings and refusals.
#include "controller/arena/arena.hpp"
#include "controller/arena/lower_bound.hpp"
#include "controller/arena/seeds.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "controller/schedule/pair_bytes.hpp"
#include "controller/workload/load_graph.hpp"

namespace loom {
namespace {

using std::chrono::microseconds;

TaskGraph graph_of_zoo(std::string_view name, std::uint32_t nodes, Settings settings = {}) {
  auto graph = make_task_graph(name, {nodes, std::move(settings)});
  REQUIRE(graph);
  return std::move(*graph);
}

ArenaRow play_on(std::string_view fabric, const TaskGraph& graph, Settings settings = {}) {
  auto entry = make_entry(fabric, graph, gigabits(100), settings);
  INFO((entry ? std::string{} : entry.error().message));
  REQUIRE(entry);
  const auto compute = compute_alone(graph);
  REQUIRE(compute);
  auto row = play(*entry, *compute);
  INFO((row ? std::string{} : row.error().message));
  REQUIRE(row);
  return *row;
}

Error refusal_of(std::string_view fabric, const TaskGraph& graph, const Settings& settings = {}) {
  auto entry = make_entry(fabric, graph, gigabits(100), settings);
  if (!entry) {
    return entry.error();
  }
  const auto row = iteration_time(*entry);
  REQUIRE_FALSE(row);
  return row.error();
}

TEST_CASE("no_fabric_beats_the_ideal_switch_and_iteration_is_compute_plus_exposed") {
  const TaskGraph graph = graph_of_zoo("vgg19", 16);
  const ArenaRow ideal = play_on("ideal-switch", graph);
  for (const std::string_view fabric : arena_names()) {
    CAPTURE(fabric);
    const ArenaRow row = play_on(fabric, graph);
    CHECK(row.iteration + microseconds{1} >= ideal.iteration);
    CHECK(row.iteration == row.compute + row.exposed);
    CHECK(row.dark <= row.exposed);
    CHECK(row.bound > Duration{0});
    CHECK(row.compute == ideal.compute);
    CHECK_FALSE(row.assumptions.empty());
    CHECK_FALSE(row.phases.empty());
  }
}

TEST_CASE("seeds_give_a_mean_its_interval_and_the_run_in_the_middle") {
  const std::vector<double> values{1, 2, 3, 4};
  const SeedSpread by_hand = spread_of(values);
  CHECK(by_hand.mean == Approx(2.5));
  CHECK(by_hand.half_width == Approx(3.182 * 1.2909944 / 2).epsilon(1e-6));  // t of 3 degrees x s / sqrt(4)
  CHECK(by_hand.least == 1);
  CHECK(by_hand.most == 4);
  CHECK(spread_of(std::vector<double>{7}).half_width == 0);

  const TaskGraph graph = graph_of_zoo("dlrm", 32);
  const auto compute = compute_alone(graph);
  REQUIRE(compute);
  const auto job_on = [&](std::string_view fabric) {
    return SeededJob{[&graph, fabric](const Settings& own) { return make_entry(fabric, graph, gigabits(100), own); }, *compute,
                     5};
  };
  const Settings settings{{"oversubscription", "2"}, {"seed", "3"}};
  const auto played = play_seeds("fat-tree", job_on("fat-tree"), settings, {});
  REQUIRE(played);
  REQUIRE(played->runs_ms.size() == 5);
  REQUIRE(played->spread);
  CHECK(played->seed >= 3);
  CHECK(played->seed < 8);
  std::vector<double> sorted = played->runs_ms;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted.front() < sorted.back());
  CHECK(static_cast<double>(played->row.iteration.count()) / 1e6 == sorted[2]);
  auto alone = make_entry("fat-tree", graph, gigabits(100), {{"oversubscription", "2"}, {"seed", "4"}});
  REQUIRE(alone);
  CHECK(static_cast<double>(iteration_time(*alone)->count()) / 1e6 == played->runs_ms[1]);

  CHECK_FALSE(has_seed("ring"));
  const auto certain = play_seeds("ring", job_on("ring"), {}, {});
  REQUIRE(certain);
  CHECK(certain->runs_ms.size() == 1);
  CHECK_FALSE(certain->spread);
}

TEST_CASE("what_takes_too_long_to_play_is_approximated_and_says_so") {
  const TaskGraph graph = graph_of_zoo("dlrm", 16);
  const auto compute = compute_alone(graph);
  REQUIRE(compute);
  for (const std::string_view fabric : {"fat-tree", "expander"}) {
    CAPTURE(fabric);
    auto entry = make_entry(fabric, graph, gigabits(100), {});
    REQUIRE(entry);
    const auto coarse = play(*entry, *compute, {.exact_looks = 1});
    REQUIRE(coarse);
    CHECK(coarse->is_approximate);
    CHECK(std::any_of(coarse->assumptions.begin(), coarse->assumptions.end(),
                      [](const std::string& each) { return each.find("approximation") != std::string::npos; }));
    const ArenaRow exact = play_on(fabric, graph);
    CHECK_FALSE(exact.is_approximate);
    const auto ratio = static_cast<double>(coarse->iteration.count()) / static_cast<double>(exact.iteration.count());
    CHECK(ratio == Approx(1).epsilon(fabric == "expander" ? 0.08 : 0.05));  // docs/predictor.md has what was measured
  }
}

TEST_CASE("no_iteration_is_shorter_than_its_bound_on_any_fabric") {
  const std::pair<const char*, Settings> jobs[]{{"vgg19", {{"compute_ms", "1"}}},
                                                {"dlrm", {{"compute_ms", "0.1"}}},
                                                {"vgg16", {{"compute_ms", "1"}, {"overlap", "none"}}},
                                                {"gpt2-xl", {{"pp", "2"}, {"tp", "2"}, {"compute_ms", "5"}}}};
  for (const auto& [workload, settings] : jobs) {
    const TaskGraph graph = graph_of_zoo(workload, 8, settings);
    for (const std::string_view fabric : arena_names()) {
      CAPTURE(workload, fabric);
      auto entry = make_entry(fabric, graph, gigabits(100), {});
      if (!entry) {
        continue;  // cannot carry it, and says why
      }
      const auto iteration = iteration_time(*entry);
      if (iteration) {
        CHECK(*iteration >= entry->bound);
      }
    }
  }
}

TEST_CASE("the_bound_is_the_busiest_node_s_bytes_or_the_busiest_worker_s_compute") {
  const TaskGraph quick = graph_of_zoo("vgg19", 16, {{"compute_ms", "1"}, {"overlap", "none"}});
  const double bytes = 2.0 * 15 / 16 * 4 * static_cast<double>(quick.parameters);  // a ring's, each way
  CHECK(static_cast<double>(lower_bound(quick, gigabits(100)).count()) == Approx(bytes * 8 / 100).epsilon(1e-6));
  CHECK(lower_bound(graph_of_zoo("vgg19", 16, {{"compute_ms", "500"}}), gigabits(100)) == std::chrono::milliseconds{500});
}

TEST_CASE("topoopt_stripes_an_all_reduce_over_its_rings_at_the_full_rate_of_a_node") {
  const TaskGraph graph = graph_of_zoo("vgg19", 12, {{"overlap", "none"}});
  auto entry = make_entry("topoopt", graph, gigabits(100), {{"variant", "as-in-code"}, {"degree", "4"}});
  REQUIRE(entry);
  CHECK(entry->circuits == 48);
  const auto striped = std::find_if(entry->graph.choices.begin(), entry->graph.choices.end(),
                                    [](const CollectiveChoice& choice) { return choice.strides.size() == 4; });
  REQUIRE(striped != entry->graph.choices.end());
  auto strides = striped->strides;
  std::sort(strides.begin(), strides.end());
  CHECK(strides == std::vector<std::uint32_t>{1, 5, 7, 11});
  const auto iteration = iteration_time(*entry);
  REQUIRE(iteration);
  const ArenaRow ideal = play_on("ideal-switch", graph);
  CHECK(*iteration <= ideal.iteration + microseconds{10});
}

TEST_CASE("an_all_to_all_pays_for_forwarding_on_direct_connections") {
  const TaskGraph graph = graph_of_zoo("dlrm", 12, {{"l", "1024"}, {"tables", "12"}});
  CHECK(play_on("topoopt", graph).exposed > play_on("ideal-switch", graph).exposed);
}

TEST_CASE("sip_ocs_refuses_more_peers_than_switches_by_node_and_number") {
  const TaskGraph graph = graph_of_zoo("dlrm", 32);
  const Error error = refusal_of("sip-ocs", graph);
  CHECK(error.code == ErrorCode::infeasible);
  CHECK(error.message.find("sends to 31 peers, but has a port on Q = 20 circuit switches") != std::string::npos);
  CHECK(play_on("sip-ocs", graph, {{"switches", "31"}}).circuits >= 31 * 32);
}

TEST_CASE("the_four_variants_of_sip_ring_order_as_their_handicaps_do") {
  const TaskGraph graph = graph_of_zoo("vgg19", 16, {{"overlap", "none"}});
  const auto variant = [&](const char* directions, const char* stops) {
    return play_on("sip-ring", graph, {{"directions", directions}, {"all_stop", stops}, {"light", "shared"}}).iteration;
  };
  CHECK(variant("one", "always") > variant("one", "never"));
  CHECK(variant("one", "never") > variant("both", "always"));
  CHECK(variant("both", "always") > variant("both", "never"));
}

TEST_CASE("sip_ring_is_played_episode_by_episode_on_small_jobs_and_pays_for_its_stops") {
  const TaskGraph graph = graph_of_zoo("vgg19", 8, {{"overlap", "none"}});
  const ArenaRow stops = play_on("sip-ring", graph, {{"light", "episodes"}});
  const ArenaRow changes = play_on("sip-ring", graph, {{"all_stop", "never"}});
  CHECK(stops.changes > 0);
  CHECK(stops.dark > Duration{});
  CHECK(changes.iteration < stops.iteration);
  CHECK(play_on("mordia", graph).iteration > stops.iteration);  // no wavelength twice
}

TEST_CASE("every_wavelength_that_a_node_of_sip_ring_has_carries_bytes") {
  const TaskGraph graph = graph_of_zoo("vgg19", 8, {{"overlap", "none"}});
  const auto exposed = [&](const char* light, std::int64_t rate) {
    auto entry = make_entry("sip-ring", graph, gigabits(rate), {{"light", light}});
    REQUIRE(entry);
    const auto compute = compute_alone(graph);
    const auto row = play(*entry, *compute);
    REQUIRE(row);
    return static_cast<double>(row->exposed.count());
  };
  for (const char* light : {"lit", "episodes", "shared"}) {
    CAPTURE(light);
    const double ten = exposed(light, 250);
    // Light that is lit once goes one way; where all-reduces go both ways in halves, the odd one of 19 serves neither.
    const double of_nineteen = light == std::string_view("lit") ? ten * 10 / 20 : ten * 10 / 18;
    CHECK(exposed(light, 300) < ten * 10 / 12 * 1.01);
    CHECK(exposed(light, 400) < ten * 10 / 16 * 1.01);
    CHECK(exposed(light, 475) < of_nineteen * 1.01);
    double before = ten;
    for (std::int64_t rate = 275; rate <= 525; rate += 25) {
      CAPTURE(rate);
      const double now = exposed(light, rate);
      CHECK(now <= before * 1.001);
      before = now;
    }
    CHECK(exposed(light, 299) == Approx(exposed(light, 275)));  // whole wavelengths
  }
}

TEST_CASE("rings_go_both_ways_over_duplex_links_unless_the_job_says_how") {
  const TaskGraph graph = graph_of_zoo("vgg19", 16, {{"overlap", "none"}});
  const TaskGraph one_way = graph_of_zoo("vgg19", 16, {{"overlap", "none"}, {"collective", "ring"}});
  const auto ideal = play_on("ideal-switch", graph).exposed;
  for (const std::string_view fabric : {"ring", "ocs-reconfig"}) {
    CAPTURE(fabric);
    const Settings quick = fabric == "ring" ? Settings{} : Settings{{"delay_us", "1"}};
    const auto both = play_on(fabric, graph, quick).exposed;
    CHECK(both < ideal * 2);
    CHECK(play_on(fabric, one_way, quick).exposed > both * 3 / 2);
  }
  CHECK(static_cast<double>(play_on("ring", graph).exposed.count()) ==
        Approx(static_cast<double>(ideal.count())).epsilon(0.001));
}

TEST_CASE("a_row_of_phases_is_on_the_wire_no_longer_than_from_its_start_to_its_finish") {
  // A bucket a layer: each reduces its gradients while others wait for the links.
  const TaskGraph graph = graph_of_zoo("vgg19", 8, {{"overlap", "bucketed"}, {"bucket_mb", "1"}});
  for (const std::string_view fabric : {"ideal-switch", "ring", "fat-tree", "sip-ring", "ocs-reconfig"}) {
    CAPTURE(fabric);
    const ArenaRow row = play_on(fabric, graph);
    for (const Phase& phase : row.phases) {
      CAPTURE(phase.count, phase.bytes.count);
      CHECK(phase.wire + phase.dark <= phase.finish - phase.start);
      CHECK(phase.wire > Duration{});
    }
  }
}

TEST_CASE("mordia_refuses_more_nodes_than_it_is_played_with") {
  CHECK(refusal_of("mordia", graph_of_zoo("vgg19", 128)).code == ErrorCode::unsupported);
}

TEST_CASE("sip_ring_refuses_a_rate_of_less_than_two_wavelengths") {
  const TaskGraph graph = graph_of_zoo("vgg19", 4);
  const auto entry = make_entry("sip-ring", graph, gigabits(40), {});
  REQUIRE_FALSE(entry);
  CHECK(entry.error().message.find("1 wavelengths of 25 Gb/s") != std::string::npos);
}

TEST_CASE("dark_time_of_ocs_reconfig_is_charged") {
  const TaskGraph graph = graph_of_zoo("vgg19", 16);
  const ArenaRow slow = play_on("ocs-reconfig", graph, {{"delay_us", "10000"}});
  CHECK(slow.dark >= std::chrono::milliseconds{10});
  CHECK(slow.changes > 0);
  const ArenaRow quick = play_on("ocs-reconfig", graph, {{"delay_us", "50"}});
  CHECK(quick.changes > slow.changes);
  CHECK(quick.dark > Duration{});
}

TEST_CASE("a_fabric_or_key_that_nobody_knows_is_named_with_the_nearest") {
  const TaskGraph graph = graph_of_zoo("vgg19", 4);
  CHECK(refusal_of("topopt", graph).message.find("did you mean 'topoopt'") != std::string::npos);
  const std::vector<std::string> fabrics{"topoopt", "fat-tree"};
  const auto refused = check_arena_keys({{"degre", "4"}}, fabrics);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("degree") != std::string::npos);
  CHECK(check_arena_keys({{"degree", "4"}, {"fat-tree.efficiency", "0.5"}, {"sip-ring.all_stop", "never"}}, fabrics));
}

TEST_CASE("a_setting_for_one_fabric_goes_before_one_for_all") {
  const Settings settings{{"efficiency", "0.5"}, {"fat-tree.efficiency", "0.25"}, {"degree", "6"}};
  CHECK(settings_for("fat-tree", settings) == Settings{{"efficiency", "0.25"}});
  CHECK(settings_for("topoopt", settings) == Settings{{"degree", "6"}, {"efficiency", "0.5"}});
  CHECK(settings_for("oddl", settings) == Settings{{"efficiency", "0.5"}});  // light loses it too
  CHECK(settings_for("mordia", {{"degree", "6"}}).empty());
}

TEST_CASE("bytes_between_pairs_are_what_the_collectives_send") {
  const TaskGraph graph = graph_of_zoo("vgg19", 8, {{"overlap", "none"}});
  const auto bytes = pair_bytes(graph);
  REQUIRE(bytes.size() == 8);  // a ring
  for (const auto& [ends, sum] : bytes) {
    CHECK(ends.second == (ends.first + 1) % 8);
    CHECK(sum == Approx(2.0 * 7 / 8 * 574'668'960).epsilon(1e-9));
  }
}

TEST_CASE("a_task_graph_file_takes_no_settings_and_no_other_node_count") {
  const auto refused = load_task_graph("absent.fbuf", {0, {}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::not_found);
  const auto settings = load_task_graph("absent.fbuf", {0, {{"batch", "3"}}});
  REQUIRE_FALSE(settings);
  CHECK(settings.error().code == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace loom
