// SPDX-License-Identifier: Apache-2.0
// loom plan: rows and keys, what moves against a base, why it is so, drawings, and every refusal with its nearest request.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "cli/catalogue/catalogue.hpp"
#include "cli/plan/plan.hpp"
#include "cli/plan/search.hpp"
#include "cli/plan/search_inputs.hpp"
#include "cli/render/topology_plot.hpp"
#include "controller/schedule/job_check.hpp"
#include "controller/schedule/permutations.hpp"
#include "controller/workload/load_graph.hpp"

namespace loom::cli {
namespace {

PlanCommand order_of(const std::string& workload, std::uint32_t nodes, const std::string& fabric,
                     std::vector<std::string> settings = {}) {
  PlanCommand order;
  order.workloads = {workload};
  order.nodes = {nodes};
  order.fabric = fabric;
  order.settings = std::move(settings);
  return order;
}

PlanAnswer planned(const PlanCommand& order) {
  auto answered = answer_to(order);
  INFO((answered ? std::string{} : answered.error().message));
  REQUIRE(answered);
  return *std::move(answered);
}

void refused(const PlanCommand& order, std::initializer_list<const char*> words) {
  const auto answered = answer_to(order);
  REQUIRE_FALSE(answered);
  INFO(answered.error().message);
  for (const char* word : words) {
    INFO(word);
    CHECK(answered.error().message.find(word) != std::string::npos);
  }
}

/// Of a search, before it begins.
void refused_search(const PlanCommand& order, std::initializer_list<const char*> words) {
  const auto checked = check_search_options(order);
  REQUIRE_FALSE(checked);
  for (const char* word : words) {
    CHECK(checked.error().message.find(word) != std::string::npos);
  }
}

bool says(const std::vector<std::string>& lines, const std::string& what) {
  return std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return line.find(what) != std::string::npos; });
}

/// A file that goes when the test does.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name) : path_(std::filesystem::temp_directory_path() / name) {}
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

TEST_CASE("a_plan_has_the_keys_of_the_contract_and_a_row_a_job") {
  PlanCommand order = order_of("vgg19", 8, "sip-ring", {"fabric.nodes=16"});
  order.workloads.emplace_back("vgg19");
  order.nodes = {8, 4};
  const auto json = json_of(planned(order));
  for (const char* key : {"api_version", "algorithm", "objective", "bound", "gap", "elapsed_ms", "circuits", "touched", "jumps",
                          "wavelengths", "certificate"}) {
    CHECK(json.contains(key));
  }
  CHECK(json["algorithm"] == "sip-ring");
  CHECK(json["jumps"].is_array());
  CHECK(json["certificate"]["verified"] == true);
  CHECK(json["certificate"]["wavelength_isolated"] == true);
  CHECK(json["gap"].get<double>() == Approx(json["objective"].get<double>() / json["bound"].get<double>() - 1));
  REQUIRE(json["jobs"].size() == 2);
  CHECK(json["jobs"][0]["circuits"].get<int>() + json["jobs"][1]["circuits"].get<int>() == json["circuits"].get<int>());
  CHECK(json["jobs"][1]["name"] == "vgg19-2");
  CHECK(json["touched"] == json["circuits"]);  // from darkness everything is new
  CHECK_FALSE(json.contains("explanation"));
}

TEST_CASE("every_algorithm_plans_from_a_template") {
  for (const char* fabric : {"sip-ring", "sip-ocs", "oddl", "topoopt"}) {
    const PlanAnswer answered = planned(order_of("vgg19", 8, fabric));
    CHECK(answered.algorithm == fabric);
    CHECK(answered.circuits > 0);
    CHECK(answered.objective >= answered.bound);
    CHECK(answered.bound > 0);
  }
}

std::size_t rows_in(const std::string& csv) { return static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) - 1; }

TEST_CASE("a_demand_of_ones_own_is_planned_and_its_circuits_are_listed") {
  const TemporaryFile links("loom-plan-links.csv");
  const TemporaryFile as_json("loom-plan-links.json");
  const TemporaryFile forwarding("loom-plan-forwarding.csv");
  const TemporaryFile wiring("loom-plan-wiring.csv");
  const TemporaryFile demand("loom-plan-demand.csv");
  std::ofstream{demand.path()} << "0,9e6,0,1e6\n0,0,9e6,0\n0,0,0,9e6\n9e6,0,0,0\n";
  for (const char* fabric : {"sip-ring", "sip-ocs", "oddl", "topoopt"}) {
    CAPTURE(fabric);
    PlanCommand order;
    order.demand = demand.path();
    order.fabric = fabric;
    order.links = links.path();
    order.forwarding = forwarding.path();
    order.wiring = wiring.path();
    const PlanAnswer answered = planned(order);
    CHECK(links.text().starts_with("job,stage,timeslot,guard_us,hold_us,circuit,source,destination,transmitter,receiver,"));
    CHECK(rows_in(links.text()) >= answered.circuits);  // a circuit of two stages or timeslots has two rows
    CHECK(forwarding.text().starts_with("job,mode,source,destination,through\n"));
    CHECK((rows_in(wiring.text()) > 0) == (std::string_view{fabric} == "topoopt" || std::string_view{fabric} == "sip-ocs"));
    order.links = as_json.path();
    planned(order);
    CHECK(nlohmann::json::parse(as_json.text()).size() == rows_in(links.text()));
  }
  PlanCommand alone;
  alone.demand = demand.path();
  alone.algorithm = "topoopt";
  alone.links = links.path();
  CHECK(planned(alone).circuits == rows_in(links.text()));
  alone.wiring = wiring.path();
  refused(alone, {"--wiring", "--fabric topoopt"});
}

TEST_CASE("every_key_that_can_be_set_is_said_in_words") {
  const auto workloads = workload_list();
  for (const auto& each : workloads["workloads"]) {
    const auto shown = workload_show(each["name"].get<std::string>());
    REQUIRE(shown);
    CHECK((*shown)["parameters"].get<std::int64_t>() > 0);
    CHECK((*shown)["settings"].size() >= 9);
    for (const auto& setting : (*shown)["settings"]) {
      CAPTURE(each["name"], setting["key"]);
      CHECK_FALSE(setting["meaning"].get<std::string>().empty());
    }
  }
  const auto fabrics = fabric_list();
  for (const auto& each : fabrics["fabrics"]) {
    const auto shown = fabric_show(each["name"].get<std::string>());
    REQUIRE(shown);
    CHECK_FALSE((*shown)["summary"].get<std::string>().empty());
    for (const char* list : {"compare_keys", "template_keys", "job_options"}) {
      for (const auto& setting : (*shown)[list]) {
        CAPTURE(each["name"], setting["key"]);
        CHECK_FALSE(setting["meaning"].get<std::string>().empty());
      }
    }
  }
  CHECK(workload_show("vgg199").error().message.find("'vgg19'") != std::string::npos);
  CHECK(fabric_show("topopt").error().message.find("'topoopt'") != std::string::npos);
}

TEST_CASE("a_recent_model_is_shown_with_the_numbers_of_its_architecture") {
  const auto shown = workload_show("deepseek-v3");
  REQUIRE(shown);
  std::map<std::string, std::string> said;
  for (const auto& setting : (*shown)["settings"]) {
    said[setting["key"]] = setting["default"].is_null() ? "" : setting["default"].get<std::string>();
  }
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"layers", "61"}, {"experts", "256"}, {"top_k", "8"}, {"kv_lora", "512"}, {"gpu", "h800"}, {"precision", "bf16"}}) {
    CAPTURE(key);
    CHECK(said[key] == value);
  }
  CHECK((*shown)["active_parameters"].get<std::int64_t>() < (*shown)["parameters"].get<std::int64_t>() / 17);
  CHECK(gpu_list()["gpus"].size() >= 6);
}

TEST_CASE("what_is_said_to_hold_where_nobody_says_is_what_holds") {
  const auto workloads = workload_list();
  for (const auto& each : workloads["workloads"]) {
    const auto name = each["name"].get<std::string>();
    const auto absent = load_task_graph(name, {8, {}, {}});
    REQUIRE(absent);
    const auto shown = workload_show(name);
    for (const auto& setting : (*shown)["settings"]) {
      const auto key = setting["key"].get<std::string>();
      const auto value = setting["default"].is_null() ? "" : setting["default"].get<std::string>();
      if (value.empty() || value.find(' ') != std::string::npos) {
        continue;  // the model's own, or a sentence
      }
      CAPTURE(name, key, value);
      const auto said = load_task_graph(name, {8, {{key, value}}, {}});
      INFO((said ? std::string{} : said.error().message));
      REQUIRE(said);
      CHECK(said->parameters == absent->parameters);
      CHECK(said->tasks.size() == absent->tasks.size());
      for (std::size_t i = 0; i < std::min(said->tasks.size(), absent->tasks.size()); ++i) {
        CHECK(said->tasks[i].bytes == absent->tasks[i].bytes);
        CHECK(said->tasks[i].duration == absent->tasks[i].duration);
      }
    }
  }
}

TEST_CASE("an_option_that_does_not_apply_says_where_it_does") {
  PlanCommand order = order_of("vgg19", 8, "sip-ring");
  order.search.steps = 10;
  refused(order, {"--steps", "--search"});
  order = order_of("vgg19", 8, "sip-ring");
  order.demand = "demand.csv";
  refused(order, {"--workload and --demand"});
  order = order_of("vgg19", 8, "sip-ring", {"collective=tree"});
  refused(order, {"by tree", "ideal-switch"});
  PlanCommand search;
  search.search.wanted = true;
  search.search.model = "dlrm-16";
  search.nodes = {32};
  const auto own = read_search_inputs(search);
  REQUIRE_FALSE(own);
  CHECK(own.error().message.find("--nodes does not apply to dlrm-16") != std::string::npos);
  search.nodes.clear();
  search.memory = "1GB";
  refused_search(search, {"--memory"});
  search.memory.clear();
  search.base = "/nonexistent";
  refused_search(search, {"--base"});
}

TEST_CASE("against_a_base_only_what_differs_is_touched") {
  for (const char* fabric : {"configs/fabrics/sip_ring_16.yaml", "configs/fabrics/sip_ocs_16.yaml"}) {
    const TemporaryFile saved("loom-plan-base.json");
    PlanCommand first = order_of("vgg19", 4, fabric);
    first.output = saved.path();
    const std::uint32_t alone = planned(first).circuits;
    PlanCommand again = order_of("vgg19", 4, fabric);
    again.base = saved.path();
    const PlanAnswer same = planned(again);
    CHECK(same.touched == 0);
    CHECK(same.kept == alone);
    PlanCommand arrival = again;
    arrival.workloads.emplace_back("vgg19");
    arrival.nodes = {4, 8};
    arrival.output = saved.path();
    const PlanAnswer both = planned(arrival);
    CHECK(both.kept == alone);
    CHECK(both.touched == both.circuits - alone);
    PlanCommand end = again;  // of the second job
    const PlanAnswer left = planned(end);
    CHECK(left.kept == alone);
    CHECK(left.touched == both.circuits - alone);
    REQUIRE(left.jobs.size() == 2);
    CHECK(left.jobs[1].nodes == 0);  // it ends
    CHECK(left.jobs[1].touched == left.touched);
  }
}

TEST_CASE("a_change_of_traffic_keeps_what_is_still_wanted") {
  for (const char* fabric : {"configs/fabrics/sip_ring_16.yaml", "configs/fabrics/sip_ocs_16.yaml"}) {
    const TemporaryFile saved("loom-plan-change.json");
    PlanCommand ring = order_of("vgg19", 4, fabric);  // all of the ring's wavelengths are its
    ring.output = saved.path();
    const std::uint32_t before = planned(ring).circuits;
    PlanCommand exchange = order_of("dlrm", 4, fabric, {"rows=1000"});  // on the same nodes, everybody with everybody
    exchange.base = saved.path();
    const PlanAnswer changed = planned(exchange);
    CHECK(changed.kept > 0);
    CHECK(changed.touched == before - changed.kept + changed.circuits - changed.kept);
  }
}

TEST_CASE("kept_circuits_stay_on_their_switch_and_new_ones_go_beside_them") {
  const std::vector<SwitchPair> pairs{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, {0, 2, 1}};
  const std::vector<SwitchGrant> held{{0, 1}, {1, 1}, {2, 1}};
  const auto grants = into_permutations(3, 2, pairs, {1, 1, 1, 1}, held);
  REQUIRE(grants.size() == 4);
  for (const SwitchGrant& grant : held) {
    CHECK(std::find(grants.begin(), grants.end(), grant) != grants.end());
  }
  CHECK(std::find(grants.begin(), grants.end(), SwitchGrant{3, 0}) != grants.end());
}

TEST_CASE("a_base_that_is_no_schedule_of_the_fabric_is_refused_by_name") {
  const TemporaryFile saved("loom-plan-foreign.json");
  PlanCommand first = order_of("vgg19", 4, "configs/fabrics/sip_ocs_16.yaml");
  first.output = saved.path();
  planned(first);
  PlanCommand other = order_of("vgg19", 4, "configs/fabrics/sip_ring_16.yaml");
  other.base = saved.path();
  refused(other, {"loom-plan-foreign.json", "no transmitter or receiver of fabric"});
  std::ofstream(saved.path()) << "circuits: [{job: 1, source: 0}]\n";
  refused(other, {"loom-plan-foreign.json:1:"});
  other.base = "/nowhere/base.json";
  refused(other, {"/nowhere/base.json"});
}

TEST_CASE("the_explanation_of_a_ring_names_the_worst_pair_and_what_binds") {
  PlanCommand order = order_of("vgg19", 16, "configs/fabrics/sip_ring_16.yaml");
  order.explain = true;
  const PlanAnswer answered = planned(order);
  CHECK(answered.wavelengths == 32);
  CHECK(says(answered.explanation, "32 of 32 wavelengths"));
  CHECK(says(answered.explanation, "the worst pair, job 1, node 0 to node 1, has 17 wavelengths"));  // 16 one way, 1 the other
  CHECK(says(answered.explanation, "z = 17"));
  CHECK(says(answered.explanation, "0 of 16: this segment binds"));
  CHECK(says(answered.explanation, "bound:"));
}

TEST_CASE("the_explanation_of_switches_names_the_ports_that_bind") {
  PlanCommand order = order_of("dlrm", 4, "configs/fabrics/sip_ocs_16.yaml", {"rows=1000"});
  order.explain = true;
  const PlanAnswer answered = planned(order);
  CHECK(says(answered.explanation, "Q = 4 switches for 12 pairs"));
  CHECK(says(answered.explanation, "both ends bind"));
}

TEST_CASE("the_explanation_of_a_topology_follows_the_finder_step_by_step") {
  PlanCommand order = order_of("dlrm", 16, "", {"fabric.degree=4"});
  order.algorithm = "topoopt";
  order.explain = true;
  const PlanAnswer paper = planned(order);
  CHECK(paper.jumps == std::vector<std::uint32_t>{1, 15});
  CHECK(paper.circuits == 64);
  CHECK(says(paper.explanation, "of 4 interfaces 2 for rings, 2 for pairs; as in the paper"));
  CHECK(says(paper.explanation, "8 candidate jumps (k prime to 16): 1 3 5 7 9 11 13 15; one: the least, 1"));
  CHECK(says(paper.explanation, "matching, round 1: 8 pairs"));
  CHECK(says(paper.explanation, "matching, round 2: 8 pairs"));
  order.settings.emplace_back("fabric.variant=as-in-code");
  const PlanAnswer code = planned(order);
  CHECK(says(code.explanation, "all to rings whatever M is"));
  CHECK(says(code.explanation, "geometrically from 1 by 3.87: 1 5"));
  CHECK(says(code.explanation, "no interface is left for pairs"));
  CHECK(code.certificate.verified == false);
}

TEST_CASE("on_a_fabric_the_scheduler_plans_and_the_finder_says_why") {
  PlanCommand order = order_of("dlrm", 16, "configs/fabrics/topoopt_16.yaml");
  order.algorithm = "topoopt";
  order.explain = true;
  const PlanAnswer one = planned(order);
  CHECK(one.certificate.verified);
  CHECK(one.circuits == 64);
  CHECK(one.jumps == std::vector<std::uint32_t>{1, 15});
  CHECK(says(one.explanation, "job 1: degree split: of 4 interfaces 2 for rings, 2 for pairs; as in the paper"));
  CHECK(says(one.explanation, "job 1: matching, round 2: 8 pairs"));
  order.workloads.emplace_back("vgg19");
  order.nodes = {8, 6};
  const PlanAnswer two = planned(order);
  CHECK(two.jumps.empty());
  CHECK(says(two.explanation, "job 2: rings of 6"));
}

TEST_CASE("a_prime_number_of_servers_has_every_jump_for_its_ring") {
  PlanCommand order = order_of("vgg19", 13, "", {"fabric.degree=4"});
  order.algorithm = "topoopt";
  order.explain = true;
  const PlanAnswer answered = planned(order);
  CHECK(says(answered.explanation, "12 candidate jumps"));
  CHECK(answered.gap == Approx(0).margin(1e-9));
}

TEST_CASE("requests_that_cannot_be_are_refused_with_the_nearest_that_can") {
  refused(order_of("vgg19", 32, "configs/fabrics/sip_ring_16.yaml"),
          {"needs 32 nodes, fabric sip-ring-16 has 16", "nearest: 16 nodes"});
  refused(order_of("vgg19", 1, "sip-ring"), {"1 node", "nearest: 2 nodes"});
  refused(order_of("gpt3-175b", 64, "sip-ocs"), {"memory exceeded", "100 GB", "nearest: tp x pp = 32"});
  refused(order_of("dlrm", 2, "sip-ring"), {"memory exceeded", "tables", "nearest: 4 nodes"});
  refused(order_of("gpt2-355m", 13, "sip-ocs", {"tp=4"}), {"13 nodes", "nearest: 12 nodes"});
  refused(order_of("dlrm", 64, "sip-ocs", {"fabric.switches=20"}), {"63 peers", "Q = 20", "nearest: 21 nodes"});
  refused(order_of("dlrm", 64, "sip-ring", {"rows=1000"}), {"no wavelength", "nearest: at most 8 nodes"});
  refused(order_of("vgg19", 8, "sip-ring", {"fabric.ringz=5"}), {"unknown key 'ringz'", "did you mean 'rings'"});
  refused(order_of("vgg19", 8, "sip-rng"), {"did you mean 'sip_ring'"});
  refused(order_of("vgg18", 8, "sip-ring"), {"vgg18", "did you mean"});
  PlanCommand order = order_of("vgg19", 8, "configs/fabrics/oddl_8.yaml");
  order.algorithm = "sip-ring";
  refused(order, {"architecture oddl", "nearest: --algorithm oddl"});
  order.algorithm = "topopt";
  refused(order, {"no algorithm 'topopt'", "nearest: topoopt"});
  order.algorithm = "topoopt";
  order.fabric = "";
  order.settings = {"fabric.degree=1"};
  refused(order, {"degree 1", "nearest: degree 2"});
  order.nodes = {8, 4};
  refused(order, {"2 counts for 1 workloads"});
  PlanCommand doubled = order_of("vgg19", 8, "configs/fabrics/sip_ring_16.yaml");
  doubled.bandwidth = "400G";
  refused(doubled, {"--bandwidth 400G", "sip-ring-16 says its rates itself"});
}

TEST_CASE("what_no_driver_has_a_word_for_is_refused_before_it_is_planned") {
  const std::vector<std::string> groups{"fabric.nodes=1584", "fabric.group_size=16"};  // 99 of them, and ports of two digits
  refused(order_of("vgg19", 1584, "oddl", groups), {"1584 nodes are wanted", "has 1568 whose light",
                                                    "node-1568 is the first that is none: wss-", "port numbers below 99"});
  CHECK(planned(order_of("vgg19", 1568, "oddl", groups)).circuits == 1568);
}

TEST_CASE("a_ring_refusal_names_a_size_that_is_then_served") {
  refused(order_of("dlrm", 32, "sip-ring", {"rows=1000", "fabric.nodes=64"}), {"nearest: at most 8 nodes"});
  CHECK(planned(order_of("dlrm", 8, "sip-ring", {"rows=1000", "fabric.nodes=64"})).circuits >= 56);
}

TEST_CASE("demand_that_moves_nothing_or_falls_apart_is_refused") {
  JobSpec spec;
  spec.name = "odd";
  spec.node_count = 8;
  const auto why = [&] {
    const auto checked = check_job(spec);
    return checked ? std::string{} : checked.error().message;
  };
  CHECK(why().find("move no bytes") != std::string::npos);
  spec.collectives = {{CollectiveKind::barrier, {}, Bytes{8}}};
  CHECK(why().find("move no bytes") != std::string::npos);
  spec.collectives = {{CollectiveKind::all_reduce, {0, 1, 2, 3}, Bytes{8}},
                      {CollectiveKind::all_reduce, {4, 5, 6, 7}, Bytes{8}}};
  CHECK(why().find("2 parts") != std::string::npos);
  CHECK(why().find("nearest: 2 jobs, one a part") != std::string::npos);
  spec.collectives = {{CollectiveKind::all_reduce, {0, 1, 2, 3, 4, 5, 6}, Bytes{8}}};
  CHECK(why().find("nearest: 7 nodes") != std::string::npos);
  spec.collectives.push_back({CollectiveKind::point_to_point, {6, 7}, Bytes{1}});
  CHECK(why().empty());
}

TEST_CASE("memory_falls_with_parts_and_with_sharding") {
  ModelMemory memory{1'000'000'000, 0, 64, 1, 0};
  CHECK(bytes_a_node(memory) == Bytes{16'000'000'000});
  memory.parts = 4;
  CHECK(bytes_a_node(memory) == Bytes{4'000'000'000});
  memory = {1'000'000'000, 0, 64, 1, 3};
  CHECK(bytes_a_node(memory) == Bytes{250'000'000});
}

TEST_CASE("a_job_on_part_of_a_ring_closes_within_two_hops") {
  PlanCommand order = order_of("vgg19", 64, "sip-ring", {"fabric.nodes=128"});  // 63 hops are beyond every link budget here
  const TemporaryFile saved("loom-plan-fold.json");
  order.output = saved.path();
  planned(order);
  const auto root = nlohmann::json::parse(saved.text());
  const auto ranks = root["jobs"][0]["nodes"].get<std::vector<int>>();
  CHECK(std::set<int>(ranks.begin(), ranks.end()).size() == 64);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    CHECK(std::abs(ranks[i] - ranks[(i + 1) % ranks.size()]) <= 2);
  }
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE("a_topology_is_drawn_with_a_chord_a_duplex_link") {
  FinderDemand demand{12, {{{}, 1'000}}, {{0, 6, 500}}};
  for (std::uint32_t i = 0; i < 12; ++i) {
    demand.reduces[0].members.push_back(i);
  }
  FinderOptions options = as_in_paper(5);
  const auto topology = find_topology(demand, options);
  REQUIRE(topology);
  const CircleDrawing circle = drawing_of(*topology, "<12 & \"twelve\">");
  std::size_t duplex = 0;
  for (const DirectLink& link : topology->links()) {
    duplex += link.count;
  }
  std::size_t drawn = 0;
  for (const Chord& chord : circle.chords) {
    drawn += chord.count;
  }
  CHECK(2 * drawn == duplex);
  const std::string svg = document(draw(circle));
  CHECK(count_of(svg, "class=\"chord\"") == circle.chords.size());
  CHECK(count_of(svg, "class=\"legend\"") == circle.series.size());
  CHECK(count_of(svg, "<circle") == 12);
  CHECK(svg.find("&lt;12 &amp; &quot;twelve&quot;&gt;") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("rings_are_drawn_segment_by_segment_with_equal_neighbours_in_one") {
  RingsDrawing rings{"rings", {"outer", "inner"}, {{2, 2, 1, 0}, {3, 3, 3, 3}}, {4, 4}};
  const std::string svg = document(draw(rings));
  CHECK(count_of(svg, "class=\"segment\"") == 4);
  CHECK(svg.find("2 of 4 wavelengths from 0 to 2") != std::string::npos);
  CHECK(svg.find("1 of 4 wavelengths from 2 to 3") != std::string::npos);
  CHECK(svg.find("0 of 4 wavelengths from 3 to 0") != std::string::npos);
  CHECK(svg.find("3 of 4 wavelengths from 0 to 0") != std::string::npos);
}

}  // namespace
}  // namespace loom::cli
