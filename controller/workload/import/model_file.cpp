// Keys to blocks.
#include "controller/workload/import/model_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "core/config/yaml/yaml_reader.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::int64_t kParametersMost = 1LL << 46;
constexpr std::int64_t kElementsMost = 1LL << 40;
constexpr std::int64_t kWorkMost = 1LL << 52;  ///< multiply-accumulates of a layer, one sample
constexpr std::int64_t kBatchMost = 1'048'576;
constexpr std::size_t kTimesMost = 64;
constexpr double kMillisecondsMost = 1e7;
constexpr std::size_t kSniffed = 4096;

/// A layer as the file has it.
struct FileLayer {
  Block block;
  std::map<std::int64_t, double> times;  ///< batch -> milliseconds, forward and backward
  const YamlNode* place = nullptr;
};

std::optional<double> number_of(const YamlNode& node) {
  double value = 0;
  const auto [end, error] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
  return node.kind == YamlNode::Kind::scalar && error == std::errc{} && end == node.text.data() + node.text.size()
             ? std::optional(value)
             : std::nullopt;
}

std::map<std::int64_t, double> times_of(YamlMap& layer, ErrorList& errors) {
  std::map<std::int64_t, double> times;
  const YamlNode* table = layer.find("time_ms");
  if (table == nullptr) {
    return times;
  }
  if (table->kind != YamlNode::Kind::map || table->items.size() > kTimesMost) {
    errors.add(*table,
               format_text("time_ms is a map of batch to milliseconds, at most {} of them: {{32: 1.9, 64: 3.6}}", kTimesMost));
    return times;
  }
  for (std::size_t i = 0; i < table->items.size(); ++i) {
    const auto batch = number_of(table->keys[i]);  // a key of JSON is in quotes
    const auto value = number_of(table->items[i]);
    if (!batch || *batch < 1 || *batch > kBatchMost || *batch != std::floor(*batch)) {
      errors.add(table->keys[i],
                 format_text("batch '{}' of time_ms; whole numbers from 1 to {}", table->keys[i].text, kBatchMost));
    } else if (!value || !(*value >= 0) || *value > kMillisecondsMost) {
      errors.add(table->items[i], format_text("time_ms of batch {} is '{}'; milliseconds from 0 to 10000000",
                                              table->keys[i].text, table->items[i].text));
    } else {
      times[static_cast<std::int64_t>(*batch)] = *value;
    }
  }
  return times;
}

FileLayer layer_of(const YamlNode& node, ErrorList& errors) {
  YamlMap map(node, "a layer", errors);
  FileLayer layer;
  layer.place = &node;
  Block& block = layer.block;
  block.name = map.name("name", Rule::required);
  block.parameters = map.integer("parameters", {0, kParametersMost}, 0);
  block.multiply_accumulates = map.integer("macs", {0, kWorkMost}, 0);
  block.boundary = map.integer("activations", {0, kElementsMost}, 0);
  block.tensor_reduces = static_cast<std::uint32_t>(map.integer("tensor_reduces", {0, 16}, 0));
  block.experts = static_cast<std::uint32_t>(map.integer("experts", {0, limits::kNodes}, 0));
  block.routed = static_cast<std::uint32_t>(map.integer("routed", {0, limits::kNodes}, 0));
  block.expert_parameters = map.integer("expert_parameters", {0, kParametersMost}, 0);
  if (block.routed > block.experts) {
    map.error("routed", format_text("routed = {} of {} experts", block.routed, block.experts));
  }
  layer.times = times_of(map, errors);
  map.finish();
  return layer;
}

std::string batches_of(const std::map<std::int64_t, double>& times) {
  std::string all;
  for (const auto& [batch, time] : times) {
    all += format_text("{}{}", all.empty() ? "" : ", ", batch);
  }
  return all;
}

/// Work from measured times: each layer's nanoseconds at the batch are its share of the whole. Errors go to `errors`.
void pace_by_times(Model& model, const std::vector<FileLayer>& layers, const std::string& source, ErrorList& errors) {
  double sum = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto at = layers[i].times.find(model.batch);
    if (layers[i].times.empty()) {
      errors.add(*layers[i].place,
                 format_text("layer '{}' has no time_ms, others do: a profile needs one for each layer", layers[i].block.name));
    } else if (at == layers[i].times.end()) {
      errors.add(*layers[i].place, format_text("layer '{}' was not measured at batch {}; it was at {}", layers[i].block.name,
                                               model.batch, batches_of(layers[i].times)));
    } else {
      model.blocks[i].multiply_accumulates = std::llround(at->second * 1e6);
      sum += at->second;
    }
  }
  // milliseconds_at() counts work a sample; times are of a whole batch
  model.pace = {sum, std::max(sum * 1e6, 1.0), static_cast<double>(model.batch), source};
}

Model model_in(const YamlNode& root, std::int64_t batch, ErrorList& errors) {
  YamlMap file(root, "the model", errors);
  check_header(file, "model");
  Model model;
  model.name = file.name("name", Rule::required);
  const std::int64_t own_batch = file.integer("batch", {1, kBatchMost}, 32);
  model.batch = batch == 0 ? own_batch : batch;
  model.bytes_per_element = file.integer("bytes_per_element", {1, 8}, 4);
  model.tied_parameters = file.integer("tied_parameters", {0, kParametersMost}, 0);
  const std::string source = file.text("source", std::string{"the file does not say where its times come from"});
  const double teraflops = file.real("sustained_tflops", {0, 1e6}, 0.0);
  std::vector<FileLayer> layers;
  for (const YamlNode& each : file.list("layers", kModelLayers, Rule::required)) {
    layers.push_back(layer_of(each, errors));
    model.blocks.push_back(layers.back().block);
  }
  const YamlNode& place = file.place_of("layers");
  file.finish();
  const auto is_timed = [](const FileLayer& layer) { return !layer.times.empty(); };
  if (layers.empty()) {
    errors.add(place, "a model needs at least one layer");
  } else if (std::any_of(layers.begin(), layers.end(), is_timed)) {
    pace_by_times(model, layers, format_text("measured at batch {}: {}", model.batch, source), errors);
    model.assumptions.push_back("a layer's time is divided 1 : 2 between its forward and its backward pass");
  } else if (teraflops > 0) {
    model.pace = pace_of_flops(teraflops * 1e12, "macs and sustained_tflops of the file: " + source);
  } else if (multiply_accumulates_of(model) == 0) {
    model.pace = {0, 1, 1, "the file has neither times nor macs"};
  } else {
    errors.add(place, "layers have macs, but neither time_ms nor the file's sustained_tflops says how long they take");
  }
  return model;
}

}  // namespace

bool is_model_file(std::string_view path) {
  if (path.ends_with(".yaml") || path.ends_with(".yml")) {
    return true;
  }
  if (!path.ends_with(".json")) {
    return false;
  }
  std::ifstream file(std::filesystem::path{path}, std::ios::binary);
  std::string head(kSniffed, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  std::erase_if(head, [](char each) { return each == ' ' || each == '\n' || each == '\r' || each == '\t'; });
  return head.find("\"kind\":\"model\"") != std::string::npos;
}

std::vector<ConfigError> check_model_file(const std::filesystem::path& path, const YamlNode& root) {
  ErrorList errors(path.string());
  (void)model_in(root, 0, errors);
  return errors.sorted();
}

Result<Model> read_model_file(const std::string& path, std::int64_t batch) {
  const auto joined = [](const std::vector<ConfigError>& all) {
    Error error{ErrorCode::invalid_config, {}};
    for (const ConfigError& each : all) {
      error.message += (error.message.empty() ? "" : "\n") + to_string(each);
    }
    return std::unexpected(std::move(error));
  };
  const Loaded<YamlNode> document = read_yaml(path);
  if (!document) {
    return joined(document.errors);
  }
  ErrorList errors(path);
  Model model = model_in(*document.value, batch, errors);
  if (!errors.empty()) {
    return joined(errors.sorted());
  }
  return model;
}

}  // namespace loom
