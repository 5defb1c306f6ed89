// SPDX-License-Identifier: Apache-2.0
// The arena's pictures against its rows: what is drawn and listed adds up to what the rows say.
#include "cli/offline/arena_pictures.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "controller/workload/load_graph.hpp"

namespace loom::cli {
namespace {

struct Rows {
  std::vector<ArenaRow> rows;
  PicturedRound round;
};

Rows played(std::string_view workload, std::uint32_t nodes, const Settings& of_workload,
            const std::vector<std::string>& fabrics) {
  auto graph = make_task_graph(workload, {nodes, of_workload});
  REQUIRE(graph);
  const auto compute = compute_alone(*graph);
  REQUIRE(compute);
  Rows made;
  for (const std::string& fabric : fabrics) {
    auto entry = make_entry(fabric, *graph, gigabits(100), {});
    REQUIRE(entry);
    auto row = play(*entry, *compute);
    REQUIRE(row);
    made.rows.push_back(*std::move(row));
  }
  for (const ArenaRow& row : made.rows) {
    made.round.fabrics.push_back({row.fabric, &row});
  }
  made.round.title = "a title";
  return made;
}

std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::stringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    auto& row = rows.emplace_back();
    std::string cell;
    bool is_quoted = false;
    for (const char c : line + ",") {
      is_quoted = c == '"' ? !is_quoted : is_quoted;
      if (c == ',' && !is_quoted) {
        row.push_back(cell);
        cell.clear();
      } else if (c != '"') {
        cell += c;
      }
    }
  }
  return rows;
}

double ms(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

const std::vector<std::string> kFabrics{"ideal-switch", "ocs-reconfig", "mordia", "oddl", "topoopt", "sip-ocs"};

TEST_CASE("the_csv_of_the_bars_adds_up_to_the_row_and_dark_time_is_its_own_column") {
  for (const char* workload : {"vgg19", "dlrm"}) {
    const Rows made = played(workload, 8, {}, kFabrics);
    const auto csv = cells_of(bars_of(made.round).csv);
    REQUIRE(csv.size() == made.rows.size() + 1);
    REQUIRE(csv[0] == std::vector<std::string>{"name", "compute (ms)", "pipeline bubbles (ms)", "exposed communication (ms)",
                                               "dark (ms)", "sum", "dark behind compute (ms)", "node"});
    double dark_of_all = 0;
    for (std::size_t i = 0; i < made.rows.size(); ++i) {
      const ArenaRow& row = made.rows[i];
      CAPTURE(workload, row.fabric);
      const auto value = [&](std::size_t column) { return std::stod(csv[i + 1][column]); };
      CHECK(value(1) + value(2) == Approx(ms(row.compute)));
      CHECK(value(3) + value(4) == Approx(ms(row.exposed)).margin(1e-6));
      CHECK(value(5) == Approx(ms(row.iteration)));
      CHECK(value(4) + value(6) == Approx(ms(row.dark)).margin(1e-6));
      for (std::size_t column = 1; column <= 6; ++column) {
        CHECK(value(column) >= 0);
      }
      dark_of_all += value(4);
    }
    CHECK(dark_of_all > 0);
  }
}

TEST_CASE("a_lane_goes_from_the_iteration_s_start_to_its_end_without_a_gap_and_is_dark_as_long_as_the_row_says") {
  for (const char* workload : {"vgg19", "dlrm"}) {
    const Rows made = played(workload, 8, {}, kFabrics);
    const auto csv = cells_of(lanes_of(made.round).csv);
    REQUIRE(csv[0] == std::vector<std::string>{"fabric", "node", "from_ms", "to_ms", "what"});
    std::map<std::string, double> end;
    std::map<std::string, std::map<std::string, double>> sums;
    std::map<std::string, std::string> last;
    for (std::size_t i = 1; i < csv.size(); ++i) {
      const auto& row = csv[i];
      REQUIRE(row.size() == 5);
      CHECK(std::stod(row[2]) == Approx(end[row[0]]).margin(1e-9));
      CHECK(std::stod(row[3]) > std::stod(row[2]));
      CHECK(last[row[0]] != row[4]);  // neighbours of one kind are one span
      last[row[0]] = row[4];
      end[row[0]] = std::stod(row[3]);
      sums[row[0]][row[4]] += std::stod(row[3]) - std::stod(row[2]);
    }
    for (const ArenaRow& row : made.rows) {
      CAPTURE(workload, row.fabric);
      const std::string label = label_of(row.fabric, row.qualifier);
      CHECK(end[label] == Approx(ms(row.iteration)));
      // All lanes compute as long as the job does: no pipelines here.
      auto& of = sums[label];
      CHECK(of["compute"] + of["compute, hides communication"] + of["compute in the dark"] == Approx(ms(row.compute)));
      if (row.is_played) {
        CHECK(of["dark"] + of["compute in the dark"] == Approx(ms(row.dark)).margin(1e-4));
      }
      CHECK(lane_json(row.lane)["dark_ms"].get<double>() == Approx(of["dark"]).margin(1e-6));
    }
  }
}

TEST_CASE("a_fabric_without_an_answer_is_a_lane_with_its_reason") {
  Rows made = played("vgg19", 4, {}, {"ideal-switch"});
  made.round.fabrics.push_back({"sip-ring", nullptr, "infeasible: <no> & never"});
  const Picture lanes = lanes_of(made.round);
  const std::string svg = document(lanes.drawing);
  CHECK(svg.find("infeasible: &lt;no&gt; &amp; never") != std::string::npos);
  CHECK(lanes.csv.find("sip-ring,,,,infeasible: <no> & never\n") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf\"") == std::string::npos);
  const Picture bars = bars_of(made.round);
  CHECK(document(bars.drawing).find("Not played: sip-ring: infeasible") != std::string::npos);
  REQUIRE(pdf_of(svg));  // librsvg reads it, so that it is well-formed
  REQUIRE(pdf_of(document(bars.drawing)));
}

TEST_CASE("bubbles_of_a_pipeline_are_no_compute_and_still_add_up") {
  const Rows made = played("gpt3-175b", 16, {{"tp", "4"}, {"pp", "4"}}, {"ideal-switch", "ocs-reconfig"});
  const auto csv = cells_of(bars_of(made.round).csv);
  for (std::size_t i = 0; i < made.rows.size(); ++i) {
    CHECK(std::stod(csv[i + 1][2]) > 0);
    CHECK(std::stod(csv[i + 1][1]) + std::stod(csv[i + 1][2]) == Approx(ms(made.rows[i].compute)));
    CHECK(std::stod(csv[i + 1][5]) == Approx(ms(made.rows[i].iteration)));
  }
}

TEST_CASE("a_lane_finer_than_the_drawing_keeps_its_areas_and_stays_a_small_file") {
  Rows made = played("vgg19", 4, {}, {"mordia"});
  const ArenaRow& row = made.rows.front();
  REQUIRE(row.lane.spans.size() > 1'000);
  const std::string svg = document(lanes_of(made.round).drawing);
  CHECK(svg.size() < 300'000);
  // M x y h w v h h -w z, a path a kind of doing, in the legend's order; `dark` is the darkest.
  std::map<std::string, double> area;
  for (std::size_t at = svg.find("<path class=\"span\""); at != std::string::npos;
       at = svg.find("<path class=\"span\"", at + 1)) {
    const std::string colour = svg.substr(svg.find("fill=\"", at) + 6, 7);
    std::size_t command = svg.find("d=\"", at) + 3;
    const std::size_t end = svg.find('"', command);
    while (command < end) {
      double x = 0;
      double y = 0;
      double width = 0;
      double height = 0;
      REQUIRE(std::sscanf(svg.c_str() + command, "M%lf %lfh%lfv%lf", &x, &y, &width, &height) == 4);
      area[colour] += width * height;
      command = svg.find('z', command) + 1;
    }
  }
  double all = 0;
  for (const auto& [colour, of] : area) {
    all += of;
  }
  CHECK(area["#222222"] / all == Approx(ms(row.lane.sum(NodeDoes::dark)) / ms(row.iteration)).epsilon(0.03));
  CHECK(area["#E69F00"] / all == Approx(ms(row.lane.sum(NodeDoes::communicate)) / ms(row.iteration)).epsilon(0.03));
}

}  // namespace
}  // namespace loom::cli
