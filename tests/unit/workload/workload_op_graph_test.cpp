// SPDX-License-Identifier: Apache-2.0
// Operator graphs of TopoOpt's models, the reader of measured times, strategies and their task graphs; against the public task
// graphs and measurements where the data folder is present (LIGHTLOOM_DATA), and with measurements made up here.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "controller/workload/import/topoopt_graph.hpp"
#include "controller/workload/strategy.hpp"
#include "tests/skip.hpp"

namespace loom {
namespace {

std::string data_file(const std::string& name) {
  const auto file = testing::public_data(name);
  return file ? file->string() : std::string{};
}

std::string entry(const std::string& name, const std::string& division, double forward, double backward) {
  return "{\"name\":\"" + name + "\",\"pc_str\":\"" + division + "\",\"fw_time\":" + std::to_string(forward) +
         ",\"bw_time\":" + std::to_string(backward) + ",\"mem_req\":1000}";
}

std::string file_of(const std::string& entries) {
  return "{\"batch_size\": 64, \"ngpus\": 4, \"measurements\": [" + entries + "]}";
}

std::string small_file() {
  std::string entries;
  for (const std::string name : {"A", "B"}) {
    for (const int parts : {1, 2, 4}) {
      entries += (entries.empty() ? "" : ",") + entry(name, "2-1-" + std::to_string(parts), 4.0 / parts, 8.0 / parts);
    }
  }
  return file_of(entries);
}

/// A (8 wide, 400 bytes of parameters) feeds B; 64 samples on 4 nodes.
OpGraph small_graph() { return {"small", 4, 64, {{"A", {8}, {}, {{400}}}, {"B", {1}, {0}, {}}}}; }

std::string refusal(const std::string& text) {
  const auto read = read_measures(text, "made-up.json");
  REQUIRE(!read);
  CHECK(read.error().message.find("made-up.json") != std::string::npos);
  return read.error().message;
}

std::int64_t bytes_of(const TaskGraph& graph, CollectiveKind kind) {
  std::int64_t sum = 0;
  for (const Task& task : graph.tasks) {
    sum += task.kind == TaskKind::communicate && task.collective == kind ? task.bytes.count : 0;
  }
  return sum;
}

double busy_ms(const TaskGraph& graph, std::uint32_t worker) {
  double sum = 0;
  for (const Task& task : graph.tasks) {
    const auto& members = graph.families[task.family];
    for (std::uint32_t i = 0; task.kind == TaskKind::compute && i < members.count; ++i) {
      sum += graph.group(members, i)[0] == worker ? milliseconds_of(task.duration) : 0;
    }
  }
  return sum;
}

TEST_CASE("reads_measured_times_by_name_and_division") {
  const auto measures = read_measures(small_file(), "made-up.json");
  REQUIRE(measures);
  CHECK(measures->samples == 64);
  CHECK(measures->nodes == 4);
  REQUIRE(measures->entries.size() == 6);
  CHECK(measures->entries[5].degrees == std::vector<std::uint32_t>{1, 4});
  const auto times = times_of(small_graph(), *measures);
  REQUIRE(times);
  CHECK(times->lawful[0] == std::vector<std::uint32_t>{1, 2, 4});
  CHECK(times->of(0, 2).forward == std::chrono::milliseconds{2});
  CHECK(times->of(1, 4).backward == std::chrono::milliseconds{2});
}

TEST_CASE("refuses_measurements_that_say_nothing_naming_where") {
  CHECK(refusal("[1").find("not a JSON object") != std::string::npos);
  CHECK(refusal("{\"ngpus\":4,\"measurements\":[]}").find("batch_size") != std::string::npos);
  CHECK(refusal("{\"batch_size\":64,\"ngpus\":0,\"measurements\":[]}").find("ngpus") != std::string::npos);
  CHECK(refusal("{\"batch_size\":64,\"ngpus\":4}").find("measurements") != std::string::npos);
  CHECK(refusal(file_of("3")).find("measurement 0 has no 'name'") != std::string::npos);
  CHECK(refusal(file_of(entry("A", "3-1-1", 1, 1))).find("'A': 'pc_str' is \"3-1-1\"") != std::string::npos);
  CHECK(refusal(file_of(entry("A", "2-1-", 1, 1))).find("pc_str") != std::string::npos);
  CHECK(refusal(file_of(entry("A", "2-1-4", -1, 1))).find("fw_time") != std::string::npos);
  CHECK(refusal(file_of(entry("A", "2-1-4", 1, 1) + "," + entry("A", "2-1-4", 2, 1))).find("twice") != std::string::npos);
}

TEST_CASE("an_operator_without_a_measurement_is_refused_by_name") {
  OpGraph graph = small_graph();
  graph.operators[1].name = "C";
  const auto measures = read_measures(small_file(), "made-up.json");
  REQUIRE(measures);
  const auto times = times_of(graph, *measures);
  REQUIRE(!times);
  CHECK(times.error().code == ErrorCode::not_found);
  CHECK(times.error().message.find("'C'") != std::string::npos);
  graph.samples = 32;
  CHECK(times_of(graph, *measures).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("a_tensor_between_unlike_divisions_moves_what_the_parts_have_in_common") {
  const auto times = times_of(small_graph(), *read_measures(small_file(), "made-up.json"));
  REQUIRE(times);
  const auto graph = graph_of(small_graph(), *times, {{4, 0}, {2, 1}});  // A on 0 1 2 3, B on 1 3
  REQUIRE(graph);
  REQUIRE(check(*graph));
  // 16 samples a part of A, 32 bytes each: nodes 0 and 2 send theirs and get their gradients back.
  CHECK(bytes_of(*graph, CollectiveKind::point_to_point) == 2 * 2 * 16 * 32);
  CHECK(bytes_of(*graph, CollectiveKind::all_reduce) == 400);
  CHECK(busy_ms(*graph, 0) == Approx(3));
  CHECK(busy_ms(*graph, 1) == Approx(3 + 6));
  CHECK(busy_ms(*graph, 4) == Approx(2 * 400 / 4.0 / 25e6));
}

TEST_CASE("one_part_alone_is_not_reduced_and_equal_divisions_move_nothing") {
  const auto times = times_of(small_graph(), *read_measures(small_file(), "made-up.json"));
  REQUIRE(times);
  const auto alone = graph_of(small_graph(), *times, {{1, 3}, {1, 3}});
  REQUIRE(alone);
  CHECK(alone->tasks.size() == 4);
  CHECK(busy_ms(*alone, 3) == Approx(24));
  const auto alike = graph_of(small_graph(), *times, data_parallel(small_graph(), *times));
  REQUIRE(alike);
  CHECK(bytes_of(*alike, CollectiveKind::point_to_point) == 0);
  CHECK(bytes_of(*alike, CollectiveKind::all_reduce) == 400);
}

TEST_CASE("a_strategy_s_task_graph_survives_topoopt_s_format") {
  const auto times = times_of(small_graph(), *read_measures(small_file(), "made-up.json"));
  REQUIRE(times);
  const auto graph = graph_of(small_graph(), *times, {{4, 0}, {2, 1}});
  REQUIRE(graph);
  const auto written = write_topoopt_graph(*graph, {});
  REQUIRE(written);
  const auto read = read_topoopt_graph(*written, "small");
  REQUIRE(read);
  CHECK(bytes_of(read->graph, CollectiveKind::point_to_point) == bytes_of(*graph, CollectiveKind::point_to_point));
  CHECK(bytes_of(read->graph, CollectiveKind::all_reduce) == bytes_of(*graph, CollectiveKind::all_reduce));
  CHECK(read->tasks_of_kind[static_cast<std::size_t>(TopooptTask::forward)] == 6);
  CHECK(read->tasks_of_kind[static_cast<std::size_t>(TopooptTask::backward)] == 6);
}

TEST_CASE("a_strategy_that_does_not_fit_is_refused_by_operator") {
  const auto times = times_of(small_graph(), *read_measures(small_file(), "made-up.json"));
  REQUIRE(times);
  CHECK(check(small_graph(), *times, {{4, 0}}).error().code == ErrorCode::invalid_argument);
  CHECK(check(small_graph(), *times, {{4, 0}, {3, 0}}).error().message.find("'B' in 3 parts") != std::string::npos);
  CHECK(check(small_graph(), *times, {{2, 2}, {1, 0}}).error().message.find("starts at node 2") != std::string::npos);
}

TEST_CASE("every_model_is_lawful_and_has_the_operators_of_the_public_task_graphs") {
  for (const std::string_view name : topoopt_model_names()) {
    const auto graph = topoopt_model(name);
    REQUIRE(graph);
    CHECK(check(*graph));
  }
  CHECK(topoopt_model("vgg16-16")->operators.size() == 23);
  CHECK(topoopt_model("dlrm-16")->operators.size() == 40);
  CHECK(topoopt_model("candle-16")->operators.size() == 71);
  CHECK(topoopt_model("bert-16")->operators.size() == 61);
  CHECK(topoopt_model("dlrm-128")->operators.size() == 88);
  CHECK(topoopt_model("vgg").error().code == ErrorCode::not_found);
}

struct Job {
  OpGraph graph;
  OpTimes times;
};

std::optional<Job> job_of(const std::string& model, const std::string& measures) {
  const std::string file = data_file("measures/" + measures);
  if (file.empty()) {
    return std::nullopt;
  }
  const auto read = load_measures(file);
  REQUIRE(read);
  const auto graph = topoopt_model(model);
  REQUIRE(graph);
  auto times = times_of(*graph, *read);
  if (!times) {
    FAIL(times.error().message);
  }
  return Job{*graph, *times};
}

TEST_CASE("data_parallel_vgg16_is_the_public_task_graph") {
  const auto job = job_of("vgg16-16", "vgg16.json");
  const std::string file = data_file("traces/topoopt/100vgg_16.fbuf");
  if (!job || file.empty()) {
    return;
  }
  const auto ours = graph_of(job->graph, job->times, data_parallel(job->graph, job->times));
  const auto theirs = import_topoopt_graph(file);
  REQUIRE(ours);
  REQUIRE(theirs);
  CHECK(bytes_of(*ours, CollectiveKind::all_reduce) == bytes_of(theirs->graph, CollectiveKind::all_reduce));
  CHECK(static_cast<double>(bytes_of(*ours, CollectiveKind::all_reduce)) / 1e6 == Approx(1157.41).margin(0.01));
  CHECK(bytes_of(*ours, CollectiveKind::point_to_point) == 0);
  CHECK(busy_ms(*ours, 7) == Approx(100.477).margin(0.001));
  CHECK(ours->tasks.size() == 2 * 23 * 16 + 2 * 32);
  for (const Task& task : ours->tasks) {
    CHECK((task.kind == TaskKind::compute || ours->families[task.family].size == 16));
  }
}

TEST_CASE("data_parallel_dlrm_moves_what_the_public_task_graph_moves") {
  const auto job = job_of("dlrm-16", "dlrm16.json");
  const std::string file = data_file("traces/topoopt/100dlrm_16.fbuf");
  if (!job || file.empty()) {
    return;
  }
  Strategy strategy = data_parallel(job->graph, job->times);
  for (std::uint32_t op = 0; op < 5; ++op) {
    strategy[op] = {8, 0};  // as in this file: five of the bottom layers on the even nodes
  }
  const auto ours = graph_of(job->graph, job->times, strategy);
  const auto theirs = import_topoopt_graph(file);
  REQUIRE(ours);
  REQUIRE(theirs);
  CHECK(bytes_of(*ours, CollectiveKind::all_reduce) == bytes_of(theirs->graph, CollectiveKind::all_reduce));
  // Embeddings to the 15 nodes that do not hold them; the eight odd nodes' share of the bottom layers' output, both ways.
  CHECK(bytes_of(*ours, CollectiveKind::point_to_point) == bytes_of(theirs->graph, CollectiveKind::point_to_point));
}

TEST_CASE("data_parallel_candle_and_bert_reduce_as_much_as_the_public_task_graphs") {
  for (const auto& [model, measures, mega] :
       {std::tuple{"candle-16", "candle16.json", 4753.0}, std::tuple{"bert-16", "transformer16.json", 226.57}}) {
    const auto job = job_of(model, measures);
    if (!job) {
      return;
    }
    const auto graph = graph_of(job->graph, job->times, data_parallel(job->graph, job->times));
    REQUIRE(graph);
    REQUIRE(check(*graph));
    CHECK(static_cast<double>(bytes_of(*graph, CollectiveKind::all_reduce)) / 1e6 == Approx(mega).epsilon(0.001));
  }
}

}  // namespace
}  // namespace loom
