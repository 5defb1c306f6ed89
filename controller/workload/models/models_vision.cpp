// SPDX-License-Identifier: Apache-2.0
// VGG and ResNet as blocks. TopoOpt's VGG16 is image=229 pad=2 (docs/systems/topoopt.md#models), its ResNet50 image=229
// classes=10.
#include <array>

#include "controller/workload/models/layers.hpp"
#include "controller/workload/models/model.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 3> kVggKeys{"classes", "image", "pad"};
constexpr std::array<std::string_view, 2> kResnetKeys{"classes", "image"};

/// 64 ms for 32 images of VGG19: docs/systems/oddl.md#calibration.
constexpr double kVgg19Milliseconds = 64;
constexpr double kVgg19Batch = 32;
/// 64 images a GPU of VGG16 with 229 pixels and pad 2, measured on an A100: docs/workloads.md#anchors (TopoOpt's
/// measures/*.json).
constexpr double kTopoOptVgg16Milliseconds = 100.48;
constexpr double kTopoOptVgg16Batch = 64;

Result<Model> vision(std::string_view name, const Settings& settings, std::vector<Layer> (*layers)(const Pictures&)) {
  const auto side = whole_number(settings, "image", 224, 32, 4'096);
  const auto pad = whole_number(settings, "pad", 1, 1, 3);
  const auto classes = whole_number(settings, "classes", 1000, 1, 1'000'000);
  const auto batch = whole_number(settings, "batch", 32, 1, 1'048'576);
  for (const auto* each : {&side, &pad, &classes, &batch}) {
    if (!*each) {
      return std::unexpected(each->error());
    }
  }
  Model model;
  model.name = name;
  model.shape = {{"classes", std::to_string(*classes)}, {"image", std::to_string(*side)}, {"pad", std::to_string(*pad)}};
  for (const Layer& layer : layers({*side, *pad, *classes})) {
    model.blocks.push_back({.name = layer.name,
                            .parameters = layer.parameters,
                            .multiply_accumulates = layer.multiply_accumulates,
                            .boundary = layer.outputs});
  }
  const auto vgg19_macs = static_cast<double>(multiply_accumulates_of(vgg19_layers()));
  model.pace = {
      kVgg19Milliseconds, vgg19_macs, kVgg19Batch,
      name == "vgg19" && *batch == 32
          ? "VGG19, 32 images on an A100-class GPU, inferred: docs/systems/oddl.md#calibration"
          : "inferred: scaled by multiply-accumulates from VGG19's 64 ms for 32 images, docs/systems/oddl.md#calibration"};
  if (name == "vgg16" && *side == 229 && *pad == 2) {
    model.pace = {kTopoOptVgg16Milliseconds, static_cast<double>(multiply_accumulates_of(model)), kTopoOptVgg16Batch,
                  "measured: TopoOpt's VGG16, 64 images on an A100 in 100.48 ms, docs/workloads.md#anchors"};
  }
  if (*pad != 1) {
    model.assumptions.push_back(format_text(
        "pad = {} in the first two convolutions of a stage: the reading that gives TopoOpt's 61 952 inputs of fc6", *pad));
  }
  return model;
}

Result<Model> vgg16(std::string_view name, const Settings& settings) { return vision(name, settings, vgg16_layers); }
Result<Model> vgg19(std::string_view name, const Settings& settings) { return vision(name, settings, vgg19_layers); }
Result<Model> resnet50(std::string_view name, const Settings& settings) { return vision(name, settings, resnet50_layers); }

constexpr std::array<ModelEntry, 3> kModels{ModelEntry{"vgg16", kVggKeys, vgg16}, ModelEntry{"vgg19", kVggKeys, vgg19},
                                            ModelEntry{"resnet50", kResnetKeys, resnet50}};

}  // namespace

std::span<const ModelEntry> vision_models() { return kModels; }

}  // namespace loom
