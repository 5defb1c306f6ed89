// SPDX-License-Identifier: Apache-2.0
// A table of figures.
#include "cli/offline/reproduce.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command_line.hpp"
#include "cli/offline/offline.hpp"
#include "cli/offline/sweeps.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/figure.hpp"
#include "cli/render/line_plot.hpp"
#include "cli/render/term.hpp"
#include "controller/arena/reproduction/reproduction.hpp"
#include "controller/arena/reproduction/sip_models.hpp"
#include "controller/workload/settings.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/judge/grant_figures.hpp"

namespace loom::cli {
namespace {

constexpr double kBeyondFigures = 1e9;  ///< accepted on one side only
constexpr std::string_view kTestbedTarget = "T14";

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", value);
  return text.data();
}

std::string range(const Figure& figure) {
  if (!figure.accepted) {
    return figure.is_judged() ? "equal" : "-";
  }
  const auto [least, most] = *figure.accepted;
  if (most >= kBeyondFigures) {
    return least > 0 ? number(least) + " or more" : "any";
  }
  if (least <= -kBeyondFigures) {
    return number(most) + " or less";
  }
  return least == most ? "equal" : format_text("{} .. {}", number(least), number(most));
}

std::string verdict(const Figure& figure) { return !figure.is_judged() ? "-" : figure.is_within() ? "ok" : "OFF"; }

nlohmann::ordered_json maybe(bool is_there, const nlohmann::ordered_json& value) {
  return is_there ? value : nlohmann::ordered_json();
}

nlohmann::ordered_json json_of(const Figure& figure) {
  const bool is_words = !figure.our_words.empty();
  nlohmann::ordered_json row;
  row["target"] = figure.target;
  row["label"] = figure.label;
  row["what"] = figure.what;
  row["published"] = is_words ? nlohmann::ordered_json(figure.published_words)
                              : maybe(figure.published.has_value(), figure.published.value_or(0));
  row["ours"] = is_words ? nlohmann::ordered_json(figure.our_words) : nlohmann::ordered_json(figure.ours);
  const auto accepted = figure.accepted.value_or(Accepted{});
  row["least"] = maybe(figure.accepted && accepted.least > -kBeyondFigures, accepted.least);
  row["most"] = maybe(figure.accepted && accepted.most < kBeyondFigures, accepted.most);
  row["within"] = maybe(figure.is_judged(), figure.is_within());
  if (!figure.assumptions.empty()) {
    row["assumptions"] = figure.assumptions;
  }
  return row;
}

void add_row(Table& table, const Figure& figure) {
  if (!figure.our_words.empty()) {
    table.add({figure.target, figure.label, figure.what, figure.published_words, figure.our_words, "-", range(figure),
               verdict(figure)});
    return;
  }
  const bool has_published = figure.published && *figure.published != 0;
  table.add({figure.target, figure.label, figure.what, figure.published ? number(*figure.published) : "-", number(figure.ours),
             has_published ? number(100 * (figure.ours / *figure.published - 1)) + " %" : "-", range(figure), verdict(figure)});
}

/// The folder that was named, by flag or environment, else `data` here if there is one.
std::string data_folder(const ReproduceCommand& order) {
  std::error_code error;
  return order.data.empty() && std::filesystem::is_directory("data", error) ? "data" : order.data;
}

/// T10: the 400 Gb/s fat-tree's iteration over SiP-ML's, a line a model; gradients alone are capped, as in the authors' code.
Result<LineChart> sweep_chart() {
  const auto sweep = sip_sweep();
  if (!sweep) {
    return std::unexpected(sweep.error());
  }
  LineChart chart;
  chart.title = "SiP-ML: iteration on a 400 Gb/s fat-tree over its own";
  chart.x_label = "bandwidth of a GPU, Tb/s";
  chart.caption = {"20 .. 320 wavelengths of 25 Gb/s; 128 x 8 GPUs",
                   "profiles of the models are synthetic, and gradients alone are capped, as in the authors' code"};
  chart.y_label = "ratio";
  chart.band_least = 1.3;
  chart.band_most = 9.1;
  chart.band = "published: 1.3 .. 9.1";
  for (const SipRangeRow& row : *sweep) {
    if (chart.series.empty() || chart.series.back().name != row.model) {
      chart.series.push_back({row.model, {}});
    }
    if (chart.series.size() == 1) {
      std::array<char, 16> place{};
      std::snprintf(place.data(), place.size(), "%g", row.terabits);
      chart.places.emplace_back(place.data());
    }
    chart.series.back().values.push_back((row.group + row.gradients_400) / row.sip());
  }
  return chart;
}

PictureFiles files_of(const ReproduceCommand& order) { return {"--plot", order.plot, "", !order.no_caption}; }

bool write_plot(const ReproduceCommand& order) {
  const auto chart = sweep_chart();
  const auto written =
      chart ? write(files_of(order), {draw(*chart), csv_of(*chart)}) : Result<std::string>(std::unexpected(chart.error()));
  if (!written) {
    complain(written.error().code, written.error().message, "give --plot a path that can be written");
    return false;
  }
  print_note(*written);
  return true;
}

/// The schedule room's targets, and T14 in its place: the machines that play it are the agents', which that room may not see.
std::vector<std::string_view> all_targets() {
  std::vector<std::string_view> targets = reproducible_targets();
  targets.insert(std::find(targets.begin(), targets.end(), "T15"), kTestbedTarget);
  return targets;
}

Result<void> check_targets(const std::vector<std::string>& targets) {
  const std::vector<std::string_view> known = all_targets();
  for (const std::string& target : targets) {
    if (std::find(known.begin(), known.end(), target) == known.end()) {
      return fail(ErrorCode::invalid_argument, format_text("no target '{}'; did you mean '{}'? known: {}", target.substr(0, 32),
                                                           loom::nearest(target, known), published_targets()));
    }
  }
  return {};
}

Result<std::vector<Figure>> figures_of(const std::string& target, const ReproduceCommand& order) {
  return target == kTestbedTarget ? granted_testbed() : loom::reproduce(target, data_folder(order));
}

/// What was named; else what has sweeps, if those are asked for, or everything.
std::vector<std::string> targets_of(const ReproduceCommand& order) {
  if (!order.targets.empty()) {
    return order.targets;
  }
  if (!order.sweep.empty()) {
    return swept_targets();
  }
  const std::vector<std::string_view> all = all_targets();
  return {all.begin(), all.end()};
}

/// All rows that were made, and what is said about them.
struct Findings {
  std::vector<Figure> figures;
  std::vector<Sweep> sweeps;
  std::vector<std::string> absent;
  std::vector<std::string> skipped;
  std::size_t judged = 0;
  std::size_t within = 0;
};

Result<Findings> find(const ReproduceCommand& order) {
  const std::vector<std::string> targets = targets_of(order);
  Findings findings;
  Progress progress;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    progress.show("reproducing " + targets[i], i, targets.size());
    auto figures = figures_of(targets[i], order);
    if (!figures && figures.error().code != ErrorCode::not_found) {
      return std::unexpected(std::move(figures).error());
    }
    if (!figures) {
      findings.skipped.push_back(format_text("{} is skipped: {}", targets[i], figures.error().message));
      findings.absent.push_back(targets[i]);
      continue;
    }
    for (Figure& figure : *figures) {
      findings.judged += figure.is_judged() ? 1 : 0;
      findings.within += figure.is_judged() && figure.is_within() ? 1 : 0;
      findings.figures.push_back(std::move(figure));
    }
    if (!order.sweep.empty()) {
      progress.show("sweeping " + targets[i], i, targets.size());
      auto sweeps = sweeps_of(targets[i]);
      if (!sweeps) {
        return std::unexpected(std::move(sweeps).error());
      }
      findings.sweeps.insert(findings.sweeps.end(), sweeps->begin(), sweeps->end());
    }
  }
  return findings;
}

void print(const Findings& findings) {
  Table table({"target", "check", "what", "published", "ours", "off", "accepted", ""});
  std::string assumptions;
  for (const Figure& figure : findings.figures) {
    add_row(table, figure);
    for (const std::string& each : figure.assumptions) {
      assumptions += format_text("{} assumed: {}\n", figure.target, each);
    }
  }
  std::fputs((table.text() + assumptions).c_str(), stdout);
  std::printf("%zu of %zu judged rows within what was accepted\n", findings.within, findings.judged);
  for (const Sweep& sweep : findings.sweeps) {
    std::printf("\n%s", table_of(sweep).c_str());
  }
}

void print_json(const Findings& findings) {
  auto object = answer();
  object["figures"] = nlohmann::ordered_json::array();
  for (const Figure& figure : findings.figures) {
    object["figures"].push_back(json_of(figure));
  }
  object["absent"] = findings.absent;
  if (!findings.sweeps.empty()) {
    object["sweeps"] = nlohmann::ordered_json::array();
    for (const Sweep& sweep : findings.sweeps) {
      object["sweeps"].push_back(as_json(sweep));
    }
  }
  object["judged"] = findings.judged;
  object["within"] = findings.within;
  cli::print(object);
}

bool write_sweeps(const ReproduceCommand& order, const std::vector<Sweep>& sweeps) {
  const auto notes = write_drawings(order.sweep, sweeps, !order.no_caption);
  if (!notes) {
    complain(notes.error().code, notes.error().message, "give --sweep a folder that can be written");
    return false;
  }
  for (const std::string& note : *notes) {
    print_note(note);
  }
  return true;
}

}  // namespace

std::string published_targets() {
  std::string names;
  for (const std::string_view name : all_targets()) {
    names += (names.empty() ? "" : " ") + std::string(name);
  }
  return names;
}

int reproduce(const Globals& globals, const ReproduceCommand& order) {
  auto lawful = check_targets(order.targets);
  if (lawful && !order.sweep.empty()) {
    lawful = check_swept(order.targets);
  }
  if (lawful && !order.plot.empty()) {
    lawful = check(files_of(order));
  }
  if (!lawful) {
    return give_up(lawful.error(), "loom reproduce --help");
  }
  const auto findings = find(order);
  if (!findings) {
    return give_up(findings.error(), "loom reproduce --help");
  }
  globals.json ? print_json(*findings) : print(*findings);
  for (const std::string& each : findings->skipped) {
    print_note(each);
  }
  if ((!order.plot.empty() && !write_plot(order)) || (!order.sweep.empty() && !write_sweeps(order, findings->sweeps))) {
    return kFailed;
  }
  return findings->within < findings->judged ? kFailed : findings->skipped.empty() ? kDone : kPartial;
}

void add_reproduce(CLI::App& app, CommandLine& line) {
  auto& options = line.keep<ReproduceCommand>();
  CLI::App* verb = app.add_subcommand("reproduce", "Published figures beside ours, with the tolerance of each");
  verb->add_option("TARGET", options.targets, published_targets() + "; all if none is named");
  verb->add_option("--data", options.data, "Folder with traces/topoopt and measures; ./data if not named")
      ->envname("LIGHTLOOM_DATA");
  verb->add_option("--plot", options.plot, "Write an SVG or PDF of T10, the sweep of model x bandwidth, and its CSV beside it");
  verb->add_option("--sweep", options.sweep,
                   "T13 and T14 against what they assume: tables; an SVG, PDF and CSV of each into this folder");
  verb->add_flag("--no-caption", options.no_caption, "No assumptions below pictures: FILE.caption.txt has them");
  line.when(*verb, reproduce, options);
}

}  // namespace loom::cli
