// SPDX-License-Identifier: Apache-2.0
// Engine times to a Prediction.
#include "controller/predict/predict_graph.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

Duration rounded(double ns) { return Duration{std::llround(ns)}; }

}  // namespace

Prediction prediction_of(const Predictor& predictor, double iteration_ns) {
  const TaskGraph& graph = predictor.graph();
  const Network& network = predictor.network();
  Prediction prediction;
  prediction.workload = graph.workload;
  prediction.fabric = network.name;
  prediction.nodes = graph.nodes;
  if (!network.links.empty()) {
    prediction.rate = BitRate{std::llround(network.links.front().bytes_per_ns * 8e9)};
  }
  double compute = 0;
  double dark = 0;
  for (const NodeTimes& node : predictor.nodes()) {
    compute = std::max(compute, node.compute);
    dark = std::max(dark, node.dark);
  }
  prediction.iteration = rounded(iteration_ns);
  prediction.compute = rounded(compute);
  prediction.exposed = prediction.iteration - prediction.compute;
  prediction.dark = rounded(std::min(dark, iteration_ns));
  const auto first = predictor.first_part();
  for (std::size_t task = 0; task < graph.tasks.size(); ++task) {
    const Task& of = graph.tasks[task];
    if (of.kind != TaskKind::communicate) {
      continue;
    }
    double start = iteration_ns;
    double finish = 0;
    for (std::uint32_t part = first[task]; part < first[task + 1]; ++part) {
      start = std::min(start, predictor.parts()[part].start);
      finish = std::max(finish, predictor.parts()[part].finish);
    }
    prediction.phases.push_back({of.collective, graph.families[of.family].size, of.bytes, 1, rounded(start), rounded(finish),
                                 rounded(std::max(0.0, finish - start)), Duration{}});
  }
  prediction.assumptions = graph.assumptions;
  prediction.assumptions.insert(prediction.assumptions.end(), network.assumptions.begin(), network.assumptions.end());
  for (const Penalty& penalty : network.penalties) {
    prediction.assumptions.push_back(format_text("{} = {} ({})", penalty.name, std::to_string(penalty.value), penalty.source));
  }
  return prediction;
}

Result<Prediction> predict(const TaskGraph& graph, const Network& network, const PredictGraphOptions& options) {
  auto predictor = Predictor::make(graph, network, options.play);
  if (!predictor) {
    return std::unexpected(predictor.error());
  }
  const auto iteration = predictor->run(options.changing);
  if (!iteration) {
    return std::unexpected(iteration.error());
  }
  return prediction_of(*predictor, *iteration);
}

std::vector<double> utilisation_of(const Predictor& predictor, double iteration_ns) {
  std::vector<double> shares = predictor.carried();
  for (std::size_t link = 0; link < predictor.network().links.size(); ++link) {
    const double rate = predictor.network().links[link].bytes_per_ns;
    shares[link] = rate > 0 && iteration_ns > 0 ? shares[link] / (rate * iteration_ns) : 0;
  }
  return shares;
}

}  // namespace loom
