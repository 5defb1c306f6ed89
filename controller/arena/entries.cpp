// SPDX-License-Identifier: Apache-2.0
// One entry for each architecture that can be compared, by the registry.
#include "controller/arena/entries.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/architectures/registry.hpp"
#include "controller/arena/lower_bound.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

void read_terms(ArenaBuilder& builder) {
  builder.terms.nodes = builder.graph.nodes;
  builder.terms.rate = builder.rate;
  builder.terms.link_latency = builder.microseconds("latency_us", 1);
  builder.terms.step_latency = builder.microseconds("step_us", 0);
  builder.terms.forward = builder.microseconds("forward_us", 0);
  builder.terms.efficiency = builder.read("efficiency", 1, 1e-3, 1);
  builder.terms.packets.payload = builder.read("payload_bytes", 0, 0, 1e6);
  builder.terms.packets.header = builder.read("header_bytes", 0, 0, 1e5);
}

/// Keys that every link and transfer has, whatever it is part of.
constexpr std::array<std::string_view, 6> kLinkKeys{"efficiency", "forward_us",    "header_bytes",
                                                    "latency_us", "payload_bytes", "step_us"};

}  // namespace

std::span<const std::string_view> arena_names() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const Architecture* each : all_architectures().all()) {
      if (each->compare != nullptr) {
        names.push_back(each->name);
      }
    }
    return names;
  }();
  return kNames;
}

std::span<const std::string_view> arena_keys(std::string_view fabric) {
  static const std::map<std::string_view, std::vector<std::string_view>> kKeys = [] {
    std::map<std::string_view, std::vector<std::string_view>> keys;
    for (const Architecture* each : all_architectures().all()) {
      if (each->compare != nullptr) {
        auto& own = keys[each->name];
        own.assign(kLinkKeys.begin(), kLinkKeys.end());
        own.insert(own.end(), each->compare_keys.begin(), each->compare_keys.end());
      }
    }
    return keys;
  }();
  const auto found = kKeys.find(fabric);
  return found == kKeys.end() ? std::span<const std::string_view>{} : std::span{found->second};
}

Settings settings_for(std::string_view fabric, const Settings& settings) {
  const auto keys = arena_keys(fabric);
  const std::string scope = format_text("{}.", fabric);
  Settings own;
  for (const auto& [key, value] : settings) {
    const bool is_scoped = key.starts_with(scope);
    const std::string bare = is_scoped ? key.substr(scope.size()) : key;
    if (std::find(keys.begin(), keys.end(), bare) != keys.end() && (is_scoped || !own.contains(bare))) {
      own[bare] = value;
    }
  }
  return own;
}

Result<void> check_arena_keys(const Settings& settings, std::span<const std::string> fabrics) {
  std::vector<std::string_view> known;
  std::vector<std::string> scoped;
  for (const std::string& fabric : fabrics) {
    const auto keys = arena_keys(fabric);
    known.insert(known.end(), keys.begin(), keys.end());
  }
  for (const std::string_view fabric : arena_names()) {  // a calibration may know fabrics that do not take part
    for (const std::string_view key : arena_keys(fabric)) {
      scoped.push_back(format_text("{}.{}", fabric, key));
    }
  }
  known.insert(known.end(), scoped.begin(), scoped.end());
  return check_keys(settings, "the arena", known);
}

Result<ArenaEntry> make_entry(std::string_view fabric, const TaskGraph& graph, BitRate rate, const Settings& settings) {
  const Architecture* architecture = all_architectures().find(fabric);
  if (architecture == nullptr || architecture->compare == nullptr) {
    return fail(ErrorCode::not_found, format_text("no fabric '{}' in the arena; did you mean '{}'?", fabric.substr(0, 128),
                                                  nearest(fabric, arena_names())));
  }
  LOOM_TRY(check_keys(settings, fabric, arena_keys(fabric)));
  ArenaBuilder builder{graph, rate, settings};
  builder.entry.fabric = fabric;
  builder.entry.qualifier = architecture->qualifier;
  builder.entry.graph = graph;
  read_terms(builder);
  if (!builder.error) {
    architecture->compare(builder);
  }
  if (builder.error) {
    return std::unexpected(*std::move(builder.error));
  }
  builder.entry.bound = lower_bound(builder.entry.graph, rate);
  return std::move(builder.entry);
}

}  // namespace loom
