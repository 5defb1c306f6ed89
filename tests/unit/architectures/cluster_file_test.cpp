// SPDX-License-Identifier: Apache-2.0
// Cluster files: what is read, and where what is wrong is.
#include <algorithm>
#include <catch2/catch.hpp>

#include "controller/arena/cluster/cluster_file.hpp"

namespace loom {
namespace {

Loaded<ClusterSpec> read(const std::string& text) {
  const auto document = parse_yaml("c.yaml", text);
  REQUIRE(document);
  return read_cluster("c.yaml", *document.value);
}

const std::string kHead = "schema_version: 1\nkind: cluster\nservers: 8\ncount: 3\n";
const std::string kJob = "jobs: [{name: a, workload: resnet50, nodes: 4, iterations: 10}]\n";

TEST_CASE("the_example_is_read_with_its_models_beside_it") {
  const auto spec = read_cluster_file("configs/clusters/example.yaml");
  REQUIRE(spec);
  CHECK(spec.value->servers == 32);
  CHECK(spec.value->kinds.size() == 3);
  CHECK(spec.value->kinds[2].graph.nodes == 4);
  CHECK(spec.value->arrivals.kind == ArrivalKind::poisson);
  REQUIRE(spec.value->failures);
  CHECK(spec.value->failures->checkpoint_every == 100);
}

TEST_CASE("what_a_cluster_file_leaves_out_has_a_default") {
  const auto spec = read(kHead + kJob);
  REQUIRE(spec);
  CHECK(spec.value->rate == gigabits(100));
  CHECK(spec.value->placement == ServerPlacement::random);
  CHECK(spec.value->arrivals.kind == ArrivalKind::together);
  CHECK(spec.value->seed == 1);
  CHECK_FALSE(spec.value->failures);
}

TEST_CASE("every_error_of_a_cluster_file_names_its_place") {
  struct Wrong {
    std::string text;
    int line;
    int column;
    std::string says;
  };
  const std::string job = "name: a, workload: resnet50, nodes: 4, iterations: 10";
  const std::vector<Wrong> all{
      {"schema_version: 1\nkind: cluster\nservers: 0\ncount: 3\n" + kJob, 3, 10, "1..65536"},
      {"schema_version: 1\nkind: cluster\nservers: 99999999999999999999\ncount: 3\n" + kJob, 3, 10, "servers"},
      {"schema_version: 1\nkind: cluster\nservers: 8\ncount: 4097\n" + kJob, 4, 8, "1..4096"},
      {"schema_version: 1\nkind: cluster\nservers: 8\ncount: .nan\n" + kJob, 4, 8, ".nan"},
      {"schema_version: 1\nkind: cluster\ncount: 3\n" + kJob, 1, 1, "lacks the key 'servers'"},
      {kHead + "sevrers: 8\n" + kJob, 5, 1, "servers"},
      {kHead + "placement: tight\n" + kJob, 5, 12, "random, packed"},
      {kHead + "rate: 100 GHz\n" + kJob, 5, 7, "bit rate"},
      {kHead + "arrivals: sometimes\n" + kJob, 5, 11, "together"},
      {kHead + "arrivals: {every: 10 s, load: 0.5}\n" + kJob, 5, 11, "one of every, poisson and load"},
      {kHead + "arrivals: {every: -1 s}\n" + kJob, 5, 19, "every"},
      {kHead + "arrivals: {poisson: {mena: 1 s}}\n" + kJob, 5, 22, "mean"},
      {kHead + "arrivals: {load: nan}\n" + kJob, 5, 18, "nan"},
      {kHead + "arrivals: {load: 0}\n" + kJob, 5, 18, "load"},
      {kHead + "failures: {repair: 1 h}\n" + kJob, 5, 11, "lacks the key 'server_mtbf'"},
      {kHead + "failures: {server_mtbf: 0 s}\n" + kJob, 5, 25, "server_mtbf"},
      {kHead + "failures: {server_mtbf: 1 h, checkpoint_every: -1}\n" + kJob, 5, 48, "checkpoint_every"},
      {kHead + "jobs: []\n", 5, 7, "at least one kind"},
      {kHead, 1, 1, "lacks the key 'jobs'"},
      {kHead + "jobs: [{" + job + ", share: 0}]\n", 5, 7, "sum to 0"},
      {kHead + "jobs: [{" + job + ", share: -1}]\n", 5, 71, "share"},
      {kHead + "jobs: [{" + job + ", share: nan}]\n", 5, 71, "nan"},
      {kHead + "jobs: [{" + job + "}, {" + job + "}]\n", 5, 72, "'a'"},
      {kHead + "jobs: [{name: a, workload: resnet50, nodes: 9, iterations: 10}]\n", 5, 45,
       "a job of 9 servers on a cluster of 8"},
      {kHead + "jobs: [{name: a, workload: resnet50, nodes: 4, iterations: 0}]\n", 5, 60, "iterations"},
      {kHead + "jobs: [{name: a, nodes: 4, iterations: 10}]\n", 5, 8, "nothing says what a job runs"},
      {kHead + "jobs: [{" + job + ", model: m.yaml}]\n", 5, 71, "workload and model"},
      {kHead + "jobs: [{name: a, workload: resnet51, nodes: 4, iterations: 10}]\n", 5, 28, "resnet5"},
      {kHead + "jobs: [{name: a, graph: none.fbuf, iterations: 10}]\n", 5, 25, "none.fbuf"},
      {kHead + "jobs: [{" + job + ", settings: {batsh: 3}}]\n", 5, 28, "batch"},
  };
  for (const Wrong& wrong : all) {
    CAPTURE(wrong.text);
    const auto spec = read(wrong.text);
    CHECK_FALSE(spec);
    const bool is_said = std::ranges::any_of(spec.errors, [&](const ConfigError& error) {
      return error.line == wrong.line && error.column == wrong.column && error.message.find(wrong.says) != std::string::npos;
    });
    for (const ConfigError& error : spec.errors) {
      UNSCOPED_INFO(to_string(error));
    }
    CHECK(is_said);
  }
}

}  // namespace
}  // namespace loom
