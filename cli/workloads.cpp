// SPDX-License-Identifier: Apache-2.0
// Words to graphs and jobs.
#include "cli/workloads.hpp"

#include <algorithm>
#include <utility>

#include "controller/architectures/registry.hpp"
#include "controller/schedule/job_check.hpp"
#include "controller/workload/import/demand_file.hpp"
#include "controller/workload/import/model_file.hpp"
#include "controller/workload/load_graph.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {

std::vector<WorkloadWords> workloads_of(const Scenario& scenario) {
  std::vector<WorkloadWords> all;
  for (const JobSubmission& job : submissions_of(scenario)) {
    all.push_back({job.workload, job.nodes, {job.settings.begin(), job.settings.end()}, job.name});
  }
  return all;
}

Result<std::string> workload_of(const WorkloadSources& sources) {
  std::vector<std::string_view> named;
  for (const auto& [value, option] : {std::pair<const std::string&, std::string_view>{sources.workload, "--workload"},
                                      {sources.demand, "--demand"},
                                      {sources.model, "--model"}}) {
    if (!value.empty()) {
      named.push_back(option);
    }
  }
  if (named.size() != 1) {
    return fail(ErrorCode::invalid_argument,
                named.empty() ? std::string{"nothing says what is moved: name --workload, --demand or --model"}
                              : format_text("{} and {} each say what is moved; nearest: one of them", named[0], named[1]));
  }
  if (!sources.demand.empty() && !is_demand_file(sources.demand)) {
    return fail(
        ErrorCode::invalid_argument,
        format_text("--demand {}: a demand file ends in .csv, .tsv, .txt or .npy; nearest: --workload for models of the "
                    "zoo, task graphs and traces",
                    sources.demand));
  }
  if (!sources.model.empty() && !is_model_file(sources.model)) {
    return fail(ErrorCode::invalid_argument,
                format_text("--model {}: a model file ends in .yaml, or in .json and says \"kind\": \"model\"; nearest: "
                            "--workload for models of the zoo",
                            sources.model));
  }
  return sources.workload + sources.demand + sources.model;
}

Result<SplitSettings> read_settings(const std::vector<std::string>& words, const Calibration* calibration) {
  auto settings = parse_settings(words);
  if (!settings) {
    return std::unexpected(std::move(settings).error());
  }
  if (calibration != nullptr) {
    settings->insert(calibration->settings.begin(), calibration->settings.end());
  }
  return split_settings(*settings);
}

Settings own_settings(const std::string& workload, const std::vector<std::string>& all, const Settings& settings) {
  Settings own;
  for (const auto& [key, value] : settings) {
    const auto knows = [&](const std::string& name) {
      const auto keys = workload_keys(name);
      return std::find(keys.begin(), keys.end(), key) != keys.end();
    };
    const auto options = all_option_keys();
    const bool is_option = std::find(options.begin(), options.end(), key) != options.end();
    if (is_option || all.size() == 1 || knows(workload) || std::none_of(all.begin(), all.end(), knows)) {
      own.emplace(key, value);
    }
  }
  return own;
}

Result<TaskGraph> read_graph(const WorkloadWords& words) {
  return load_task_graph(words.workload, {words.nodes, words.settings, {}});
}

Result<PlannedJob> read_planned_job(const WorkloadWords& words) {
  if (words.nodes == 1) {
    // Refused before its model is, which would say that it has no traffic.
    JobSpec lonely;
    lonely.name = words.name;
    lonely.node_count = 1;
    return std::unexpected(check_job(lonely).error());
  }
  WorkloadWords rest = words;
  JobOptions options = take_options(rest.settings, all_option_keys());
  auto graph = read_graph(rest);
  if (!graph) {
    return std::unexpected(std::move(graph).error());
  }
  auto spec = job_of(*graph);
  if (!spec) {
    return std::unexpected(std::move(spec).error());
  }
  if (!words.name.empty()) {
    spec->name = words.name;
  }
  spec->workload = words.workload;
  spec->options = std::move(options);
  LOOM_TRY(check_job(*spec));
  return PlannedJob{*std::move(graph), *std::move(spec)};
}

Result<JobSpec> read_job(const WorkloadWords& words) {
  auto spec = load_workload(words.workload, {words.nodes, words.settings, all_option_keys()});
  if (spec && !words.name.empty()) {
    spec->name = words.name;
  }
  return spec;
}

}  // namespace loom::cli
