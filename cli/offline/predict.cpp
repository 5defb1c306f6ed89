// SPDX-License-Identifier: Apache-2.0
// loom predict: one training iteration on one fabric.
#include <cstdio>

#include "cli/command_line.hpp"
#include "cli/offline/arena.hpp"
#include "cli/offline/offline.hpp"
#include "cli/offline/play_inputs.hpp"
#include "cli/output_file.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "cli/trace.hpp"
#include "controller/arena/arena.hpp"
#include "controller/predict/prediction_text.hpp"
#include "core/config/calibration_file.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

struct PredictOptions {
  std::string workload;
  std::string demand;  ///< file, instead of a workload
  std::string model;   ///< file, instead of either
  std::string fabric;  ///< one of the arena's
  std::uint32_t nodes = 0;
  std::string bandwidth = "100G";
  std::vector<std::string> settings;
  std::string calibration;  ///< file; settings go before it
  std::string trace_path;   ///< Perfetto/Chrome trace of the iteration
  bool is_exact = false;    ///< every round is played, however long it takes
};

struct Predicted {
  Prediction prediction;
  std::string trace;
};

Result<Predicted> make_prediction(const PredictOptions& order, const Calibration* calibration) {
  const auto inputs = read_inputs({order.workload, order.demand, order.model, order.nodes, order.bandwidth, order.settings},
                                  calibration, std::span(&order.fabric, 1));
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
  const auto row =
      play(*entry, *compute,
           {.exact_looks = order.is_exact ? 0 : kExactLooks, .trace = order.trace_path.empty() ? nullptr : &predicted.trace});
  if (!row) {
    return std::unexpected(row.error());
  }
  predicted.prediction = prediction_of(*row, inputs->graph, inputs->rate);
  if (calibration != nullptr) {
    predicted.prediction.assumptions.insert(predicted.prediction.assumptions.begin(),
                                            format_text("calibrated by {}: {}", calibration->name, calibration->note));
  }
  return predicted;
}

/// Before anything is played.
Result<void> check_files(const Globals& globals, const PredictOptions& order) {
  LOOM_TRY(check_printed(order.trace_path, "--trace", globals.json));
  return check_apart({{"--workload", order.workload},
                      {"--demand", order.demand},
                      {"--model", order.model},
                      {"--calibration", order.calibration}},
                     {{"--trace", order.trace_path}});
}

int predict(const Globals& globals, const PredictOptions& order) {
  if (const auto lawful = check_files(globals, order); !lawful) {
    return give_up(lawful.error(), "loom predict --help");
  }
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
    complain(predicted.error().code, predicted.error().message, "loom predict --help");
    return is_users ? kUsage : kFailed;
  }
  if (globals.json) {
    print(predict_json(predicted->prediction));
  } else {
    std::fputs(prediction_table(predicted->prediction).c_str(), order.trace_path == kStandardOutput ? stderr : stdout);
  }
  if (const auto written = hand_out_trace(order.trace_path, predicted->trace); !written) {
    return give_up(written.error());
  }
  return kDone;
}

}  // namespace

void add_predict(CLI::App& app, CommandLine& line) {
  auto& options = line.keep<PredictOptions>();
  CLI::App* verb = app.add_subcommand("predict", "One training iteration: total, compute, exposed communication");
  verb->add_option("--workload", options.workload,
                   "Model of the zoo (loom workload list), task graph (.fbuf), trace or demand");
  verb->add_option("--demand", options.demand, "Bytes from node to node (.csv, .tsv, .txt, .npy), instead of a workload");
  verb->add_option("--fabric", options.fabric, "One of " + arena_fabrics())->required();
  verb->add_option("--model", options.model, "Your own layers (.yaml, .json with kind: model), instead of a workload");
  verb->add_option("--nodes", options.nodes, "How many nodes; a trace brings its own")
      ->check(number_check<std::uint32_t>("number of nodes", 1));
  verb->add_option("--bandwidth", options.bandwidth, "A node's total per direction, e.g. 100G")->capture_default_str();
  verb->add_option("--set", options.settings,
                   "key=value or fabric.key=value, repeatable; loom workload show NAME and loom fabric show NAME list them");
  verb->add_option("--calibration", options.calibration, "File of fitted settings, e.g. configs/calibration/oddl_paper.yaml");
  verb->add_option("--trace", options.trace_path, "Write a Perfetto trace of the iteration into this file; -: to stdout");
  verb->add_flag("--exact", options.is_exact, "Play every round of every collective, however long it takes");
  line.when(*verb, predict, options);
}

}  // namespace loom::cli
