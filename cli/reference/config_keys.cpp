// SPDX-License-Identifier: Apache-2.0
// Probes to the readers; what they say of an unknown key, with the meanings beside it.
#include "cli/reference/config_keys.hpp"

#include <algorithm>
#include <iterator>

#include "cli/offline/config_words.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/config/yaml/yaml_document.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::vector<KeyQuestion> answer_to(const std::string& kind, const std::string& probe) {
  const auto document = parse_yaml("probe.yaml", format_text("schema_version: 1\nkind: {}\n{}\n", kind, probe));
  if (!document) {
    return {};
  }
  const ScenarioWords words = scenario_words();
  for (const ConfigError& error : check_config("probe.yaml", *document.value, all_fabric_kinds(), &words)) {
    if (!error.known.empty()) {
      return error.known;
    }
  }
  return {};
}

/// A limit that no file comes to is none.
std::string without_endless(std::string text) {
  constexpr std::string_view kEndless = "..9223372036854775807";
  const std::size_t at = text.find(kEndless);
  return at == std::string::npos ? text : text.replace(at, kEndless.size(), " or more");
}

ConfigKey key_of(const KeyQuestion& asked, const ConfigSection& section) {
  const auto found = std::ranges::find(section.meanings, asked.key, &KeyMeaning::key);
  const KeyMeaning said = found == section.meanings.end() ? KeyMeaning{} : *found;
  const std::string absent = !said.absent.empty()       ? std::string(said.absent)
                             : asked.required           ? "required"
                             : !asked.otherwise.empty() ? asked.otherwise
                                                        : "none";
  return {asked.key, said.takes.empty() ? without_endless(asked.expected) : std::string(said.takes), absent,
          std::string(said.meaning)};
}

Json json_of(const ConfigSection& section, const std::vector<ConfigKey>& keys) {
  Json list = Json::array();
  for (const ConfigKey& key : keys) {
    list.push_back({{"key", key.key}, {"takes", key.takes}, {"absent", key.absent}, {"meaning", key.meaning}});
  }
  return {
      {"kind", section.kind}, {"path", section.path}, {"where", section.where}, {"summary", section.summary}, {"keys", list}};
}

Error unknown_kind(std::string_view kind, const std::vector<ConfigSection>& sections) {
  std::vector<std::string> kinds;
  for (const ConfigSection& section : sections) {
    if (std::ranges::find(kinds, section.kind) == kinds.end()) {
      kinds.push_back(section.kind);
    }
  }
  std::string all;
  for (const std::string& each : kinds) {
    all += (all.empty() ? "" : ", ") + each;
  }
  return {ErrorCode::not_found, format_text("there is no kind of file '{}'; there are {}", kind.substr(0, 128), all),
          "loom config keys"};
}

}  // namespace

std::vector<ConfigSection> config_sections() {
  std::vector<ConfigSection> all = scenario_sections();
  for (const auto& more : {fabric_sections(), study_sections()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  std::ranges::stable_sort(all, {}, [](const ConfigSection& section) {
    static constexpr std::string_view kOrder[] = {"scenario",    "fabric", "inventory", "faults",
                                                  "calibration", "model",  "cluster",   "prices"};
    return std::ranges::find(kOrder, section.kind) - std::begin(kOrder);
  });
  // The file itself first, then its maps, and of these the profiles last.
  std::ranges::stable_sort(all, {}, [](const ConfigSection& section) { return section.path.ends_with(".profile"); });
  return all;
}

std::vector<KeyQuestion> asked_keys(const ConfigSection& section) {
  std::vector<KeyQuestion> all;
  for (const std::string& probe : section.probes) {
    for (KeyQuestion& asked : answer_to(section.kind, probe)) {
      const auto known = std::ranges::find(all, asked.key, &KeyQuestion::key);
      if (known == all.end()) {
        all.push_back(std::move(asked));
      } else if (known->expected.empty()) {
        *known = std::move(asked);
      }
    }
  }
  return all;
}

std::vector<ConfigKey> keys_of(const ConfigSection& section) {
  std::vector<ConfigKey> keys;
  for (const KeyQuestion& asked : asked_keys(section)) {
    keys.push_back(key_of(asked, section));
  }
  return keys;
}

Result<nlohmann::ordered_json> config_keys_json(std::string_view kind, std::string_view key) {
  const std::vector<ConfigSection> sections = config_sections();
  Json object = answer();
  object["sections"] = Json::array();
  std::vector<std::string> known;
  bool is_kind = kind.empty();
  for (const ConfigSection& section : sections) {
    if (!kind.empty() && section.kind != kind) {
      continue;
    }
    is_kind = true;
    std::vector<ConfigKey> keys = keys_of(section);
    std::ranges::transform(keys, std::back_inserter(known), &ConfigKey::key);
    known.push_back(section.path);
    // `at` wherever it is, `jobs[].at`, or `jobs[]` with all of its keys
    const auto is_other = [&](const ConfigKey& each) {
      return each.key != key && format_text("{}.{}", section.path, each.key) != key;
    };
    if (!key.empty() && key != section.path) {
      std::erase_if(keys, is_other);
    }
    if (!keys.empty()) {
      object["sections"].push_back(json_of(section, keys));
    }
  }
  if (!is_kind) {
    return std::unexpected(unknown_kind(kind, sections));
  }
  if (object["sections"].empty()) {
    const std::string near = loom::cli::nearest(std::string(key.substr(0, 128)), known);
    return fail(ErrorCode::not_found,
                format_text("no file{} has the key '{}'{}", kind.empty() ? "" : format_text(" of kind {}", kind),
                            key.substr(0, 128), near.empty() ? "" : format_text("; did you mean '{}'?", near)),
                kind.empty() ? "loom config keys" : format_text("loom config keys {}", kind));
  }
  return object;
}

}  // namespace loom::cli
