// SPDX-License-Identifier: Apache-2.0
// Rows and sweeps from granted iterations. Who is granted first is a matter of jitter, so every figure is of several seeds.
#include "sim_backend/judge/grant_figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "controller/arena/reproduction/oddl_claims.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/judge/granted_iteration.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kTestbedNodes = 4;
constexpr std::uint64_t kTestbedSeeds = 32;
constexpr std::uint64_t kGroupSeeds = 8;
constexpr double kMostSlower = 5;  ///< %, docs/reproduction.md, T14

/// Over seeds 1 .. n.
struct Played {
  GrantedIteration first;
  double granted_ms = 0;  ///< mean
  double least = 0;       ///< slower than the ideal switch, %
  double mean = 0;
  double most = 0;
};

Duration from_us(double us) { return Duration{std::llround(us * 1e3)}; }

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

Result<Played> play_seeds(const JobSpec& job, GrantedOptions options, std::uint64_t seeds) {
  Played played;
  for (options.seed = 1; options.seed <= seeds; ++options.seed) {
    const auto one = play_granted(job, options);
    if (!one) {
      return std::unexpected(one.error());
    }
    if (one->unreachable > 0 || one->collisions > 0) {
      return fail(ErrorCode::internal, format_text("{}, seed {}: {} streams given up, {} times light met light", job.workload,
                                                   options.seed, one->unreachable, one->collisions));
    }
    const double slower = 100 * one->slower();
    const bool is_first = options.seed == 1;
    played.first = is_first ? *one : played.first;
    played.least = is_first ? slower : std::min(played.least, slower);
    played.most = is_first ? slower : std::max(played.most, slower);
    played.mean += slower / static_cast<double>(seeds);
    played.granted_ms += static_cast<double>(one->granted.count()) / 1e6 / static_cast<double>(seeds);
  }
  return played;
}

Result<JobSpec> job_named(std::string_view workload, std::uint32_t nodes) {
  const auto graph = granted_workload(workload, nodes, {});
  return graph ? job_of(*graph) : Result<JobSpec>(std::unexpected(graph.error()));
}

/// What the machines assume, but for what is swept.
std::string plane_assumed(const GrantedOptions& options, std::string_view swept) {
  const GrantTimings& times = options.timings;
  const auto ns = [](Duration duration) { return format_text("{} ns", duration.count()); };
  std::string text = "100 Gb/s";
  text += swept == "t_tune" ? "" : ", t_tune " + ns(times.tune);
  text += swept == "t_ctl" ? ", t_ctl" : format_text(", t_ctl {} one way", ns(times.control));
  return format_text(
      "{} (+ up to 20 % of it, drawn anew for every message), t_cdr {}, fibre 50 m ({}), guard {}, Qmax {}, k = {}, loss {}",
      text, ns(times.lock), ns(times.flight), ns(guard_of(times)),
      printed("%g ms", static_cast<double>(options.quantum.count()) / 1e6), options.transmitters,
      printed("%g %%", options.loss_per_million / 1e4));
}

std::vector<std::string> testbed_assumed(std::string_view swept) {
  return {
      plane_assumed({}, swept) + "; all of it ours, nothing calibrated",
      format_text(
          "4 nodes, mean of {} seeds; all nodes begin a collective at once but where a row says otherwise, and stagger their "
          "requests by 5/2 t_ctl, more than a round trip, the nearest receiver first; a receiver waits for whose turn it is "
          "for "
          "a quarter of a window at most",
          kTestbedSeeds),
      "a collective's streams are offered at once and granted whole, at most Qmax a window; what Qmax cuts asks anew when "
      "its window ends; a ring is one stream an edge; no overlap with compute; ideal switch: the same fibre, nothing else"};
}

struct Row {
  std::string name;
  GrantedOptions options;
};

std::vector<Row> rows_of_testbed() {
  Row standing{"t_tune 0.1 us", {}};
  Row slow{"t_tune 1 us", {}};
  slow.options.timings.tune = from_us(1);
  Row lossy{"t_tune 0.1 us, 1 % of messages lost", {}};
  lossy.options.loss_per_million = 10'000;
  Row twice{"t_tune 0.1 us, two transmitters a node", {}};
  twice.options.transmitters = 2;
  Row bare{"t_tune 0.1 us, requests not staggered", {}};
  bare.options.is_staggered = false;
  Row apart{"t_tune 0.1 us, nodes begin up to 10 us apart", {}};
  apart.options.apart = from_us(10);
  return {standing, slow, lossy, twice, bare, apart};
}

Figure row_of(const std::string& what, double slower, bool is_judged) {
  Figure figure{"T14", is_judged ? "consistency" : "for comparison", what, {}, slower, {}};
  if (is_judged) {
    figure.accepted = Accepted{-1e9, kMostSlower};
  }
  return figure;
}

std::string job_assumed(std::string_view workload, const JobSpec& job, const Played& played) {
  const auto mb = [](Bytes bytes) { return printed("%.4g MB", static_cast<double>(bytes.count) / 1e6); };
  return format_text("{}: compute {}, streams of {} to {}, ideal switch {}; {}", title_of(workload),
                     printed("%.3f ms", static_cast<double>(job.compute.count()) / 1e6), mb(played.first.stream_least),
                     mb(played.first.stream_most), printed("%.3f ms", static_cast<double>(played.first.ideal.count()) / 1e6),
                     job.assumptions.empty() ? "" : job.assumptions.front());
}

Result<void> add_workload(std::vector<Figure>& figures, std::string_view workload) {
  auto job = job_named(workload, kTestbedNodes);
  if (!job) {
    return std::unexpected(job.error());
  }
  const std::string begin = format_text("{}, 4 nodes, ", title_of(workload));
  const std::string end = ": % slower than the ideal switch (reconstruction, uncalibrated)";
  for (const Row& row : rows_of_testbed()) {
    const auto played = play_seeds(*job, row.options, kTestbedSeeds);
    if (!played) {
      return std::unexpected(played.error());
    }
    const bool is_target = row.options.loss_per_million == 0 && row.options.transmitters == 1 && row.options.is_staggered &&
                           row.options.apart == Duration{};
    figures.push_back(row_of(begin + row.name + end, played->mean, is_target));
    if (row.name == "t_tune 0.1 us") {
      figures.back().assumptions.push_back(job_assumed(workload, *job, *played));
      figures.push_back(row_of(format_text("{}{}, luckiest seed{}", begin, row.name, end), played->least, false));
      figures.push_back(row_of(format_text("{}{}, unluckiest seed{}", begin, row.name, end), played->most, false));
    }
  }
  job->compute = Duration{};
  for (Collective& collective : job->collectives) {
    collective.ready = collective.needed = kForever;
  }
  const auto bare = play_seeds(*job, {}, kTestbedSeeds);
  if (!bare) {
    return std::unexpected(bare.error());
  }
  figures.push_back(row_of(format_text("{}t_tune 0.1 us, communication alone{}", begin, end), bare->mean, false));
  return {};
}

/// A line of slow-downs a workload; `set` puts a place of the axis into the options.
Result<void> add_slowdowns(Sweep& sweep, std::span<const double> places, void (*set)(GrantTimings&, double)) {
  sweep.places.assign(places.begin(), places.end());
  for (const std::string_view workload : kGrantedWorkloads) {
    const auto job = job_named(workload, kTestbedNodes);
    if (!job) {
      return std::unexpected(job.error());
    }
    SweepLine line{std::string(title_of(workload)), {}, sweep.lines.size()};
    for (const double place : places) {
      GrantedOptions options;
      set(options.timings, place);
      const auto played = play_seeds(*job, options, kTestbedSeeds);
      if (!played) {
        return std::unexpected(played.error());
      }
      line.values.push_back(played->mean);
    }
    sweep.lines.push_back(std::move(line));
  }
  return {};
}

void set_tuning(GrantTimings& timings, double us) { timings.tune = from_us(us); }
void set_control(GrantTimings& timings, double us) { timings.control = from_us(us); }

Sweep testbed_sweep(std::string name, std::string title, std::string x_label, double standing, std::string_view swept) {
  Sweep sweep{"T14", std::move(name), std::move(title), std::move(x_label), "slower than the ideal switch, % (log)"};
  sweep.has_log_x = sweep.has_log_y = true;
  sweep.standing = standing;
  sweep.standing_is = "default";
  sweep.band_most = kMostSlower;
  sweep.band = "accepted: at most 5 %";
  sweep.assumptions = testbed_assumed(swept);
  return sweep;
}

}  // namespace

Result<std::vector<Figure>> granted_testbed() {
  std::vector<Figure> figures;
  for (const std::string_view workload : kGrantedWorkloads) {
    LOOM_TRY(add_workload(figures, workload));
  }
  std::vector<std::string> all = testbed_assumed("");
  all.insert(all.end(), figures.front().assumptions.begin(), figures.front().assumptions.end());
  figures.front().assumptions = std::move(all);
  return figures;
}

Result<Sweep> sweep_testbed_tuning(std::span<const double> tune_us) {
  Sweep sweep = testbed_sweep("testbed-tuning-time", "Four granted nodes against the tuning time of their lasers",
                              "tuning time t_tune, us (log)", 0.1, "t_tune");
  LOOM_TRY(add_slowdowns(sweep, tune_us, set_tuning));
  return sweep;
}

Result<Sweep> sweep_testbed_control(std::span<const double> control_us) {
  Sweep sweep = testbed_sweep("testbed-control-latency", "Four granted nodes against the latency of their control channel",
                              "control latency t_ctl, one way, us (log)", 1, "t_ctl");
  LOOM_TRY(add_slowdowns(sweep, control_us, set_control));
  return sweep;
}

Result<Sweep> sweep_control_latency(std::span<const double> control_us) {
  Sweep sweep{"T13", "control-latency", "ODDL, granted, against the latency of its control channel, 32 nodes",
              "control latency t_ctl, one way, us (log)", "iteration on each fabric / on ODDL (reconstruction), log"};
  sweep.has_log_x = sweep.has_log_y = true;
  sweep.standing = 1;
  sweep.standing_is = "default";
  sweep.places.assign(control_us.begin(), control_us.end());
  for (const std::string_view workload : kGrantedWorkloads) {
    const auto graph = group_workload(workload);
    const auto job = graph ? job_of(*graph) : Result<JobSpec>(std::unexpected(graph.error()));
    const auto rivals = graph ? oddl_rivals(*graph) : Result<OddlRivals>(std::unexpected(graph.error()));
    if (!job || !rivals) {
      return std::unexpected(!job ? job.error() : rivals.error());
    }
    SweepLine tree{format_text("{}, fat-tree", title_of(workload)), {}, sweep.lines.size() / 2};
    SweepLine ring{format_text("{}, SiP-Ring", title_of(workload)), {}, sweep.lines.size() / 2, true};
    for (const double control : control_us) {
      GrantedOptions options;
      set_control(options.timings, control);
      const auto played = play_seeds(*job, options, kGroupSeeds);
      if (!played) {
        return std::unexpected(played.error());
      }
      tree.values.push_back(rivals->tree_ms / played->granted_ms);
      ring.values.push_back(rivals->ring_ms / played->granted_ms);
    }
    sweep.lines.push_back(std::move(tree));
    sweep.lines.push_back(std::move(ring));
    sweep.assumptions.push_back(
        format_text("{}: {}", title_of(workload), job->assumptions.empty() ? "" : job->assumptions.front()));
  }
  sweep.assumptions.push_back(
      format_text("granted in virtual time, mean of {} seeds: {}", kGroupSeeds, plane_assumed({}, "t_ctl")));
  sweep.assumptions.emplace_back(
      "one group of 32 nodes, no overlap; fat-tree efficiency 0.444, sprayed; SiP-Ring one direction, all-stop always: fitted "
      "to VGG19, held for the others");
  return sweep;
}

}  // namespace loom
