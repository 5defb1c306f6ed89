// Drawings: whatever is drawn is well-formed, on one scale, and says what it was given.
#include "cli/plot.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <regex>

namespace loom::cli {
namespace {

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE("bars_are_as_long_as_their_values_on_one_scale") {
  BarChart bars;
  bars.title = "t";
  bars.unit = "ms";
  bars.series = {"a", "b"};
  bars.bars = {{"one", {{10, 0}, {0, 1}}, "10"}, {"two", {{20, 0}, {20, 1}}, "40"}};
  const std::string svg = draw(bars, {});
  const std::regex rectangle("<rect x=\"([0-9.]+)\"[^>]*width=\"([0-9.]+)\" height=\"16\"");
  std::vector<double> widths;
  for (std::sregex_iterator at(svg.begin(), svg.end(), rectangle), end; at != end; ++at) {
    widths.push_back(std::stod((*at)[2]));
  }
  REQUIRE(widths.size() == 3);  // a part of no length is left out
  CHECK(widths[1] == Approx(2 * widths[0]).epsilon(1e-4));
  CHECK(widths[2] == Approx(2 * widths[0]).epsilon(1e-4));
}

TEST_CASE("names_with_markup_are_drawn_as_they_are") {
  BarChart bars;
  bars.title = "<script> & \"quotes\"";
  bars.series = {"a"};
  bars.bars = {{"<b>", {{1, 0}}, ""}};
  GanttChart gantt;
  gantt.lanes = {{"lane", {{0, 0.5, 0, "<x>"}}}};
  const std::string svg = draw(bars, gantt);
  CHECK(svg.find("<script>") == std::string::npos);
  CHECK(svg.find("&lt;script&gt; &amp; &quot;quotes&quot;") != std::string::npos);
  CHECK(count_of(svg, "<text") == count_of(svg, "</text>"));
  CHECK(count_of(svg, "<title>") == count_of(svg, "</title>"));
  CHECK(count_of(svg, "<svg") == 1);
}

TEST_CASE("nothing_to_draw_is_still_a_drawing") {
  const std::string svg = draw({}, {});
  CHECK(svg.find("<svg") == 0);
  CHECK(svg.find("nan") == std::string::npos);
}

}  // namespace
}  // namespace loom::cli
