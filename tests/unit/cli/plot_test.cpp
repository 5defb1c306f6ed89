// SPDX-License-Identifier: Apache-2.0
// Drawings: whatever is drawn is well-formed, on one scale, and says what it was given.
#include "cli/render/bar_plot.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>

#include "cli/offline/sweeps.hpp"
#include "cli/render/figure.hpp"
#include "cli/render/line_plot.hpp"

namespace loom::cli {
namespace {

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

template <class Chart>
std::string text_of(const Chart& chart) {
  return document(draw(chart));
}

TEST_CASE("bars_are_as_long_as_their_values_on_one_scale") {
  BarChart bars;
  bars.title = "t";
  bars.unit = "ms";
  bars.series = {"a", "b"};
  bars.bars = {{"one", {{10, 0}, {0, 1}}, "10"}, {"two", {{20, 0}, {20, 1}}, "40"}};
  const std::string svg = text_of(bars);
  const std::regex rectangle("<rect x=\"([0-9.]+)\"[^>]*width=\"([0-9.]+)\" height=\"16\"");
  std::vector<double> widths;
  for (std::sregex_iterator at(svg.begin(), svg.end(), rectangle), end; at != end; ++at) {
    widths.push_back(std::stod((*at)[2]));
  }
  REQUIRE(widths.size() == 3);  // a part of no length is left out
  CHECK(widths[1] == Approx(2 * widths[0]).epsilon(1e-4));
  CHECK(widths[2] == Approx(2 * widths[0]).epsilon(1e-4));
}

TEST_CASE("an_outlier_flattens_no_other_bar_and_the_caption_says_so") {
  BarChart bars;
  bars.unit = "ms";
  bars.series = {"compute", "dark"};
  bars.bars = {{"quick", {{8, 0}}, "8"}, {"fair", {{10, 0}}, "10"}, {"slow", {{10, 0}, {990, 1}}, "1000 ms"}};
  bars.caption = {"what was assumed"};
  CHECK(scale_end(bars) == Approx(12.5));
  const std::string svg = text_of(bars);
  CHECK(count_of(svg, "class=\"cut\"") == 2);
  CHECK(svg.find("The scale ends at 12.5 ms") != std::string::npos);
  CHECK(svg.find("is written: slow.") != std::string::npos);
  CHECK(svg.find("what was assumed") != std::string::npos);
  CHECK(svg.find("<title>dark: 990 ms</title>") != std::string::npos);  // its last part shows behind the cut
  bars.bars.pop_back();
  CHECK(scale_end(bars) == Approx(10));
  CHECK(count_of(text_of(bars), "class=\"cut\"") == 0);
}

TEST_CASE("the_figures_of_bars_are_csv") {
  BarChart bars;
  bars.unit = "ms";
  bars.series = {"compute", "dark"};
  bars.bars = {{"a, \"b\"", {{1.5, 0}, {2, 1}}, ""}};
  CHECK(csv_of(bars) == "name,compute (ms),dark (ms),sum\n\"a, \"\"b\"\"\",1.5,2,3.5\n");
  CHECK(data_path("x/arena.pdf") == "x/arena.csv");
}

TEST_CASE("a_pdf_is_written_of_the_same_drawing") {
  BarChart bars;
  bars.title = "a title";
  bars.series = {"a"};
  bars.bars = {{"one", {{1, 0}}, "1"}};
  const std::string path = (std::filesystem::temp_directory_path() / "loom_plot_test.pdf").string();
  REQUIRE(write({"--plot", path}, {draw(bars), csv_of(bars)}));
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  CHECK(bytes.starts_with("%PDF-"));
  CHECK(bytes.find("%%EOF") != std::string::npos);
  CHECK(bytes.find("/Subtype /Image") == std::string::npos);  // vectors, no pixels
  CHECK(pdf_of("no drawing").error().code == ErrorCode::internal);
  std::filesystem::remove(path);
}

TEST_CASE("a_picture_that_cannot_be_written_is_refused_by_its_name_and_option") {
  const auto message_of = [](const PictureFiles& files) {
    const auto checked = check(files);
    return checked ? std::string{} : checked.error().message;
  };
  CHECK(message_of({"--plot", "a.png"}) == "--plot a.png: a picture's name ends in .svg or .pdf");
  CHECK(message_of({"--plot", "a"}).starts_with("--plot a: "));
  CHECK(message_of({"--plot", "/nonexistent/a.svg"}) == "--plot /nonexistent/a.svg: there is no folder /nonexistent");
  CHECK(message_of({"--plot", "a.svg", "/nonexistent/a.csv"}).starts_with("--csv /nonexistent/a.csv"));
  CHECK(message_of({"--plot", "a.svg", "a.svg"}).find("one file") != std::string::npos);
  CHECK(message_of({"--plot", "a.svg"}).empty());
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "loom_plot_folder.svg";
  std::filesystem::create_directories(folder);
  const auto written = write({"--plot", folder.string()}, {draw(BarChart{}), csv_of(BarChart{})});
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::storage);
  CHECK(written.error().message.find(folder.string()) != std::string::npos);
  std::filesystem::remove(folder);
}

TEST_CASE("the_caption_stands_below_the_drawing_or_in_a_file_of_its_own_and_always_in_the_description") {
  BarChart bars;
  bars.series = {"a"};
  bars.bars = {{"one", {{1, 0}}, "1"}};
  bars.caption = {"what was assumed", "and < this"};
  const svg::Drawing drawing = draw(bars);
  const std::string with = document(drawing);
  const std::string without = document(drawing, false);
  const std::string group = "<g class=\"caption\">";
  CHECK(count_of(with, group) == 1);
  CHECK(count_of(with, "what was assumed") == 2);
  CHECK(count_of(without, group) == 0);
  CHECK(count_of(without, "what was assumed") == 1);
  CHECK(count_of(without, "<desc>what was assumed\nand &lt; this</desc>") == 1);
  // What is drawn is the same, and nothing of it is in the caption's group.
  CHECK(with.find(drawing.body) < with.find(group));
  CHECK(without.find(drawing.body) != std::string::npos);
  CHECK(drawing.body.find("assumed") == std::string::npos);
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const auto path = [&](const char* name) { return (folder / name).string(); };
  REQUIRE(write({"--plot", path("loom_caption.svg"), "", false}, {drawing, csv_of(bars)}));
  std::ifstream file(path("loom_caption.caption.txt"));
  CHECK(std::string{std::istreambuf_iterator<char>(file), {}} == "what was assumed\nand < this\n");
  for (const char* name : {"loom_caption.svg", "loom_caption.csv", "loom_caption.caption.txt"}) {
    CHECK(std::filesystem::remove(path(name)));
  }
}

TEST_CASE("names_with_markup_are_drawn_as_they_are") {
  BarChart bars;
  bars.title = "<script> & \"quotes\"";
  bars.series = {"a"};
  bars.bars = {{"<b>", {{1, 0}}, ""}};
  const std::string svg = text_of(bars);
  CHECK(svg.find("<script>") == std::string::npos);
  CHECK(svg.find("&lt;script&gt; &amp; &quot;quotes&quot;") != std::string::npos);
  CHECK(count_of(svg, "<text") == count_of(svg, "</text>"));
  CHECK(count_of(svg, "<title>") == count_of(svg, "</title>"));
  CHECK(count_of(svg, "<svg") == 1);
}

TEST_CASE("lines_go_up_with_their_values_and_the_band_lies_where_it_was_published") {
  LineChart chart;
  chart.places = {"0.5", "1", "2"};
  chart.series = {{"a < b", {1, 2, 4}}, {"flat", {3, 3, 3}}};
  chart.band_least = 1;
  chart.band_most = 3;
  chart.band = "published";
  const std::string svg = text_of(chart);
  CHECK(svg.find("a &lt; b") != std::string::npos);
  const std::regex dot("cy=\"([0-9.]+)\"");
  std::vector<double> heights;
  for (std::sregex_iterator at(svg.begin(), svg.end(), dot), end; at != end; ++at) {
    heights.push_back(std::stod((*at)[1]));
  }
  REQUIRE(heights.size() == 6);
  CHECK(heights[1] - heights[2] == Approx(2 * (heights[0] - heights[1])).epsilon(1e-4));
  const std::regex band("y=\"([0-9.]+)\" width=\"[0-9.]+\" height=\"([0-9.]+)\" fill=\"#f0f0e0\"");
  std::smatch found;
  REQUIRE(std::regex_search(svg, found, band));
  CHECK(std::stod(found[1]) == Approx(heights[3]).epsilon(1e-4));                        // at 3
  CHECK(std::stod(found[1]) + std::stod(found[2]) == Approx(heights[0]).epsilon(1e-4));  // at 1
  CHECK(text_of(LineChart{}).find("nan") == std::string::npos);
}

std::vector<double> heights_of(const std::string& svg) {
  const std::regex dot("cy=\"([0-9.]+)\"");
  std::vector<double> heights;
  for (std::sregex_iterator at(svg.begin(), svg.end(), dot), end; at != end; ++at) {
    heights.push_back(std::stod((*at)[1]));
  }
  return heights;
}

Sweep small_sweep() {
  Sweep sweep{"T13", "tuning-time", "title", "t_tune, us", "ratio"};
  sweep.has_log_x = sweep.has_log_y = true;
  sweep.standing = 0.1;
  sweep.standing_is = "default";
  sweep.places = {0.01, 0.1, 1};
  sweep.lines = {{"rising", {0.1, 1, 10}}, {"second", {1, 1, 1}, 0, true}};
  sweep.assumptions = {"what was held"};
  return sweep;
}

TEST_CASE("equal_factors_are_equal_heights_on_a_log_scale") {
  const std::vector<double> heights = heights_of(document(picture_of(small_sweep()).drawing));
  REQUIRE(heights.size() == 6);
  CHECK(heights[0] - heights[1] == Approx(heights[1] - heights[2]).epsilon(1e-4));
  CHECK(heights[1] == Approx(heights[4]).epsilon(1e-4));
}

TEST_CASE("a_sweeps_drawing_names_its_axes_lines_assumptions_and_where_the_rows_stand_and_is_the_same_every_time") {
  const std::string svg = document(picture_of(small_sweep()).drawing);
  for (const char* each : {"t_tune, us", "ratio", "rising", "second", "what was held", "default: 0.1", "stroke-dasharray"}) {
    CHECK(svg.find(each) != std::string::npos);
  }
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg == document(picture_of(small_sweep()).drawing));
}

TEST_CASE("a_sweeps_table_has_a_row_a_place_and_the_assumptions_below") {
  const std::string table = table_of(small_sweep());
  CHECK(count_of(table, "\n") == 6);  // title, header, three places, one assumption
  CHECK(table.find("assumed: what was held") != std::string::npos);
}

TEST_CASE("a_target_without_a_sweep_is_refused_with_the_nearest_that_has_one") {
  CHECK(check_swept({"T13", "T14"}));
  const auto refused = check_swept({"T16"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("T16 has no sweep; did you mean 'T1") != std::string::npos);
}

TEST_CASE("a_folder_that_cannot_be_made_is_told_by_its_path") {
  const auto paths = write_drawings("/dev/null/plots", {small_sweep()});
  REQUIRE_FALSE(paths);
  CHECK(paths.error().code == ErrorCode::storage);
  CHECK(paths.error().message.find("/dev/null/plots/T13-tuning-time.svg") != std::string::npos);
}

TEST_CASE("nothing_to_draw_is_still_a_drawing") {
  const std::string svg = text_of(BarChart{});
  CHECK(svg.find("<svg") == 0);
  CHECK(svg.find("nan") == std::string::npos);
}

}  // namespace
}  // namespace loom::cli
