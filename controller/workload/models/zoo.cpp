// SPDX-License-Identifier: Apache-2.0
// The zoo's door: names and keys, task graphs from settings, and jobs from task graphs.
#include "controller/workload/models/zoo.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "controller/workload/import/demand_file.hpp"
#include "controller/workload/import/import.hpp"
#include "controller/workload/import/model_file.hpp"
#include "controller/workload/import/tables.hpp"
#include "controller/workload/load_graph.hpp"
#include "controller/workload/models/compute_time.hpp"
#include "controller/workload/models/parallel_settings.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 1> kTraceKeys{"compute_ms"};
struct Names {
  std::vector<std::string_view> all;
  std::map<std::string_view, std::vector<std::string_view>> keys;
};

const Names& names() {
  static const Names kNames = [] {
    Names made;
    const auto add = [&](std::string_view name, std::initializer_list<std::span<const std::string_view>> lists) {
      made.all.push_back(name);
      auto& keys = made.keys[name];
      for (const auto list : lists) {
        keys.insert(keys.end(), list.begin(), list.end());
      }
      std::sort(keys.begin(), keys.end());
    };
    for (const ModelEntry& entry : models()) {
      add(entry.name, {entry.keys, parallel_keys()});
    }
    for (const std::string_view name : table_model_names()) {
      add(name, {table_model_keys()});
    }
    return made;
  }();
  return kNames;
}

bool is_name(std::string_view name) { return names().keys.contains(name); }

Result<TaskGraph> graph_of_model(Model model, const WorkloadSettings& settings) {
  const auto parallelism = read_parallelism(model, settings);
  if (!parallelism) {
    return std::unexpected(parallelism.error());
  }
  auto graph = iteration_of(model, parallelism->spread);
  if (graph) {
    graph->assumptions = assumptions_of(model, parallelism->spread, parallelism->compute);
  }
  return graph;
}

Result<TaskGraph> make_model_graph(std::string_view name, const WorkloadSettings& settings) {
  LOOM_TRY(check_keys(settings.values, name, workload_keys(name)));
  auto model = model_of(name, settings.values);
  return model ? graph_of_model(*std::move(model), settings) : Result<TaskGraph>(std::unexpected(model.error()));
}

/// Whether the last bucket of gradients, ready when all compute is done, keeps that instant in the job. All else that waits for
/// all compute says kForever; journals and digests hold both.
bool keeps_last_instant(bool is_model, const Settings& settings) {
  const auto overlap = settings.find("overlap");
  return is_model && (overlap == settings.end() || overlap->second == "bucketed");
}

}  // namespace

std::span<const std::string_view> workload_names() { return names().all; }

std::span<const std::string_view> workload_keys(std::string_view name) {
  const auto found = names().keys.find(name);
  if (found != names().keys.end()) {
    return found->second;
  }
  return is_model_file(name) ? parallel_keys() : std::span<const std::string_view>{};
}

Result<TaskGraph> make_task_graph(std::string_view name, const WorkloadSettings& settings) {
  if (!is_name(name)) {
    return fail(ErrorCode::not_found, format_text("no workload '{}': neither a known name nor a file; did you mean '{}'?",
                                                  name.substr(0, 256), nearest(name, names().all)));
  }
  if (settings.nodes < 1 || settings.nodes > limits::kNodes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} nodes; it needs 1 .. {} (kNodes); give --nodes", name, settings.nodes, limits::kNodes));
  }
  if (find_model(name) != nullptr) {
    return make_model_graph(name, settings);
  }
  const auto model = table_model_of(name, settings.values);
  if (!model) {
    return std::unexpected(model.error());
  }
  return table_graph(*model, settings.values, settings.nodes);
}

Result<TaskGraph> graph_of_model_file(std::string_view path, const WorkloadSettings& settings) {
  LOOM_TRY(check_keys(settings.values, path, parallel_keys()));
  if (settings.nodes < 1 || settings.nodes > limits::kNodes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} nodes; it needs 1 .. {} (kNodes); give --nodes", path, settings.nodes, limits::kNodes));
  }
  const auto batch = whole_number(settings.values, "batch", 0, 1, 1'048'576);
  if (!batch) {
    return std::unexpected(batch.error());
  }
  auto model = read_model_file(std::string{path}, *batch);
  return model ? graph_of_model(*std::move(model), settings) : Result<TaskGraph>(std::unexpected(model.error()));
}

namespace {

Result<JobSpec> job_of_iteration(const Result<TaskGraph>& graph, bool keeps_instant) {
  if (!graph) {
    return std::unexpected(graph.error());
  }
  auto job = job_of(*graph);
  if (job && job->compute > Duration{0} && !keeps_instant) {
    for (Collective& collective : job->collectives) {
      collective.ready = collective.ready == job->compute ? kForever : collective.ready;
    }
  }
  return job;
}

}  // namespace

Result<JobSpec> make_workload(std::string_view name, const WorkloadSettings& settings) {
  return job_of_iteration(make_task_graph(name, settings), keeps_last_instant(find_model(name) != nullptr, settings.values));
}

JobOptions take_options(Settings& values, std::span<const std::string_view> keys) {
  JobOptions taken;
  for (const std::string_view key : keys) {
    if (const auto found = values.find(key); found != values.end()) {
      taken.insert(values.extract(found));
    }
  }
  return taken;
}

namespace {

Result<JobSpec> load_demand(std::string_view path, const WorkloadSettings& settings) {
  LOOM_TRY(check_keys(settings.values, "a demand", kTraceKeys));
  auto demand = read_demand_file(std::string{path}, settings.nodes);
  if (!demand) {
    return std::unexpected(std::move(demand).error());
  }
  auto compute = compute_time(settings.values, 0, "a demand says nothing of compute");
  if (!compute) {
    return std::unexpected(compute.error());
  }
  JobSpec job = job_of_demand(*std::move(demand), std::string{path}, compute->total);
  job.assumptions.push_back(std::move(compute->assumption));
  return job;
}

Result<JobSpec> load_without_options(std::string_view name_or_path, const WorkloadSettings& settings) {
  if (is_demand_file(name_or_path)) {
    return load_demand(name_or_path, settings);
  }
  if (name_or_path.ends_with(".fbuf") && !is_name(name_or_path)) {
    return job_of_iteration(load_task_graph(name_or_path, settings), false);
  }
  if (is_model_file(name_or_path)) {
    return job_of_iteration(graph_of_model_file(name_or_path, settings), keeps_last_instant(true, settings.values));
  }
  std::error_code ignored;
  if (is_name(name_or_path) || !std::filesystem::is_regular_file(std::filesystem::path{name_or_path}, ignored)) {
    return make_workload(name_or_path, settings);
  }
  LOOM_TRY(check_keys(settings.values, "a trace", kTraceKeys));
  auto trace = import_trace(std::string{name_or_path});
  if (!trace) {
    return std::unexpected(trace.error());
  }
  if (settings.nodes != 0 && settings.nodes != trace->job.node_count) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} brings {} ranks, --nodes says {}", name_or_path, trace->job.node_count, settings.nodes));
  }
  if (settings.values.contains("compute_ms")) {
    auto compute = compute_time(settings.values, 0, "");
    if (!compute) {
      return std::unexpected(compute.error());
    }
    trace->job.compute = compute->total;
    trace->job.assumptions.push_back(compute->assumption);
  }
  return std::move(trace->job);
}

}  // namespace

Result<JobSpec> load_workload(std::string_view name_or_path, const WorkloadSettings& settings) {
  WorkloadSettings rest = settings;
  JobOptions options = take_options(rest.values, settings.option_keys);
  auto job = load_without_options(name_or_path, rest);
  if (job) {
    job->options = std::move(options);
  }
  return job;
}

}  // namespace loom
