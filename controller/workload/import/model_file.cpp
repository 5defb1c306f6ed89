// SPDX-License-Identifier: Apache-2.0
// Keys to blocks.
#include "controller/workload/import/model_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
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
  const YamlNode* place = nullptr;
  bool has_inputs = false;  ///< otherwise: the layer before it
  std::vector<const YamlNode*> input_names;
  std::vector<std::size_t> inputs;  ///< layers of the file
};

std::optional<double> number_of(const YamlNode& node) {
  double value = 0;
  const auto [end, error] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
  return node.kind == YamlNode::Kind::scalar && error == std::errc{} && end == node.text.data() + node.text.size()
             ? std::optional(value)
             : std::nullopt;
}

TimesByBatch times_of(YamlMap& layer, ErrorList& errors) {
  TimesByBatch times;
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
  block.measured_as = map.text("measured_as", std::string{});
  block.measured = times_of(map, errors);
  if (map.find("inputs") != nullptr) {
    layer.has_inputs = true;
    for (const YamlNode& each : map.list("inputs", kModelLayers)) {
      layer.input_names.push_back(&each);
    }
  }
  map.finish();
  return layer;
}

/// Each layer's inputs as layers. Errors: a name twice, an input that no layer is, the same input twice.
void find_inputs(std::vector<FileLayer>& layers, ErrorList& errors) {
  std::map<std::string_view, std::size_t> by_name;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string& name = layers[i].block.name;
    const auto [first, is_new] = by_name.emplace(name, i);
    names.push_back(name);
    if (!is_new && !name.empty()) {
      errors.add(*layers[i].place, format_text("layer '{}' is there already, on line {}; inputs go by name, so names differ",
                                               name, layers[first->second].place->line));
    }
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    FileLayer& layer = layers[i];
    if (!layer.has_inputs && i > 0) {
      layer.inputs = {i - 1};
    }
    for (const YamlNode* input : layer.input_names) {
      const auto found = by_name.find(input->text);
      if (input->kind != YamlNode::Kind::scalar || found == by_name.end()) {
        errors.add(*input, format_text("input '{}' of layer '{}': no layer is called that; did you mean '{}'?",
                                       input->text.substr(0, 128), layer.block.name, nearest(input->text, names)));
      } else if (std::find(layer.inputs.begin(), layer.inputs.end(), found->second) != layer.inputs.end()) {
        errors.add(*input, format_text("input '{}' of layer '{}' is listed twice", input->text, layer.block.name));
      } else {
        layer.inputs.push_back(found->second);
      }
    }
  }
}

/// The cycle that the layers not yet in order hold, from one of them back to itself.
std::vector<std::size_t> cycle_among(const std::vector<FileLayer>& layers, const std::vector<bool>& is_placed) {
  std::vector<std::size_t> step_of(layers.size(), 0);
  std::vector<std::size_t> path;
  auto at = static_cast<std::size_t>(std::find(is_placed.begin(), is_placed.end(), false) - is_placed.begin());
  while (step_of[at] == 0) {
    path.push_back(at);
    step_of[at] = path.size();
    const auto& inputs = layers[at].inputs;  // one of them is not placed either, else this layer would be
    at = *std::find_if(inputs.begin(), inputs.end(), [&](std::size_t input) { return !is_placed[input]; });
  }
  path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(step_of[at] - 1));
  std::reverse(path.begin(), path.end());  // inputs were followed, the data flows the other way
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  return path;
}

/// Layers so that each comes after its inputs, otherwise as in the file. Errors: a cycle, by its path.
std::vector<std::size_t> order_of(const std::vector<FileLayer>& layers, ErrorList& errors) {
  std::vector<std::size_t> order;
  std::vector<std::size_t> waits(layers.size());
  std::vector<std::vector<std::size_t>> readers(layers.size());
  std::set<std::size_t> able;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    waits[i] = layers[i].inputs.size();
    for (const std::size_t input : layers[i].inputs) {
      readers[input].push_back(i);
    }
    if (waits[i] == 0) {
      able.insert(i);
    }
  }
  std::vector<bool> is_placed(layers.size(), false);
  while (!able.empty()) {
    const std::size_t at = *able.begin();
    able.erase(able.begin());
    is_placed[at] = true;
    order.push_back(at);
    for (const std::size_t reader : readers[at]) {
      if (--waits[reader] == 0) {
        able.insert(reader);
      }
    }
  }
  if (order.size() < layers.size()) {
    const std::vector<std::size_t> cycle = cycle_among(layers, is_placed);
    std::string path;
    for (const std::size_t at : cycle) {
      path += layers[at].block.name + " -> ";
    }
    errors.add(*layers[cycle.front()].place,
               format_text("a cycle: {}{}; no layer can come after itself", path, layers[cycle.front()].block.name));
  }
  return order;
}

/// Into an order in which inputs come first, with what a cut behind each layer would have to move.
void put_in_order(std::vector<FileLayer>& layers, ErrorList& errors) {
  find_inputs(layers, errors);
  if (!errors.empty()) {
    return;
  }
  const std::vector<std::size_t> order = order_of(layers, errors);
  if (!errors.empty()) {
    return;
  }
  std::vector<std::size_t> place_of(layers.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place_of[order[i]] = i;
  }
  std::vector<std::size_t> last_read(layers.size(), 0);  // by place
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const std::size_t input : layers[i].inputs) {
      last_read[place_of[input]] = std::max(last_read[place_of[input]], place_of[i]);
    }
  }
  std::vector<FileLayer> sorted;
  for (const std::size_t at : order) {
    sorted.push_back(std::move(layers[at]));
  }
  layers = std::move(sorted);
  for (std::size_t cut = 0; cut + 1 < layers.size(); ++cut) {
    for (std::size_t i = 0; i <= cut; ++i) {
      layers[cut].block.handed += last_read[i] > cut ? layers[i].block.boundary : 0;
    }
  }
}

std::string batches_of(const TimesByBatch& times) {
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
    const auto at = layers[i].block.measured.find(model.batch);
    if (layers[i].block.measured.empty()) {
      errors.add(*layers[i].place,
                 format_text("layer '{}' has no time_ms, others do: a profile needs one for each layer", layers[i].block.name));
    } else if (at == layers[i].block.measured.end()) {
      errors.add(*layers[i].place, format_text("layer '{}' was not measured at batch {}; it was at {}", layers[i].block.name,
                                               model.batch, batches_of(layers[i].block.measured)));
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
  model.precision = model.bytes_per_element == 2   ? NumberFormat::bf16
                    : model.bytes_per_element == 1 ? NumberFormat::fp8
                                                   : NumberFormat::fp32;
  model.tied_parameters = file.integer("tied_parameters", {0, kParametersMost}, 0);
  const std::string source = file.text("source", std::string{"the file does not say where its times come from"});
  const double teraflops = file.real("sustained_tflops", {0, 1e6}, 0.0);
  std::vector<FileLayer> layers;
  for (const YamlNode& each : file.list("layers", kModelLayers, Rule::required)) {
    layers.push_back(layer_of(each, errors));
  }
  const YamlNode& place = file.place_of("layers");
  file.finish();
  put_in_order(layers, errors);
  for (const FileLayer& layer : layers) {
    model.blocks.push_back(layer.block);
  }
  const auto is_timed = [](const FileLayer& layer) { return !layer.block.measured.empty(); };
  if (layers.empty()) {
    errors.add(place, "a model needs at least one layer");
  } else if (std::any_of(layers.begin(), layers.end(), is_timed)) {
    pace_by_times(model, layers, format_text("measured at batch {}: {}", model.batch, source), errors);
    model.assumptions.push_back("a layer's time is divided 1 : 2 between its forward and its backward pass");
  } else if (teraflops > 0) {
    model.pace = pace_of_flops(teraflops * 1e12, "macs and sustained_tflops of the file: " + source);
  } else if (multiply_accumulates_of(model) == 0) {
    model.pace = {0, 1, 1, "the file has neither times nor macs: all layers take alike"};
    for (Block& block : model.blocks) {
      block.multiply_accumulates = 1;
    }
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
