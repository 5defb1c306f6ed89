// SPDX-License-Identifier: Apache-2.0
// Each entry of `actions` is one verb of `loom` with its object.
#include "core/config/scenario/action_file.hpp"

#include <algorithm>
#include <array>

#include "core/config/yaml/yaml_words.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr Range<Duration> kRunTime{Duration{0}, std::chrono::hours{24 * 365}};
constexpr std::size_t kActions = 4'096;

class ActionReader {
 public:
  ActionReader(const ActionPlace& place, ErrorList& errors)
      : place_(place),
        errors_(errors),
        nodes_(names_of("node", place.fabric, &Fabric::nodes, errors)),
        devices_(names_of("device", place.fabric, &Fabric::devices, errors)) {}

  ScenarioAction read(const YamlNode& item) {
    YamlMap map(item, "the action", errors_);
    ScenarioAction action;
    action.at = map.duration("at", kRunTime, Rule::required);
    action.force = map.flag("force", false);
    action.refused = map.text("refused", std::string{});
    const auto verbs = words_of<ActionKind, kActionKinds>();
    std::size_t named = 0;
    for (std::size_t i = 0; i < verbs.size(); ++i) {
      if (map.find(verbs[i]) != nullptr) {
        ++named;
        action.kind = static_cast<ActionKind>(i);
        read_object(map, action);
      }
    }
    if (named != 1 && item.kind == YamlNode::Kind::map) {
      map.error_at(item, format_text("the action has {} verbs; expected one of: drain, undrain, maintain, release, cancel, "
                                     "resize, lasers, reset, darken, clear, schedule",
                                     named));
    }
    const bool is_resize = map.find("nodes") != nullptr || action.kind == ActionKind::resize;
    if (is_resize && named == 1) {
      read_size(map, action);
    }
    map.finish();
    return action;
  }

 private:
  void read_object(YamlMap& map, ScenarioAction& action) {
    const std::string key(to_string(action.kind));
    if (action.kind == ActionKind::lasers) {
      const std::array<std::string, 2> words{"off", "rearm"};
      action.lasers_on = map.word(key, words, Rule::required).value_or(0) == 1;
    } else if (action.kind == ActionKind::cancel || action.kind == ActionKind::resize) {
      read_job(map, key, action);
    } else if (action.kind == ActionKind::schedule) {
      const std::array<std::string, 2> words{"pin", "rollback"};
      action.rolls_back = map.word(key, words, Rule::required).value_or(0) == 1;
    } else if (action.kind == ActionKind::reset || action.kind == ActionKind::darken || action.kind == ActionKind::clear) {
      read_device(map, key, action);
    } else {
      read_node(map, key, action);
    }
  }

  /// A node's name or its number, as `loom node` takes them.
  void read_node(YamlMap& map, const std::string& key, ScenarioAction& action) {
    const std::string text = map.name(key, Rule::required);
    if (place_.fabric == nullptr || text.empty()) {
      return;
    }
    const bool is_number = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number) {
      action.node = NodeId{nodes_.resolve(text, map.place_of(key), errors_).value_or(0)};
      return;
    }
    const auto last = static_cast<std::int64_t>(place_.fabric->nodes.size()) - 1;
    action.node = NodeId{static_cast<std::uint32_t>(map.integer(key, {0, last}, Rule::required))};
  }

  void read_device(YamlMap& map, const std::string& key, ScenarioAction& action) {
    const std::string text = map.name(key, Rule::required);
    const auto number =
        place_.fabric != nullptr && !text.empty() ? devices_.resolve(text, map.place_of(key), errors_) : std::nullopt;
    if (!number) {
      return;
    }
    action.device = DeviceId{*number};
    if (action.kind != ActionKind::darken) {
      return;
    }
    if (place_.fabric->device(action.device).role == DeviceRole::transmitter) {
      action.setpoint = dark_setpoint(*place_.fabric, action.device);
    } else {
      map.error(key, format_text("{}: '{}' is no laser; expected one", key, text));
    }
  }

  void read_job(YamlMap& map, const std::string& key, ScenarioAction& action) {
    action.job = map.name(key, Rule::required);
    const auto is_it = [&](const JobSubmission& job) { return job.name == action.job && job.changes.empty(); };
    if (!action.job.empty() && std::ranges::none_of(place_.jobs, is_it)) {
      map.error(key, format_text("{}: there is no job '{}'; expected the name of one of jobs", key, action.job));
    }
  }

  void read_size(YamlMap& map, ScenarioAction& action) {
    if (action.kind != ActionKind::resize) {
      map.error("nodes", "nodes: only resize has a number of nodes");
      return;
    }
    const auto most = static_cast<std::int64_t>(place_.fabric == nullptr ? limits::kNodes : place_.fabric->nodes.size());
    action.nodes = static_cast<std::uint32_t>(map.integer("nodes", {1, most}, Rule::required));
  }

  const ActionPlace& place_;
  ErrorList& errors_;
  NameIndex nodes_;
  NameIndex devices_;
};

}  // namespace

std::vector<ScenarioAction> read_actions(YamlMap& file, const ActionPlace& place, ErrorList& errors) {
  std::vector<ScenarioAction> actions;
  const std::span<const YamlNode> items = file.list("actions", kActions);
  if (items.empty()) {
    return actions;
  }
  ActionReader reader(place, errors);
  for (const YamlNode& item : items) {
    actions.push_back(reader.read(item));
  }
  std::ranges::stable_sort(actions, {}, &ScenarioAction::at);
  return actions;
}

}  // namespace loom
