// SPDX-License-Identifier: Apache-2.0
// A profile is read by the keys of the device's model, each with its own type and limits.
#include "core/config/device_keys.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// One key into a value; nothing where the file does not give it.
struct KeyReader {
  YamlMap& map;
  std::string_view name;

  ProfileValue operator()(const DurationKey& key) const { return map.duration(name, {key.least, key.most}, key.usual).count(); }
  ProfileValue operator()(const IntegerKey& key) const { return map.integer(name, {key.least, key.most}, key.usual); }
  ProfileValue operator()(const RealKey& key) const { return map.real(name, {key.least, key.most}, key.usual); }
  ProfileValue operator()(const FlagKey& key) const { return std::int64_t{map.flag(name, key.usual) ? 1 : 0}; }
  ProfileValue operator()(const WordKey& key) const {
    const std::vector<std::string> words(key.words.begin(), key.words.end());
    return static_cast<std::int64_t>(map.word(name, words, key.usual).value_or(key.usual));
  }
  ProfileValue operator()(const TextKey& key) const { return map.text(name, std::string(key.usual)); }
};

void read_profile(const YamlNode& node, const DeviceModel& model, ErrorList& errors, Device& device) {
  YamlMap map(node, format_text("the profile of a {}", model.name), errors);
  device.profile.clear();
  for (const ProfileKey& key : model.keys) {
    const bool is_given = map.find(key.name) != nullptr;
    ProfileValue value = std::visit(KeyReader{map, key.name}, key.type);
    if (is_given) {
      device.profile.push_back({std::string(key.name), std::move(value)});
    }
  }
  map.finish();
}

const DeviceModel* model_of(DeviceModels models, const Device& device) {
  const auto found = std::ranges::find_if(models, [&](const DeviceModel* each) {
    return device.model.empty() ? each->role == device.role : each->name == device.model;
  });
  return found == models.end() ? nullptr : *found;
}

}  // namespace

void read_device_keys(YamlMap& map, DeviceModels models, ErrorList& errors, Device& device) {
  std::vector<std::string> names;
  for (const DeviceModel* model : models) {
    names.emplace_back(model->name);
  }
  if (map.find("kind") != nullptr) {
    if (const auto model = map.word("kind", names, Rule::required)) {
      device.role = models[*model]->role;
      device.model = names[*model];
      device.profile.clear();
    }
  }
  device.bus_address = static_cast<std::uint16_t>(map.integer("bus_address", {0, 65'535}, device.bus_address));
  device.serial = map.text("serial", device.serial);
  const YamlNode* profile = map.find("profile");
  const DeviceModel* model = model_of(models, device);
  if (profile != nullptr && model != nullptr) {
    read_profile(*profile, *model, errors, device);
  }
}

std::string refusal_of(DeviceModels models, const Fabric& fabric, const Device& device) {
  const DeviceModel* model = model_of(models, device);
  return model == nullptr || model->refuse == nullptr || device.elements.empty() ? std::string{}
                                                                                 : model->refuse(fabric, device);
}

}  // namespace loom
