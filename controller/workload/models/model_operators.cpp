// SPDX-License-Identifier: Apache-2.0
// Blocks to operators, paces to times.
#include "controller/workload/models/model_operators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "controller/workload/import/model_file.hpp"
#include "controller/workload/models/compute_time.hpp"
#include "controller/workload/models/parallel_settings.hpp"
#include "controller/workload/settings.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr double kForwardPart = 1.0 / 3;  ///< of a training step: the backward pass costs twice the forward one
constexpr std::array<std::string_view, 6> kPaceKeys{"batch", "compute_ms", "flops", "gpu", "mfu", "precision"};

/// An operator with the time of one sample that passes it, forward and backward together.
struct Timed {
  Operator of;
  double sample_ms = 0;
  TimesByBatch measured{};  ///< of so many samples; empty: `sample_ms` each
};

/// What one of `parts` takes of the iteration's samples. None: they are more or fewer than were measured.
std::optional<double> part_ns(const Timed& each, std::int64_t samples, std::uint32_t parts) {
  const double share = static_cast<double>(samples) / parts;
  if (each.measured.empty()) {
    return each.sample_ms * 1e6 * each.of.sees * share;
  }
  const auto milliseconds = milliseconds_at(each.measured, share);
  return milliseconds ? std::optional(*milliseconds * 1e6) : std::nullopt;
}

std::string batches_of(const TimesByBatch& times) {
  std::string all;
  for (const auto& [batch, time] : times) {
    all += format_text("{}{}", all.empty() ? "" : ", ", batch);
  }
  return all;
}

Operator operator_of(std::string name, std::int64_t elements, std::int64_t parameters, const ElementBytes& bytes) {
  Operator made;
  made.name = std::move(name);
  made.shape = {static_cast<std::uint32_t>(std::clamp<std::int64_t>(elements, 1, 0xffffffff))};
  made.knows_dimensions = false;
  made.element_bytes = static_cast<std::uint32_t>(bytes.activations);
  if (parameters > 0) {
    made.parameters = {{parameters * bytes.gradients}};  // they are moved as gradients
  }
  return made;
}

std::vector<std::uint32_t> divisors(std::uint32_t of) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t part = 1; part <= of; ++part) {
    if (of % part == 0) {
      all.push_back(part);
    }
  }
  return all;
}

Result<ModelOperators> assemble(std::string name, std::uint32_t nodes, std::int64_t batch, std::vector<Timed> operators,
                                std::vector<std::string> assumptions) {
  const std::int64_t samples = batch * nodes;
  if (samples > 0xffffffffLL) {
    return fail(ErrorCode::out_of_range, format_text("{}: {} samples on each of {} nodes; all together fit 32 bits", name,
                                                     std::to_string(batch), nodes));
  }
  ModelOperators made;
  made.graph.name = std::move(name);
  made.graph.nodes = nodes;
  made.graph.samples = static_cast<std::uint32_t>(samples);
  made.assumptions = std::move(assumptions);
  OpTimes& times = made.times;
  times.degrees = divisors(nodes);
  for (Timed& each : operators) {
    auto& lawful = times.lawful.emplace_back();
    for (const std::uint32_t parts : times.degrees) {
      const auto ns = parts > 1 && !each.of.is_divisible ? std::nullopt : part_ns(each, samples, parts);
      times.times.push_back(ns ? std::optional(OpTime{Duration{std::llround(*ns * kForwardPart)},
                                                      Duration{std::llround(*ns * (1 - kForwardPart))}})
                               : std::nullopt);
      if (ns) {
        lawful.push_back(parts);
      }
    }
    if (lawful.empty()) {
      return fail(
          ErrorCode::not_found,
          format_text("layer '{}' was measured at batch {}; {} samples over a divisor of {} nodes are none between them",
                      each.of.name, batches_of(each.measured), samples, nodes));
    }
    made.graph.operators.push_back(std::move(each.of));
  }
  LOOM_TRY(check(made.graph));
  return made;
}

/// Adds a block: its own path, and its experts beside. `behind`: what hands on to it; then what hands on to the next one.
void add_block(const Model& model, const Block& block, std::vector<std::uint32_t>& behind, std::vector<Timed>& operators) {
  const double block_ms = milliseconds_at(model.pace, block.multiply_accumulates, 1);
  const std::int64_t expert = block.experts == 0 ? 0 : block.expert_parameters / block.experts;
  const std::int64_t active = expert * block.routed;
  const double own_part =
      active == 0 ? 1 : static_cast<double>(block.parameters) / static_cast<double>(block.parameters + active);
  const auto add = [&](Timed timed) {
    operators.push_back(std::move(timed));
    return static_cast<std::uint32_t>(operators.size()) - 1;
  };
  Timed own{operator_of(block.name, std::max(block.boundary, block.handed), block.parameters, bytes_of(model)),
            block_ms * own_part};
  own.of.inputs = behind;
  if (!block.measured_as.empty()) {
    own.of.name = block.measured_as;
  }
  if (block.experts == 0 && is_measured(model)) {
    own.measured = block.measured;
  }
  behind = {add(std::move(own))};
  for (std::uint32_t i = 0; i < block.experts; ++i) {
    // Each sample passes `routed` of them, which together take the block's time for it.
    Timed one{operator_of(block.name + ".expert", block.boundary, expert, bytes_of(model)),
              block_ms * (1 - own_part) / block.routed};
    one.of.sees = static_cast<double>(block.routed) / block.experts;
    one.of.inputs = {behind.front()};
    behind.push_back(add(std::move(one)));
  }
}

/// Batch, precision and pace as for a node that computes the whole model by itself.
Result<Model> with_pace(Model model, const WorkloadSettings& settings) {
  const auto alone = read_parallelism(model, settings);
  if (!alone) {
    return std::unexpected(alone.error());
  }
  model.batch = alone->spread.batch;
  model.pace = {static_cast<double>(alone->spread.compute.count()) / 1e6,
                std::max(1.0, static_cast<double>(multiply_accumulates_of(model))), static_cast<double>(model.batch),
                alone->compute};
  const auto is_said = [&](std::string_view key) { return settings.values.contains(key); };
  if (std::ranges::any_of(std::array{"compute_ms", "flops", "gpu", "mfu"}, is_said)) {
    for (Block& block : model.blocks) {
      block.measured.clear();
    }
  }
  return model;
}

Result<void> set_pace(TableModel& model, const Settings& settings) {
  const auto rate = number(settings, "flops", 0, 1e-6, 1e6);
  if (!rate) {
    return std::unexpected(rate.error());
  }
  if (settings.contains("flops")) {
    model.flops_per_second = *rate * 1e12;
    model.source = format_text("given: flops = {} TFLOP/s", printed("%g", *rate));
  }
  const double flops = model.bottom_flops() + model.top_flops();
  const auto compute = compute_time(settings, flops / model.flops_per_second * 1e3, model.source);
  if (!compute) {
    return std::unexpected(compute.error());
  }
  if (settings.contains("compute_ms") && compute->total > Duration{0}) {
    model.flops_per_second = flops / static_cast<double>(compute->total.count()) * 1e9;
  }
  model.source = compute->assumption;
  return {};
}

Result<void> check_nodes(std::string_view name, std::uint32_t nodes) {
  if (nodes >= 2 && nodes <= limits::kNodes) {
    return {};
  }
  return fail(ErrorCode::out_of_range,
              format_text("{}: a search on {} nodes; it needs 2 .. {} (kNodes); give --nodes", name, nodes, limits::kNodes));
}

/// What the search does not obey is refused with the reason, which is another one for keys of a strategy.
Result<void> check_obeyed(std::string_view name, const Settings& settings) {
  const std::vector<std::string_view> keys = model_operator_keys(name);
  const auto others = workload_keys(name);
  for (const auto& [key, value] : settings) {
    if (std::ranges::find(keys, key) == keys.end() && std::ranges::find(others, key) != others.end()) {
      return fail(
          ErrorCode::invalid_argument,
          format_text("{}: {}={} says how the work is divided or carried, which --search finds; nearest: leave it out, or "
                      "plan without --search",
                      name, key, value));
    }
  }
  return check_keys(settings, format_text("{} under --search", name), keys);
}

}  // namespace

Result<ModelOperators> operators_of(const Model& model, std::uint32_t nodes, std::int64_t batch) {
  std::vector<Timed> operators;
  std::vector<std::uint32_t> behind;
  bool has_experts = false;
  for (const Block& block : model.blocks) {
    add_block(model, block, behind, operators);
    has_experts = has_experts || block.experts > 0;
  }
  if (behind.size() > 1) {  // the last operator is the loss's
    Timed loss{operator_of("loss", 1, 0, bytes_of(model)), 0};
    loss.of.inputs = behind;
    operators.push_back(std::move(loss));
  }
  std::vector<std::string> assumptions{
      model.pace.source,
      format_text("batch = {} a node, {}; each block is an operator {}; tensors that skip blocks go along the chain", batch,
                  to_string(model.precision),
                  is_measured(model) ? "with its measured time, linear between the batches measured"
                                     : "with its share of that time, linear in the samples: nothing was measured")};
  if (has_experts) {
    assumptions.emplace_back(
        "experts: routing is even; an expert's time is the block's by its part of the parameters that a sample passes "
        "(inferred)");
  }
  assumptions.insert(assumptions.end(), model.assumptions.begin(), model.assumptions.end());
  return assemble(model.name, nodes, batch, std::move(operators), std::move(assumptions));
}

Result<ModelOperators> operators_of(const TableModel& model, std::uint32_t nodes) {
  const ElementBytes bytes;
  const auto sample_ms = [&](double flops) { return flops / static_cast<double>(model.batch) / model.flops_per_second * 1e3; };
  std::vector<Timed> operators;
  std::vector<std::uint32_t> joined;
  if (model.bottom_parameters > 0) {
    operators.push_back(
        {operator_of("bottom", model.dimension, model.bottom_parameters, bytes), sample_ms(model.bottom_flops())});
    joined.push_back(0);
  }
  for (std::int64_t table = 0; table < model.tables; ++table) {
    Timed one{operator_of(format_text("table_{}x{}", std::to_string(model.rows), std::to_string(model.dimension)),
                          model.dimension, model.rows * model.dimension, bytes),
              0};
    one.of.is_divisible = false;
    joined.push_back(static_cast<std::uint32_t>(operators.size()));
    operators.push_back(std::move(one));
  }
  Timed top{operator_of("top", 1, model.top_parameters, bytes), sample_ms(model.top_flops())};
  top.of.inputs = std::move(joined);
  operators.push_back(std::move(top));
  return assemble(
      model.name, nodes, model.batch, std::move(operators),
      {model.source, format_text("batch = {} a node; each table whole on one node, lookups take no time: nothing was "
                                 "measured",
                                 std::to_string(model.batch))});
}

std::vector<std::string_view> model_operator_keys(std::string_view name) {
  std::vector<std::string_view> keys;
  if (const ModelEntry* entry = find_model(name); entry != nullptr || is_model_file(name)) {
    keys.assign(kPaceKeys.begin(), kPaceKeys.end());
    if (entry != nullptr) {
      keys.insert(keys.end(), entry->keys.begin(), entry->keys.end());
    }
  } else if (std::ranges::find(table_model_names(), name) != table_model_names().end()) {
    keys = {"batch", "bottom", "compute_ms", "dim", "flops", "l", "rows", "tables", "top"};
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

Result<Model> paced_model(std::string_view name, const WorkloadSettings& settings) {
  LOOM_TRY(check_nodes(name, settings.nodes));
  LOOM_TRY(check_obeyed(name, settings.values));
  if (is_model_file(name)) {
    const auto batch = whole_number(settings.values, "batch", 0, 1, 1'048'576);
    if (!batch) {
      return std::unexpected(batch.error());
    }
    auto model = read_model_file(std::string{name}, *batch);
    return model ? with_pace(*std::move(model), settings) : model;
  }
  if (find_model(name) == nullptr && std::ranges::find(table_model_names(), name) != table_model_names().end()) {
    return fail(ErrorCode::invalid_argument,
                format_text("{}: a model of tables has no blocks to cut into shards; nearest: a model of "
                            "layers, or --search with TopoOpt",
                            name));
  }
  auto model = model_of(name, settings.values);
  return model ? with_pace(*std::move(model), settings) : model;
}

Result<ModelOperators> model_operators(std::string_view name, const WorkloadSettings& settings) {
  if (is_model_file(name) || find_model(name) != nullptr) {
    const auto model = paced_model(name, settings);
    return model ? operators_of(*model, settings.nodes, model->batch) : Result<ModelOperators>(std::unexpected(model.error()));
  }
  if (std::ranges::find(table_model_names(), name) != table_model_names().end()) {
    LOOM_TRY(check_nodes(name, settings.nodes));
    LOOM_TRY(check_obeyed(name, settings.values));
    auto model = table_model_of(name, settings.values);
    if (!model) {
      return std::unexpected(std::move(model).error());
    }
    LOOM_TRY(set_pace(*model, settings.values));
    return operators_of(*model, settings.nodes);
  }
  return fail(ErrorCode::not_found, format_text("no model '{}' to search a strategy for; did you mean '{}'?",
                                                name.substr(0, 256), nearest(name, workload_names())));
}

}  // namespace loom
