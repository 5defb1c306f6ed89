// SPDX-License-Identifier: Apache-2.0
// YamlMap: a typed view of one map of a configuration file. Every question names a key, its type, its range and its default;
// whatever is wrong goes to the ErrorList and reading goes on with the default, so that one run reports a whole file.
// Keys that nobody asked for are errors (finish). It never throws and never opens a file.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/config/yaml/quantity.hpp"
#include "core/config/yaml/yaml_document.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// The known word that `word` is most likely meant to be; nothing if none is near (edit distance beyond a third of it).
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

/// Both ends included.
template <class T>
struct Range {
  T min;
  T max;
};

enum class Rule : std::uint8_t { required };
/// A default, or Rule::required.
template <class T>
class Default {
 public:
  Default(T value) : value_(std::move(value)) {}  // NOLINT: meant to be implicit
  Default(Rule) {}                                // NOLINT: meant to be implicit
  /// `said`: what its description calls the value, such as the key that it is taken from.
  Default(T value, std::string said) : value_(std::move(value)), said_(std::move(said)) {}
  bool required() const { return !value_.has_value(); }
  /// As a file would have it; empty where it is required.
  template <class Print>
  std::string text(Print print) const {
    return said_.empty() && value_ ? std::string(print(*value_)) : said_;
  }
  T value_or(T other) const { return value_.value_or(std::move(other)); }
  /// The same default as an integer of the quantity's finest unit.
  template <class Count>
  Default<std::int64_t> in_finest(Count count) const {
    return value_ ? Default<std::int64_t>(std::invoke(count, *value_), said_) : Default<std::int64_t>(Rule::required);
  }

 private:
  std::optional<T> value_;
  std::string said_;
};

class YamlMap {
 public:
  /// `noun` names the map in messages ("the oddl parameters"). A node that is not a map is an error and then reads as empty.
  YamlMap(const YamlNode& node, std::string noun, ErrorList& errors);

  const YamlNode& node() const { return node_; }
  /// The value of `key`, which is thereby known; null if it is absent.
  const YamlNode* find(std::string_view key);
  /// Where to point for `key`: its value, or the map if it is absent.
  const YamlNode& place_of(std::string_view key) const;
  void error(std::string_view key, std::string message);
  void error_at(const YamlNode& where, std::string message) { errors_.add(where, std::move(message)); }

  std::string text(std::string_view key, Default<std::string> otherwise);
  /// A word of letters, digits and `-_.`, as elements, nodes and jobs are called.
  std::string name(std::string_view key, Default<std::string> otherwise);
  std::int64_t integer(std::string_view key, Range<std::int64_t> range, Default<std::int64_t> otherwise);
  std::uint64_t seed(std::string_view key, std::uint64_t otherwise);
  double real(std::string_view key, Range<double> range, Default<double> otherwise);
  bool flag(std::string_view key, Default<bool> otherwise);
  /// The index in `words` of the value; nothing after an error.
  std::optional<std::size_t> word(std::string_view key, std::span<const std::string> words, Default<std::size_t> otherwise);

  Frequency frequency(std::string_view key, Range<Frequency> range, Default<Frequency> otherwise);
  FrequencyOffset offset(std::string_view key, Range<FrequencyOffset> range, Default<FrequencyOffset> otherwise);
  Dbm power(std::string_view key, Range<Dbm> range, Default<Dbm> otherwise);
  Db ratio(std::string_view key, Range<Db> range, Default<Db> otherwise);
  Duration duration(std::string_view key, Range<Duration> range, Default<Duration> otherwise);
  BitRate bit_rate(std::string_view key, Range<BitRate> range, Default<BitRate> otherwise);
  Bytes bytes(std::string_view key, Range<Bytes> range, Default<Bytes> otherwise);
  std::int64_t quantity(std::string_view key, const UnitTable& table, Range<std::int64_t> range,
                        Default<std::int64_t> otherwise);

  /// The items of a list; empty if absent or no list. At most `limit` items.
  std::span<const YamlNode> list(std::string_view key, std::size_t limit, Rule rule);
  std::span<const YamlNode> list(std::string_view key, std::size_t limit);
  std::vector<std::string> texts(std::string_view key, std::size_t limit);
  /// A map of scalars, as written.
  std::map<std::string, std::string> settings(std::string_view key, std::size_t limit);

  /// Refuses the keys that were not asked for, each with the nearest that was. To be called last.
  void finish();

 private:
  const YamlNode* scalar(KeyQuestion question);
  std::span<const YamlNode> list_of(std::string_view key, std::size_t limit, bool required);

  const YamlNode& node_;
  std::string noun_;
  ErrorList& errors_;
  std::vector<KeyQuestion> known_;
};

/// A scalar that must be an integer. Errors: a sentence saying what was found and expected.
Result<std::int64_t> parse_integer(const YamlNode& node);

/// Names of one kind of thing and their numbers, to resolve references. Refuses a name twice; a reference that dangles is an
/// error with the nearest name.
class NameIndex {
 public:
  explicit NameIndex(std::string noun) : noun_(std::move(noun)) {}
  void add(const std::string& name, const YamlNode& where, ErrorList& errors);
  std::optional<std::uint32_t> find(const std::string& name) const;
  /// As find; says so if there is none.
  std::optional<std::uint32_t> resolve(const std::string& name, const YamlNode& where, ErrorList& errors) const;

 private:
  std::string noun_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> number_;
};

/// Parses `schema_version` (must be 1) and `kind` (must be `kind`) of a file's outermost map.
void check_header(YamlMap& file, std::string_view kind);

}  // namespace loom
