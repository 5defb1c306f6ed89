// SPDX-License-Identifier: Apache-2.0
// Jobs to task graphs and back: what a job means survives, whatever its collectives.
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <utility>

#include "controller/workload/models/zoo.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

JobSpec made(std::uint32_t nodes, Duration compute) {
  JobSpec job;
  job.name = "made";
  job.workload = "made";
  job.node_count = nodes;
  job.compute = compute;
  return job;
}

/// Each repetition by itself, on the clock of compute: what waits for all compute is ready at its end, and what is needed no
/// sooner is needed by nothing.
std::vector<Collective> meaning(const JobSpec& job) {
  std::vector<Collective> all;
  Duration issued{0};
  for (Collective collective : job.collectives) {
    const std::uint32_t count = std::exchange(collective.count, 1);
    issued = std::max(issued, std::min(collective.ready, job.compute));
    collective.ready = issued;
    collective.needed = std::max(collective.needed, issued) >= job.compute ? kForever : std::max(collective.needed, issued);
    all.insert(all.end(), count, collective);
  }
  return all;
}

JobSpec there_and_back(const JobSpec& job) {
  const auto graph = graph_of(job);
  REQUIRE(graph);
  auto back = job_of(*graph);
  REQUIRE(back);
  return *back;
}

TEST_CASE("jobs_of_the_zoo_mean_the_same_there_and_back") {
  for (const char* name : {"vgg16", "vgg19", "resnet50", "dlrm"}) {
    for (const char* overlap : {"bucketed", "none"}) {
      const auto job = make_workload(name, {16, {{"overlap", overlap}}});
      REQUIRE(job);
      const JobSpec back = there_and_back(*job);
      CAPTURE(name, overlap);
      CHECK(meaning(back) == meaning(*job));
      CHECK(back.compute == job->compute);
      CHECK(back.node_count == 16);
      CHECK(back.workload == name);
      CHECK(back.assumptions == job->assumptions);
    }
  }
}

TEST_CASE("known_jobs_keep_the_values_that_journals_and_digests_hold") {
  const auto vgg = make_workload("vgg19", {1024, {}});
  REQUIRE(vgg);
  REQUIRE(vgg->collectives.size() == 5);
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> ready;
  for (const Collective& each : vgg->collectives) {
    bytes.push_back(each.bytes.count);
    ready.push_back(each.ready.count());
    CHECK(each.needed == kForever);
    CHECK(each.ranks.empty());
    CHECK(each.count == 1);
  }
  CHECK(bytes == std::vector<std::int64_t>{83'513'248, 411'058'176, 28'317'696, 28'317'696, 23'462'144});
  CHECK(ready == std::vector<std::int64_t>{21'378'697, 21'602'028, 24'616'995, 33'661'896, 64'000'000});
  const auto dlrm = make_workload("dlrm", {64, {}});
  REQUIRE(dlrm);
  REQUIRE(dlrm->collectives.size() == 4);
  CHECK(dlrm->collectives[0].ready == Duration{0});
  CHECK(dlrm->collectives[0].needed > Duration{0});
  CHECK(dlrm->collectives[1].ready == dlrm->collectives[2].ready);
  CHECK(dlrm->collectives[3].ready == kForever);
  const auto serial = make_workload("resnet50", {8, {{"overlap", "none"}}});
  REQUIRE(serial);
  REQUIRE(serial->collectives.size() == 1);
  CHECK(serial->collectives[0].ready == kForever);
}

TEST_CASE("compute_is_cut_where_a_collective_is_ready_or_needed") {
  JobSpec job = made(4, milliseconds{10});
  job.collectives = {
      {.kind = CollectiveKind::all_gather, .bytes = Bytes{100}, .ready = milliseconds{0}, .needed = milliseconds{4}},
      {.kind = CollectiveKind::all_reduce, .ranks = {2, 0}, .bytes = Bytes{50}, .count = 2, .ready = milliseconds{7}}};
  const auto graph = graph_of(job);
  REQUIRE(graph);
  REQUIRE(graph->tasks.size() == 6);
  const std::vector<TaskKind> kinds{TaskKind::communicate, TaskKind::compute,     TaskKind::compute,
                                    TaskKind::communicate, TaskKind::communicate, TaskKind::compute};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK(graph->tasks[i].kind == kinds[i]);
  }
  CHECK(graph->tasks[1].duration == milliseconds{4});
  CHECK(graph->tasks[2].duration == milliseconds{3});
  CHECK(graph->tasks[5].duration == milliseconds{3});
  CHECK(graph->successors_of(0)[0] == 2);
  CHECK(graph->group(graph->families[graph->tasks[3].family], 0)[0] == 2);
  CHECK(graph->dependence == Dependence::whole);
  const JobSpec back = there_and_back(job);
  REQUIRE(back.collectives.size() == 2);
  CHECK(back.collectives[1].count == 2);
  CHECK(back.collectives[1].ranks == std::vector<std::uint32_t>{2, 0});
}

TEST_CASE("uneven_splits_survive") {
  JobSpec job = made(2, milliseconds{1});
  job.collectives = {
      {.kind = CollectiveKind::all_to_all, .bytes = Bytes{9}, .splits = {Bytes{1}, Bytes{8}, Bytes{2}, Bytes{0}}}};
  const JobSpec back = there_and_back(job);
  CHECK(meaning(back) == meaning(job));
}

TEST_CASE("any_job_means_the_same_there_and_back") {
  CHECK(rc::check("round trip", [] {
    JobSpec job = made(6, milliseconds{*rc::gen::inRange(0, 100)});
    const auto count = *rc::gen::inRange(0, 12);
    for (int i = 0; i < count; ++i) {
      Collective collective;
      collective.kind = *rc::gen::element(CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::barrier,
                                          CollectiveKind::broadcast, CollectiveKind::all_to_all);
      collective.bytes = Bytes{*rc::gen::inRange<std::int64_t>(0, 3)};
      collective.count = *rc::gen::inRange<std::uint32_t>(1, 4);
      collective.ready = *rc::gen::arbitrary<bool>() ? kForever : Duration{milliseconds{*rc::gen::inRange(0, 120)}};
      // needed later than it is ready: what stands in the way of compute is counted together with its like
      const auto ahead = milliseconds{*rc::gen::inRange(121, 130)};
      collective.needed = *rc::gen::arbitrary<bool>() ? kForever : Duration{ahead};
      if (*rc::gen::arbitrary<bool>()) {
        collective.ranks = {4, 1, 3};
      }
      job.collectives.push_back(collective);
    }
    const auto graph = graph_of(job);
    RC_ASSERT(graph.has_value());
    const auto back = job_of(*graph);
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->compute == job.compute);
    auto expected = meaning(job);
    auto found = meaning(*back);
    // neighbours within one group keep their order; between groups only the instant counts
    for (const bool all : {true, false}) {
      const auto other = [&](const Collective& each) { return each.ranks.empty() != all; };
      auto a = expected;
      auto b = found;
      a.erase(std::remove_if(a.begin(), a.end(), other), a.end());
      b.erase(std::remove_if(b.begin(), b.end(), other), b.end());
      RC_ASSERT(a == b);
    }
  }));
}

TEST_CASE("collectives_in_the_way_of_compute_are_counted_together") {
  TaskGraphBuilder build{"made", 2};
  build.graph().node_of_worker = {0, 1};
  const std::array<std::uint32_t, 2> both{0, 1};
  const auto workers = build.family(both, 1);
  const auto pair = build.family(both, 2);
  std::uint32_t last = build.compute("work", workers, milliseconds{1});
  for (int i = 0; i < 5; ++i) {
    const auto reduce = build.communicate("reduce", pair, CollectiveKind::all_reduce, Bytes{8}, build.choice({}), 0);
    build.edge(last, reduce);
    last = build.compute("work", workers, milliseconds{1});
    build.edge(reduce, last);
  }
  const auto graph = std::move(build).build();
  REQUIRE(graph);
  const auto job = job_of(*graph);
  REQUIRE(job);
  CHECK(job->compute == milliseconds{6});
  REQUIRE(job->collectives.size() == 1);
  CHECK(job->collectives[0].count == 5);
  CHECK(job->collectives[0].ready == milliseconds{1});
  CHECK(job->collectives[0].needed == milliseconds{1});
}

TEST_CASE("a_pipeline_too_long_for_a_job_is_counted_together_and_says_so") {
  const auto graph = make_task_graph("gpt2-355m", {1024, {{"tp", "2"}, {"pp", "8"}, {"batch", "128"}}});
  REQUIRE(graph);
  const auto job = job_of(*graph);
  REQUIRE(job);
  CHECK(job->collectives.size() <= limits::kCollectivesPerJob);
  CHECK(job->assumptions.back().find("kCollectivesPerJob") != std::string::npos);
  std::int64_t moved = 0;
  for (const Task& task : graph->tasks) {
    moved += task.kind == TaskKind::communicate ? task.bytes.count * graph->families[task.family].count : 0;
  }
  for (const Collective& collective : job->collectives) {
    moved -= collective.bytes.count * collective.count;
  }
  CHECK(moved == 0);
}

TEST_CASE("a_worker_computes_one_task_at_a_time_on_a_job_s_clock") {
  TaskGraphBuilder build{"made", 1};
  build.graph().node_of_worker = {0, 0};
  const std::array<std::uint32_t, 1> first{0};
  const std::array<std::uint32_t, 1> second{1};
  build.compute("a", build.family(first, 1), milliseconds{3});
  build.compute("b", build.family(first, 1), milliseconds{4});
  build.compute("c", build.family(second, 1), milliseconds{5});
  const auto graph = std::move(build).build();
  REQUIRE(graph);
  const auto job = job_of(*graph);
  REQUIRE(job);
  CHECK(job->compute == milliseconds{7});
}

TEST_CASE("unlawful_jobs_and_too_many_collectives_are_refused") {
  JobSpec job = made(2, milliseconds{1});
  job.collectives = {{.ranks = {0, 2}, .bytes = Bytes{1}}};
  CHECK(graph_of(job).error().code == ErrorCode::invalid_argument);
  CHECK(graph_of(job).error().message.find("rank 2 of 2") != std::string::npos);
  job.collectives.clear();
  job.compute = Duration{-1};
  CHECK(graph_of(job).error().code == ErrorCode::out_of_range);
  job.compute = milliseconds{1};
  job.collectives = std::vector<Collective>(40, Collective{.bytes = Bytes{1}, .count = 65'536});
  CHECK(graph_of(job).error().message.find("kTasksPerGraph") != std::string::npos);
  job.collectives.clear();
  job.node_count = 0;
  CHECK(graph_of(job).error().message.find("kNodes") != std::string::npos);

  TaskGraphBuilder build{"made", 4096};
  std::vector<std::uint32_t> all(4096);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  const auto pairs = build.family(all, 2);
  for (int i = 0; i < 33; ++i) {
    build.communicate("pair", pairs, CollectiveKind::all_reduce, Bytes{1 + i}, build.choice({}), 0);
  }
  const auto graph = std::move(build).build();
  REQUIRE(graph);
  const auto refused = job_of(*graph);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::out_of_range);
  CHECK(refused.error().message.find("kCollectivesPerJob") != std::string::npos);
}

}  // namespace
}  // namespace loom
