// SPDX-License-Identifier: Apache-2.0
// CANDLE (uno) as towers of dense layers: docs/systems/topoopt.md#models and docs/workloads.md#anchors. TopoOpt's 16-server
// shape is width=4096 feature_layers=12.
#include <array>

#include "controller/workload/models/model.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 3> kCandleKeys{"dense_layers", "feature_layers", "width"};
/// Gene expression, drug descriptors, drug fingerprints.
constexpr std::array<std::int64_t, 3> kInputs{942, 5270, 2048};

/// Under tensor parallelism rows are split: one all-reduce of the outputs forward, one of the inputs' gradient backward.
Block dense(std::string name, std::int64_t in, std::int64_t out) {
  return {.name = std::move(name),
          .parameters = in * out + out,
          .multiply_accumulates = in * out,
          .boundary = out,
          .tensor_reduces = 1};
}

Result<Model> candle(std::string_view name, const Settings& settings) {
  const auto width = whole_number(settings, "width", 16'384, 1, 1 << 20);
  const auto features = whole_number(settings, "feature_layers", 16, 1, 1'024);
  const auto layers = whole_number(settings, "dense_layers", 8, 1, 1'024);
  for (const auto* each : {&width, &features, &layers}) {
    if (!*each) {
      return std::unexpected(each->error());
    }
  }
  Model model;
  model.name = name;
  model.shape = {{"dense_layers", std::to_string(*layers)},
                 {"feature_layers", std::to_string(*features)},
                 {"width", std::to_string(*width)}};
  for (std::size_t tower = 0; tower < kInputs.size(); ++tower) {
    for (std::int64_t i = 0; i < *features; ++i) {
      model.blocks.push_back(dense(format_text("feature{}.{}", tower, i), i == 0 ? kInputs[tower] : *width, *width));
    }
  }
  for (std::int64_t i = 0; i < *layers; ++i) {
    model.blocks.push_back(
        dense(format_text("dense{}", i), i == 0 ? static_cast<std::int64_t>(kInputs.size()) * *width : *width, *width));
  }
  model.blocks.push_back(dense("response", *width, 1));
  model.batch = 256;
  // 64 samples forward in 2.09 ms and backward in 3.79 ms: 3 x 2 x 61 952 x 4096 x 64 FLOP in 5.88 ms
  model.pace = pace_of_flops(16.57e12,
                             "16.6 TFLOP/s sustained on an A100 in fp32: TopoOpt's dense layer of 61 952 x 4096 in 2.09 + "
                             "3.79 ms, docs/workloads.md#anchors");
  model.assumptions.push_back(
      "candle: one tower of features for each of three inputs (942, 5270, 2048 wide), one after the other, then dense layers "
      "on "
      "all three");
  return model;
}

constexpr std::array<ModelEntry, 1> kModels{ModelEntry{"candle", kCandleKeys, candle}};

}  // namespace

std::span<const ModelEntry> dense_models() { return kModels; }

}  // namespace loom
