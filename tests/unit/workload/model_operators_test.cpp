// SPDX-License-Identifier: Apache-2.0
// Any model as operators for a strategy search: what they hold, compute and hand on, and what a search refuses to be told.
#include <catch2/catch.hpp>
#include <numeric>

#include "controller/workload/models/model_operators.hpp"
#include "controller/workload/strategy.hpp"

namespace loom {
namespace {

std::int64_t elements_held(const OpGraph& graph, std::int64_t bytes_per_element) {
  std::int64_t bytes = 0;
  for (const Operator& each : graph.operators) {
    bytes += parameter_bytes(each).count;
  }
  return bytes / bytes_per_element;
}

/// Forward and backward of the samples of one node, ms.
double node_ms(const ModelOperators& of) {
  double ns = 0;
  for (std::uint32_t op = 0; op < of.graph.operators.size(); ++op) {
    const OpTime& time = of.times.of(op, of.times.lawful[op].back());
    ns += static_cast<double>((time.forward + time.backward).count()) * of.times.lawful[op].back() / of.graph.nodes;
  }
  return ns / 1e6;
}

TEST_CASE("a_models_operators_hold_its_parameters_and_take_its_time") {
  for (const auto& [name, bytes] : {std::pair{"vgg16", 4}, {"resnet50", 4}, {"gpt2-xl", 2}, {"moe", 2}}) {
    INFO(name);
    const auto model = model_of(name, {});
    const auto made = model_operators(name, {8, {{"compute_ms", "50"}}, {}});
    REQUIRE(model);
    REQUIRE(made);
    CHECK(elements_held(made->graph, bytes) == parameters_of(*model));
    CHECK(node_ms(*made) == Approx(50).epsilon(1e-3));
    CHECK(made->graph.samples == 8 * model->batch);
    CHECK(check(made->graph, made->times, data_parallel(made->graph, made->times)));
  }
}

TEST_CASE("an_expert_sees_its_part_of_the_samples_and_moves_no_more") {
  const auto made = model_operators("moe", {8, {}, {}});
  REQUIRE(made);
  const auto& operators = made->graph.operators;
  const auto expert = std::ranges::find_if(operators, [](const Operator& each) { return each.sees < 1; });
  REQUIRE(expert != operators.end());
  CHECK(expert->sees == Approx(2.0 / 8));
  const auto at = static_cast<std::uint32_t>(expert - operators.begin());
  REQUIRE(expert->inputs.size() == 1);
  CHECK(moved_bytes(made->graph, expert->inputs[0], at) == output_bytes(operators[expert->inputs[0]]).count / 4);
}

TEST_CASE("tables_stay_whole_on_a_node") {
  const auto made = model_operators("dlrm", {16, {{"tables", "24"}, {"compute_ms", "7"}}, {}});
  REQUIRE(made);
  const auto tables = std::ranges::count_if(made->graph.operators, [](const Operator& each) { return !each.is_divisible; });
  CHECK(tables == 24);
  CHECK(node_ms(*made) == Approx(7).epsilon(1e-3));
}

TEST_CASE("what_a_search_finds_cannot_be_said_beforehand") {
  const auto message = [](std::string_view name, std::uint32_t nodes, const Settings& settings) {
    const auto made = model_operators(name, {nodes, settings, {}});
    REQUIRE_FALSE(made);
    return made.error().message;
  };
  CHECK(message("gpt2-xl", 8, {{"tp", "4"}}).find("tp=4 says how the work is divided") != std::string::npos);
  CHECK(message("vgg16", 8, {{"bach", "4"}}).find("bach") != std::string::npos);
  CHECK(message("vgg16", 1, {}).find("2 .. ") != std::string::npos);
  CHECK(message("vgg61", 8, {}).find("vgg16") != std::string::npos);
  CHECK(message("dlrm", 8, {{"flops", "-1"}}).find("flops") != std::string::npos);
}

Model two_layers() {
  Model model;
  model.name = "own";
  model.batch = 32;
  model.pace = {4, 4e6, 32, "measured"};
  model.blocks.resize(2);
  model.blocks[0].name = "a";
  model.blocks[1].name = "b";
  model.blocks[0].measured = {{16, 2}, {32, 3}, {64, 5}};
  model.blocks[1].measured = {{32, 1}, {128, 7}};
  model.blocks[1].measured_as = "Dense_64";
  for (Block& block : model.blocks) {
    block.boundary = 8;
    block.multiply_accumulates = 1;
  }
  return model;
}

TEST_CASE("measured_layers_are_divided_only_as_they_were_measured") {
  const auto made = operators_of(two_layers(), 8, 32);  // 256 samples: 32 on each of 8, 64 on 4, 128 on 2
  REQUIRE(made);
  CHECK(made->times.lawful[0] == std::vector<std::uint32_t>{4, 8});
  CHECK(made->times.lawful[1] == std::vector<std::uint32_t>{2, 4, 8});
  const OpTime& between = made->times.of(1, 4);  // 64 of 32 .. 128
  CHECK((between.forward + between.backward).count() == 3'000'000);
  CHECK(made->assumptions[1].find("its measured time") != std::string::npos);
  const auto none = operators_of(two_layers(), 1, 8);
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("layer 'a' was measured at batch 16, 32, 64; 8 samples") != std::string::npos);
  Model once = two_layers();
  once.blocks[1].measured = {{32, 1}};
  CHECK(operators_of(once, 8, 32)->times.lawful[0].size() == 4);  // a pace, as before
}

TEST_CASE("own_layers_find_their_times_under_the_names_they_were_measured_as") {
  const auto measures = read_measures(R"({"batch_size": 256, "ngpus": 8, "measurements": [
      {"name": "a", "pc_str": "4-1-1-1-8", "fw_time": 1.0, "bw_time": 2.0, "mem_req": 1},
      {"name": "a", "pc_str": "4-1-1-2-4", "fw_time": 9.0, "bw_time": 9.0, "mem_req": 1},
      {"name": "Dense_64", "pc_str": "2-1-8", "fw_time": 0.5, "bw_time": 0.5, "mem_req": 1},
      {"name": "Dense_64", "pc_str": "2-1-4", "fw_time": 1.5, "bw_time": 1.5, "mem_req": 1}]})",
                                      "own.json");
  REQUIRE(measures);
  const auto made = operators_of(two_layers(), 8, 32);
  REQUIRE(made);
  const auto times = times_of(made->graph, *measures);
  REQUIRE(times);
  CHECK(times->lawful[0] == std::vector<std::uint32_t>{8});  // 4 parts were measured with another dimension divided
  CHECK(times->lawful[1] == std::vector<std::uint32_t>{4, 8});
  CHECK(times->of(1, 4).backward == Duration{1'500'000});
  Model other = two_layers();
  other.blocks[1].measured_as = "Dense_65";
  const auto unknown = times_of(operators_of(other, 8, 32)->graph, *measures);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.find("nothing measured for 'Dense_65'") != std::string::npos);
  CHECK(unknown.error().message.find("Dense_64, a") != std::string::npos);
}

}  // namespace
}  // namespace loom
