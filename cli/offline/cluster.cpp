// SPDX-License-Identifier: Apache-2.0
// Studies fabric after fabric, lays the rows side by side.
#include "cli/offline/cluster.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/lab/interrupt.hpp"
#include "cli/offline/costs.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/figure.hpp"
#include "cli/render/term.hpp"
#include "cli/workloads.hpp"
#include "controller/arena/cluster/cluster_file.hpp"
#include "controller/arena/cluster/cluster_study.hpp"
#include "controller/arena/entries.hpp"
#include "controller/predict/predict.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::string fixed(double value, int digits) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

/// One fabric: figures, or why there are none.
struct Studied {
  std::string fabric;
  std::optional<ClusterRow> row;
  std::string refusal;
};

/// What is studied so far: one thread studies, another may be asked to print it.
class Studies {
 public:
  Studies(const ClusterSpec& spec, std::optional<Costs> costs) : spec_(spec), costs_(std::move(costs)) {}
  const ClusterSpec& spec() const { return spec_; }
  const std::optional<Costs>& costs() const { return costs_; }
  void add(Studied each) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(each));
  }
  std::vector<Studied> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  const ClusterSpec& spec_;
  std::optional<Costs> costs_;
  mutable std::mutex mutex_;
  std::vector<Studied> all_;
};

std::string figures_text(const ClusterFigures& figures, int digits) {
  return format_text("{} / {} / {} / {}", fixed(figures.mean, digits), fixed(figures.p50, digits), fixed(figures.p90, digits),
                     fixed(figures.p99, digits));
}

std::string percent(double part) { return fixed(100 * part, 1) + " %"; }

void print_kinds(const std::vector<Studied>& all, const ClusterSpec& spec) {
  std::vector<std::string> columns{"kind", "servers", "iterations", "jobs"};
  for (const Studied& each : all) {
    if (each.row) {
      columns.push_back(each.fabric + " ms");
    }
  }
  Table table(columns);
  for (std::size_t kind = 0; kind < spec.kinds.size(); ++kind) {
    std::vector<std::string> cells{spec.kinds[kind].name, std::to_string(spec.kinds[kind].graph.nodes),
                                   std::to_string(spec.kinds[kind].iterations), "-"};
    for (const Studied& each : all) {
      if (each.row) {
        const ClusterKindRow& row = each.row->kinds[kind];
        cells[3] = std::to_string(row.jobs);
        cells.push_back(row.jobs > 0 ? fixed(row.iteration_ms, 3) : "-");
      }
    }
    table.add(cells);
  }
  std::printf("\nmean iteration of each kind\n%s", table.text().c_str());
}

void print_table(const Studies& studies, std::uint32_t seeds) {
  const ClusterSpec& spec = studies.spec();
  const std::vector<Studied> all = studies.all();
  std::printf("%s: %u servers, %s a server, %u jobs%s, uncalibrated\n", spec.name.c_str(), spec.servers,
              text_of(spec.rate).c_str(), spec.count, seeds > 1 ? format_text(", {} seeds", seeds).c_str() : "");
  std::vector<std::string> columns{"fabric",         "iteration ms: mean / p50 / p90 / p99",
                                   "waiting s: ...", "arrival to end s: ...",
                                   "makespan s",     "servers' use"};
  if (spec.failures) {
    columns.insert(columns.end(), {"goodput", "failures", "restarts"});
  }
  if (seeds > 1) {
    columns.insert(columns.begin() + 2, "mean of the seeds");
  }
  Table table(columns);
  for (const Studied& each : all) {
    if (!each.row) {
      continue;
    }
    const ClusterRow& row = *each.row;
    std::vector<std::string> cells{label_of(row.fabric, row.qualifier),
                                   (row.is_approximate ? "~" : "") + figures_text(row.iteration_ms, 3),
                                   figures_text(row.waiting_s, 2),
                                   figures_text(row.completion_s, 2),
                                   fixed(row.makespan_s, 2),
                                   percent(row.use)};
    if (spec.failures) {
      cells.insert(cells.end(), {percent(row.goodput.value_or(0)), std::to_string(row.failures), std::to_string(row.restarts)});
    }
    if (seeds > 1) {
      cells.insert(cells.begin() + 2, fixed(row.seeds_ms->mean, 3) + " +- " + fixed(row.seeds_ms->half_width, 3));
    }
    table.add(cells);
  }
  std::fputs(table.text().c_str(), stdout);
  for (const Studied& each : all) {
    if (!each.row) {
      std::printf("refused: %s\n", each.refusal.c_str());
    }
  }
  print_kinds(all, spec);
  if (studies.costs()) {
    std::fputs(text_of(*studies.costs()).c_str(), stdout);
  }
  for (const std::string& assumption : assumptions_of(spec)) {
    std::printf("assumed: %s\n", assumption.c_str());
  }
  for (const Studied& each : all) {
    for (const std::string& assumption : each.row ? each.row->assumptions : std::vector<std::string>{}) {
      std::printf("assumed: %s%s\n", assumption.starts_with(each.fabric) ? "" : (each.fabric + ": ").c_str(),
                  assumption.c_str());
    }
  }
}

Json json_of(const ClusterFigures& figures) {
  return {{"mean", figures.mean}, {"p50", figures.p50}, {"p90", figures.p90}, {"p99", figures.p99}};
}

Json json_of(const ClusterRow& row) {
  Json entry;
  entry["fabric"] = row.fabric;
  entry["rate_bps"] = row.rate.bits_per_second;
  entry["shared"] = row.is_shared;
  entry["approximate"] = row.is_approximate;
  entry["iteration_ms"] = json_of(row.iteration_ms);
  entry["waiting_s"] = json_of(row.waiting_s);
  entry["completion_s"] = json_of(row.completion_s);
  entry["makespan_s"] = row.makespan_s;
  entry["use"] = row.use;
  entry["goodput"] = row.goodput ? Json(*row.goodput) : Json();
  entry["failures"] = row.failures;
  entry["restarts"] = row.restarts;
  entry["sets"] = row.sets;
  if (row.seeds_ms) {
    entry["seeds"] = {{"mean_ms", row.seeds_ms->mean},
                      {"ci95_ms", row.seeds_ms->half_width},
                      {"least_ms", row.seeds_ms->least},
                      {"most_ms", row.seeds_ms->most}};
  }
  entry["kinds"] = Json::array();
  for (const ClusterKindRow& kind : row.kinds) {
    entry["kinds"].push_back({{"name", kind.name},
                              {"jobs", kind.jobs},
                              {"alone_ms", kind.alone_ms},
                              {"iteration_ms", kind.jobs > 0 ? Json(kind.iteration_ms) : Json()}});
  }
  entry["assumptions"] = row.assumptions;
  return entry;
}

void print_json(const Studies& studies, std::uint32_t seeds, bool was_interrupted) {
  const ClusterSpec& spec = studies.spec();
  auto object = answer();
  object["cluster"] = spec.name;
  object["servers"] = spec.servers;
  object["jobs"] = spec.count;
  object["seed"] = spec.seed;
  object["seeds"] = seeds;
  object["interrupted"] = was_interrupted;
  object["rows"] = Json::array();
  object["refused"] = Json::array();
  for (const Studied& each : studies.all()) {
    if (each.row) {
      object["rows"].push_back(json_of(*each.row));
    } else {
      object["refused"].push_back({{"fabric", each.fabric}, {"reason", each.refusal}});
    }
  }
  object["costs"] = studies.costs() ? as_json(*studies.costs()) : Json();
  object["assumptions"] = assumptions_of(spec);
  print(object);
}

/// A row a job, of every fabric and seed.
std::string csv_of(const Studies& studies) {
  std::string text =
      "fabric,seed,job,kind,servers,arrival_s,start_s,finish_s,waiting_s,iteration_ms,iterations,held_s,useful_s,failures\n";
  for (const Studied& each : studies.all()) {
    std::uint64_t seed = 0;
    std::uint32_t number = 0;
    for (const ClusterJobRow& row : each.row ? each.row->jobs : std::vector<ClusterJobRow>{}) {
      number = row.seed == seed ? number + 1 : 0;
      seed = row.seed;
      const ClusterKind& kind = studies.spec().kinds[row.job.kind];
      text += format_text("{},{},{},{},{}", each.fabric, row.seed, number, kind.name, kind.graph.nodes);
      for (const double ns : {row.job.arrival, row.job.start, row.job.finish, row.job.waiting}) {
        text += "," + fixed(ns / 1e9, 6);
      }
      text += format_text(",{},{},{},{},{}\n", fixed(row.job.iteration() / 1e6, 6), row.job.iterations,
                          fixed(row.job.held / 1e9, 6), fixed(row.job.useful / 1e9, 6), row.job.failures);
    }
  }
  return text;
}

void print_all(const Globals& globals, const Studies& studies, std::uint32_t seeds, bool was_interrupted) {
  globals.json ? print_json(studies, seeds, was_interrupted) : print_table(studies, seeds);
}

/// Settings of fabrics alone: what jobs are is in the file.
Result<Settings> fabric_settings(const ArenaCommand& order, std::span<const std::string> fabrics) {
  auto split = read_settings(order.settings);
  if (!split) {
    return std::unexpected(split.error());
  }
  if (!split->workload.empty()) {
    return fail(ErrorCode::invalid_argument,
                format_text("--set {}: with --cluster only fabric.KEY=VALUE; settings of a job are in the file, under its kind",
                            split->workload.begin()->first));
  }
  for (const std::string& fabric : fabrics) {
    if (arena_keys(fabric).empty()) {
      return fail(ErrorCode::not_found, format_text("no fabric '{}'; did you mean '{}'?", fabric.substr(0, 128),
                                                    loom::nearest(fabric, arena_names())));
    }
  }
  LOOM_TRY(check_arena_keys(split->fabric, fabrics));
  return std::move(split->fabric);
}

Studied studied(const ClusterSpec& spec, ClusterStudy study) {
  auto row = study_cluster(spec, study);
  if (row) {
    return {study.fabric.fabric, std::move(*row), {}};
  }
  const std::string& reason = row.error().message;
  const std::string& fabric = study.fabric.fabric;
  return {fabric, std::nullopt, reason.starts_with(fabric) ? reason : format_text("{}: {}", fabric, reason)};
}

}  // namespace

void add_cluster_option(CLI::App& verb, ArenaCommand& options) {
  CLI::Option* cluster =
      verb.add_option("--cluster", options.cluster,
                      "Many jobs on one cluster (.yaml with kind: cluster), instead of a workload: docs/cluster.md");
  for (const char* other :
       {"--workload", "--demand", "--model", "--nodes", "--bandwidth", "--calibration", "--plot", "--gantt", "--no-caption"}) {
    cluster->excludes(verb.get_option(other));
  }
}

int study_cluster_file(const Globals& globals, const ArenaCommand& order) {
  auto loaded = read_cluster_file(order.cluster);
  if (!loaded) {
    return complain_of(loaded.errors);
  }
  ClusterSpec& spec = *loaded.value;
  std::vector<std::string> fabrics = order.fabrics;
  if (fabrics.empty()) {
    fabrics.assign(arena_names().begin(), arena_names().end());
  }
  const auto settings = fabric_settings(order, fabrics);
  if (!settings) {
    return give_up(settings.error(), "loom arena --help");
  }
  if (const auto set = set_load(spec); !set) {
    return give_up(set.error(), "loom arena --help");
  }
  const auto costs = read_costs(order, {fabrics, spec.servers, spec.rate, *settings});
  if (!costs) {
    return give_up(costs.error(), "loom arena --help");
  }
  if (const auto place = check(PictureFiles{.option = "--csv", .picture = "", .data = order.csv}); !place) {
    return give_up(place.error(), "loom arena --help");
  }
  if (const auto apart = check_apart({{"--cluster", order.cluster}, {"--prices", order.prices}}, {{"--csv", order.csv}});
      !apart) {
    return give_up(apart.error(), "loom arena --help");
  }
  Studies studies(spec, *costs);
  {
    const Interrupt interrupt([&](bool) {
      print_note("interrupted; what was studied until then:");
      print_all(globals, studies, order.seeds, true);
      std::fflush(stdout);
    });
    Progress progress;
    for (const std::string& fabric : fabrics) {
      if (std::string refusal = refusal_on(*costs, fabric); !refusal.empty()) {
        studies.add({fabric, std::nullopt, std::move(refusal)});
        continue;
      }
      ClusterStudy study;
      study.fabric = {fabric, rate_on(*costs, fabric, spec.rate), settings_for(fabric, *settings), order.is_exact};
      study.seeds = order.seeds;
      study.progress = [&](std::uint64_t ended, std::uint64_t all) { progress.show("studying " + fabric, ended, all); };
      progress.show("studying " + fabric, 0, std::uint64_t{order.seeds} * spec.count);
      studies.add(studied(spec, std::move(study)));
    }
  }
  print_all(globals, studies, order.seeds, false);
  if (!order.csv.empty()) {
    if (const auto written = write_text(order.csv, csv_of(studies), "--csv"); !written) {
      return give_up(written.error());
    }
    print_note("listed in " + order.csv);
  }
  const std::vector<Studied> all = studies.all();
  return std::ranges::all_of(all, [](const Studied& each) { return each.row.has_value(); }) ? kDone : kPartial;
}

}  // namespace loom::cli
