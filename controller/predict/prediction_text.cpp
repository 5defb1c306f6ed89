// SPDX-License-Identifier: Apache-2.0
// Printing of predictions.
#include "controller/predict/prediction_text.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "controller/workload/import/trace_text.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kPhaseRowsMax = 24;

nlohmann::ordered_json phases_json(std::span<const Phase> phases) {
  auto rows = nlohmann::ordered_json::array();
  for (const Phase& phase : phases) {
    nlohmann::ordered_json row;
    row["kind"] = std::string{to_string(phase.kind)};
    row["ranks"] = phase.ranks;
    row["bytes"] = phase.bytes.count;
    row["count"] = phase.count;
    row["start_ms"] = milliseconds_of(phase.start);
    row["finish_ms"] = milliseconds_of(phase.finish);
    row["wire_ms"] = milliseconds_of(phase.wire);
    row["dark_ms"] = milliseconds_of(phase.dark);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string phases_table(std::span<const Phase> phases) {
  std::array<char, 192> line{};
  std::snprintf(line.data(), line.size(), "  %-16s %6s %10s %6s %12s %12s %12s %12s\n", "collective", "ranks", "each", "count",
                "start ms", "finish ms", "wire ms", "dark ms");
  std::string text = line.data();
  for (const Phase& phase : phases.first(std::min(phases.size(), kPhaseRowsMax))) {
    std::snprintf(line.data(), line.size(), "  %-16s %6u %10s %6u %12.3f %12.3f %12.3f %12.3f\n",
                  std::string{to_string(phase.kind)}.c_str(), phase.ranks,
                  byte_text(static_cast<double>(phase.bytes.count)).c_str(), phase.count, milliseconds_of(phase.start),
                  milliseconds_of(phase.finish), milliseconds_of(phase.wire), milliseconds_of(phase.dark));
    text += line.data();
  }
  if (phases.size() > kPhaseRowsMax) {
    text += format_text("  and {} more\n", phases.size() - kPhaseRowsMax);
  }
  return text;
}

std::string totals(Duration iteration, Duration compute, Duration exposed, Duration dark) {
  std::array<char, 192> line{};
  std::snprintf(line.data(), line.size(),
                "iteration %.3f ms = compute %.3f ms + exposed communication %.3f ms (dark %.3f ms)\n",
                milliseconds_of(iteration), milliseconds_of(compute), milliseconds_of(exposed), milliseconds_of(dark));
  return line.data();
}

}  // namespace

nlohmann::ordered_json predict_json(const Prediction& prediction) {
  nlohmann::ordered_json answer;
  answer["api_version"] = 1;
  answer["workload"] = prediction.workload;
  answer["fabric"] = prediction.fabric;
  answer["nodes"] = prediction.nodes;
  answer["bandwidth_gbps"] = static_cast<double>(prediction.rate.bits_per_second) / 1e9;
  answer["iteration_ms"] = milliseconds_of(prediction.iteration);
  answer["bound_ms"] = prediction.bound ? nlohmann::ordered_json(milliseconds_of(*prediction.bound)) : nlohmann::ordered_json();
  answer["compute_ms"] = milliseconds_of(prediction.compute);
  answer["exposed_comm_ms"] = milliseconds_of(prediction.exposed);
  answer["dark_ms"] = milliseconds_of(prediction.dark);
  answer["phases"] = phases_json(prediction.phases);
  answer["assumptions"] = prediction.assumptions;
  return answer;
}

nlohmann::ordered_json replay_json(const Replay& replay) {
  nlohmann::ordered_json answer;
  answer["api_version"] = 1;
  answer["iteration_ms"] = milliseconds_of(replay.iteration);
  answer["compute_ms"] = milliseconds_of(replay.compute);
  answer["exposed_comm_ms"] = milliseconds_of(replay.exposed);
  answer["dark_ms"] = milliseconds_of(replay.dark);
  answer["waited_ms"] = milliseconds_of(replay.waited);
  answer["phases"] = phases_json(replay.phases);
  return answer;
}

std::string prediction_table(const Prediction& prediction) {
  std::array<char, 128> head{};
  std::snprintf(head.data(), head.size(), " on %s, %u nodes, %g Gb/s a node\n", prediction.fabric.c_str(), prediction.nodes,
                static_cast<double>(prediction.rate.bits_per_second) / 1e9);
  std::string text = prediction.workload + head.data();
  text += totals(prediction.iteration, prediction.compute, prediction.exposed, prediction.dark);
  if (prediction.bound) {
    std::array<char, 160> line{};
    std::snprintf(line.data(), line.size(),
                  "bound %.3f ms: the busiest worker's compute, the busiest node's bytes at %g Gb/s, no waiting\n",
                  milliseconds_of(*prediction.bound), static_cast<double>(prediction.rate.bits_per_second) / 1e9);
    text += line.data();
  }
  text += phases_table(prediction.phases);
  for (const std::string& assumption : prediction.assumptions) {
    text += format_text("assumed: {}\n", assumption);
  }
  return text;
}

std::string replay_table(const Replay& replay) {
  std::string text = totals(replay.iteration, replay.compute, replay.exposed, replay.dark);
  std::array<char, 96> line{};
  std::snprintf(line.data(), line.size(), "longest wait of one circuit for light: %.3f ms\n", milliseconds_of(replay.waited));
  return text + line.data() + phases_table(replay.phases);
}

}  // namespace loom
