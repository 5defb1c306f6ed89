// SPDX-License-Identifier: Apache-2.0
// Plays one entry and reads off what people ask for.
#include "controller/arena/arena.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/perfetto_trace.hpp"
#include "controller/predict/predict_graph.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

Duration rounded(double ns) { return Duration{std::llround(ns)}; }

Error named(Error error, const std::string& fabric) {
  error.message = format_text("{}: {}", fabric, error.message);
  return error;
}

/// One entry a kind, group size and size: how many, from the first one's start to the last one's finish, on the wire while any
/// of them is.
std::vector<Phase> merged(const std::vector<Phase>& all) {
  std::vector<Phase> phases;
  std::map<std::tuple<CollectiveKind, std::uint32_t, std::int64_t>, std::size_t> places;
  std::vector<std::pair<const Phase*, std::size_t>> in_order;  // with the place of their row
  for (const Phase& phase : all) {
    const auto [place, is_new] = places.try_emplace({phase.kind, phase.ranks, phase.bytes.count}, phases.size());
    if (is_new) {
      phases.push_back({phase.kind, phase.ranks, phase.bytes, 0, phase.start, phase.start, {}, {}});
    }
    in_order.emplace_back(&phase, place->second);
  }
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a.first->start < b.first->start; });
  for (const auto& [phase, place] : in_order) {
    Phase& row = phases[place];
    row.start = row.count == 0 ? phase->start : row.start;
    row.finish = row.count == 0 ? phase->start : row.finish;
    row.count += phase->count;
    row.wire += std::max(Duration{}, phase->finish - std::max(phase->start, row.finish));
    row.finish = std::max(row.finish, phase->finish);
  }
  return phases;
}

double mean_utilisation(const Predictor& predictor, double iteration_ns) {
  const std::vector<double> carried = predictor.carried();
  double bytes = 0;
  double room = 0;
  for (std::size_t link = 0; link < carried.size(); ++link) {
    bytes += carried[link];
    room += predictor.network().links[link].bytes_per_ns * iteration_ns;
  }
  return room > 0 ? bytes / room : 0;
}

/// What its schedule takes.
ArenaRow predicted_row(const ArenaEntry& entry) {
  const Prediction& prediction = *entry.predicted;
  ArenaRow row;
  row.fabric = entry.fabric;
  row.qualifier = entry.qualifier;
  row.scheduler = entry.scheduler;
  row.iteration = prediction.iteration;
  row.bound = entry.bound;
  row.compute = prediction.compute;
  row.exposed = prediction.exposed;
  row.dark = prediction.dark;
  row.circuits = entry.circuits;
  row.is_played = false;
  row.lane = prediction.lane;
  row.phases = prediction.phases;
  row.assumptions = entry.assumptions;
  return row;
}

struct Played {
  Predictor predictor;
  double iteration_ns = 0;
};

/// The engine after one iteration; the entry's graph and network must stay where they are.
Result<Played> played(ArenaEntry& entry, const PlayOptions& options) {
  auto predictor = Predictor::make(entry.graph, entry.network, options);
  if (!predictor) {
    return std::unexpected(named(std::move(predictor).error(), entry.fabric));
  }
  const auto iteration = predictor->run(entry.changing ? &*entry.changing : nullptr);
  return iteration ? Result<Played>({std::move(*predictor), *iteration})
                   : std::unexpected(named(iteration.error(), entry.fabric));
}

constexpr std::string_view kFluidWords =
    "collectives are played as fluids, not round by round: an approximation, at most 7 % off wherever it was measured "
    "(docs/predictor.md); --exact plays every round";

}  // namespace

Result<Duration> compute_alone(const TaskGraph& graph) {
  TaskGraph free = graph;
  for (Task& task : free.tasks) {
    if (task.kind == TaskKind::communicate) {
      task.bytes = Bytes{0};
    }
  }
  for (auto& splits : free.splits) {
    std::fill(splits.begin(), splits.end(), Bytes{0});
  }
  NetworkTerms terms;
  terms.nodes = graph.nodes;
  terms.rate = gigabits(100);  // nothing is sent over it
  const auto network = make_ideal_switch(terms);
  if (!network) {
    return std::unexpected(network.error());
  }
  auto predictor = Predictor::make(free, *network, {});
  if (!predictor) {
    return std::unexpected(std::move(predictor).error());
  }
  const auto iteration = predictor->run();
  return iteration ? Result<Duration>(rounded(*iteration)) : std::unexpected(iteration.error());
}

Result<Duration> iteration_time(ArenaEntry& entry) {
  if (entry.predicted) {
    return entry.predicted->iteration;
  }
  const auto predictor = played(entry, {});
  return predictor ? Result<Duration>(rounded(predictor->iteration_ns)) : std::unexpected(predictor.error());
}

Result<ArenaRow> play(ArenaEntry& entry, Duration compute, const PlayTerms& terms) {
  if (entry.predicted) {
    return terms.trace == nullptr
               ? Result<ArenaRow>(predicted_row(entry))
               : fail(ErrorCode::unsupported, entry.fabric + ": what is predicted from a schedule has no trace");
  }
  PlayOptions options;
  // Changing light is played to its end: a fluid has no fixed ways there, and what its policy chooses hangs on every byte.
  options.looks_max = entry.changing ? 0 : terms.exact_looks;
  auto done = played(entry, options);
  const bool is_fluid = !done && done.error().code == ErrorCode::timed_out;
  if (is_fluid) {
    options = {};
    options.rounds = RoundOrder::fluid;
    done = played(entry, options);
  }
  if (!done) {
    return std::unexpected(done.error());
  }
  const Predictor& predictor = done->predictor;
  ArenaRow row;
  row.fabric = entry.fabric;
  row.qualifier = entry.qualifier;
  row.scheduler = entry.scheduler;
  row.iteration = rounded(done->iteration_ns);
  row.bound = entry.bound;
  row.compute = std::min(compute, row.iteration);
  row.exposed = row.iteration - row.compute;
  for (const NodeTimes& node : predictor.nodes()) {
    row.dark = std::max(row.dark, rounded(node.dark));
  }
  row.utilisation = entry.changing ? 0 : mean_utilisation(predictor, done->iteration_ns);
  row.circuits = entry.circuits;
  row.changes = entry.changing ? entry.changing->changes() : 0;
  row.lane = lane_of(predictor, entry.changing ? &*entry.changing : nullptr, done->iteration_ns);
  row.phases = merged(prediction_of(predictor, done->iteration_ns).phases);
  if (terms.trace != nullptr) {
    *terms.trace = perfetto_json(predictor, {});
  }
  row.is_approximate = is_fluid;
  if (is_fluid) {
    row.assumptions.push_back(format_text("{}: {}", entry.fabric, kFluidWords));
  }
  row.assumptions.insert(row.assumptions.end(), entry.network.assumptions.begin(), entry.network.assumptions.end());
  for (const Penalty& penalty : entry.network.penalties) {
    std::string value = std::to_string(penalty.value);
    value.erase(value.find_last_not_of('0') + 1);
    row.assumptions.push_back(format_text("{}: {} = {} ({})", entry.fabric, penalty.name, value, penalty.source));
  }
  row.assumptions.insert(row.assumptions.end(), entry.assumptions.begin(), entry.assumptions.end());
  return row;
}

Prediction prediction_of(const ArenaRow& row, const TaskGraph& graph, BitRate rate) {
  Prediction prediction{graph.workload, row.fabric, row.qualifier, graph.nodes,      rate, row.iteration, row.compute,
                        row.exposed,    row.dark,   row.phases,    graph.assumptions};
  prediction.bound = row.bound;
  prediction.assumptions.insert(prediction.assumptions.end(), row.assumptions.begin(), row.assumptions.end());
  return prediction;
}

}  // namespace loom
