// SPDX-License-Identifier: Apache-2.0
// The catalogue as a table.
#include "cli/catalogue/faults.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "cli/command_line.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/fault_catalogue.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// "delay", "[percent]", "".
std::string usage_of(const Json& row) {
  const std::string word = row["value"].is_null() ? "" : row["value"].get<std::string>();
  return word.empty() || row["must_have_value"].get<bool>() ? word : format_text("[{}]", word);
}

int print_faults(const Globals& globals) {
  const Json list = fault_list();
  if (globals.json) {
    print(list);
    return kDone;
  }
  Table table({"fault", "value", "of", "what is wrong", "how it shows", "may be ordered by"});
  for (const Json& row : list["faults"]) {
    std::string of;
    for (const Json& role : row["of"]) {
      of += (of.empty() ? "" : ", ") + role.get<std::string>();
    }
    std::string by;
    for (const Json& place : row["injected_by"]) {
      by += (by.empty() ? "" : ", ") + place.get<std::string>();
    }
    table.add({row["fault"], usage_of(row), of, row["meaning"], row["shows"], by});
  }
  std::fputs(table.text().c_str(), stdout);
  return kDone;
}

}  // namespace

nlohmann::ordered_json fault_list() {
  Json faults = Json::array();
  for (const FaultName& name : fault_catalogue()) {
    Json of = Json::array();
    for (const DeviceRole role : kDeviceRoles) {
      if (name.is_of(role)) {
        of.push_back(std::string(to_string(role)));
      }
    }
    const std::string value(to_string(name.value));
    faults.push_back({{"fault", std::string(name.name)},
                      {"of", std::move(of)},
                      {"value", value.empty() ? Json(nullptr) : Json(value)},
                      {"must_have_value", name.must_have_value},
                      {"meaning", std::string(name.meaning)},
                      {"shows", std::string(name.shows)},
                      {"injected_by", Json::array({"device_faults", "lightloom-emulate --fault"})}});
  }
  for (const FibreFaultName& name : fibre_fault_catalogue()) {
    const std::string value(to_string(name.value));
    faults.push_back({{"fault", std::string(name.name)},
                      {"of", Json::array({"fibre"})},
                      {"value", value.empty() ? Json(nullptr) : Json(value)},
                      {"must_have_value", !value.empty()},
                      {"meaning", std::string(name.meaning)},
                      {"shows", std::string(name.shows)},
                      {"injected_by", Json::array({"fibre_faults"})}});
  }
  Json object = answer();
  object["faults"] = std::move(faults);
  return object;
}

void add_config_faults(CLI::App& config, CommandLine& line) {
  line.when(*config.add_subcommand("faults", "What can be wrong with a device or a fibre, how it shows, and who can order it"),
            print_faults);
}

}  // namespace loom::cli
