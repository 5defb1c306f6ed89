// SPDX-License-Identifier: Apache-2.0
// Which targets have sweeps, and how one is printed and drawn.
#include "cli/offline/sweeps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/render/line_plot.hpp"
#include "cli/render/term.hpp"
#include "controller/arena/reproduction/oddl_claims.hpp"
#include "controller/workload/settings.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/judge/grant_figures.hpp"

namespace loom::cli {
namespace {

struct Swept {
  std::string_view target;
  Result<Sweep> (*make)();
};

constexpr std::array<Swept, 6> kSweeps{{{"T13", [] { return sweep_compute_time(); }},
                                        {"T13", [] { return sweep_tree_efficiency(); }},
                                        {"T13", [] { return sweep_tuning_time(); }},
                                        {"T13", [] { return sweep_control_latency(); }},
                                        {"T14", [] { return sweep_testbed_tuning(); }},
                                        {"T14", [] { return sweep_testbed_control(); }}}};

std::string number(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

bool is_power_of_ten(double value) {
  const double power = std::log10(value);
  return std::abs(power - std::round(power)) < 1e-9;
}

}  // namespace

std::vector<std::string> swept_targets() {
  std::vector<std::string> targets;
  for (const Swept& each : kSweeps) {
    if (targets.empty() || targets.back() != each.target) {
      targets.emplace_back(each.target);
    }
  }
  return targets;
}

Result<void> check_swept(const std::vector<std::string>& targets) {
  const std::vector<std::string> known = swept_targets();
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const std::string& target : targets) {
    if (std::find(names.begin(), names.end(), target) == names.end()) {
      return fail(
          ErrorCode::invalid_argument,
          format_text("--sweep: {} has no sweep; did you mean '{}'? T13 and T14 have them, and T10 is drawn by --plot FILE",
                      target.substr(0, 32), loom::nearest(target, names)));
    }
  }
  return {};
}

Result<std::vector<Sweep>> sweeps_of(const std::string& target) {
  std::vector<Sweep> sweeps;
  for (const Swept& each : kSweeps) {
    if (each.target != target) {
      continue;
    }
    auto sweep = each.make();
    if (!sweep) {
      return std::unexpected(std::move(sweep).error());
    }
    sweeps.push_back(std::move(*sweep));
  }
  return sweeps;
}

std::string table_of(const Sweep& sweep) {
  std::vector<std::string> header{sweep.x_label};
  for (const SweepLine& line : sweep.lines) {
    header.push_back(line.name);
  }
  Table table(header);
  for (std::size_t i = 0; i < sweep.places.size(); ++i) {
    std::vector<std::string> row{number("%g", sweep.places[i])};
    for (const SweepLine& line : sweep.lines) {
      row.push_back(number("%.4g", line.values[i]));
    }
    table.add(std::move(row));
  }
  std::string text = format_text("{}: {}; {}\n{}", sweep.target, sweep.title, sweep.y_label, table.text());
  for (const std::string& assumption : sweep.assumptions) {
    text += format_text("assumed: {}\n", assumption);
  }
  return text;
}

nlohmann::ordered_json as_json(const Sweep& sweep) {
  nlohmann::ordered_json object;
  object["target"] = sweep.target;
  object["name"] = sweep.name;
  object["x"] = sweep.x_label;
  object["y"] = sweep.y_label;
  object["standing"] = sweep.standing;
  object["places"] = sweep.places;
  object["lines"] = nlohmann::ordered_json::array();
  for (const SweepLine& line : sweep.lines) {
    object["lines"].push_back({{"name", line.name}, {"values", line.values}});
  }
  object["assumptions"] = sweep.assumptions;
  return object;
}

Picture picture_of(const Sweep& sweep) {
  LineChart chart;
  std::vector<std::string> places;
  chart.title = sweep.title;
  chart.x_label = sweep.x_label;
  chart.y_label = sweep.y_label;
  chart.has_log_y = sweep.has_log_y;
  for (const double place : sweep.places) {
    places.push_back(svg::exact(place));
    chart.positions.push_back(sweep.has_log_x ? std::log10(place) : place);
    chart.places.push_back(sweep.has_log_x && !is_power_of_ten(place) ? "" : number("%g", place));
  }
  for (const SweepLine& line : sweep.lines) {
    chart.series.push_back({line.name, line.values, line.colour, line.is_second});
  }
  chart.mark_at = sweep.has_log_x ? std::log10(sweep.standing) : sweep.standing;
  chart.mark = format_text("{}: {}", sweep.standing_is, number("%g", sweep.standing));
  chart.band_least = sweep.band_least;
  chart.band_most = sweep.band_most;
  chart.band = sweep.band;
  chart.caption = sweep.assumptions;
  return {draw(chart), csv_of(chart, places)};
}

Result<std::vector<std::string>> write_drawings(const std::string& folder, const std::vector<Sweep>& sweeps, bool has_caption) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::vector<std::string> notes;
  for (const Sweep& sweep : sweeps) {
    const Picture picture = picture_of(sweep);
    const std::string name = (std::filesystem::path(folder) / format_text("{}-{}", sweep.target, sweep.name)).string();
    for (const char* ending : {".svg", ".pdf"}) {
      auto written = write({"--sweep", name + ending, "", has_caption}, picture);
      if (!written) {
        return std::unexpected(std::move(written).error());
      }
      notes.push_back(*std::move(written));
    }
  }
  return notes;
}

}  // namespace loom::cli
