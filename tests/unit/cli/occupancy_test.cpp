// SPDX-License-Identifier: Apache-2.0
// The map of rings against the circuits of the plan, counted another way: by hops between positions.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "cli/plan/plan.hpp"
#include "cli/render/occupancy_plot.hpp"

namespace loom::cli {
namespace {

std::string path_of(const std::string& name) { return (std::filesystem::temp_directory_path() / name).string(); }

/// Cells by column name, row by row.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  const auto cells_of = [](const std::string& text) {
    std::vector<std::string> cells;
    std::stringstream stream(text + ",");
    for (std::string cell; std::getline(stream, cell, ',');) {
      cells.push_back(cell);
    }
    return cells;
  };
  REQUIRE(std::getline(file, line));
  const auto names = cells_of(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(file, line)) {
    const auto cells = cells_of(line);
    REQUIRE(cells.size() >= names.size());
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) {
      row[names[i]] = cells[i];
    }
  }
  return rows;
}

struct Files {
  std::string picture;
  std::string data;
  std::string links;
  explicit Files(const std::string& name)
      : picture(path_of(name + ".svg")), data(path_of(name + ".csv")), links(path_of(name + "-links.csv")) {}
  ~Files() {
    for (const std::string& path : {picture, data, links}) {
      std::filesystem::remove(path);
    }
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
};

PlanCommand order_of(const Files& files, std::vector<std::string> workloads, std::vector<std::uint32_t> nodes) {
  PlanCommand order;
  order.workloads = std::move(workloads);
  order.nodes = std::move(nodes);
  order.fabric = "sip-ring";
  order.occupancy = files.picture;
  order.links = files.links;
  return order;
}

TEST_CASE("the_map_s_cells_are_the_hops_of_the_plan_s_circuits_and_no_cell_is_held_twice") {
  const std::uint32_t nodes = 16;
  const Files files("loom-occupancy");
  PlanCommand order = order_of(files, {"vgg19", "dlrm"}, {8, 4});
  order.settings = {"fabric.nodes=16"};
  const auto answered = answer_to(order);
  INFO((answered ? "" : answered.error().message));
  REQUIRE(answered);
  REQUIRE(answered->occupancy);

  std::map<std::string, std::uint64_t> cells_of_circuit;
  std::map<std::string, std::string> bus_of_circuit;
  std::set<std::tuple<std::string, std::string, std::string, std::string>> cells;
  std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> held_on;
  for (auto& row : rows_of(files.data)) {
    CHECK(cells.insert({row["ring"], row["direction"], row["segment"], row["wavelength"]}).second);
    ++cells_of_circuit[row["circuit"]];
    const std::string bus = "-r" + row["ring"] + (row["direction"] == "clockwise" ? "cw-" : "ccw-");
    CHECK(bus_of_circuit.emplace(row["circuit"], bus).first->second == bus);
    ++held_on[{row["ring"], row["direction"], row["segment"]}];
    CHECK((std::stoul(row["segment_from"]) + 1) % nodes == std::stoul(row["segment_to"]));
  }
  std::uint64_t hops = 0;
  std::size_t circuits = 0;
  for (auto& row : rows_of(files.links)) {
    const auto source = std::stoul(row["source"]);
    const auto destination = std::stoul(row["destination"]);
    const std::string& bus = bus_of_circuit.at(row["circuit"]);
    CHECK(row["transmitter"].find(bus) != std::string::npos);  // the fabric's own name of it
    const bool forward = bus.find("ccw") == std::string::npos;
    const std::uint64_t way = (forward ? destination + nodes - source : source + nodes - destination) % nodes;
    CHECK(cells_of_circuit[row["circuit"]] == way);
    hops += way;
    ++circuits;
  }
  CHECK(circuits == answered->circuits);
  CHECK(circuits == cells_of_circuit.size());
  CHECK(cells.size() == hops);
  CHECK(answered->occupancy->held == hops);
  CHECK(answered->occupancy->cells == 32 * nodes);  // W = 32 wavelengths a node, over rings and directions
  std::uint32_t fullest = 0;
  for (const auto& [segment, held] : held_on) {
    fullest = std::max(fullest, held);
  }
  CHECK(answered->occupancy->fullest_held == fullest);
  std::ifstream picture(files.picture);
  const std::string svg{std::istreambuf_iterator<char>(picture), {}};
  CHECK(svg.find("nan") == std::string::npos);
  REQUIRE(pdf_of(svg));  // librsvg reads it, so that it is well-formed
}

RingOccupancy map_of(std::uint32_t nodes) {
  RingOccupancy map;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    map.nodes.push_back(NodeId{i});
  }
  map.buses = {{0, RingDirection::clockwise, {FrequencySlot{0, 8}, FrequencySlot{16, 8}}}};
  return map;
}

TEST_CASE("an_arc_over_the_last_node_is_drawn_in_two_pieces_and_listed_segment_by_segment") {
  RingOccupancy map = map_of(8);
  map.arcs = {{0, 1, {6, 4}, CircuitId{7}, JobId{1}, NodeId{6}, NodeId{2}}};
  const std::string svg = document(draw(map, "a < b"));
  CHECK(svg.find("a &lt; b") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  const std::string path = svg.substr(svg.find("class=\"held\""));
  CHECK(std::ranges::count(path.substr(0, path.find('>')), 'M') == 2);
  CHECK(csv_of(map) ==
        "ring,direction,segment,segment_from,segment_to,wavelength,frequency_thz,wavelength_nm,job,circuit,source,destination\n"
        "0,clockwise,6,6,7,1,193.2,1551.7207971,1,7,6,2\n0,clockwise,7,7,0,1,193.2,1551.7207971,1,7,6,2\n"
        "0,clockwise,0,0,1,1,193.2,1551.7207971,1,7,6,2\n0,clockwise,1,1,2,1,193.2,1551.7207971,1,7,6,2\n");
  const OccupancySums sums = sums_of(map);
  CHECK(sums.held == 4);
  CHECK(sums.cells == 16);
  CHECK(sums.fullest_held == 1);
  CHECK(sums.share() == Approx(0.25));
}

TEST_CASE("narrow_neighbours_of_one_job_run_together_so_that_1024_nodes_stay_a_small_file") {
  RingOccupancy map = map_of(1'024);
  for (std::uint32_t i = 0; i < 1'024; ++i) {
    map.arcs.push_back({0, 0, {i, 1}, CircuitId{i}, JobId{i < 512 ? 1U : 2U}, NodeId{i}, NodeId{(i + 1) % 1'024}});
  }
  REQUIRE(check(map));
  const svg::Drawing drawing = draw(map, "t");
  const std::string path = drawing.body.substr(drawing.body.find("class=\"held\""));
  CHECK(std::ranges::count(path.substr(0, path.find('>')), 'M') == 1);
  CHECK(document(drawing).size() < 10'000);
  CHECK(drawing.width < 1'200);
}

TEST_CASE("what_is_no_map_of_segments_is_refused_and_says_where_it_applies") {
  const Files files("loom-occupancy-refused");
  PlanCommand order = order_of(files, {"vgg19"}, {8});
  order.fabric = "sip-ocs";
  const auto switches = answer_to(order);
  REQUIRE_FALSE(switches);
  CHECK(switches.error().code == ErrorCode::unsupported);
  CHECK(switches.error().message.find("sip-ring") != std::string::npos);
  CHECK(switches.error().message.find("sip-ocs") != std::string::npos);
  order.fabric.clear();
  order.links.clear();
  order.algorithm = "topoopt";
  const auto alone = answer_to(order);
  REQUIRE_FALSE(alone);
  CHECK(alone.error().message.find("--fabric sip-ring") != std::string::npos);
  const auto large = check(map_of(1'025));
  REQUIRE_FALSE(large);
  CHECK(large.error().message.find("1025 nodes") != std::string::npos);
  CHECK(large.error().message.find("1024 columns") != std::string::npos);
}

TEST_CASE("two_outputs_into_one_file_are_refused_by_both_names") {
  PlanCommand order;
  order.workloads = {"vgg19"};
  order.nodes = {4};
  order.fabric = "sip-ring";
  order.plot = path_of("loom-same.svg");
  order.links = path_of("loom-same.csv");
  const auto with_links = check_files(order);
  REQUIRE_FALSE(with_links);
  CHECK(with_links.error().message.find("--links") != std::string::npos);
  CHECK(with_links.error().message.find("loom-same.csv") != std::string::npos);
  order.links.clear();
  order.occupancy = path_of("loom-same.pdf");  // the CSV beside it
  CHECK_FALSE(check_files(order));
  order.occupancy = path_of("loom-other.pdf");
  CHECK(check_files(order));
  order.output = path_of("loom-other.plan.json");
  order.wiring = std::filesystem::temp_directory_path() / "." / "loom-other.plan.json";
  CHECK_FALSE(check_files(order));
}

TEST_CASE("a_plan_writes_over_no_file_that_it_reads_but_its_base_and_the_search_that_it_resumes") {
  const std::string base = path_of("loom-base.plan.json");
  std::ofstream(base) << "{}\n";
  PlanCommand order;
  order.workloads = {"vgg19"};
  order.base = base;
  order.output = base;
  CHECK(check_files(order));
  order.output.clear();
  order.wiring = base;
  const auto refused = check_files(order);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().message.find("--base") != std::string::npos);
  order.base.clear();
  CHECK(check_files(order));
  order.wiring.clear();
  order.output = base;
  order.workloads = {base};
  CHECK_FALSE(check_files(order));
  order.workloads.clear();
  order.output.clear();
  order.search.resume = base;
  order.search.save = base;
  CHECK(check_files(order));
  order.search.save.clear();
  order.links = base;
  CHECK_FALSE(check_files(order));
  std::filesystem::remove(base);
}

}  // namespace
}  // namespace loom::cli
