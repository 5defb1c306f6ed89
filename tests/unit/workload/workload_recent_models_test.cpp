// SPDX-License-Identifier: Apache-2.0
// Models since 2023 against their published totals, and what they bring with them: GPUs, precisions, GPUs of a node, context
// parallelism, interleaved and uneven pipelines.
#include <catch2/catch.hpp>
#include <chrono>
#include <map>

#include "controller/workload/models/gpus.hpp"
#include "controller/workload/models/zoo.hpp"
#include "controller/workload/parallel.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;

TaskGraph graph(std::string_view name, std::uint32_t nodes, Settings values = {}) {
  auto made = make_task_graph(name, {nodes, std::move(values)});
  if (!made) {
    FAIL(made.error().message);
  }
  return std::move(*made);
}

std::string refusal(std::string_view name, std::uint32_t nodes, Settings values) {
  const auto made = make_task_graph(name, {nodes, std::move(values)});
  REQUIRE_FALSE(made);
  return made.error().message;
}

/// Tasks of this kind whose name holds `part`, and their bytes.
std::pair<std::int64_t, std::int64_t> sum_of(const TaskGraph& of, CollectiveKind kind, std::string_view part) {
  std::pair<std::int64_t, std::int64_t> sum{0, 0};
  for (const Task& task : of.tasks) {
    if (task.kind == TaskKind::communicate && task.collective == kind && of.names[task.name].find(part) != std::string::npos) {
      ++sum.first;
      sum.second += task.bytes.count;
    }
  }
  return sum;
}

/// Compute tasks of that name.
std::pair<std::int64_t, Duration> time_of(const TaskGraph& of, std::string_view part) {
  std::pair<std::int64_t, Duration> sum{0, Duration{0}};
  for (const Task& task : of.tasks) {
    if (task.kind == TaskKind::compute && of.names[task.name].find(part) != std::string::npos) {
      ++sum.first;
      sum.second += task.duration;
    }
  }
  return sum;
}

std::string assumptions(const TaskGraph& of) {
  std::string all;
  for (const std::string& each : of.assumptions) {
    all += each + "\n";
  }
  return all;
}

Model uniform(std::size_t blocks) {
  Model model;
  model.name = "uniform";
  for (std::size_t i = 0; i < blocks; ++i) {
    model.blocks.push_back(
        {.name = "block" + std::to_string(i), .parameters = 1000, .multiply_accumulates = 1'000'000, .boundary = 10});
  }
  return model;
}

TEST_CASE("parameters_of_recent_models_equal_the_published_ones") {
  // of the weights as published: to the last parameter for Llama 3; 671 B with 37 B active, 46.7 B with 12.9 B active
  const std::map<std::string_view, std::int64_t> published{{"llama3-8b", 8'030'261'248},
                                                           {"llama3-70b", 70'553'706'496},
                                                           {"llama3-405b", 405'853'388'800},
                                                           {"mixtral-8x7b", 46'702'792'704}};
  for (const auto& [name, parameters] : published) {
    CAPTURE(name);
    CHECK(parameters_of(*model_of(name, {})) == parameters);
  }
  const auto deepseek = model_of("deepseek-v3", {});
  REQUIRE(deepseek);
  CHECK(static_cast<double>(parameters_of(*deepseek)) == Approx(671e9).epsilon(0.001));
  // the report rounds down: 37.55 with the embedding, 36.6 without
  CHECK(static_cast<double>(active_parameters_of(*deepseek)) == Approx(37e9).epsilon(0.02));
  CHECK(static_cast<double>(active_parameters_of(*model_of("mixtral-8x7b", {}))) == Approx(12.9e9).epsilon(0.01));
  const auto dense = model_of("llama3-8b", {});
  CHECK(active_parameters_of(*dense) == parameters_of(*dense));
}

TEST_CASE("forward_work_of_recent_models_is_what_the_page_says") {
  // GFLOP of a sample, two a multiply-accumulate; worked out apart from the program, matrix by matrix
  const std::map<std::string_view, double> gigaflops{{"mixtral-8x7b", 1'398'441},
                                                     {"llama3-8b", 158'141},
                                                     {"llama3-70b", 1'314'638},
                                                     {"llama3-405b", 7'169'159},
                                                     {"deepseek-v3", 383'866}};
  for (const auto& [name, wanted] : gigaflops) {
    CAPTURE(name);
    CHECK(2e-9 * static_cast<double>(multiply_accumulates_of(*model_of(name, {}))) == Approx(wanted).margin(0.5).epsilon(0));
  }
}

TEST_CASE("a_shape_that_does_not_fit_itself_is_refused") {
  CHECK_THAT(refusal("llama3-8b", 4, {{"heads", "30"}}), Contains("heads = 30 does not divide hidden"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"kv_heads", "5"}}), Contains("kv_heads = 5"));
  CHECK_THAT(refusal("deepseek-v3", 4, {{"dense_layers", "62"}}), Contains("dense_layers = 62 of 61"));
  CHECK_THAT(refusal("deepseek-v3", 4, {{"top_k", "300"}}), Contains("top_k = 300 of 256"));
}

TEST_CASE("a_gpu_gives_the_pace_by_precision_and_utilisation") {
  const auto ms = [](Settings values) { return graph("llama3-8b", 4, std::move(values)).assumptions.front(); };
  const auto job = [](Settings values) { return make_workload("llama3-8b", {4, std::move(values)})->compute; };
  CHECK_THAT(ms({}), Contains("mfu = 0.4 (assumed") && Contains("989.5 TFLOP/s, dense bf16, h100"));
  const double whole = static_cast<double>(job({}).count());
  CHECK(static_cast<double>(job({{"precision", "fp8"}}).count()) == Approx(whole / 2));
  CHECK(static_cast<double>(job({{"mfu", "0.8"}}).count()) == Approx(whole / 2));
  CHECK(static_cast<double>(job({{"gpu", "a100"}}).count()) == Approx(whole * 989.5 / 312));
  CHECK(static_cast<double>(job({{"flops", "395.8"}}).count()) == Approx(whole));
  CHECK_THAT(refusal("llama3-8b", 4, {{"gpu", "v100"}}), Contains("v100 has no rate for bf16") && Contains("a100, h100"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"gpu", "h10"}}), Contains("no GPU 'h10'") && Contains("'h100'"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"mfu", "0.5"}, {"flops", "100"}}), Contains("flops and mfu"));
  CHECK_THAT(refusal("gpt2-355m", 4, {{"mfu", "0.5"}}), Contains("mfu does nothing here: it goes with gpu"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"mfu", "0.5"}, {"compute_ms", "1"}}), Contains("not with compute_ms"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"mfu", "1.5"}}), Contains("mfu=1.5"));
}

TEST_CASE("a_gpu_named_for_an_older_model_replaces_its_pace_and_nothing_else_does") {
  const auto before = make_workload("gpt2-355m", {4, {}});
  const auto named = make_workload("gpt2-355m", {4, {{"gpu", "a100"}, {"mfu", "0.5"}}});
  REQUIRE((before && named));
  CHECK(static_cast<double>(named->compute.count()) == Approx(static_cast<double>(before->compute.count()) * 140 / 156));
}

TEST_CASE("precision_says_the_bytes_of_each_kind_of_tensor") {
  const Settings base{{"ep", "8"}, {"zero", "1"}};
  const auto with = [&](const char* precision) {
    Settings values = base;
    values["precision"] = precision;
    return graph("mixtral-8x7b", 8, values);
  };
  const TaskGraph bf16 = with("bf16");
  const TaskGraph fp8 = with("fp8");
  const auto routed = sum_of(bf16, CollectiveKind::all_to_all, "experts");
  const auto routed8 = sum_of(fp8, CollectiveKind::all_to_all, "experts");
  CHECK(routed.first == 32 * 4);
  CHECK(routed.second == routed.first * 2 * 32768 * 4096 * 2);
  CHECK(routed8.second == routed.second / 4 * 3);  // dispatched at 1 byte, combined at 2, either way
  CHECK(sum_of(fp8, CollectiveKind::reduce_scatter, "gradients") == sum_of(bf16, CollectiveKind::reduce_scatter, "gradients"));
  CHECK(sum_of(fp8, CollectiveKind::all_gather, "parameters").second * 2 ==
        sum_of(bf16, CollectiveKind::all_gather, "parameters").second);
  CHECK_THAT(assumptions(fp8), Contains("fp8: dispatched tokens"));
  CHECK(sum_of(with("fp32"), CollectiveKind::all_to_all, "experts").second == 2 * routed.second);
}

TEST_CASE("tensor_parallelism_inside_a_node_takes_time_and_no_fabric") {
  const Settings values{{"gpus_per_node", "8"}, {"tp", "8"}, {"batch", "1"}, {"gpu", "h100"}};
  const TaskGraph made = graph("llama3-8b", 4, values);
  CHECK(made.nodes == 4);
  CHECK(sum_of(made, CollectiveKind::all_reduce, ".tensor").first == 0);
  const auto inside = time_of(made, ".tensor in node");
  CHECK(inside.first == 32 * 4);
  const double bytes = 8192.0 * 4096 * 2;
  CHECK(static_cast<double>(inside.second.count()) ==
        Approx(32 * 4 * 2 * 7.0 / 8 * bytes / 450).epsilon(1e-6));  // ns at 450 GB/s
  // eight shards of a node are together the whole
  const auto gradients = sum_of(made, CollectiveKind::all_reduce, "gradients");
  CHECK(static_cast<double>(gradients.second) == Approx(8'030'261'248.0 * 2).epsilon(1e-6));
  CHECK_THAT(assumptions(made), Contains("8 GPUs a node") && Contains("in a node tp 8, cp 1, dp 1"));
}

TEST_CASE("gradients_are_reduced_in_the_node_before_the_nodes_begin") {
  const TaskGraph made = graph("llama3-8b", 4, {{"gpus_per_node", "8"}, {"bucket_mb", "0"}});
  const auto across = sum_of(made, CollectiveKind::all_reduce, "gradients");
  CHECK(across.second == 8'030'261'248 * 2);  // once a node, not once a GPU
  const auto inside = time_of(made, "gradients in node");
  CHECK(inside.first == across.first);
  CHECK(static_cast<double>(inside.second.count()) == Approx(2 * 7.0 / 8 * 8'030'261'248.0 * 2 / 450).epsilon(1e-6));
  const TaskGraph slow = graph("llama3-8b", 4, {{"gpus_per_node", "8"}, {"bucket_mb", "0"}, {"node_rate", "360G"}});
  CHECK(static_cast<double>(time_of(slow, "gradients in node").second.count()) ==
        Approx(10.0 * static_cast<double>(inside.second.count())).epsilon(1e-6));
  const TaskGraph alone = graph("llama3-8b", 1, {{"gpus_per_node", "8"}});
  CHECK(sum_of(alone, CollectiveKind::all_reduce, "").first == 0);
  CHECK(time_of(alone, "gradients in node").first > 0);
}

TEST_CASE("experts_in_a_node_exchange_among_themselves") {
  const TaskGraph made = graph("mixtral-8x7b", 2, {{"gpus_per_node", "4"}, {"ep", "8"}});
  const auto across = sum_of(made, CollectiveKind::all_to_all, "experts");
  CHECK(across.first == 32 * 4);
  // each of four GPUs sends half of its tokens to the other node: all-to-all of two nodes with four times the bytes
  CHECK(across.second == across.first * 4 * 2 * 32768 * 4096 * 2);
  CHECK(static_cast<double>(time_of(made, "experts in node").second.count()) ==
        Approx(32 * 4 * 3.0 / 8 * 2 * 32768 * 4096 * 2 / 450).epsilon(1e-6));
  CHECK(sum_of(graph("mixtral-8x7b", 2, {{"gpus_per_node", "8"}, {"ep", "8"}}), CollectiveKind::all_to_all, "").first == 0);
}

TEST_CASE("degrees_that_tear_a_node_apart_are_refused") {
  CHECK_THAT(refusal("llama3-8b", 6, {{"gpus_per_node", "8"}, {"tp", "3"}}), Contains("tp = 3 does not fit gpus_per_node = 8"));
  CHECK_THAT(refusal("llama3-8b", 2, {{"gpus_per_node", "8"}, {"pp", "16"}, {"batch", "16"}}), Contains("one pipeline stage"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"node_rate", "900G"}}), Contains("node_rate does nothing here"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"gpus_per_node", "2"}, {"node_rate", "900"}}),
             Contains("node_rate") && Contains("no unit"));
  CHECK_THAT(refusal("llama3-8b", 3, {{"gpus_per_node", "2"}, {"tp", "4"}}), Contains("3 nodes of 2 GPUs"));
}

TEST_CASE("context_parallel_ranks_gather_keys_and_values") {
  const TaskGraph made = graph("llama3-8b", 8, {{"cp", "4"}, {"batch", "1"}});
  const std::int64_t keys_and_values = 2LL * 8192 * 1024 * 2;
  CHECK(sum_of(made, CollectiveKind::all_gather, ".context") == std::pair{std::int64_t{64}, 64 * keys_and_values});
  CHECK(sum_of(made, CollectiveKind::reduce_scatter, ".context") == std::pair{std::int64_t{32}, 32 * keys_and_values});
  CHECK_THAT(assumptions(made), Contains("context=gather, as Llama 3"));
  // ranks of one sequence hold the same parameters: all eight reduce gradients
  for (const Task& task : made.tasks) {
    if (task.kind == TaskKind::communicate && task.collective == CollectiveKind::all_reduce) {
      CHECK(made.families[task.family].size == 8);
    }
  }
  const TaskGraph split = graph("llama3-8b", 64, {{"cp", "2"}, {"tp", "16"}, {"batch", "1"}});
  CHECK(sum_of(split, CollectiveKind::all_gather, ".context").second == 64 * keys_and_values / 8);  // eight groups, not sixteen
  CHECK_THAT(refusal("vgg19", 4, {{"cp", "2"}}), Contains("cp must be 1"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"context", "ring"}}), Contains("context does nothing here"));
}

TEST_CASE("ring_attention_moves_the_same_bytes_beside_compute") {
  const Settings gather{{"cp", "4"}, {"batch", "1"}};
  Settings ring = gather;
  ring["context"] = "ring";
  const TaskGraph before = graph("llama3-8b", 4, gather);
  const TaskGraph beside = graph("llama3-8b", 4, ring);
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    CHECK(sum_of(before, kind, ".context") == sum_of(beside, kind, ".context"));
  }
  CHECK(time_of(before, "layer").second == time_of(beside, "layer").second);
  const auto hidden = [](const TaskGraph& of) {  // collectives that compute need not wait for at once
    const auto job = job_of(of);
    REQUIRE(job);
    std::int64_t count = 0;
    for (const Collective& each : job->collectives) {
      count += each.kind == CollectiveKind::all_gather && each.needed > each.ready ? each.count : 0;
    }
    return count;
  };
  CHECK(hidden(before) == 0);
  CHECK(hidden(beside) == 64);
}

TEST_CASE("the_bubble_of_an_interleaved_pipeline_is_stages_less_one_by_chunks_and_micro_batches") {
  for (const std::uint32_t chunks : {1U, 2U, 4U}) {
    for (const std::int64_t micro : {4, 8, 16}) {
      CAPTURE(chunks, micro);
      Parallelism of{.nodes = 4, .pipeline = 4, .chunks = chunks, .batch = micro};
      of.compute = std::chrono::milliseconds{96};
      const auto made = iteration_of(uniform(16), of);
      REQUIRE(made);
      const auto job = job_of(*made);
      REQUIRE(job);
      CHECK(static_cast<double>(job->compute.count()) ==
            Approx(96e6 * (1 + 3.0 / (static_cast<double>(chunks) * static_cast<double>(micro)))).epsilon(1e-6));
      CHECK(sum_of(*made, CollectiveKind::point_to_point, "activations").first == 2 * (4 * std::int64_t{chunks} - 1) * micro);
    }
  }
  CHECK_THAT(refusal("llama3-8b", 4, {{"virtual_stages", "2"}}), Contains("virtual_stages = 2 needs"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"pp", "4"}, {"virtual_stages", "2"}, {"batch", "6"}}), Contains("multiples of pp = 4"));
  CHECK_THAT(refusal("llama3-8b", 4, {{"pp", "4"}, {"virtual_stages", "9"}}), Contains("4 x 9 for 34 blocks"));
}

TEST_CASE("uneven_pipeline_stages_are_played_as_they_are_and_said") {
  const TaskGraph uneven = graph("deepseek-v3", 8, {{"pp", "8"}});
  CHECK_THAT(assumptions(uneven), Contains("uneven stages of ") && Contains("sets the pace"));
  const auto even = iteration_of(uniform(8), {.nodes = 4, .pipeline = 4, .batch = 8});
  REQUIRE(even);
  Parallelism of{.nodes = 4, .pipeline = 4, .batch = 8};
  of.compute = std::chrono::milliseconds{90};
  const auto nine = iteration_of(uniform(9), of);
  REQUIRE(nine);
  // three blocks of nine on one stage: at least four thirds of the mean, for all micro-batches
  CHECK(job_of(*nine)->compute >= std::chrono::milliseconds{120});
}

TEST_CASE("new_degrees_of_one_change_nothing") {
  for (const char* name : {"gpt2-355m", "moe"}) {
    CAPTURE(name);
    const Settings old{{"tp", "2"}, {"pp", "2"}, {"batch", "4"}};
    Settings said = old;
    said.insert({{"cp", "1"}, {"gpus_per_node", "1"}, {"virtual_stages", "1"}, {"context", "gather"}});
    const TaskGraph before = graph(name, 8, old);
    const TaskGraph after = graph(name, 8, said);
    CHECK(before.members == after.members);
    CHECK(before.successors == after.successors);
    CHECK(before.assumptions == after.assumptions);
    CHECK(before.tasks.size() == after.tasks.size());
  }
}

TEST_CASE("the_gpu_table_is_what_data_sheets_say") {
  CHECK(gpus().size() >= 6);
  CHECK(gpu_of("a100")->node_rate == gigabits(2400));
  CHECK(*flops_of(*gpu_of("h100"), NumberFormat::fp8) == Approx(1979e12));
  CHECK(*flops_of(*gpu_of("b200"), NumberFormat::bf16) == Approx(2250e12));
  CHECK(flops_of(*gpu_of("p100"), NumberFormat::bf16).error().code == ErrorCode::unsupported);
  for (const Gpu& gpu : gpus()) {
    CAPTURE(gpu.name);
    CHECK_FALSE(gpu.sheet.empty());
    CHECK(gpu.fp16 >= gpu.fp32);
    CHECK(gpu.gigabytes > 0);
    CHECK(gpu.node_rate.bits_per_second > 0);
  }
}

}  // namespace
}  // namespace loom
