// SPDX-License-Identifier: Apache-2.0
// Trace Event Format, "JSON Object Format": traceEvents of phase X (complete) and M (names).
#include "controller/predict/perfetto_trace.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "core/text/format_text.hpp"

namespace loom {

std::string perfetto_json(const Predictor& predictor, const PerfettoOptions& options) {
  using Json = nlohmann::ordered_json;
  const TaskGraph& graph = predictor.graph();
  const std::vector<std::uint32_t> path = predictor.critical_path();
  const std::set<std::uint32_t> critical(path.begin(), path.end());
  Json events = Json::array();
  const std::uint32_t shown = std::min(options.nodes_max, graph.nodes);
  for (std::uint32_t node = 0; node < shown; ++node) {
    events.push_back(
        {{"ph", "M"}, {"name", "process_name"}, {"pid", node}, {"args", {{"name", format_text("node {}", node)}}}});
  }
  for (std::uint32_t part = 0; part < predictor.parts().size(); ++part) {
    const std::uint32_t node = predictor.node_of(part);
    const PartTime& time = predictor.parts()[part];
    if (node >= shown || time.finish < 0) {
      continue;
    }
    const Task& task = graph.tasks[predictor.task_of(part)];
    const bool computes = task.kind == TaskKind::compute;
    Json args{{"task", predictor.task_of(part)}};
    if (!computes) {
      args["collective"] = to_string(task.collective);
      args["bytes"] = task.bytes.count;
    }
    if (critical.contains(part)) {
      args["critical"] = true;
    }
    events.push_back({{"ph", "X"},
                      {"name", graph.names[task.name]},
                      {"cat", computes ? "compute" : "communicate"},
                      {"pid", node},
                      {"tid", computes ? 0 : 1 + task.stream},
                      {"ts", time.start / 1e3},
                      {"dur", (time.finish - time.start) / 1e3},
                      {"args", std::move(args)}});
  }
  const Json trace{
      {"displayTimeUnit", "ns"},
      {"otherData",
       {{"workload", graph.workload}, {"network", predictor.network().name}, {"nodes_shown", shown}, {"nodes", graph.nodes}}},
      {"traceEvents", std::move(events)}};
  return trace.dump();
}

}  // namespace loom
