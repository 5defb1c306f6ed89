// SPDX-License-Identifier: Apache-2.0
// Records by name, and the nearest name for a mistyped one.
#include "controller/schedule/architecture.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "controller/workload/settings.hpp"
#include "core/text/format_text.hpp"

namespace loom {

const Architecture* Architectures::find(std::string_view name) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Architecture* each) { return each->name == name; });
  return found == all_.end() ? nullptr : *found;
}

Result<const Architecture*> Architectures::find_scheduler(std::string_view name) const {
  const Architecture* found = find(name);
  if (found != nullptr && found->schedule != nullptr) {
    return found;
  }
  return fail(ErrorCode::not_found, format_text("scheduler \"{}\" does not exist; nearest: {}", name.substr(0, 64),
                                                nearest(name, scheduler_names())));
}

std::vector<std::string_view> Architectures::scheduler_names() const {
  std::vector<std::string_view> names;
  for (const Architecture* each : all_) {
    if (each->schedule != nullptr) {
      names.push_back(each->name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<const FabricTemplate*> Architectures::templates() const {
  std::vector<const FabricTemplate*> found;
  for (const Architecture* each : all_) {
    if (each->fabric != nullptr) {
      found.push_back(each->fabric);
    }
  }
  return found;
}

std::vector<std::string_view> Architectures::option_keys() const {
  std::set<std::string_view> keys;
  for (const Architecture* each : all_) {
    for (const JobOption& option : each->options) {
      keys.insert(option.key);
    }
  }
  return {keys.begin(), keys.end()};
}

}  // namespace loom
