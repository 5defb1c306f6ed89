// SPDX-License-Identifier: Apache-2.0
// The registry of drivers as rows.
#include "cli/discover/models.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <variant>

#include "cli/command_line.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/config/yaml/quantity.hpp"
#include "core/text/format_text.hpp"
#include "drivers/registry.hpp"

namespace loom::cli {
namespace {

std::string duration_text(Duration duration) { return print_quantity(duration.count(), kDurationUnits); }

std::string number_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", number);
  return text.data();
}

/// What a key takes, and what it is where nobody says it.
struct KeyText {
  std::string takes;
  std::string usual;
};

struct KeyWriter {
  KeyText operator()(const DurationKey& key) const {
    return {format_text("{} to {}", duration_text(key.least), duration_text(key.most)), duration_text(key.usual)};
  }
  KeyText operator()(const IntegerKey& key) const {
    return {format_text("{} to {}", key.least, key.most), std::to_string(key.usual)};
  }
  KeyText operator()(const RealKey& key) const {
    return {format_text("{} to {}", number_text(key.least), number_text(key.most)), number_text(key.usual)};
  }
  KeyText operator()(const FlagKey& key) const { return {"true, false", key.usual ? "true" : "false"}; }
  KeyText operator()(const WordKey& key) const {
    std::string words;
    for (const std::string_view word : key.words) {
      words += format_text("{}{}", words.empty() ? "" : ", ", word);
    }
    return {words, std::string(key.words[key.usual])};
  }
  KeyText operator()(const TextKey& key) const { return {"text", std::string(key.usual)}; }
};

Json json_of(const DeviceModel& model) {
  Json schemes = Json::array();
  for (const std::string_view scheme : model.schemes) {
    schemes.push_back(scheme);
  }
  Json keys = Json::array();
  for (const ProfileKey& key : model.keys) {
    const KeyText text = std::visit(KeyWriter{}, key.type);
    keys.push_back({{"key", key.name}, {"takes", text.takes}, {"default", text.usual}, {"meaning", key.meaning}});
  }
  return {{"name", model.name},
          {"role", to_string(model.role)},
          {"schemes", std::move(schemes)},
          {"summary", model.summary},
          {"profile", std::move(keys)}};
}

void print_keys(const DeviceModel& model) {
  std::printf("%s: %s\n", std::string(model.name).c_str(), std::string(model.summary).c_str());
  if (model.keys.empty()) {
    std::printf("its profile has no keys\n");
    return;
  }
  Table table({"key", "takes", "default", "meaning"});
  for (const ProfileKey& key : model.keys) {
    const KeyText text = std::visit(KeyWriter{}, key.type);
    table.add({std::string(key.name), text.takes, text.usual, std::string(key.meaning)});
  }
  std::fputs(table.text().c_str(), stdout);
}

int list_models(const Globals& globals, const std::string& name) {
  const DeviceModels models = all_device_models();
  const auto chosen = std::ranges::find(models, name, [](const DeviceModel* each) { return each->name; });
  if (!name.empty() && chosen == models.end()) {
    std::vector<std::string> names;
    for (const DeviceModel* each : models) {
      names.emplace_back(each->name);
    }
    return give_up({ErrorCode::not_found, format_text("there is no model '{}'; did you mean '{}'?", name, nearest(name, names)),
                    "loom device models"});
  }
  if (globals.json) {
    Json object = answer();
    object["models"] = Json::array();
    for (const DeviceModel* each : models) {
      if (name.empty() || each->name == name) {
        object["models"].push_back(json_of(*each));
      }
    }
    print(object);
    return kDone;
  }
  if (!name.empty()) {
    print_keys(**chosen);
    return kDone;
  }
  Table table({"model", "role", "behind", "what it is"});
  for (const DeviceModel* each : models) {
    std::string schemes;
    for (const std::string_view scheme : each->schemes) {
      schemes += format_text("{}{}://", schemes.empty() ? "" : " ", scheme);
    }
    table.add({std::string(each->name), std::string(to_string(each->role)), schemes, std::string(each->summary)});
  }
  std::fputs(table.text().c_str(), stdout);
  return kDone;
}

}  // namespace

void add_models(CLI::App& device, CommandLine& line) {
  CLI::App* verb =
      device.add_subcommand("models", "Models of devices that there are drivers for; of one, the keys of its profile");
  auto& name = line.keep<std::string>();
  verb->add_option("MODEL", name, "One of them");
  line.when(*verb, list_models, name);
}

}  // namespace loom::cli
