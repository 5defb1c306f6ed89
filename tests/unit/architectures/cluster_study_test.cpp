// SPDX-License-Identifier: Apache-2.0
// Jobs on a shared cluster: by hand, by formulas of others, and beside the arena.
#include <catch2/catch.hpp>
#include <cmath>

#include "controller/arena/arena.hpp"
#include "controller/arena/cluster/cluster_study.hpp"
#include "controller/arena/cluster/draws.hpp"
#include "controller/workload/load_graph.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ClusterKind kind_of(std::string name, std::uint32_t servers, std::int64_t iterations) {
  ClusterKind kind{std::move(name), {}, 1, iterations};
  kind.graph.nodes = servers;
  return kind;
}

ClusterSpec spec_of(std::uint32_t servers, std::vector<ClusterKind> kinds, std::uint32_t count) {
  ClusterSpec spec;
  spec.servers = servers;
  spec.rate = gigabits(100);
  spec.kinds = std::move(kinds);
  spec.count = count;
  return spec;
}

/// Everybody takes a second, whoever else runs.
ClusterPlay a_second_each() {
  return {[](std::span<const RunningJob> running) -> Result<std::vector<double>> {
    return std::vector<double>(running.size(), 1e9);
  }};
}

TEST_CASE("a_job_alone_takes_its_iterations_and_waits_for_nobody") {
  const auto outcome = play_cluster(spec_of(4, {kind_of("one", 2, 10)}, 1), a_second_each());
  REQUIRE(outcome);
  const PlayedJob& job = outcome->jobs[0];
  CHECK(job.finish == 10e9);
  CHECK(job.waiting == 0);
  CHECK(job.iteration() == 1e9);
  CHECK(outcome->makespan == 10e9);
  CHECK(outcome->server_time == 20e9);
  CHECK(outcome->useful_time == outcome->server_time);
  CHECK(outcome->sets == 1);
}

TEST_CASE("a_job_that_does_not_fit_waits_until_the_one_before_has_ended") {
  const auto outcome = play_cluster(spec_of(4, {kind_of("three", 3, 10)}, 3), a_second_each());
  REQUIRE(outcome);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(outcome->jobs[i].start == 10e9 * static_cast<double>(i));
    CHECK(outcome->jobs[i].waiting == 10e9 * static_cast<double>(i));
  }
  CHECK(outcome->makespan == 30e9);
}

TEST_CASE("a_small_job_does_not_pass_a_large_one_that_came_first") {
  // Whatever order the mix draws: each job begins no earlier than all before it.
  ClusterSpec spec = spec_of(4, {kind_of("small", 1, 3), kind_of("large", 4, 5)}, 40);
  spec.arrivals = {ArrivalKind::regular, seconds{1}};
  const auto outcome = play_cluster(spec, a_second_each());
  REQUIRE(outcome);
  bool has_both = false;
  for (std::size_t i = 1; i < outcome->jobs.size(); ++i) {
    CHECK(outcome->jobs[i].start >= outcome->jobs[i - 1].start);
    has_both = has_both || outcome->jobs[i].kind != outcome->jobs[i - 1].kind;
  }
  CHECK(has_both);
}

TEST_CASE("a_job_goes_on_at_another_pace_when_another_one_joins_it") {
  // Alone a second, in company two. The second job comes at 5 s: the first has 5 of 10 left, which take 10 s; then the second
  // has 5 left, which take 5 s.
  ClusterSpec spec = spec_of(2, {kind_of("one", 1, 10)}, 2);
  spec.arrivals = {ArrivalKind::regular, seconds{5}};
  const ClusterPlay play{[](std::span<const RunningJob> running) -> Result<std::vector<double>> {
    return std::vector<double>(running.size(), running.size() == 1 ? 1e9 : 2e9);
  }};
  const auto outcome = play_cluster(spec, play);
  REQUIRE(outcome);
  CHECK(outcome->jobs[0].finish == Approx(15e9).epsilon(1e-12));
  CHECK(outcome->jobs[1].finish == Approx(20e9).epsilon(1e-12));
  CHECK(outcome->jobs[0].iteration() == Approx(1.5e9).epsilon(1e-12));
  CHECK(outcome->sets == 3);
}

TEST_CASE("lighting_is_charged_when_a_job_begins_and_is_not_useful") {
  ClusterPlay play = a_second_each();
  play.lighting = {milliseconds{500}};
  const auto outcome = play_cluster(spec_of(2, {kind_of("one", 2, 10)}, 2), play);
  REQUIRE(outcome);
  CHECK(outcome->jobs[1].finish == Approx(21e9));
  CHECK(outcome->jobs[1].iteration() == Approx(1e9));
  CHECK(outcome->useful_time / outcome->server_time == Approx(10.0 / 10.5));
}

TEST_CASE("packed_jobs_have_the_lowest_free_servers_and_random_ones_any") {
  for (const ServerPlacement placement : {ServerPlacement::packed, ServerPlacement::random}) {
    ClusterSpec spec = spec_of(64, {kind_of("four", 4, 1)}, 2);
    spec.placement = placement;
    std::vector<RunningJob> first;
    const ClusterPlay play{[&](std::span<const RunningJob> running) -> Result<std::vector<double>> {
      first = first.empty() ? std::vector<RunningJob>(running.begin(), running.end()) : first;
      return std::vector<double>(running.size(), 1e9);
    }};
    REQUIRE(play_cluster(spec, play));
    REQUIRE(first.size() == 2);
    const bool is_packed = first[0].servers == std::vector<std::uint32_t>{0, 1, 2, 3} &&
                           first[1].servers == std::vector<std::uint32_t>{4, 5, 6, 7};
    CHECK(is_packed == (placement == ServerPlacement::packed));
  }
}

TEST_CASE("the_mix_follows_the_shares") {
  ClusterSpec spec = spec_of(64, {kind_of("often", 1, 1), kind_of("never", 1, 1), kind_of("seldom", 1, 1)}, 4096);
  spec.kinds[0].share = 3;
  spec.kinds[1].share = 0;
  spec.kinds[2].share = 1;
  const auto outcome = play_cluster(spec, a_second_each());
  REQUIRE(outcome);
  std::array<double, 3> drawn{};
  for (const PlayedJob& job : outcome->jobs) {
    ++drawn[job.kind];
  }
  CHECK(drawn[1] == 0);
  CHECK(std::abs(drawn[0] / 4096 - 0.75) < 4 * std::sqrt(0.75 * 0.25 / 4096));  // four standard deviations
}

/// Means of independent seeds hold `expected` within four standard errors, which are themselves below `precision` of it.
void check_mean(const std::vector<double>& means, double expected, double precision) {
  const double middle = mean(means);
  double squares = 0;
  for (const double each : means) {
    squares += (each - middle) * (each - middle);
  }
  const auto count = static_cast<double>(means.size());
  const double error = std::sqrt(squares / (count - 1) / count);
  INFO("mean " << middle << " +- " << error << ", expected " << expected);
  CHECK(4 * error < precision * expected);
  CHECK(std::abs(middle - expected) < 4 * error);
}

TEST_CASE("jobs_that_take_all_servers_wait_as_pollaczek_and_khinchine_say") {
  // M/D/1: a mean wait of rho x D / (2 (1 - rho)).
  for (const double load : {0.3, 0.6}) {
    std::vector<double> waits;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      ClusterSpec spec = spec_of(4, {kind_of("all", 4, 10)}, 4096);
      spec.seed = seed;
      spec.arrivals = {ArrivalKind::poisson, Duration{std::llround(10e9 / load)}};
      const auto outcome = play_cluster(spec, a_second_each());
      REQUIRE(outcome);
      double sum = 0;
      for (const PlayedJob& job : outcome->jobs) {
        sum += job.waiting;
      }
      waits.push_back(sum / 4096e9);
    }
    check_mean(waits, load * 10 / (2 * (1 - load)), 0.05);
  }
}

TEST_CASE("goodput_under_failures_is_dalys") {
  // J. T. Daly, A higher order estimate of the optimum checkpoint interval, FGCS 2006: work of w behind failures of mean M and
  // restarts of R takes M e^(R/M) (e^(w/M) - 1). A job of n servers fails n times as often.
  for (const std::uint32_t servers : {1U, 4U}) {
    const double mean_time = 400.0 / servers;
    const double segments = 2000;
    const auto expected = [&](double work) { return mean_time * std::exp(20 / mean_time) * std::expm1(work / mean_time); };
    std::vector<double> held;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      ClusterSpec spec = spec_of(servers, {kind_of("one", servers, 30 * std::llround(segments))}, 1);
      spec.seed = seed;
      spec.failures = ServerFailures{seconds{400}, seconds{50}, 30, seconds{5}, seconds{20}};
      const auto outcome = play_cluster(spec, a_second_each());
      REQUIRE(outcome);
      CHECK(outcome->useful_time == Approx(30 * segments * 1e9 * servers));
      CHECK(outcome->jobs[0].failures > 100);
      held.push_back(outcome->server_time / servers / 1e9);
    }
    check_mean(held, (segments - 1) * expected(35) + expected(30), 0.02);  // nothing is saved at the end
  }
}

TEST_CASE("a_job_without_checkpoints_begins_anew_and_one_that_never_ends_is_given_up_aloud") {
  ClusterSpec spec = spec_of(1, {kind_of("one", 1, 100)}, 1);
  spec.failures = ServerFailures{seconds{60}, seconds{1}, 0, {}, {}};
  const auto outcome = play_cluster(spec, a_second_each());
  REQUIRE(outcome);
  CHECK(outcome->jobs[0].useful == Approx(100e9));
  CHECK(outcome->jobs[0].held >= 100e9);
  spec.kinds[0].iterations = 100'000;  // e^1666 minutes
  const auto endless = play_cluster(spec, a_second_each());
  REQUIRE_FALSE(endless);
  CHECK(endless.error().code == ErrorCode::infeasible);
  CHECK(endless.error().message.find("0 of 1 jobs ended within 20000000 events") != std::string::npos);
}

TEST_CASE("the_same_seed_plays_the_same_and_the_network_does_not_change_what_arrives_or_fails") {
  ClusterSpec spec = spec_of(8, {kind_of("one", 1, 50), kind_of("four", 4, 20)}, 50);
  spec.arrivals = {ArrivalKind::poisson, seconds{3}};
  spec.failures = ServerFailures{seconds{300}, seconds{10}, 5, milliseconds{100}, seconds{2}};
  const auto first = play_cluster(spec, a_second_each());
  const auto again = play_cluster(spec, a_second_each());
  const ClusterPlay slow{[](std::span<const RunningJob> running) -> Result<std::vector<double>> {
    return std::vector<double>(running.size(), 3e9);
  }};
  const auto other = play_cluster(spec, slow);
  REQUIRE(first);
  REQUIRE(again);
  REQUIRE(other);
  for (std::size_t i = 0; i < 50; ++i) {
    CHECK(first->jobs[i].finish == again->jobs[i].finish);
    CHECK(first->jobs[i].arrival == other->jobs[i].arrival);
    CHECK(first->jobs[i].kind == other->jobs[i].kind);
  }
}

Result<TaskGraph> zoo(std::string_view name, std::uint32_t nodes, const Settings& settings = {}) {
  return load_task_graph(name, {nodes, settings, {}});
}

double arena_ns(std::string_view fabric, const TaskGraph& graph, const Settings& settings = {}) {
  auto entry = make_entry(fabric, graph, gigabits(100), settings);
  REQUIRE(entry);
  const auto row = play(*entry, *compute_alone(graph), {.exact_looks = kExactLooks});
  REQUIRE(row);
  return static_cast<double>(row->iteration.count());
}

TEST_CASE("one_job_on_a_cluster_of_its_size_takes_its_arena_figure_on_every_kind_of_fabric") {
  for (const auto& [name, settings] :
       {std::pair<std::string, Settings>{"vgg19", {}}, {"gpt2-xl", {{"pp", "4"}, {"tp", "2"}}}}) {
    const auto graph = zoo(name, 16, settings);
    REQUIRE(graph);
    ClusterSpec spec = spec_of(16, {{name, *graph, 1, 100}}, 1);
    spec.placement = ServerPlacement::packed;
    for (const std::string fabric : {"ideal-switch", "fat-tree", "fat-tree-oversub", "expander", "ring", "topoopt"}) {
      CAPTURE(fabric, name);
      const auto row = study_cluster(spec, {{fabric, gigabits(100), {}, false}});
      REQUIRE(row);
      CHECK(row->iteration_ms.mean * 1e6 == Approx(arena_ns(fabric, *graph)).epsilon(1e-6));
      CHECK(row->is_shared == (fabric != "topoopt"));
      CHECK_FALSE(row->goodput);
    }
  }
}

TEST_CASE("behind_a_shared_switch_a_set_that_is_played_gives_every_job_its_time_alone") {
  // The study takes this for granted; here the sets are played on a tree whose links above the servers never bind.
  const auto vision = zoo("resnet50", 4);
  const auto pipeline = zoo("gpt2-xl", 4, {{"pp", "4"}});
  REQUIRE(vision);
  REQUIRE(pipeline);
  ClusterSpec spec = spec_of(8, {{"vision", *vision, 1, 10}, {"pipeline", *pipeline, 1, 10}}, 2);
  const Settings radix{{"radix", "16"}};  // eight servers under one switch
  auto tree = ClusterFabric::make(spec, {"fat-tree", spec.rate, radix, true});
  REQUIRE(tree);
  const std::vector<RunningJob> set{{0, {6, 1, 3, 4}}, {1, {0, 2, 5, 7}}};
  const auto times = tree->iteration_ns(set);
  REQUIRE(times);
  CHECK((*times)[0] == Approx(arena_ns("fat-tree", *vision, radix)).epsilon(1e-6));
  CHECK((*times)[1] == Approx(arena_ns("fat-tree", *pipeline, radix)).epsilon(1e-6));
}

TEST_CASE("jobs_that_share_a_thin_tree_slow_each_other_down_and_shards_do_not") {
  const auto graph = zoo("vgg19", 8);
  REQUIRE(graph);
  ClusterSpec spec = spec_of(16, {{"one", *graph, 1, 20}}, 2);
  const auto tree = study_cluster(spec, {{"fat-tree-oversub", spec.rate, {}, false}, 3});
  const auto shards = study_cluster(spec, {{"topoopt", spec.rate, {}, false}, 3});
  REQUIRE(tree);
  REQUIRE(shards);
  CHECK(tree->iteration_ms.mean * 1e6 > 1.05 * arena_ns("fat-tree-oversub", *graph));
  CHECK(shards->iteration_ms.mean * 1e6 == Approx(arena_ns("topoopt", *graph)));
  CHECK(tree->jobs.size() == 6);
  REQUIRE(tree->seeds_ms);
  CHECK(tree->seeds_ms->least <= tree->seeds_ms->mean);
}

TEST_CASE("a_load_becomes_the_interval_that_fills_that_part_of_the_servers") {
  const auto graph = zoo("resnet50", 8);
  REQUIRE(graph);
  ClusterSpec spec = spec_of(32, {{"one", *graph, 1, 100}}, 4);
  spec.arrivals = {ArrivalKind::poisson, {}, 0.5};
  REQUIRE(set_load(spec));
  const double alone = arena_ns("ideal-switch", *graph);
  CHECK(static_cast<double>(spec.arrivals.interval.count()) == Approx(100 * alone * 8 / 32 / 0.5).epsilon(1e-6));
}

TEST_CASE("percentiles_are_those_of_the_nearest_rank") {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) {
    values.push_back(i);
  }
  CHECK(percentile(values, 0.5) == 50);
  CHECK(percentile(values, 0.99) == 99);
  CHECK(percentile({7}, 0.01) == 7);
  CHECK(percentile({1, 2}, 1) == 2);
}

}  // namespace
}  // namespace loom
