// SPDX-License-Identifier: Apache-2.0
// What makes an operator graph lawful.
#include "controller/workload/models/op_graph.hpp"

#include <cmath>
#include <numeric>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::unexpected<Error> refuse(const OpGraph& graph, std::size_t at, ErrorCode code, const std::string& what) {
  return fail(code, format_text("operator graph '{}', operator {} '{}': {}", graph.name, at, graph.operators[at].name, what));
}

/// Whether the product of the shape and the bytes of an element, times `factor` stays below the limit.
bool is_movable(const Operator& of, std::int64_t factor) {
  std::int64_t left = limits::kCollectiveBytes / of.element_bytes / factor;
  for (const std::uint32_t extent : of.shape) {
    left /= extent;
  }
  return left > 0;
}

}  // namespace

Bytes output_bytes(const Operator& of) {
  std::int64_t bytes = of.element_bytes;
  for (const std::uint32_t extent : of.shape) {
    bytes *= extent;
  }
  return {bytes};
}

std::int64_t moved_bytes(const OpGraph& graph, std::uint32_t producer, std::uint32_t consumer) {
  const Operator& from = graph.operators[producer];
  const double part = from.sees * graph.operators[consumer].sees;
  return std::llround(static_cast<double>(output_bytes(from).count * from.copies) * part);
}

Bytes parameter_bytes(const Operator& of) { return std::accumulate(of.parameters.begin(), of.parameters.end(), Bytes{}); }

Result<void> check(const OpGraph& graph) {
  const std::string named = format_text("operator graph '{}'", graph.name);
  if (graph.operators.empty() || graph.samples == 0 || graph.nodes == 0) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} has {} operators, {} samples and {} nodes; at least one of each is needed", named,
                            graph.operators.size(), graph.samples, graph.nodes));
  }
  if (graph.nodes > limits::kNodes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} nodes; the limit is {} (kNodes)", named, graph.nodes, limits::kNodes));
  }
  for (std::size_t at = 0; at < graph.operators.size(); ++at) {
    const Operator& of = graph.operators[at];
    for (const std::uint32_t input : of.inputs) {
      if (input >= at) {
        return refuse(graph, at, ErrorCode::invalid_argument, format_text("its input {} does not come before it", input));
      }
    }
    for (const std::uint32_t extent : of.shape) {
      if (extent == 0) {
        return refuse(graph, at, ErrorCode::invalid_argument, "an empty output");
      }
    }
    if (!(of.sees > 0 && of.sees <= 1)) {
      return refuse(graph, at, ErrorCode::out_of_range, "it sees a part of the samples that is not within 0 .. 1");
    }
    if (of.shape.empty() || of.copies == 0 || of.element_bytes == 0) {
      return refuse(graph, at, ErrorCode::invalid_argument,
                    of.shape.empty() ? "no shape" : "0 copies of its output, or elements of 0 bytes");
    }
    if (!is_movable(of, std::int64_t{graph.samples} * of.copies)) {
      return refuse(graph, at, ErrorCode::out_of_range,
                    format_text("an output of more than {} bytes (kCollectiveBytes)", limits::kCollectiveBytes));
    }
    for (const Bytes bytes : of.parameters) {
      if (bytes.count <= 0 || bytes.count > limits::kCollectiveBytes) {
        return refuse(graph, at, ErrorCode::out_of_range,
                      format_text("parameters of {} bytes; 1 to {} (kCollectiveBytes) are lawful", bytes.count,
                                  limits::kCollectiveBytes));
      }
    }
  }
  return {};
}

}  // namespace loom
