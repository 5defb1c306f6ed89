// SPDX-License-Identifier: Apache-2.0
// Levels into limits, names into nodes.
#include "core/config/fabric_safety.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/config/endpoints/contact_endpoint.hpp"
#include "core/fabric/hazard.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kInterlocks = 1'024;  ///< each has a thread in every process that it concerns
/// No fibre carries more than 10 W, and below -40 dBm there is no light.
constexpr Range<Dbm> kPowerLimit{kNoLight, Dbm{4'000}};

void read_interlock(const YamlNode& item, const NameIndex& nodes, NameIndex& names, Fabric& fabric, ErrorList& errors) {
  YamlMap map(item, "the interlock contact", errors);
  InterlockContact contact;
  contact.name = map.name("name", Rule::required);
  contact.endpoint = map.text("endpoint", Rule::required);
  if (const auto lawful = parse_contact_endpoint(contact.endpoint); !lawful && !contact.endpoint.empty()) {
    map.error("endpoint", "endpoint: " + lawful.error().message);
  }
  const std::string last_of_all = fabric.nodes.empty() ? std::string() : fabric.nodes.back().name;
  const std::string first_of_all = fabric.nodes.empty() ? std::string() : fabric.nodes.front().name;
  const std::string first = map.name("first_node", first_of_all);
  const bool is_one = map.find("first_node") != nullptr && map.find("last_node") == nullptr;
  const std::string last = map.name("last_node", last_of_all);
  map.finish();
  names.add(contact.name, map.place_of("name"), errors);
  if (fabric.nodes.empty()) {
    return;  // which is an error of its own
  }
  const auto from = nodes.resolve(first, map.place_of("first_node"), errors);
  const auto to = is_one ? from : nodes.resolve(last, map.place_of("last_node"), errors);
  if (from && to && *from > *to) {
    map.error("last_node",
              format_text("last_node: '{}' comes before first_node '{}'; expected it or one behind it", last, first));
  }
  contact.first = NodeId{from.value_or(0)};
  contact.last = NodeId{to.value_or(0)};
  fabric.interlocks.push_back(std::move(contact));
}

}  // namespace

std::optional<Dbm> read_power_limit(YamlMap& map) {
  return map.find("power_limit") == nullptr ? std::nullopt
                                            : std::optional(map.power("power_limit", kPowerLimit, kUsualHazardLevel.limit));
}

SafetyKeys read_safety_keys(YamlMap& file) {
  std::vector<std::string> words;
  for (const HazardLevel& level : kHazardLevels) {
    words.emplace_back(level.word);
  }
  SafetyKeys keys;
  if (file.find("hazard_level") != nullptr) {
    keys.level = file.word("hazard_level", words, Rule::required);
  }
  keys.power_limit = read_power_limit(file);
  if (keys.level && keys.power_limit && *keys.power_limit > kHazardLevels[*keys.level].limit) {
    file.error("power_limit",
               format_text("power_limit: {} is beyond hazard level {}; expected at most {}", to_string(*keys.power_limit),
                           kHazardLevels[*keys.level].word, to_string(kHazardLevels[*keys.level].limit)));
  }
  keys.interlocks = file.list("interlocks", kInterlocks);
  return keys;
}

void apply_safety(const SafetyKeys& keys, Fabric& fabric, ErrorList& errors) {
  if (keys.level) {
    fabric.hazard_level = kHazardLevels[*keys.level].word;
    fabric.power_limit = kHazardLevels[*keys.level].limit;
  }
  fabric.power_limit = keys.power_limit ? keys.power_limit : fabric.power_limit;
  if (!fabric.power_limit) {
    fabric.assumptions.push_back(
        format_text("hazard level {} of IEC 60825-2, at most {} in any one fibre, as the fabric file gives no hazard_level",
                    kUsualHazardLevel.word, to_string(kUsualHazardLevel.limit)));
  }
  NameIndex nodes("node");
  ErrorList said_already{""};  // a name that is there twice is an error of its own place
  for (const Node& node : fabric.nodes) {
    nodes.add(node.name, YamlNode{}, said_already);
  }
  NameIndex names("interlock contact");
  for (const YamlNode& item : keys.interlocks) {
    read_interlock(item, nodes, names, fabric, errors);
  }
}

}  // namespace loom
