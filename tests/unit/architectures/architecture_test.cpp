// SPDX-License-Identifier: Apache-2.0
// An architecture is one record: what a program does not hand over it does not have, and a new one needs nothing beside its own
// folder. The toy here is such a folder: a fabric, an option and a scheduler that nobody else has heard of.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "controller/architectures/registry.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ocs/schedule.hpp"
#include "controller/arena/arena.hpp"
#include "controller/arena/entries.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/schedule/job_alone.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/config/fabric_file.hpp"

namespace loom {
namespace {

constexpr std::array<TemplateKey, 1> kToyKeys{{{"nodes", "how many"}}};
constexpr std::array<JobOption, 1> kToyOptions{{{"backwards", "yes or no: the last node is the first rank"}}};

Fabric read_toy(YamlMap& map, const ErrorList& errors) {
  SipOcsParameters parameters;
  parameters.nodes = static_cast<std::uint32_t>(map.integer("nodes", {2, 64}, Rule::required));
  map.finish();
  Fabric fabric = errors.empty() ? make_sip_ocs(parameters) : Fabric{};
  fabric.architecture = "toy";
  return fabric;
}

std::vector<NodeId> backwards(const Fabric&, const std::vector<NodeId>& chosen, const std::vector<NodeUse>&) {
  return {chosen.rbegin(), chosen.rend()};
}

Result<void> check_toy(const JobSpec& spec) {
  const auto found = spec.options.find("backwards");
  return found == spec.options.end() || found->second == "yes" || found->second == "no"
             ? Result<void>{}
             : fail(ErrorCode::invalid_argument, "backwards = " + found->second + "; expected yes or no");
}

const FabricTemplate kToyTemplate{"toy", "switches, for this test", kToyKeys, read_toy};
const Architecture kToy{.name = "toy",
                        .summary = "switches, for this test",
                        .fabric = &kToyTemplate,
                        .schedule = &schedule_sip_ocs,
                        .order_ranks = backwards,
                        .options = kToyOptions,
                        .check_options = check_toy};

Loaded<Fabric> load(const std::string& text, const FabricKinds& kinds) {
  const auto document = parse_yaml("f.yaml", text);
  REQUIRE(document);
  return read_fabric("f.yaml", *document.value, kinds);
}

PlanRequest request_of(Fabric fabric, JobOptions options = {}) {
  PlanRequest request;
  request.fabric = std::make_shared<const Fabric>(std::move(fabric));
  request.revision = Revision{1};
  request.next_circuit = CircuitId{1};
  Job job;
  job.id = JobId{1};
  job.spec.name = "j";
  job.spec.node_count = 3;
  job.spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}, 1}};
  job.spec.options = std::move(options);
  request.intent.jobs.push_back(std::move(job));
  return request;
}

TEST_CASE("a_new_architecture_is_read_placed_and_lit_by_its_record_alone") {
  const Architectures known({&kToy});
  const std::string text = "schema_version: 1\nkind: fabric\nname: f\ntemplate: toy\nparameters:\n  nodes: 4\n";
  const auto fabric = load(text, {known.templates(), all_fabric_kinds().models});
  REQUIRE(fabric);
  const auto made = make_plan(known, request_of(*fabric.value, {{"backwards", "yes"}}));
  REQUIRE(made);
  CHECK((*made)->intent.jobs.front().nodes == std::vector<NodeId>{NodeId{2}, NodeId{1}, NodeId{0}});
  CHECK((*made)->plan.circuits.size() == 3 * 4);  // a ring of three on each of four switches
  CHECK_FALSE(load(text, all_fabric_kinds()));    // the programs have not been given it
  CHECK_FALSE(make_plan(all_architectures(), request_of(*fabric.value)));
}

TEST_CASE("an_option_is_refused_by_whoever_does_not_have_it") {
  const Architectures known({&kToy});
  const Fabric fabric = [] {
    Fabric made = make_sip_ocs({});
    made.architecture = "toy";
    return made;
  }();
  const auto unknown = make_plan(known, request_of(fabric, {{"backward", "yes"}}));
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::invalid_argument);
  CHECK(unknown.error().message.find("job 1 (j)") != std::string::npos);
  CHECK(unknown.error().message.find("backwards") != std::string::npos);
  const auto wrong = make_plan(known, request_of(fabric, {{"backwards", "perhaps"}}));
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("backwards = perhaps; expected yes or no") != std::string::npos);
  const auto elsewhere = make_plan(all_architectures(), request_of(make_sip_ocs({}), {{"map", "latin"}}));
  REQUIRE_FALSE(elsewhere);
  CHECK(elsewhere.error().message.find("sip-ocs") != std::string::npos);
}

TEST_CASE("templates_document_the_keys_that_the_schema_has") {
  std::ifstream file("configs/schema/fabric.schema.json");
  const nlohmann::json schema = nlohmann::json::parse(file);
  for (const FabricTemplate* each : all_fabric_kinds().templates) {
    CAPTURE(each->name);
    std::set<std::string> documented;
    for (const TemplateKey& key : each->keys) {
      CHECK(documented.emplace(key.name).second);
      CHECK_FALSE(key.meaning.empty());
    }
    std::set<std::string> lawful;
    for (const auto& [key, rules] : schema["$defs"][std::string(each->name) + "_parameters"]["properties"].items()) {
      lawful.insert(key);
    }
    CHECK(documented == lawful);
  }
}

TEST_CASE("records_have_names_of_their_own") {
  std::set<std::string_view> names;
  for (const Architecture* each : all_architectures().all()) {
    CAPTURE(each->name);
    CHECK(names.insert(each->name).second);
    CHECK_FALSE(each->summary.empty());
    CHECK((each->schedule != nullptr || each->compare != nullptr));
    CHECK((each->fabric == nullptr || each->schedule != nullptr));  // what can be built can be lit
  }
}

/// A fabric file of the architecture's template, and the job planned on it as the controller would.
Duration lit_alone(const Architecture& architecture, const std::string& parameters, const TaskGraph& graph) {
  const auto document =
      parse_yaml("f.yaml", "schema_version: 1\nkind: fabric\nname: f\ntemplate: " + std::string(architecture.fabric->name) +
                               "\nparameters:\n" + parameters);
  const auto fabric = read_fabric("f.yaml", *document.value, all_fabric_kinds());
  REQUIRE(fabric);
  const auto spec = job_of(graph);
  REQUIRE(spec);
  PlanRequest request = request_of(*fabric.value);
  request.intent.jobs.front().spec = *spec;
  const auto planned = make_plan(all_architectures(), request);
  REQUIRE(planned);
  const auto predicted = predict_placed((*planned)->intent.jobs.front(), (*planned)->schedule.jobs.front(),
                                        timings_on(*fabric.value, {}, architecture));
  REQUIRE(predicted);
  return predicted->iteration;
}

TEST_CASE("the_arena_says_what_the_schedule_takes_that_would_be_lit") {
  struct Case {
    const char* fabric;
    const char* workload;
    std::uint32_t nodes;
    const char* parameters;  ///< what 100 Gb/s a node are of this template
    Settings settings{};
  };
  const Case cases[]{{"oddl", "vgg19", 64, "  nodes: 64\n"},
                     {"oddl", "dlrm", 32, "  nodes: 32\n"},
                     {"sip-ring", "vgg19", 16, "  nodes: 16\n  rings: 1\n  channels: 2\n"},
                     {"sip-ocs", "vgg19", 16, "  nodes: 16\n  switches: 4\n  rate: 25 Gb/s\n", {{"switches", "4"}}},
                     {"topoopt", "vgg19", 16, "  nodes: 16\n  degree: 4\n  rate: 25 Gb/s\n"},
                     {"topoopt", "dlrm", 16, "  nodes: 16\n  degree: 4\n  rate: 25 Gb/s\n"}};
  for (const Case& each : cases) {
    CAPTURE(each.fabric, each.workload);
    const auto graph = make_task_graph(each.workload, {each.nodes, {}, {}});
    REQUIRE(graph);
    auto entry = make_entry(each.fabric, *graph, gigabits(100), each.settings);
    REQUIRE(entry);
    CHECK(entry->scheduler == each.fabric);
    const auto row = play(*entry, Duration{});
    REQUIRE(row);
    CHECK(row->iteration == lit_alone(*all_architectures().find(each.fabric), each.parameters, *graph));
  }
}

TEST_CASE("keys_of_the_published_algorithm_choose_it_and_do_not_go_with_what_would_be_lit") {
  const auto graph = make_task_graph("vgg19", {8, {}, {}});
  REQUIRE(graph);
  const auto published = make_entry("topoopt", *graph, gigabits(100), {{"variant", "as-in-code"}});
  REQUIRE(published);
  CHECK(published->scheduler == "topology-finder as-in-code");
  const auto both = make_entry("topoopt", *graph, gigabits(100), {{"light", "lit"}, {"variant", "as-in-code"}});
  REQUIRE_FALSE(both);
  CHECK(both.error().message.find("variant is for light=finder") != std::string::npos);
  CHECK_FALSE(make_entry("sip-ring", *graph, gigabits(100), {{"light", "lit"}, {"all_stop", "never"}}));
}

TEST_CASE("what_links_lose_is_lost_to_light_as_well") {
  const auto graph = make_task_graph("vgg19", {8, {}, {}});
  REQUIRE(graph);
  for (const char* fabric : {"oddl", "sip-ring", "sip-ocs", "topoopt"}) {
    CAPTURE(fabric);
    auto whole = make_entry(fabric, *graph, gigabits(100), {});
    auto half = make_entry(fabric, *graph, gigabits(100), {{"efficiency", "0.5"}});
    REQUIRE(whole);
    REQUIRE(half);
    CHECK(iteration_time(*half).value() > iteration_time(*whole).value());
  }
}

TEST_CASE("a_schedule_brings_its_account_only_if_asked_for") {
  const auto graph = make_task_graph("vgg19", {8, {}, {}});
  REQUIRE(graph);
  for (const char* name : {"sip-ring", "sip-ocs", "topoopt"}) {
    CAPTURE(name);
    const Architecture& architecture = *all_architectures().find(name);
    const auto document =
        parse_yaml("f.yaml", "schema_version: 1\nkind: fabric\nname: f\ntemplate: " + std::string(architecture.fabric->name) +
                                 "\nparameters:\n  nodes: 8\n");
    const auto fabric = read_fabric("f.yaml", *document.value, all_fabric_kinds());
    REQUIRE(fabric);
    PlanRequest request = request_of(*fabric.value);
    request.intent.jobs.front().spec = job_of(*graph).value();
    const auto plain = make_plan(all_architectures(), request);
    REQUIRE(plain);
    CHECK((*plain)->schedule.account.why.empty());
    request.budget.wants_account = true;
    const auto explained = make_plan(all_architectures(), request);
    REQUIRE(explained);
    CHECK_FALSE((*explained)->schedule.account.why.empty());
    CHECK((*explained)->schedule.jobs == (*plain)->schedule.jobs);
    CHECK((*explained)->schedule.account.rings.empty() == (std::string_view(name) != "sip-ring"));
  }
}

}  // namespace
}  // namespace loom
