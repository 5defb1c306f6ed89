// SPDX-License-Identifier: Apache-2.0
// The front door of the engine: a task graph's one iteration on a network, as a Prediction like that of a JobSpec.
#pragma once

#include "controller/predict/engine/predictor.hpp"
#include "controller/predict/predict.hpp"

namespace loom {

struct PredictGraphOptions {
  PlayOptions play;
  Reconfiguration* changing = nullptr;  ///< used up; see Predictor::run
};

/// Errors: those of Predictor::make and Predictor::run.
Result<Prediction> predict(const TaskGraph& graph, const Network& network, const PredictGraphOptions& options = {});

/// The last run of `predictor`: a phase a communicate task, compute = that of the busiest node, dark = of the node that was
/// dark longest.
Prediction prediction_of(const Predictor& predictor, double iteration_ns);

/// Share of the iteration in which each link carried bytes at its rate; 0 .. 1.
std::vector<double> utilisation_of(const Predictor& predictor, double iteration_ns);

}  // namespace loom
