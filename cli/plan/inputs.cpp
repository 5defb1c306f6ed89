// SPDX-License-Identifier: Apache-2.0
// Words to jobs, a fabric and an algorithm.
#include "cli/plan/inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "controller/architectures/registry.hpp"
#include "controller/architectures/topoopt/finder/finder_settings.hpp"
#include "controller/arena/entries.hpp"
#include "controller/schedule/job_check.hpp"

#include "controller/workload/models/model.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/config/fabric_file.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/config/yaml/quantity.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::unexpected<Error> refuse(const std::string& what, const std::string& next = {}) {
  return fail(ErrorCode::invalid_argument, what, next);
}

Error joined(const std::vector<ConfigError>& errors) {
  Error all{ErrorCode::invalid_config, {}};
  for (const ConfigError& error : errors) {
    all.message += (all.message.empty() ? "" : "\n") + to_string(error);
  }
  return all;
}

Result<std::vector<WorkloadWords>> wanted_of(const PlanCommand& order, const Settings& settings) {
  if (order.workloads.empty()) {
    return refuse("no workload is named", "loom plan vgg19 --nodes 16 --fabric sip-ring");
  }
  if (order.nodes.size() > 1 && order.nodes.size() != order.workloads.size()) {
    return refuse(format_text("--nodes names {} counts for {} workloads; nearest: one count for all, or one each",
                              order.nodes.size(), order.workloads.size()));
  }
  std::vector<WorkloadWords> wanted;
  std::set<std::string> names;
  for (std::size_t i = 0; i < order.workloads.size(); ++i) {
    const std::string& workload = order.workloads[i];
    std::string name = workload;
    for (int again = 2; !names.insert(name).second; ++again) {
      name = format_text("{}-{}", workload, again);
    }
    const std::uint32_t nodes = order.nodes.empty() ? 0 : order.nodes[order.nodes.size() == 1 ? 0 : i];
    wanted.push_back({workload, nodes, own_settings(workload, order.workloads, settings), name});
  }
  return wanted;
}

Result<std::uint32_t> setting(const Settings& settings, std::string_view key) {
  const auto value = whole_number(settings, key, key == "zero" ? 0 : 1, 0, 1'000'000);
  return value ? Result<std::uint32_t>{static_cast<std::uint32_t>(*value)} : std::unexpected(value.error());
}

/// What the zoo's model keeps; a file does not say.
Result<void> check_model(const WorkloadWords& wanted, const TaskGraph& graph, std::optional<Bytes> memory) {
  const auto names = workload_names();
  if (!memory || graph.parameters == 0 || std::find(names.begin(), names.end(), wanted.workload) == names.end()) {
    return {};
  }
  if (find_model(wanted.workload) == nullptr) {
    return check_memory({0, graph.parameters, graph.nodes, 1, 0}, *memory);  // tables, with small perceptrons beside them
  }
  std::map<std::string_view, std::uint32_t> degrees;
  for (const std::string_view key : {"tp", "pp", "ep", "zero"}) {
    const auto value = setting(wanted.settings, key);
    if (!value) {
      return std::unexpected(value.error());
    }
    degrees[key] = key == "zero" ? *value : std::max(1U, *value);
  }
  const auto model = model_of(wanted.workload, wanted.settings);
  if (!model) {
    return std::unexpected(model.error());
  }
  std::int64_t experts = 0;
  for (const Block& block : model->blocks) {
    experts += block.expert_parameters;
  }
  const std::int64_t everywhere = graph.parameters - experts;
  return check_memory({everywhere + experts / degrees["ep"], 0, graph.nodes, degrees["tp"] * degrees["pp"], degrees["zero"]},
                      *memory);
}

bool is_file(const std::string& word) {
  return word.find('/') != std::string::npos || word.ends_with(".yaml") || word.ends_with(".yml") ||
         std::filesystem::exists(word);
}

/// As many as the template makes of them, where it is one of an architecture.
std::uint32_t nodes_of_template(const std::string& name, std::uint32_t needed, const Settings& settings) {
  const auto& all = all_architectures().all();
  const auto own = std::ranges::find_if(
      all, [&](const Architecture* each) { return each->fabric != nullptr && each->fabric->name == name; });
  return own == all.end() || (*own)->whole_nodes == nullptr ? needed : (*own)->whole_nodes(needed, settings);
}

/// The template as a fabric file would say it, so that its keys, ranges and errors are the file's.
Result<Fabric> make_template(const std::string& word, std::uint32_t nodes, const Settings& settings) {
  std::string name = word;
  std::replace(name.begin(), name.end(), '-', '_');
  std::string text = format_text("schema_version: 1\nkind: fabric\ntemplate: \"{}\"\nparameters:\n", name);
  if (!settings.contains("nodes")) {
    text += format_text("  nodes: {}\n", nodes_of_template(name, nodes, settings));
  }
  for (const auto& [key, value] : settings) {
    text += format_text("  {}: {}\n", key, value);
  }
  const std::string source = "--fabric " + word;
  auto root = parse_yaml(source, text);
  if (!root) {
    return std::unexpected(joined(root.errors));
  }
  auto fabric = read_fabric(source, *root.value, all_fabric_kinds());
  if (!fabric) {
    return std::unexpected(joined(fabric.errors));
  }
  return *std::move(fabric.value);
}

/// No fabric is named: the topology by itself, servers wired straight to each other.
bool is_finder_alone(const PlanCommand& order, const PlanInputs& inputs) {
  const Architecture* own = all_architectures().find(inputs.algorithm);
  return own != nullptr && own->wires_servers && order.fabric.empty();
}

Result<void> choose_algorithm(const PlanCommand& order, PlanInputs& inputs) {
  inputs.algorithm = order.algorithm;
  if (inputs.algorithm.empty()) {
    inputs.algorithm = is_file(order.fabric) || order.fabric.empty() ? "" : order.fabric;
    std::replace(inputs.algorithm.begin(), inputs.algorithm.end(), '_', '-');
  }
  if (inputs.algorithm.empty()) {
    return {};
  }
  const auto found = all_architectures().find_scheduler(inputs.algorithm);
  if (found || order.algorithm.empty()) {
    return {};  // a template that nobody knows is refused as one
  }
  const auto names = all_architectures().scheduler_names();
  std::string all;
  for (const std::string_view name : names) {
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  return fail(ErrorCode::not_found, format_text("no algorithm '{}'; nearest: {} (there are {})", inputs.algorithm.substr(0, 64),
                                                loom::nearest(inputs.algorithm, names), all));
}

Result<std::optional<Bytes>> memory_of(const PlanCommand& order, const std::string& algorithm) {
  if (!order.memory.empty()) {
    const auto bytes = parse_quantity(order.memory, kBytesUnits);
    if (!bytes) {
      return std::unexpected(Error{ErrorCode::invalid_argument, "--memory: " + bytes.error().message});
    }
    return std::optional(Bytes{*bytes});
  }
  const Architecture* own = all_architectures().find(algorithm);
  return own == nullptr || own->node_memory.count == 0 ? std::nullopt : std::optional(own->node_memory);
}

Result<void> read_jobs(const PlanCommand& order, const std::vector<WorkloadWords>& wanted, PlanInputs& inputs) {
  const auto memory = memory_of(order, inputs.algorithm);
  if (!memory) {
    return std::unexpected(memory.error());
  }
  if (wanted.size() > limits::kJobs) {
    return fail(ErrorCode::out_of_range, format_text("{} jobs; the limit is {} (kJobs)", wanted.size(), limits::kJobs));
  }
  for (const WorkloadWords& each : wanted) {
    auto job = read_planned_job(each);
    if (!job) {
      return std::unexpected(std::move(job).error());
    }
    LOOM_TRY(check_model(each, job->graph, *memory));
    inputs.jobs.push_back(*std::move(job));
  }
  return {};
}

Result<PlanInputs> read_scenario(const PlanCommand& order) {
  if (!order.workloads.empty() || !order.demand.empty() || !order.search.model.empty() || !order.fabric.empty()) {
    return refuse("--scenario brings its workloads and its fabric; nearest: name only the scenario");
  }
  auto scenario = load_scenario(order.scenario, all_fabric_kinds());
  if (!scenario) {
    return std::unexpected(joined(scenario.errors));
  }
  PlanInputs inputs;
  inputs.fabric = scenario.value->fabric;
  inputs.algorithm = order.algorithm.empty() ? scenario.value->algorithm : order.algorithm;
  LOOM_TRY(read_jobs(order, workloads_of(*scenario.value), inputs));
  return inputs;
}

}  // namespace

Result<std::shared_ptr<const Fabric>> fabric_named(const std::string& word, std::uint32_t nodes, const Settings& settings) {
  if (!is_file(word)) {
    auto made = make_template(word, nodes, settings);
    return made ? Result<std::shared_ptr<const Fabric>>{std::make_shared<const Fabric>(*std::move(made))}
                : std::unexpected(made.error());
  }
  if (!settings.empty()) {
    return refuse(
        format_text("--set fabric.{} is for a template; {} is a file, which says so itself", settings.begin()->first, word));
  }
  auto loaded = load_fabric(word, all_fabric_kinds());
  return loaded ? Result<std::shared_ptr<const Fabric>>{std::make_shared<const Fabric>(*std::move(loaded.value))}
                : std::unexpected(joined(loaded.errors));
}

Result<PlanInputs> read_plan_inputs(const PlanCommand& given) {
  if (!given.scenario.empty()) {
    return read_scenario(given);
  }
  PlanCommand order = given;
  if (!order.demand.empty() || !order.search.model.empty()) {
    auto workload = workload_of({order.workloads.empty() ? "" : order.workloads.front(), order.demand, order.search.model});
    if (!workload) {
      return std::unexpected(std::move(workload).error());
    }
    order.workloads = {*std::move(workload)};
  }
  auto split = read_settings(order.settings);
  if (!split) {
    return std::unexpected(std::move(split).error());
  }
  PlanInputs inputs;
  inputs.fabric_settings = std::move(split->fabric);
  LOOM_TRY(choose_algorithm(order, inputs));
  if (inputs.algorithm.empty() && order.fabric.empty()) {
    return refuse("neither a fabric nor an algorithm is named", "loom plan vgg19 --nodes 16 --fabric sip-ring");
  }
  const auto wanted = wanted_of(order, split->workload);
  if (!wanted) {
    return std::unexpected(wanted.error());
  }
  LOOM_TRY(read_jobs(order, *wanted, inputs));
  if (is_finder_alone(order, inputs)) {
    LOOM_TRY(check_keys(inputs.fabric_settings, inputs.algorithm, kFinderKeys));
    return inputs;
  }
  std::uint32_t nodes = 0;
  for (const PlannedJob& job : inputs.jobs) {
    nodes += job.spec.node_count;
  }
  auto fabric = fabric_named(order.fabric.empty() ? inputs.algorithm : order.fabric, nodes, inputs.fabric_settings);
  if (!fabric) {
    return std::unexpected(std::move(fabric).error());
  }
  inputs.fabric = *std::move(fabric);
  inputs.algorithm = inputs.algorithm.empty() ? inputs.fabric->architecture : inputs.algorithm;
  return inputs;
}

}  // namespace loom::cli
