// SPDX-License-Identifier: Apache-2.0
// Registries to rows.
#include "cli/catalogue/catalogue.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "cli/catalogue/cabling.hpp"
#include "cli/command_line.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/arena/entries.hpp"
#include "controller/workload/import/tables.hpp"
#include "controller/workload/models/gpus.hpp"
#include "controller/workload/models/model.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/config/fabric_template.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// What a model is without any setting.
struct Shape {
  std::int64_t parameters = 0;
  std::int64_t active = 0;  ///< that one token meets
  std::size_t layers = 0;
  std::int64_t batch = 0;
  Settings settings;  ///< of its shape, and what else is the model's own
};

Shape shape_of(std::string_view name) {
  if (find_model(name) != nullptr) {
    const auto model = model_of(name, {});
    if (!model) {
      return {};
    }
    Shape shape{parameters_of(*model), active_parameters_of(*model), model->blocks.size(), model->batch, model->shape};
    shape.settings.insert({{"batch", std::to_string(model->batch)}, {"precision", std::string{to_string(model->precision)}}});
    if (!model->gpu.empty()) {
      shape.settings.emplace("gpu", model->gpu);
    }
    return shape;
  }
  const auto tables = table_model_of(name, {});
  if (!tables) {
    return {};
  }
  const std::string batch = std::to_string(tables->batch);
  return {tables->parameters(), tables->parameters(), 0, tables->batch, {{"batch", batch}, {"l", batch}}};
}

Json word_or_null(std::string_view word) { return word.empty() ? Json() : Json(word); }

Json settings_json(std::span<const std::string_view> keys, std::span<const SettingWords> words, const Shape* shape) {
  Json all = Json::array();
  for (const std::string_view key : keys) {
    const auto found = std::ranges::find(words, key, &SettingWords::key);
    const SettingWords known = found == words.end() ? SettingWords{key, {}, {}, {}} : *found;
    Json absent = word_or_null(known.absent);
    if (shape != nullptr && shape->settings.contains(key)) {
      absent = shape->settings.find(key)->second;
    }
    all.push_back({{"key", key}, {"unit", word_or_null(known.unit)}, {"default", absent}, {"meaning", known.meaning}});
  }
  return all;
}

std::string text_of(const Json& value) {
  return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump();
}

void print_rows(const Json& rows, const std::vector<std::string>& columns) {
  Table table(columns);
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) {
      cells.push_back(row.contains(column) ? text_of(row[column]) : "-");
    }
    table.add(cells);
  }
  std::fputs(table.text().c_str(), stdout);
}

int print_list(const Globals& globals, const Json& list, const char* noun, const std::vector<std::string>& columns) {
  if (globals.json) {
    print(list);
  } else {
    print_rows(list[noun], columns);
  }
  return kDone;
}

int print_workload(const Globals& globals, const std::string& name) {
  const auto shown = workload_show(name);
  if (!shown) {
    return give_up(shown.error(), "loom workload list");
  }
  if (globals.json) {
    print(*shown);
    return kDone;
  }
  const bool is_sparse = (*shown)["parameters"] != (*shown)["active_parameters"];
  std::printf("%s: %s parameters%s, %s layers\n", name.c_str(), text_of((*shown)["parameters"]).c_str(),
              is_sparse ? format_text(", of which a token meets {}", text_of((*shown)["active_parameters"])).c_str() : "",
              text_of((*shown)["layers"]).c_str());
  std::printf("--set KEY=VALUE; a default of - is the model's own\n");
  print_rows((*shown)["settings"], {"key", "unit", "default", "meaning"});
  return kDone;
}

int print_fabric(const Globals& globals, const std::string& name) {
  const auto shown = fabric_show(name);
  if (!shown) {
    return give_up(shown.error(), "loom fabric list");
  }
  if (globals.json) {
    print(*shown);
    return kDone;
  }
  std::printf("%s: %s\n", name.c_str(), text_of((*shown)["summary"]).c_str());
  if (!(*shown)["compare_keys"].empty()) {
    std::printf("\nloom predict, loom arena: --set fabric.KEY=VALUE\n");
    print_rows((*shown)["compare_keys"], {"key", "unit", "default", "meaning"});
  }
  if (!(*shown)["template_keys"].empty()) {
    std::printf("\nloom plan --fabric %s, parameters of a fabric file: --set fabric.KEY=VALUE\n", name.c_str());
    print_rows((*shown)["template_keys"], {"key", "meaning"});
  }
  if (!(*shown)["job_options"].empty()) {
    std::printf("\nloom job submit, loom plan: --set KEY=VALUE\n");
    print_rows((*shown)["job_options"], {"key", "meaning"});
  }
  return kDone;
}

}  // namespace

nlohmann::ordered_json workload_list() {
  Json object = answer();
  object["workloads"] = Json::array();
  for (const std::string_view name : workload_names()) {
    const Shape shape = shape_of(name);
    object["workloads"].push_back({{"name", name},
                                   {"parameters", shape.parameters},
                                   {"layers", shape.layers == 0 ? Json() : Json(shape.layers)},
                                   {"batch", shape.batch}});
  }
  return object;
}

Result<nlohmann::ordered_json> workload_show(std::string_view name) {
  const auto names = workload_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return fail(ErrorCode::not_found,
                format_text("no workload '{}' in the zoo; did you mean '{}'? A file is read where a workload is used: loom "
                            "predict --model, --demand, loom import",
                            name.substr(0, 128), loom::nearest(name, names)));
  }
  const Shape shape = shape_of(name);
  Json object = answer();
  object["name"] = name;
  object["parameters"] = shape.parameters;
  object["active_parameters"] = shape.active;
  object["layers"] = shape.layers == 0 ? Json() : Json(shape.layers);
  object["settings"] = settings_json(workload_keys(name), workload_words(), &shape);
  return object;
}

nlohmann::ordered_json gpu_list() {
  Json object = answer();
  object["gpus"] = Json::array();
  const auto rate = [](double teraflops) { return teraflops > 0 ? Json(teraflops) : Json(); };
  for (const Gpu& gpu : gpus()) {
    object["gpus"].push_back({{"name", gpu.name},
                              {"fp32_tflops", rate(gpu.fp32)},
                              {"fp16_tflops", rate(gpu.fp16)},
                              {"bf16_tflops", rate(gpu.bf16)},
                              {"fp8_tflops", rate(gpu.fp8)},
                              {"memory_gb", gpu.gigabytes},
                              {"node_gbps", static_cast<double>(gpu.node_rate.bits_per_second) / 1e9},
                              {"source", gpu.sheet}});
  }
  return object;
}

nlohmann::ordered_json fabric_list() {
  Json object = answer();
  object["fabrics"] = Json::array();
  for (const Architecture* each : all_architectures().all()) {
    object["fabrics"].push_back({{"name", each->name},
                                 {"can_be_lit", each->schedule != nullptr},
                                 {"compared", each->compare != nullptr},
                                 {"summary", each->summary}});
  }
  return object;
}

Result<nlohmann::ordered_json> fabric_show(std::string_view name) {
  const Architecture* found = all_architectures().find(name);
  if (found == nullptr) {
    std::vector<std::string_view> names;
    for (const Architecture* each : all_architectures().all()) {
      names.push_back(each->name);
    }
    return fail(ErrorCode::not_found, format_text("no fabric '{}'; did you mean '{}'? A fabric file: loom config check FILE",
                                                  name.substr(0, 128), loom::nearest(name, names)));
  }
  Json object = answer();
  object["name"] = found->name;
  object["summary"] = found->summary;
  object["can_be_lit"] = found->schedule != nullptr;
  object["compare_keys"] = settings_json(arena_keys(name), compare_words(), nullptr);
  object["template_keys"] = Json::array();
  if (found->fabric != nullptr) {
    for (const TemplateKey& key : found->fabric->keys) {
      object["template_keys"].push_back({{"key", key.name}, {"meaning", key.meaning}});
    }
  }
  object["job_options"] = Json::array();
  for (const JobOption& option : found->options) {
    object["job_options"].push_back({{"key", option.key}, {"meaning", option.meaning}});
  }
  return object;
}

void add_catalogue(CLI::App& app, CommandLine& line) {
  CLI::App* workload = app.add_subcommand("workload", "Models of the zoo, with their settings, units and defaults");
  workload->require_subcommand(1);
  line.when(*workload->add_subcommand("list", "All models"), [](const Globals& globals) {
    return print_list(globals, workload_list(), "workloads", {"name", "parameters", "layers", "batch"});
  });
  line.when(*workload->add_subcommand("gpus", "GPUs of --set gpu=NAME: dense rates, memory, rate in a node one way"),
            [](const Globals& globals) {
              return print_list(
                  globals, gpu_list(), "gpus",
                  {"name", "fp32_tflops", "fp16_tflops", "bf16_tflops", "fp8_tflops", "memory_gb", "node_gbps", "source"});
            });
  CLI::App* model = workload->add_subcommand("show", "One model: every key of --set");
  auto& name = line.keep<std::string>();
  model->add_option("WORKLOAD_NAME", name, "A name of loom workload list")->required();
  line.when(*model, print_workload, name);
  CLI::App* fabric = app.add_subcommand("fabric", "Architectures of fabrics, with the keys of each");
  fabric->require_subcommand(1);
  line.when(*fabric->add_subcommand("list", "All architectures: which can be lit, which are only compared"),
            [](const Globals& globals) {
              return print_list(globals, fabric_list(), "fabrics", {"name", "can_be_lit", "compared", "summary"});
            });
  CLI::App* one = fabric->add_subcommand("show", "One architecture: keys of comparisons, of its template, of its jobs");
  auto& which = line.keep<std::string>();
  one->add_option("FABRIC_NAME", which, "A name of loom fabric list")->required();
  line.when(*one, print_fabric, which);
  add_cabling(*fabric, line);
}

}  // namespace loom::cli
