// SPDX-License-Identifier: Apache-2.0
// What a strategy is: where it starts, whether it is lawful, and how it reads.
#include "controller/workload/strategy.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/format_text.hpp"

namespace loom {

Strategy data_parallel(const OpGraph& graph, const OpTimes& times) {
  Strategy strategy;
  std::uint32_t turn = 0;
  for (std::uint32_t op = 0; op < graph.operators.size(); ++op) {
    if (graph.operators[op].is_divisible) {
      strategy.push_back({times.lawful[op].back(), 0});
    } else {
      strategy.push_back({1, turn++ % graph.nodes});
    }
  }
  return strategy;
}

Result<void> check(const OpGraph& graph, const OpTimes& times, const Strategy& strategy) {
  if (strategy.size() != graph.operators.size()) {
    return fail(ErrorCode::invalid_argument,
                format_text("a strategy for {} operators; '{}' has {}", strategy.size(), graph.name, graph.operators.size()));
  }
  for (std::size_t op = 0; op < strategy.size(); ++op) {
    const OpPlacement& at = strategy[op];
    const std::vector<std::uint32_t>& lawful = times.lawful[op];
    const std::string named = format_text("operator {} '{}'", op, graph.operators[op].name);
    if (std::find(lawful.begin(), lawful.end(), at.parts) == lawful.end()) {
      return fail(ErrorCode::invalid_argument, format_text("{} in {} parts, which was not measured", named, at.parts));
    }
    if (at.first >= graph.nodes / at.parts) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{} starts at node {}, its stride is {}", named, at.first, graph.nodes / at.parts));
    }
  }
  return {};
}

std::string describe(const OpGraph& graph, const Strategy& strategy) {
  std::string text;
  for (std::size_t op = 0; op < strategy.size();) {
    std::size_t end = op + 1;
    while (end < strategy.size() && strategy[end] == strategy[op] && graph.operators[end].name == graph.operators[op].name) {
      ++end;
    }
    text += format_text("{}{}{} {}@{}", text.empty() ? "" : ", ", graph.operators[op].name,
                        end - op > 1 ? format_text(" x{}", end - op) : "", strategy[op].parts, strategy[op].first);
    op = end;
  }
  return text;
}

std::uint32_t shared_samples(std::uint32_t samples, std::uint32_t producer_parts, std::uint32_t a, std::uint32_t consumer_parts,
                             std::uint32_t b) {
  const std::uint32_t made = samples / producer_parts;
  const std::uint32_t wanted = samples / consumer_parts;
  const std::uint32_t from = std::max(a * made, b * wanted);
  const std::uint32_t to = std::min((a + 1) * made, (b + 1) * wanted);
  return to > from ? to - from : 0;
}

Duration in_server_reduce(Bytes bytes, const InServer& server) {
  if (server.gpus < 2) {
    return Duration{0};
  }
  const double bytes_per_ns = static_cast<double>(server.rate.bits_per_second) / 8e9;
  return Duration{std::llround(2.0 * static_cast<double>(bytes.count) / server.gpus / bytes_per_ns)};
}

}  // namespace loom
