// SPDX-License-Identifier: Apache-2.0
// Every key of every configuration file. Which keys a map has, of what type, in which range and with which default is asked of
// the readers themselves, which say it beside a key that they do not know; what a key means is written here, once.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/yaml/config_error.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// What a key means, and what its reader does not say.
struct KeyMeaning {
  std::string_view key;
  std::string_view meaning;
  std::string_view absent{};  ///< what holds without it, where that is no fixed value; "required"
  std::string_view takes{};   ///< of what shape it is, where its reader takes more than one
};

/// One map of one kind of file.
struct ConfigSection {
  std::string kind;   ///< as files have it: `kind: scenario`
  std::string path;   ///< where the map is: "jobs[].traffic[]"; empty: the file itself
  std::string where;  ///< of maps of one place that differ: "kind: transmitter"; else empty
  std::string summary;
  std::vector<std::string> probes;  ///< files with the unknown key `zzz` in such a map, and in no other
  std::vector<KeyMeaning> meanings;
};

/// A key as people are told of it.
struct ConfigKey {
  std::string key;
  std::string takes;    ///< type, unit and range
  std::string absent;   ///< the default; "required"; "none"
  std::string meaning;  ///< empty: nobody has written it
};

/// Those of files, of templates and of device models, in the order of printing.
std::vector<ConfigSection> config_sections();
/// What the readers know in that map, in the order of reading.
std::vector<KeyQuestion> asked_keys(const ConfigSection& section);
/// Both together.
std::vector<ConfigKey> keys_of(const ConfigSection& section);

/// `loom config keys [KIND] [KEY]`. Errors: not_found, with the nearest kind or key.
Result<nlohmann::ordered_json> config_keys_json(std::string_view kind, std::string_view key);

// The meanings, file by file.
std::vector<ConfigSection> scenario_sections();
std::vector<ConfigSection> fault_sections(const std::string& kind);
std::vector<ConfigSection> fabric_sections();
std::vector<ConfigSection> study_sections();
/// `kind`, `bus_address`, `serial`, `profile`: of fabrics, inventories and scenarios.
std::vector<KeyMeaning> device_meanings();
/// `triggers.NAME`, of inventories and scenarios.
ConfigSection trigger_section(const std::string& kind);
/// `schema_version` and `kind`.
std::vector<KeyMeaning> header_meanings();

}  // namespace loom::cli
