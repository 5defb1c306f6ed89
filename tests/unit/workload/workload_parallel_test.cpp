// SPDX-License-Identifier: Apache-2.0
// Parallel iterations against the closed forms of their traffic and of their pipeline.
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <numeric>

#include "controller/workload/import/tables.hpp"
#include "controller/workload/models/zoo.hpp"
#include "controller/workload/parallel.hpp"

namespace loom {
namespace {

TaskGraph graph(std::string_view name, std::uint32_t nodes, Settings values = {}) {
  auto made = make_task_graph(name, {nodes, std::move(values)});
  if (!made) {
    FAIL(made.error().message);
  }
  return std::move(*made);
}

struct Sum {
  std::int64_t tasks = 0;
  std::int64_t bytes = 0;
};

/// Collectives of `kind` whose name holds `part`.
Sum sum_of(const TaskGraph& of, CollectiveKind kind, std::string_view part = {}) {
  Sum sum;
  for (const Task& task : of.tasks) {
    if (task.kind == TaskKind::communicate && task.collective == kind && of.names[task.name].find(part) != std::string::npos) {
      ++sum.tasks;
      sum.bytes += task.bytes.count;
    }
  }
  return sum;
}

void refused(std::string_view name, std::uint32_t nodes, Settings values, std::string_view why) {
  const auto made = make_task_graph(name, {nodes, std::move(values)});
  REQUIRE_FALSE(made);
  CAPTURE(made.error().message);
  CHECK(made.error().message.find(why) != std::string::npos);
}

/// `blocks` alike.
Model uniform(std::size_t blocks) {
  Model model;
  model.name = "uniform";
  for (std::size_t i = 0; i < blocks; ++i) {
    model.blocks.push_back({.name = "block" + std::to_string(i),
                            .parameters = 1000,
                            .multiply_accumulates = 1'000'000,
                            .boundary = 10,
                            .tensor_reduces = 2});
  }
  return model;
}

TEST_CASE("every_workload_makes_a_lawful_graph_and_a_job") {
  for (const std::string_view name : workload_names()) {
    CAPTURE(name);
    const TaskGraph made = graph(name, 4);
    CHECK(check(made));
    CHECK(made.parameters > 0);
    CHECK(made.nodes == 4);
    CHECK(made.assumptions.size() >= 3);
    CHECK(made.assumptions[0].find("compute_ms") == 0);
    const auto job = make_workload(name, {4, {}});
    REQUIRE(job);
    CHECK(job->compute > Duration{0});
    CHECK_FALSE(job->collectives.empty());
    CHECK_FALSE(workload_keys(name).empty());
  }
}

TEST_CASE("data_parallel_ranks_reduce_every_gradient_once") {
  for (const char* name : {"vgg16", "resnet50", "gpt2-355m", "bert-large", "candle"}) {
    const TaskGraph made = graph(name, 8);
    const std::int64_t bytes = std::string_view{name} == "gpt2-355m" ? 2 : 4;
    CAPTURE(name);
    CHECK(sum_of(made, CollectiveKind::all_reduce).bytes == made.parameters * bytes);
    for (const Task& task : made.tasks) {
      if (task.kind == TaskKind::communicate) {
        CHECK(made.families[task.family].size == 8);
      }
    }
  }
}

TEST_CASE("tensor_parallelism_reduces_four_times_a_layer_and_micro_batch") {
  const TaskGraph made = graph("gpt2-355m", 8, {{"tp", "4"}, {"batch", "6"}, {"micro_batch", "2"}});
  const Sum tensor = sum_of(made, CollectiveKind::all_reduce, ".tensor");
  CHECK(tensor.tasks == 24 * 4 * 3);
  CHECK(tensor.bytes == tensor.tasks * 2 * 1024 * 1024 * 2);
  const Sum gradients = sum_of(made, CollectiveKind::all_reduce, "gradients");
  CHECK(gradients.bytes == Approx(static_cast<double>(made.parameters) * 2 / 4).epsilon(1e-4));
}

TEST_CASE("a_pipeline_hands_activations_on_and_their_gradients_back") {
  const TaskGraph made = graph("gpt2-355m", 8, {{"pp", "4"}, {"batch", "6"}});
  const Sum handed = sum_of(made, CollectiveKind::point_to_point);
  CHECK(handed.tasks == 2 * 3 * 6);
  CHECK(handed.bytes == handed.tasks * 1024 * 1024 * 2);
  const Sum tied = sum_of(made, CollectiveKind::all_reduce, "tied embedding");
  CHECK(tied.tasks == 1);
  CHECK(tied.bytes == 50'257LL * 1024 * 2);
  // the tied embedding is held twice
  CHECK(sum_of(made, CollectiveKind::all_reduce, "gradients").bytes == made.parameters * 2 + tied.bytes);
}

TEST_CASE("experts_exchange_tokens_twice_forward_and_twice_backward") {
  const TaskGraph made = graph("moe", 16, {{"ep", "8"}, {"batch", "2"}, {"micro_batch", "1"}});
  const Sum exchanged = sum_of(made, CollectiveKind::all_to_all);
  CHECK(exchanged.tasks == 32 * 4 * 2);
  CHECK(exchanged.bytes == exchanged.tasks * 2 * 4096 * 4096 * 2);
  const Sum experts = sum_of(made, CollectiveKind::all_reduce, "experts'");
  CHECK(experts.bytes == 32LL * 3 * 4096 * 14'336 * 2);
  const std::int64_t dense = 46'702'792'704 - 32LL * 8 * 3 * 4096 * 14'336;
  CHECK(sum_of(made, CollectiveKind::all_reduce).bytes - experts.bytes == dense * 2);
  for (const Task& task : made.tasks) {
    if (task.kind == TaskKind::communicate && task.collective == CollectiveKind::all_to_all) {
      CHECK(made.families[task.family].size == 8);
      CHECK(made.families[task.family].count == 2);
    }
  }
}

TEST_CASE("zero_scatters_gradients_and_gathers_parameters") {
  for (const char* stage : {"1", "2"}) {
    const TaskGraph made = graph("gpt2-355m", 8, {{"zero", stage}});
    CHECK(sum_of(made, CollectiveKind::all_reduce).tasks == 0);
    CHECK(sum_of(made, CollectiveKind::reduce_scatter).bytes == made.parameters * 2);
    CHECK(sum_of(made, CollectiveKind::all_gather).bytes == made.parameters * 2);
  }
  const TaskGraph sharded = graph("gpt2-355m", 8, {{"zero", "3"}, {"batch", "4"}, {"micro_batch", "2"}});
  CHECK(sum_of(sharded, CollectiveKind::reduce_scatter).bytes == 2 * sharded.parameters * 2);
  CHECK(sum_of(sharded, CollectiveKind::all_gather).bytes == 2 * 2 * sharded.parameters * 2);
}

TEST_CASE("ranks_lie_in_megatron_s_order") {
  const TaskGraph made = graph("moe", 16, {{"tp", "2"}, {"pp", "2"}, {"ep", "2"}, {"batch", "2"}});
  std::map<std::string, std::vector<std::uint32_t>> first;  // the first group of the first task of a name
  for (const Task& task : made.tasks) {
    const auto group = made.group(made.families[task.family], 0);
    std::string name = made.names[task.name];
    name = name.substr(name.find('.') == std::string::npos ? 0 : name.find('.'));
    if (task.kind == TaskKind::communicate && group[0] == 0) {
      first.emplace(name, std::vector<std::uint32_t>(group.begin(), group.end()));
    }
  }
  CHECK(first.at(".tensor") == std::vector<std::uint32_t>{0, 1});
  CHECK(first.at(".experts") == std::vector<std::uint32_t>{0, 2});
  CHECK(first.at("experts' gradients") == std::vector<std::uint32_t>{0, 4});
  CHECK(first.at("gradients") == std::vector<std::uint32_t>{0, 2, 4, 6});
  CHECK(first.at("activations") == std::vector<std::uint32_t>{0, 8});
}

TEST_CASE("a_thousand_ranks_have_as_many_tasks_as_layers_and_micro_batches") {
  const Settings values{{"tp", "8"}, {"pp", "4"}, {"batch", "8"}};
  const TaskGraph large = graph("megatron-8.3b", 1024, values);
  const TaskGraph small = graph("megatron-8.3b", 64, values);
  CHECK(large.tasks.size() == small.tasks.size());
  CHECK(large.tasks.size() < 74 * 8 * 10);
  CHECK(large.members.size() < 1024 * 12);
  const auto job = job_of(large);
  REQUIRE(job);
  CHECK(job->node_count == 1024);
}

TEST_CASE("a_pipeline_s_bubble_is_that_of_theory") {
  for (const PipelineSchedule schedule : {PipelineSchedule::one_forward_one_backward, PipelineSchedule::gpipe}) {
    for (const std::uint32_t stages : {1U, 2U, 4U}) {
      for (const std::int64_t micro : {1, 2, 4, 8, 16}) {
        Parallelism of{.nodes = stages, .pipeline = stages, .batch = micro, .schedule = schedule};
        of.compute = std::chrono::microseconds{micro * 300};
        const auto made = iteration_of(uniform(8), of);
        REQUIRE(made);
        const auto job = job_of(*made);
        REQUIRE(job);
        CAPTURE(stages, micro);
        // Narayanan et al. 2021, section 2.2.1: (m + p - 1) (t_f + t_b)
        CHECK(job->compute == std::chrono::microseconds{300 * (micro + stages - 1)});
      }
    }
  }
}

TEST_CASE("one_forward_one_backward_holds_no_more_micro_batches_than_stages_ahead") {
  for (const bool gpipe : {false, true}) {
    Parallelism of{.nodes = 4, .pipeline = 4, .batch = 8};
    of.compute = std::chrono::milliseconds{8};
    of.schedule = gpipe ? PipelineSchedule::gpipe : PipelineSchedule::one_forward_one_backward;
    const auto made = iteration_of(uniform(4), of);
    REQUIRE(made);
    for (std::uint32_t stage = 0; stage < 4; ++stage) {
      int held = 0;
      int most = 0;
      for (const Task& task : made->tasks) {
        if (task.kind == TaskKind::compute && made->group(made->families[task.family], 0)[0] == stage) {
          held += made->names[task.name].find("forward") != std::string::npos ? 1 : -1;
          most = std::max(most, held);
        }
      }
      CAPTURE(gpipe, stage);
      CHECK(held == 0);
      CHECK(most == (gpipe ? 8 : static_cast<int>(4 - stage)));
    }
  }
}

TEST_CASE("stages_share_the_work_and_none_is_empty") {
  CHECK(stages_of(uniform(8), 4) == std::vector<std::size_t>{0, 2, 4, 6, 8});
  Model skewed = uniform(5);
  skewed.blocks[4].multiply_accumulates = 1'000'000'000;
  CHECK(stages_of(skewed, 5) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
  skewed = uniform(5);
  skewed.blocks[0].multiply_accumulates = 1'000'000'000;
  CHECK(stages_of(skewed, 3) == std::vector<std::size_t>{0, 1, 2, 5});
  const auto gpt = model_of("gpt2-xl", {});
  REQUIRE(gpt);
  for (std::uint32_t stages = 1; stages <= 50; ++stages) {
    const auto cuts = stages_of(*gpt, stages);
    CHECK(cuts.size() == stages + 1);
    CHECK(std::adjacent_find(cuts.begin(), cuts.end()) == cuts.end());
  }
}

TEST_CASE("compute_adds_up_to_the_named_time") {
  for (const char* values : {"1", "2", "4"}) {
    const TaskGraph made =
        graph("bert-large", 8, {{"tp", values}, {"compute_ms", "12.345"}, {"batch", "4"}, {"micro_batch", "2"}});
    Duration total{0};
    for (const Task& task : made.tasks) {
      total += task.kind == TaskKind::compute ? task.duration : Duration{0};
    }
    CHECK(total == std::chrono::microseconds{12'345});
  }
  const TaskGraph whole = graph("gpt2-xl", 8, {{"flops", "100"}});
  const auto job = job_of(whole);
  REQUIRE(job);
  CHECK(seconds_of(job->compute) == Approx(3 * 3507.0e9 * 8 / 100e12).epsilon(1e-3));
  CHECK(whole.assumptions[0].find("given: flops = 100") != std::string::npos);
  const auto split = make_workload("gpt2-xl", {8, {{"flops", "100"}, {"tp", "8"}}});
  REQUIRE(split);
  CHECK(split->compute.count() == Approx(static_cast<double>(job->compute.count()) / 8).epsilon(1e-6));
}

TEST_CASE("gradients_leave_in_reverse_order_as_their_blocks_are_done") {
  const auto job = make_workload("gpt2-355m", {8, {{"compute_ms", "90"}}});
  REQUIRE(job);
  Duration before = std::chrono::milliseconds{30};
  for (const Collective& bucket : job->collectives) {
    CHECK(bucket.ready >= before);
    before = bucket.ready;
  }
  CHECK(before == std::chrono::milliseconds{90});
  CHECK(job->collectives.back().bytes.count >= 52'511'744 * 2);  // the embedding comes last
  const auto serial = make_workload("gpt2-355m", {8, {{"overlap", "none"}}});
  REQUIRE(serial);
  CHECK(serial->collectives.size() == 1);
}

TEST_CASE("dlrm_and_ncf_exchange_rows_and_reduce_their_perceptrons") {
  const TaskGraph dlrm = graph("dlrm", 64, {{"l", "128"}});
  CHECK(sum_of(dlrm, CollectiveKind::all_to_all).tasks == 2);
  CHECK(sum_of(dlrm, CollectiveKind::all_to_all).bytes == 2LL * 128 * 64 * 128 * 4);
  CHECK(dlrm.parameters == 64LL * 10'000'000 * 128 + sum_of(dlrm, CollectiveKind::all_reduce).bytes / 4);
  const TaskGraph ncf = graph("ncf", 16);
  CHECK(sum_of(ncf, CollectiveKind::all_reduce).bytes == 4LL * 8 * (4096 * 4096 + 4096));
  CHECK(sum_of(ncf, CollectiveKind::all_to_all).bytes == 2LL * 128 * 64 * 192 * 4);
}

TEST_CASE("topoopt_s_testbed_moves_the_published_bytes") {
  // docs/systems/topoopt.md#testbed: perceptrons of 231, 1159 and 516 MB; l x dim x 4 x 11 bytes of rows from each of 12 ranks
  struct Published {
    std::string dimension;
    std::string bottom;
    std::string top;
    std::int64_t perceptron_megabytes;
  };
  std::string fifteen = "4096";
  for (int i = 1; i < 15; ++i) {
    fifteen += "-4096";
  }
  const std::array<Published, 3> published{
      Published{"4096", "4096-4096-4096", "1024-1024-1024-1024-1", 231},
      Published{"4096", fifteen, "2048-2048-2048-2048-2048-2048-2048-2048-1", 1159},
      Published{"32768", "2048-2048-2048-2048-2048-2048-2048", "1024-1024-1024-1024-1", 516}};
  for (const Published& each : published) {
    const TaskGraph made =
        graph("dlrm", 12, {{"l", "32"}, {"tables", "12"}, {"dim", each.dimension}, {"bottom", each.bottom}, {"top", each.top}});
    CAPTURE(each.perceptron_megabytes);
    const auto reduced = static_cast<double>(sum_of(made, CollectiveKind::all_reduce).bytes);
    CHECK(reduced * 1e-6 == Approx(static_cast<double>(each.perceptron_megabytes)).margin(0.6));
    const std::int64_t rows = sum_of(made, CollectiveKind::all_to_all).bytes / 2;
    CHECK(rows / 12 * 11 == 32 * std::stoll(each.dimension) * 4 * 11);
  }
}

TEST_CASE("topoopt_s_vgg16_reduces_the_published_bytes_in_the_measured_time") {
  const auto job = make_workload("vgg16", {16, {{"image", "229"}, {"pad", "2"}, {"batch", "64"}}});
  REQUIRE(job);
  std::int64_t bytes = 0;
  for (const Collective& bucket : job->collectives) {
    bytes += bucket.bytes.count * bucket.count;
  }
  CHECK(bytes == 1'157'409'952);
  CHECK(job->compute == std::chrono::microseconds{100'480});
}

TEST_CASE("the_algorithm_of_gradients_is_a_setting") {
  const TaskGraph rings = graph("vgg16", 12, {{"collective", "bidirectional_ring"}, {"strides", "1-5"}});
  bool found = false;
  for (const Task& task : rings.tasks) {
    if (task.kind == TaskKind::communicate) {
      const CollectiveChoice& choice = rings.choices[task.choice];
      CHECK(choice.algorithm == CollectiveAlgorithm::bidirectional_ring);
      CHECK(choice.strides == std::vector<std::uint32_t>{1, 5});
      found = true;
    }
  }
  CHECK(found);
  CHECK(rings.assumptions.back() == "gradients by bidirectional_ring");
  refused("vgg16", 12, {{"collective", "ring"}, {"strides", "3"}}, "stride 3 is not prime to 12");
  refused("vgg16", 12, {{"collective", "rings"}}, "collective=rings");
  refused("gpt2-355m", 8, {{"collective", "tree"}, {"zero", "1"}}, "reduce_scatter by tree");
}

TEST_CASE("degrees_that_do_not_fit_are_refused") {
  refused("gpt2-355m", 12, {{"tp", "8"}}, "do not fall into replicas");
  refused("gpt2-355m", 8, {{"tp", "2"}, {"dp", "8"}}, "dp follows from the others");
  refused("gpt2-355m", 8, {{"ep", "2"}}, "has no experts");
  refused("vgg16", 8, {{"tp", "2"}}, "no tensor-parallel form");
  refused("moe", 12, {{"ep", "8"}}, "does not divide the 12");
  refused("moe", 9, {{"ep", "3"}}, "does not divide its experts");
  refused("vgg16", 32, {{"pp", "32"}}, "32 stages for 16 blocks");
  refused("gpt2-355m", 8, {{"batch", "5"}, {"micro_batch", "2"}}, "does not divide batch");
  refused("gpt2-355m", 8, {{"zero", "4"}}, "zero=4");
  refused("gpt2-355m", 8, {{"hiden", "4"}}, "'hidden'");
  refused("gpt2-355m", 8, {{"batch", "1000000"}, {"micro_batch", "1"}}, "kTasksPerGraph");
  refused("gpt2-355m", 0, {}, "kNodes");
  refused("gpt4", 8, {}, "no workload 'gpt4'");
}

}  // namespace
}  // namespace loom
