// SPDX-License-Identifier: Apache-2.0
// The keys of `expect`.
#include "core/config/scenario/expectation_file.hpp"

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr Range<Duration> kRunTime{Duration{0}, std::chrono::hours{24 * 365}};
constexpr std::size_t kWindows = 64;

void read_window(const YamlNode& node, std::vector<DarkWindow>& windows, ErrorList& errors) {
  YamlMap map(node, "the dark window", errors);
  DarkWindow window;
  window.from = map.duration("from", kRunTime, Rule::required);
  window.to = map.duration("to", kRunTime, window.to);
  map.finish();
  if (window.to <= window.from) {
    map.error("to", format_text("to: {}; expected later than from = {}", print_quantity(window.to.count(), kDurationUnits),
                                print_quantity(window.from.count(), kDurationUnits)));
  }
  windows.push_back(window);
}

/// One window, or a list of them.
std::vector<DarkWindow> read_windows(YamlMap& map, ErrorList& errors) {
  std::vector<DarkWindow> windows;
  const YamlNode* node = map.find("dark");
  if (node == nullptr) {
    return windows;
  }
  if (node->kind != YamlNode::Kind::list) {
    read_window(*node, windows, errors);
    return windows;
  }
  for (const YamlNode& item : map.list("dark", kWindows)) {
    read_window(item, windows, errors);
  }
  return windows;
}

}  // namespace

std::optional<JobExpectation> read_expectation(YamlMap& owner, std::string_view key, ErrorList& errors) {
  const YamlNode* node = owner.find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  YamlMap map(*node, "the expectation", errors);
  JobExpectation expected;
  expected.state = map.name("state", std::string{});
  expected.why = map.text("why", std::string{});
  expected.dark = read_windows(map, errors);
  if (map.find("dark_at_most") != nullptr) {
    expected.dark_at_most = map.duration("dark_at_most", kRunTime, Duration{});
  }
  if (map.find("iterations") != nullptr) {
    expected.iterations = static_cast<std::uint32_t>(map.integer("iterations", {0, UINT32_MAX}, 0));
  }
  if (!expected.why.empty() && expected.state.empty()) {
    map.error("why", "why: expected beside state: whose reason it is part of");
  }
  map.finish();
  if (node->kind == YamlNode::Kind::map && node->items.empty()) {
    errors.add(*node, "expect: found nothing; expected state, dark, dark_at_most or iterations");
  }
  return expected;
}

Duration read_fault_expectation(YamlMap& owner, std::string_view key, ErrorList& errors) {
  const YamlNode* node = owner.find(key);
  if (node == nullptr) {
    return Duration{};
  }
  YamlMap map(*node, "the expectation", errors);
  const Duration dark = map.duration("dark_at_most", kRunTime, Rule::required);
  map.finish();
  return dark;
}

}  // namespace loom
