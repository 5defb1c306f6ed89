// The commands that need no controller.
#include "cli/offline.hpp"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/lab_files.hpp"
#include "cli/rows.hpp"
#include "cli/term.hpp"
#include "controller/predict/prediction_text.hpp"
#include "controller/workload/trace_text.hpp"
#include "controller/workload/zoo.hpp"
#include "core/config/fault_file.hpp"
#include "core/config/scenario_file.hpp"
#include "sim_backend/simulation.hpp"

namespace loom::cli {
namespace {

void print(const nlohmann::ordered_json& object) { std::printf("%s\n", object.dump(2).c_str()); }

int complain_of(const std::vector<ConfigError>& errors) {
  for (const ConfigError& error : errors) {
    say(to_string(error));
  }
  return kFailed;
}

Result<Prediction> make_prediction(const PredictOrder& order) {
  auto settings = parse_settings(order.settings);
  if (!settings) {
    return std::unexpected(settings.error());
  }
  const SplitSettings split = split_settings(*settings);
  auto job = load_workload(order.workload, {order.nodes, split.workload});
  if (!job) {
    return std::unexpected(job.error());
  }
  const auto rate = parse_bit_rate(order.bandwidth);
  if (!rate) {
    return std::unexpected(rate.error());
  }
  auto fabric = make_fabric_model(order.fabric, *rate, job->node_count, split.fabric);
  if (!fabric) {
    return std::unexpected(fabric.error());
  }
  return loom::predict(*job, {std::move(*fabric)});
}

}  // namespace

int predict(const Globals& globals, const PredictOrder& order) {
  const auto prediction = make_prediction(order);
  if (!prediction) {
    const bool is_users = prediction.error().code != ErrorCode::malformed && prediction.error().code != ErrorCode::internal;
    complain(prediction.error().message, "loom predict --help");
    return is_users ? kUsage : kFailed;
  }
  if (globals.json) {
    print(predict_json(*prediction));
  } else {
    std::fputs(prediction_table(*prediction).c_str(), stdout);
  }
  return kDone;
}

int import(const Globals& globals, const std::string& path) {
  const auto summary = import_trace(path);
  if (!summary) {
    return give_up(summary.error());
  }
  if (globals.json) {
    print(import_json(*summary));
  } else {
    std::fputs(import_table(*summary).c_str(), stdout);
  }
  return kDone;
}

int check_configs(const Globals& globals, const std::vector<std::string>& paths) {
  auto list = nlohmann::ordered_json::array();
  std::size_t faults = 0;
  for (const std::string& path : paths) {
    for (const ConfigError& error : check_config(path)) {
      ++faults;
      if (globals.json) {
        list.push_back({{"file", error.file}, {"line", error.line}, {"column", error.column}, {"message", error.message}});
      } else {
        std::printf("%s\n", to_string(error).c_str());
      }
    }
  }
  if (globals.json) {
    auto object = answer();
    object["errors"] = std::move(list);
    print(object);
  } else if (faults == 0) {
    say(std::to_string(paths.size()) + (paths.size() == 1 ? " file is sound" : " files are sound"));
  }
  return faults == 0 ? kDone : kFailed;
}

int generate_keys(const Globals& globals, const std::string& scenario_path) {
  const auto scenario = load_scenario(scenario_path);
  if (!scenario) {
    return complain_of(scenario.errors);
  }
  const LabFiles files(globals.state_dir);
  if (const auto made = files.make_keys(*scenario.value); !made) {
    return give_up(made.error());
  }
  say("keys are in " + files.keys());
  return kDone;
}

int simulate(const Globals& globals, const SimOrder& order) {
  auto scenario = load_scenario(order.scenario);
  if (!scenario) {
    return complain_of(scenario.errors);
  }
  for (const std::string& path : order.faults) {
    if (const auto errors = add_faults(path, *scenario.value); !errors.empty()) {
      return complain_of(errors);
    }
  }
  SimOptions options;
  options.seed = order.seed.value_or(scenario.value->seed);
  options.trace_path = order.trace_path;
  if (!order.run_for.empty()) {
    const auto duration = parse_duration(order.run_for);
    if (!duration) {
      return give_up(duration.error());
    }
    options.run_for = *duration;
  }
  const auto begin = std::chrono::steady_clock::now();
  auto result = run_simulation(*scenario.value, options);
  if (!result) {
    return give_up(result.error());
  }
  result->wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (globals.json) {
    std::printf("%s\n", to_json(*result).c_str());
  } else {
    std::printf("digest       %016llx\n", static_cast<unsigned long long>(result->digest));
    std::printf("seed         %llu\n", static_cast<unsigned long long>(result->seed));
    std::printf("events       %llu, %.2f million a second\n", static_cast<unsigned long long>(result->events),
                static_cast<double>(result->events) / result->wall_s * 1e-6);
    std::printf("time         %.3f s virtual, %.3f s wall\n", seconds_of(result->virtual_time), result->wall_s);
    std::printf("revisions    %llu committed, %llu returned, %llu mixed\n",
                static_cast<unsigned long long>(result->revisions.committed),
                static_cast<unsigned long long>(result->revisions.returned),
                static_cast<unsigned long long>(result->revisions.mixed));
    std::printf("underflows   %llu\n", static_cast<unsigned long long>(result->underflows));
    std::printf("violations   %zu\n", result->violations.size());
  }
  for (const std::string& refusal : result->refusals) {
    say("refused: " + refusal);
  }
  for (const Violation& violation : result->violations) {
    say("violation at " + std::to_string(seconds_of(violation.at.time_since_epoch())) +
        " s: " + std::string(to_string(violation.rule)) + ": " + violation.evidence);
  }
  return result->violations.empty() ? kDone : kFailed;
}

}  // namespace loom::cli
