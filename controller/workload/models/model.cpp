// SPDX-License-Identifier: Apache-2.0
// The register of models.
#include "controller/workload/models/model.hpp"

#include <algorithm>
#include <iterator>

#include "core/text/format_text.hpp"

namespace loom {

bool is_measured(const Model& model) {
  return !model.blocks.empty() &&
         std::ranges::none_of(model.blocks, [](const Block& block) { return block.measured.size() < 2; });
}

std::optional<double> milliseconds_at(const TimesByBatch& measured, double samples) {
  const auto above =
      std::ranges::find_if(measured, [&](const auto& each) { return static_cast<double>(each.first) >= samples; });
  if (above == measured.end()) {
    return std::nullopt;
  }
  if (static_cast<double>(above->first) == samples) {
    return above->second;
  }
  if (above == measured.begin()) {
    return std::nullopt;
  }
  const auto below = std::prev(above);
  const double part = (samples - static_cast<double>(below->first)) / static_cast<double>(above->first - below->first);
  return below->second + part * (above->second - below->second);
}

double milliseconds_at(const Pace& pace, std::int64_t multiply_accumulates, std::int64_t batch) {
  return pace.milliseconds *
         (static_cast<double>(multiply_accumulates) / pace.multiply_accumulates * static_cast<double>(batch) / pace.batch);
}

Pace pace_of_flops(double flops_per_second, std::string source) { return {1e3, flops_per_second / 6, 1, std::move(source)}; }

std::int64_t parameters_of(const Model& model) {
  std::int64_t total = 0;
  for (const Block& block : model.blocks) {
    total += block.parameters + block.expert_parameters;
  }
  return total;
}

std::int64_t active_parameters_of(const Model& model) {
  std::int64_t total = 0;
  for (const Block& block : model.blocks) {
    total += block.parameters + (block.experts == 0 ? 0 : block.expert_parameters / block.experts * block.routed);
  }
  return total;
}

std::string_view to_string(NumberFormat precision) {
  switch (precision) {
    case NumberFormat::fp32:
      return "fp32";
    case NumberFormat::fp16:
      return "fp16";
    case NumberFormat::bf16:
      return "bf16";
    case NumberFormat::fp8:
      return "fp8";
  }
  return "?";
}

ElementBytes bytes_of(const Model& model) {
  const std::int64_t each = model.bytes_per_element;
  return model.precision == NumberFormat::fp8 && each == element_bytes(NumberFormat::fp8).activations
             ? element_bytes(NumberFormat::fp8)
             : ElementBytes{each, each, each, each};
}

ElementBytes element_bytes(NumberFormat precision) {
  switch (precision) {
    case NumberFormat::fp32:
      return {4, 4, 4, 4};
    case NumberFormat::fp16:
    case NumberFormat::bf16:
      return {2, 2, 2, 2};
    case NumberFormat::fp8:
      return {2, 2, 1, 1};
  }
  return {};
}

std::int64_t multiply_accumulates_of(const Model& model) {
  std::int64_t total = 0;
  for (const Block& block : model.blocks) {
    total += block.multiply_accumulates;
  }
  return total;
}

std::span<const ModelEntry> models() {
  static const std::vector<ModelEntry> kAll = [] {
    std::vector<ModelEntry> all;
    for (const auto family : {vision_models(), transformer_models(), latent_models(), dense_models()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return kAll;
}

const ModelEntry* find_model(std::string_view name) {
  const auto all = models();
  const auto found = std::find_if(all.begin(), all.end(), [&](const ModelEntry& entry) { return entry.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<Model> model_of(std::string_view name, const Settings& settings) {
  if (const ModelEntry* entry = find_model(name)) {
    return entry->make(name, settings);
  }
  std::vector<std::string_view> names;
  for (const ModelEntry& entry : models()) {
    names.push_back(entry.name);
  }
  return fail(ErrorCode::not_found,
              format_text("no model '{}'; did you mean '{}'?", name.substr(0, 256), nearest(name, names)));
}

}  // namespace loom
