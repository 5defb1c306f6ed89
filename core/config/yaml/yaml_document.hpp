// SPDX-License-Identifier: Apache-2.0
// YamlNode: a YAML file as a plain tree of words with their places. Nothing is converted here, so nothing is misread: `010`,
// `'yes'` and duplicate keys survive to be judged. It never throws; yaml-cpp's exceptions end in yaml_document.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/yaml/config_error.hpp"

namespace loom {

inline constexpr std::size_t kYamlDepth = 32;          ///< lists within maps within lists
inline constexpr std::size_t kYamlBrackets = 1'024;    ///< [ and { open at once, before anything is parsed
inline constexpr std::size_t kYamlValues = 2'000'000;  ///< keys and values of one file
inline constexpr std::size_t kConfigErrors = 200;      ///< of one file; the rest is counted, not listed

struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, list, map };
  Kind kind = Kind::null;
  bool quoted = false;  ///< a scalar in quotes is text and nothing else
  int line = 0;         ///< from 1
  int column = 0;       ///< from 1
  std::string text;     ///< of a scalar
  std::vector<YamlNode> items;
  std::vector<YamlNode> keys;  ///< of a map: keys[i] names items[i]; scalars, no two alike
};

/// Collects what is wrong with one file.
class ErrorList {
 public:
  explicit ErrorList(std::string file) : file_(std::move(file)) {}
  void add(const YamlNode& where, std::string message) { add(where.line, where.column, std::move(message)); }
  void add(int line, int column, std::string message);
  /// Of a key that nobody asked for.
  void add_unknown(const YamlNode& key, std::string message, std::vector<KeyQuestion> known);
  void append(const std::vector<ConfigError>& others);
  bool empty() const { return errors_.empty(); }
  const std::string& file() const { return file_; }
  /// In the order of the file's lines.
  std::vector<ConfigError> sorted() const;

 private:
  void insert(ConfigError error);

  std::string file_;
  std::vector<ConfigError> errors_;  ///< ascending place; of one place in the order of their finding
  std::size_t dropped_ = 0;
};

/// One document. Refuses, each with its place: duplicate keys, merge keys, anchors, aliases, tags, a second document, keys that
/// are not scalars, more than kYamlDepth levels, kYamlValues values, or limits::kTextBytes in a scalar.
Loaded<YamlNode> parse_yaml(std::string_view file, std::string_view text);

/// parse_yaml of a file's contents; refuses more than limits::kConfigFileBytes.
Loaded<YamlNode> read_yaml(const std::filesystem::path& path);

}  // namespace loom
