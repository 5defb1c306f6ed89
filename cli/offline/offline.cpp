// The commands that need no controller.
#include "cli/offline/offline.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/lab/lab.hpp"
#include "cli/offline/config_words.hpp"
#include "cli/offline/play_inputs.hpp"
#include "cli/render/rows.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/arena/arena.hpp"
#include "controller/predict/prediction_text.hpp"
#include "controller/workload/trace_text.hpp"
#include "core/config/calibration_file.hpp"
#include "core/config/fault_file.hpp"
#include "core/config/scenario_file.hpp"
#include "runtime/state/state_folder.hpp"
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

struct Predicted {
  Prediction prediction;
  std::string trace;
};

Result<Predicted> make_prediction(const PredictOrder& order, const Calibration* calibration) {
  const auto inputs =
      read_inputs({order.workload, order.nodes, order.bandwidth, order.settings}, calibration, std::span(&order.fabric, 1));
  if (!inputs) {
    return std::unexpected(inputs.error());
  }
  auto entry = make_entry(order.fabric, inputs->graph, inputs->rate, settings_for(order.fabric, inputs->fabric));
  if (!entry) {
    return std::unexpected(std::move(entry).error());
  }
  const auto compute = compute_alone(inputs->graph);
  if (!compute) {
    return std::unexpected(compute.error());
  }
  Predicted predicted;
  const auto row = play(*entry, *compute, order.trace_path.empty() ? nullptr : &predicted.trace);
  if (!row) {
    return std::unexpected(row.error());
  }
  predicted.prediction = prediction_of(*row, inputs->graph, inputs->rate);
  if (calibration != nullptr) {
    predicted.prediction.assumptions.insert(predicted.prediction.assumptions.begin(),
                                            "calibrated by " + calibration->name + ": " + calibration->note);
  }
  return predicted;
}

}  // namespace

int predict(const Globals& globals, const PredictOrder& order) {
  std::optional<Calibration> calibration;
  if (!order.calibration.empty()) {
    auto loaded = load_calibration(order.calibration);
    if (!loaded) {
      return complain_of(loaded.errors);
    }
    calibration = std::move(*loaded.value);
  }
  const auto predicted = make_prediction(order, calibration ? &*calibration : nullptr);
  if (!predicted) {
    const bool is_users = predicted.error().code != ErrorCode::malformed && predicted.error().code != ErrorCode::internal;
    complain(predicted.error().message, "loom predict --help");
    return is_users ? kUsage : kFailed;
  }
  if (globals.json) {
    print(predict_json(predicted->prediction));
  } else {
    std::fputs(prediction_table(predicted->prediction).c_str(), stdout);
  }
  if (!order.trace_path.empty()) {
    std::ofstream file(order.trace_path, std::ios::binary);
    file << predicted->trace;
    file.flush();
    if (!file) {
      complain("cannot write " + order.trace_path, "give --trace a path that can be written");
      return kFailed;
    }
    say("traced to " + order.trace_path + "; open it at ui.perfetto.dev");
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
  const ScenarioWords words = scenario_words();
  for (const std::string& path : paths) {
    for (const ConfigError& error : check_config(path, all_templates(), &words)) {
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
  const auto scenario = load_scenario(scenario_path, all_templates());
  if (!scenario) {
    return complain_of(scenario.errors);
  }
  const StateFolder files(globals.state_dir);
  if (const auto marked = mark_key_folder(globals.state_dir); !marked) {
    return give_up(marked.error());
  }
  if (const auto made = files.make_keys(*scenario.value); !made) {
    return give_up(made.error());
  }
  say("keys are in " + files.keys());
  return kDone;
}

int simulate(const Globals& globals, const SimOrder& order) {
  auto scenario = load_scenario(order.scenario, all_templates(), Mode::sim);
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
    std::printf("violations   %zu, and %llu that injected faults excuse\n", result->violations.size(),
                static_cast<unsigned long long>(result->excused_count));
    std::fputs(text_of(result->account).c_str(), stdout);
  }
  for (const Violation& violation : result->violations) {
    say("violation at " + std::to_string(seconds_of(violation.at.time_since_epoch())) +
        " s: " + std::string(to_string(violation.rule)) + ": " + violation.evidence);
  }
  for (const ExcusedViolation& excused : result->excused) {
    say("excused by " + excused.fault + " at " + std::to_string(seconds_of(excused.violation.at.time_since_epoch())) +
        " s: " + std::string(to_string(excused.violation.rule)) + ": " + excused.violation.evidence);
  }
  return result->is_as_expected() ? kDone : kFailed;
}

}  // namespace loom::cli
