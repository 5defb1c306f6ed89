// SPDX-License-Identifier: Apache-2.0
// Which shipped scenarios there are, in which modes, and which take too long for the suite.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"

namespace loom::test {

struct ShippedScenario {
  std::string name;
  std::filesystem::path path;
  std::vector<Mode> modes;
};

/// Ascending name.
inline std::vector<ShippedScenario> shipped_scenarios() {
  std::vector<ShippedScenario> all;
  for (const auto& entry : std::filesystem::directory_iterator("configs/scenarios")) {
    const auto loaded = load_scenario(entry.path(), all_fabric_kinds());
    INFO(entry.path().string());
    REQUIRE(loaded);
    all.push_back({loaded.value->name, entry.path(), loaded.value->modes});
  }
  std::ranges::sort(all, {}, &ShippedScenario::name);
  return all;
}

#ifdef LOOM_SLOW
inline constexpr bool kSlow = true;
#else
inline constexpr bool kSlow = false;
#endif

/// Of those that run in one of `modes`, the ones that are named in `slow`, or (in the suite) the others.
inline std::vector<ShippedScenario> shipped_in(const std::set<Mode>& modes, const std::set<std::string>& slow) {
  std::vector<ShippedScenario> wanted = shipped_scenarios();
  std::erase_if(wanted, [&](const ShippedScenario& each) {
    const bool runs = std::ranges::any_of(each.modes, [&](Mode mode) { return modes.contains(mode); });
    return !runs || slow.contains(each.name) != kSlow;
  });
  return wanted;
}

}  // namespace loom::test
