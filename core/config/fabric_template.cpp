// SPDX-License-Identifier: Apache-2.0
// Which template a file names, and what every file has beside the template's own parameters.
#include "core/config/fabric_template.hpp"

#include <string>
#include <vector>

#include "core/config/fabric_explicit.hpp"
#include "core/config/fabric_safety.hpp"
#include "core/text/format_text.hpp"

namespace loom {

Fabric read_template(YamlMap& file, FabricTemplates templates, ErrorList& errors) {
  std::vector<std::string> names;
  for (const FabricTemplate* each : templates) {
    names.emplace_back(each->name);
  }
  const auto chosen = file.word("template", names, Rule::required);
  const std::string name = file.name("name", std::string{});
  const ReturnPath return_path = read_return_path(file);
  const InstallationTimes times = read_installation_times(file);
  const SafetyKeys safety = read_safety_keys(file);
  const YamlNode* parameters = file.find("parameters");
  file.finish();
  if (!chosen) {
    return {};
  }
  YamlNode none = file.node();
  none.kind = YamlNode::Kind::map;
  none.keys.clear();
  none.items.clear();
  YamlMap map(parameters == nullptr ? none : *parameters, format_text("the {} parameters", names[*chosen]), errors);
  Fabric fabric = templates[*chosen]->read(map, errors);
  fabric.name = name.empty() ? fabric.name : name;
  fabric.return_path = return_path;
  fabric.times = times;
  apply_safety(safety, fabric, errors);
  return fabric;
}

}  // namespace loom
