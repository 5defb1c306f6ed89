// SPDX-License-Identifier: Apache-2.0
// Makes entries, plays them, lays the rows side by side.
#include "cli/offline/arena.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command_line.hpp"
#include "cli/lab/interrupt.hpp"
#include "cli/offline/arena_pictures.hpp"
#include "cli/offline/cluster.hpp"
#include "cli/offline/costs.hpp"
#include "cli/offline/offline.hpp"
#include "cli/offline/play_inputs.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/arena/arena.hpp"
#include "controller/arena/seeds.hpp"
#include "core/config/calibration_file.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// One row, or why there is none.
struct Standing {
  std::string fabric;
  std::optional<ArenaRow> row;
  std::string refusal;
  std::uint32_t seed = 0;       ///< of the row, where there were several
  std::vector<double> runs_ms;  ///< by seed
  std::optional<SeedSpread> spread;
  double schedule_ms = 0;  ///< choosing the topology and its circuits, on this machine
};

struct Round {
  std::string calibration;  ///< empty: uncalibrated
  std::string note;
  std::vector<Standing> standings;
  std::vector<std::string> workload_assumptions;
  std::string workload;
  std::uint32_t nodes = 0;
  std::optional<Costs> costs;
};

std::string fixed(double value, int digits) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

double milliseconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

Standing stand(const std::string& fabric, const PlayInputs& inputs, BitRate rate, Duration compute, const ArenaCommand& order) {
  Standing standing;
  standing.fabric = fabric;
  const Settings settings = settings_for(fabric, inputs.fabric);
  const auto make = [&](const Settings& own) {
    const auto begin = std::chrono::steady_clock::now();
    auto entry = make_entry(fabric, inputs.graph, rate, own);
    standing.schedule_ms = milliseconds(std::chrono::steady_clock::now() - begin);
    return entry;
  };
  auto played = play_seeds(fabric, {make, compute, order.seeds}, settings, {.exact_looks = order.is_exact ? 0 : kExactLooks});
  if (!played) {
    standing.refusal = played.error().message;
    return standing;
  }
  standing.row = std::move(played->row);
  standing.seed = played->seed;
  standing.runs_ms = std::move(played->runs_ms);
  standing.spread = played->spread;
  return standing;
}

/// What is played so far: one thread plays, another may be asked to print it.
class Comparison {
 public:
  void begin(Round round) {
    const std::lock_guard lock(mutex_);
    rounds_.push_back(std::move(round));
  }
  void add(Standing standing) {
    const std::lock_guard lock(mutex_);
    rounds_.back().standings.push_back(std::move(standing));
  }
  std::vector<Round> rounds() const {
    const std::lock_guard lock(mutex_);
    return rounds_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Round> rounds_;
};

/// ", about 12 s left" once that is worth saying: the others as long as those before.
std::string time_left(std::chrono::steady_clock::time_point begin, std::size_t done, std::size_t all) {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  if (done == 0 || spent < std::chrono::seconds{2}) {
    return {};
  }
  const double left = spent.count() / static_cast<double>(done) * static_cast<double>(all - done);
  return ", about " + fixed(left, 0) + " s left";
}

Result<void> play_round(const ArenaCommand& order, const Calibration* calibration, Progress& progress, Comparison& into) {
  std::vector<std::string> fabrics = order.fabrics;
  if (fabrics.empty()) {
    fabrics.assign(arena_names().begin(), arena_names().end());
  }
  const auto inputs = read_inputs({order.workload, order.demand, order.model, order.nodes, order.bandwidth, order.settings},
                                  calibration, fabrics);
  if (!inputs) {
    return std::unexpected(inputs.error());
  }
  const auto compute = compute_alone(inputs->graph);
  if (!compute) {
    return std::unexpected(compute.error());
  }
  Round round;
  round.workload = inputs->graph.workload;
  round.nodes = inputs->graph.nodes;
  round.workload_assumptions = inputs->graph.assumptions;
  if (calibration != nullptr) {
    round.calibration = calibration->name;
    round.note = calibration->note;
  }
  auto costs = read_costs(order, {fabrics, inputs->graph.nodes, inputs->rate, inputs->fabric});
  if (!costs) {
    return std::unexpected(costs.error());
  }
  round.costs = *costs;
  into.begin(std::move(round));
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < fabrics.size(); ++i) {
    progress.show("playing " + fabrics[i] + time_left(begin, i, fabrics.size()), i, fabrics.size());
    if (std::string refusal = refusal_on(*costs, fabrics[i]); !refusal.empty()) {
      into.add({.fabric = fabrics[i], .row = {}, .refusal = std::move(refusal), .runs_ms = {}, .spread = {}});
      continue;
    }
    into.add(stand(fabrics[i], *inputs, rate_on(*costs, fabrics[i], inputs->rate), *compute, order));
  }
  return {};
}

/// The ideal switch's iteration, played or not asked for.
std::optional<double> ideal_of(const Round& round) {
  for (const Standing& standing : round.standings) {
    if (standing.fabric == "ideal-switch" && standing.row) {
      return milliseconds(standing.row->iteration);
    }
  }
  return std::nullopt;
}

void print_round(const Round& round, const ArenaCommand& order) {
  std::printf(
      "%s, %u nodes, %s a node, %s\n", round.workload.c_str(), round.nodes, order.bandwidth.c_str(),
      round.calibration.empty() ? "uncalibrated" : format_text("calibrated by {}: {}", round.calibration, round.note).c_str());
  std::vector<std::string> columns{"fabric",     "scheduler",  "iteration ms", "bound ms", "ratio",
                                   "compute ms", "exposed ms", "dark ms",      "circuits", "chosen in ms"};
  if (order.seeds > 1) {
    columns.insert(columns.begin() + 3, "mean of " + std::to_string(order.seeds) + " seeds");
  }
  Table table(columns);
  const auto ideal = ideal_of(round);
  for (const Standing& standing : round.standings) {
    if (!standing.row) {
      continue;
    }
    const ArenaRow& row = *standing.row;
    std::vector<std::string> cells{label_of(row.fabric, row.qualifier),
                                   row.scheduler,
                                   (row.is_approximate ? "~" : "") + fixed(milliseconds(row.iteration), 3),
                                   fixed(milliseconds(row.bound), 3),
                                   ideal ? fixed(milliseconds(row.iteration) / *ideal, 3) : "-",
                                   fixed(milliseconds(row.compute), 3),
                                   fixed(milliseconds(row.exposed), 3),
                                   fixed(milliseconds(row.dark), 3),
                                   std::to_string(row.circuits),
                                   fixed(standing.schedule_ms, 1)};
    if (order.seeds > 1) {
      cells.insert(cells.begin() + 3,
                   standing.spread ? fixed(standing.spread->mean, 3) + " +- " + fixed(standing.spread->half_width, 3) : "-");
    }
    table.add(cells);
  }
  std::fputs(table.text().c_str(), stdout);
  for (const Standing& standing : round.standings) {
    if (!standing.row) {
      const bool is_named = standing.refusal.starts_with(standing.fabric);
      std::printf("refused: %s%s\n", is_named ? "" : (standing.fabric + ": ").c_str(), standing.refusal.c_str());
    }
  }
  if (order.seeds > 1) {
    std::printf("seeds: rows are the median run's; mean +- half of its 95 %% confidence interval (Student's t)\n");
  }
  if (round.costs) {
    std::fputs(text_of(*round.costs).c_str(), stdout);
  }
  for (const std::string& assumption : round.workload_assumptions) {
    std::printf("assumed: %s\n", assumption.c_str());
  }
  for (const Standing& standing : round.standings) {
    for (const std::string& assumption : standing.row ? standing.row->assumptions : std::vector<std::string>{}) {
      std::printf("assumed: %s%s\n", assumption.starts_with(standing.fabric) ? "" : (standing.fabric + ": ").c_str(),
                  assumption.c_str());
    }
  }
}

nlohmann::ordered_json json_of(const Round& round) {
  nlohmann::ordered_json object;
  object["calibration"] = round.calibration.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(round.calibration);
  object["rows"] = nlohmann::ordered_json::array();
  object["refused"] = nlohmann::ordered_json::array();
  const auto ideal = ideal_of(round);
  for (const Standing& standing : round.standings) {
    if (!standing.row) {
      object["refused"].push_back({{"fabric", standing.fabric}, {"reason", standing.refusal}});
      continue;
    }
    const ArenaRow& row = *standing.row;
    nlohmann::ordered_json entry;
    entry["fabric"] = row.fabric;
    entry["scheduler"] = row.scheduler;
    entry["iteration_ms"] = milliseconds(row.iteration);
    entry["approximate"] = row.is_approximate;
    entry["bound_ms"] = milliseconds(row.bound);
    entry["ratio_to_ideal"] = ideal ? nlohmann::ordered_json(milliseconds(row.iteration) / *ideal) : nlohmann::ordered_json();
    entry["compute_ms"] = milliseconds(row.compute);
    entry["exposed_comm_ms"] = milliseconds(row.exposed);
    entry["dark_ms"] = milliseconds(row.dark);
    entry["lane"] = lane_json(row.lane);
    entry["circuits_touched"] = row.circuits;
    entry["topology_changes"] = row.changes;
    entry["utilisation"] = row.utilisation;
    entry["schedule_ms"] = standing.schedule_ms;
    if (standing.spread) {
      entry["seed"] = standing.seed;
      entry["seeds"] = {{"mean_ms", standing.spread->mean},
                        {"ci95_ms", standing.spread->half_width},
                        {"least_ms", standing.spread->least},
                        {"most_ms", standing.spread->most},
                        {"iteration_ms", standing.runs_ms}};
    }
    entry["assumptions"] = row.assumptions;
    object["rows"].push_back(std::move(entry));
  }
  object["assumptions"] = round.workload_assumptions;
  object["costs"] = round.costs ? as_json(*round.costs) : nlohmann::ordered_json();
  return object;
}

void print_all(const Globals& globals, const std::vector<Round>& rounds, const ArenaCommand& order, bool was_interrupted) {
  if (rounds.empty()) {
    return;
  }
  if (!globals.json) {
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      std::fputs(i == 0 ? "" : "\n", stdout);
      print_round(rounds[i], order);
    }
    return;
  }
  auto object = answer();
  object["workload"] = rounds.front().workload;
  object["nodes"] = rounds.front().nodes;
  object["interrupted"] = was_interrupted;
  auto uncalibrated = json_of(rounds.front());
  object["rows"] = uncalibrated["rows"];
  object["refused"] = uncalibrated["refused"];
  object["assumptions"] = uncalibrated["assumptions"];
  object["costs"] = uncalibrated["costs"];
  if (rounds.size() > 1) {
    object["calibrated"] = json_of(rounds.back());
    object["calibrated"]["note"] = rounds.back().note;
  }
  print(object);
}

PicturedRound pictured(const Round& round, const ArenaCommand& order) {
  PicturedRound of;
  of.title = format_text("{} on {} nodes at {} a node{}", round.workload, round.nodes, order.bandwidth,
                         round.calibration.empty() ? " (uncalibrated)" : format_text(" (calibrated by {})", round.calibration));
  of.ideal_ms = ideal_of(round).value_or(0);
  of.assumptions = round.workload_assumptions;
  for (const Standing& standing : round.standings) {
    of.fabrics.push_back({standing.fabric, standing.row ? &*standing.row : nullptr, standing.refusal});
  }
  return of;
}

PictureFiles bars_files(const ArenaCommand& order) { return {"--plot", order.plot, order.csv, !order.no_caption}; }

PictureFiles lanes_files(const ArenaCommand& order) { return {"--gantt", order.gantt, "", !order.no_caption}; }

bool wants_bars(const ArenaCommand& order) { return !order.plot.empty() || !order.csv.empty(); }

/// Whatever pictures were asked for, before anything is played.
Result<void> check_pictures(const ArenaCommand& order) {
  std::vector<NamedFile> written;
  if (wants_bars(order)) {
    LOOM_TRY(check(bars_files(order)));
    written = written_files(bars_files(order));
  }
  if (!order.gantt.empty()) {
    LOOM_TRY(check(lanes_files(order)));
    const std::vector<NamedFile> its = written_files(lanes_files(order));
    written.insert(written.end(), its.begin(), its.end());
  }
  return check_apart({{"--workload", order.workload},
                      {"--demand", order.demand},
                      {"--model", order.model},
                      {"--calibration", order.calibration},
                      {"--prices", order.prices}},
                     written);
}

Result<void> write_noted(const PictureFiles& files, const Picture& picture) {
  const auto written = write(files, picture);
  if (!written) {
    return std::unexpected(written.error());
  }
  print_note(*written);
  return {};
}

Result<void> write_pictures(const Round& round, const ArenaCommand& order) {
  const PicturedRound of = pictured(round, order);
  if (wants_bars(order)) {
    LOOM_TRY(write_noted(bars_files(order), bars_of(of)));
  }
  return order.gantt.empty() ? Result<void>{} : write_noted(lanes_files(order), lanes_of(of));
}

}  // namespace

std::string arena_fabrics() {
  std::string names;
  for (const std::string_view name : arena_names()) {
    names += (names.empty() ? "" : ",") + std::string(name);
  }
  return names;
}

int arena(const Globals& globals, const ArenaCommand& order) {
  if (!order.cluster.empty()) {
    return study_cluster_file(globals, order);
  }
  if (const auto lawful = check_pictures(order); !lawful) {
    return give_up(lawful.error(), "loom arena --help");
  }
  std::optional<Calibration> calibration;
  if (!order.calibration.empty()) {
    auto loaded = load_calibration(order.calibration);
    if (!loaded) {
      for (const ConfigError& error : loaded.errors) {
        print_note(to_string(error));
      }
      return kFailed;
    }
    calibration = std::move(*loaded.value);
  }
  Comparison comparison;
  {
    const Interrupt interrupt([&](bool) {
      print_note("interrupted; what was played until then:");
      print_all(globals, comparison.rounds(), order, true);
      std::fflush(stdout);
    });
    Progress progress;
    std::vector<const Calibration*> turns{nullptr};
    if (calibration) {
      turns.push_back(&*calibration);
    }
    for (const Calibration* each : turns) {
      const auto played = play_round(order, each, progress, comparison);
      if (!played) {
        const bool is_users = played.error().code != ErrorCode::malformed && played.error().code != ErrorCode::internal;
        complain(played.error().code, played.error().message, "loom arena --help");
        return is_users ? kUsage : kFailed;
      }
    }
  }
  const std::vector<Round> rounds = comparison.rounds();
  print_all(globals, rounds, order, false);
  if (const auto written = write_pictures(rounds.back(), order); !written) {
    return give_up(written.error(), "loom arena --help");
  }
  const bool is_partial = std::any_of(rounds.begin(), rounds.end(), [](const Round& round) {
    return std::any_of(round.standings.begin(), round.standings.end(), [](const Standing& each) { return !each.row; });
  });
  return is_partial ? kPartial : kDone;
}

void add_arena(CLI::App& app, CommandLine& line) {
  auto& options = line.keep<ArenaCommand>();
  CLI::App* verb = app.add_subcommand("arena", "One job on many fabrics, side by side, dark time charged");
  verb->add_option("--workload", options.workload,
                   "Model of the zoo (loom workload list), task graph (.fbuf), trace or demand");
  verb->add_option("--demand", options.demand, "Bytes from node to node (.csv, .tsv, .txt, .npy), instead of a workload");
  verb->add_option("--model", options.model, "Your own layers (.yaml, .json with kind: model), instead of a workload");
  verb->add_option("--nodes", options.nodes, "How many nodes; a file brings its own")
      ->check(number_check<std::uint32_t>("number of nodes", 1));
  verb->add_option("--bandwidth", options.bandwidth, "A node's total per direction, e.g. 100G")->capture_default_str();
  verb->add_option("--fabrics,--fabric", options.fabrics, "Only these: " + arena_fabrics())->delimiter(',');
  verb->add_option(
      "--set", options.settings,
      "key=value, fabric.key=value or fabric.NAME.key=value, repeatable; loom workload show and loom fabric show list them");
  verb->add_option("--calibration", options.calibration, "File; its figures come after the uncalibrated ones");
  verb->add_option("--plot", options.plot, "Write an SVG or PDF: a bar a fabric, and its CSV beside it");
  verb->add_option("--csv", options.csv, "Write the bars' figures; beside --plot's file if not named");
  verb->add_option("--gantt", options.gantt,
                   "Write an SVG or PDF: what one node does over an iteration, a lane a fabric, and its CSV beside it");
  verb->add_flag("--no-caption", options.no_caption, "No assumptions below pictures: FILE.caption.txt has them");
  verb->add_option("--seeds", options.seeds, "Play fabrics that leave something to chance under so many seeds: mean and 95 %")
      ->check(number_check("number of seeds", 1, 1'000))
      ->capture_default_str();
  verb->add_flag("--exact", options.is_exact, "Play every round of every collective, however long it takes");
  add_cluster_option(*verb, options);
  add_cost_options(*verb, options);
  line.when(*verb, arena, options);
}

}  // namespace loom::cli
