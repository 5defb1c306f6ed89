// SPDX-License-Identifier: Apache-2.0
// A played iteration in the trace event format that ui.perfetto.dev and chrome://tracing open.
#pragma once

#include <string>

#include "controller/predict/engine/predictor.hpp"

namespace loom {

struct PerfettoOptions {
  std::uint32_t nodes_max = 64;  ///< further nodes are left out, and the trace says so
};

/// JSON: a process a node, a thread for compute and one a stream, a complete event ("X", microseconds) a part. What lies on the
/// critical path has "critical": true among its arguments.
std::string perfetto_json(const Predictor& predictor, const PerfettoOptions& options);

}  // namespace loom
