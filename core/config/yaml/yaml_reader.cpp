// SPDX-License-Identifier: Apache-2.0
// Typed questions to one map of a configuration file.
#include "core/config/yaml/yaml_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"
#include "core/text/version.hpp"

namespace loom {
namespace {

constexpr std::size_t kNamesCompared = 4'096;  ///< for a suggestion; enough to help, too few to stall

std::string in_quotes(std::string_view word) { return format_text("'{}'", word); }

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
    case YamlNode::Kind::scalar:
      break;
  }
  return in_quotes(node.text) + (node.quoted ? " in quotes" : "");
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  const auto near = nearest(word, known);
  return near ? format_text("; did you mean {}?", in_quotes(*near)) : "";
}

/// Edits (insert, delete, change, swap of neighbours) between two words.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    above[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

bool is_name(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

/// 010 is 8 to YAML 1.1 and 10 to YAML 1.2: nobody may guess.
bool has_leading_zero(std::string_view digits) { return digits.size() > 1 && digits[0] == '0' && digits[1] != '.'; }

/// How a key is asked for; the first question that says it counts.
void note(std::vector<KeyQuestion>& known_keys, KeyQuestion question) {
  const auto known = std::ranges::find(known_keys, question.key, &KeyQuestion::key);
  if (known == known_keys.end()) {
    known_keys.push_back(std::move(question));
  } else if (known->expected.empty()) {
    *known = std::move(question);
  }
}

std::string_view without_sign(std::string_view text) {
  return text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known) {
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::optional<std::string> best;
  for (const std::string& candidate : known.first(std::min(known.size(), kNamesCompared))) {
    const std::size_t difference =
        candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
    if (word.size() > 64 || difference >= best_distance) {
      continue;
    }
    if (const std::size_t distance = edit_distance(word, candidate); distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

Result<std::int64_t> parse_integer(const YamlNode& node) {
  const std::string expected = format_text("found {}; expected a whole number", describe(node));
  const std::string_view digits = without_sign(node.text);
  if (node.kind != YamlNode::Kind::scalar || node.quoted || digits.empty() ||
      !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
    return fail(ErrorCode::invalid_config, expected + " in decimal digits, without quotes");
  }
  if (has_leading_zero(digits)) {
    return fail(ErrorCode::invalid_config, expected + " without leading zeros (some readers take them for octal)");
  }
  std::int64_t value = 0;
  const std::string_view text = node.text.starts_with('+') ? digits : std::string_view(node.text);
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) {
    return fail(ErrorCode::out_of_range, expected + " of 64 bits");
  }
  return value;
}

YamlMap::YamlMap(const YamlNode& node, std::string noun, ErrorList& errors)
    : node_(node), noun_(std::move(noun)), errors_(errors) {
  if (node_.kind != YamlNode::Kind::map) {
    errors_.add(node_, format_text("found {} for {}; expected a map (key: value)", describe(node_), noun_));
  }
}

const YamlNode* YamlMap::find(std::string_view key) {
  if (std::ranges::find(known_, key, &KeyQuestion::key) == known_.end()) {
    known_.push_back({std::string(key)});
  }
  const auto at = std::ranges::find(node_.keys, key, &YamlNode::text);
  return at == node_.keys.end() ? nullptr : &node_.items[static_cast<std::size_t>(at - node_.keys.begin())];
}

const YamlNode& YamlMap::place_of(std::string_view key) const {
  const auto at = std::ranges::find(node_.keys, key, &YamlNode::text);
  return at == node_.keys.end() ? node_ : node_.items[static_cast<std::size_t>(at - node_.keys.begin())];
}

void YamlMap::error(std::string_view key, std::string message) { errors_.add(place_of(key), std::move(message)); }

const YamlNode* YamlMap::scalar(KeyQuestion question) {
  const YamlNode* node = find(question.key);
  if (node == nullptr) {
    if (question.required && node_.kind == YamlNode::Kind::map) {
      errors_.add(node_, format_text("{} lacks the key {}; expected {}", noun_, in_quotes(question.key), question.expected));
    }
  } else if (node->kind != YamlNode::Kind::scalar) {
    errors_.add(*node, format_text("{}: found {}; expected {}", question.key, describe(*node), question.expected));
    node = nullptr;
  }
  note(known_, std::move(question));
  return node;
}

std::string YamlMap::text(std::string_view key, Default<std::string> otherwise) {
  const YamlNode* node = scalar({std::string(key), "a text", otherwise.text(std::identity{}), otherwise.required()});
  if (node != nullptr && node->text.empty()) {
    errors_.add(*node, format_text("{}: found an empty text", key));
  }
  return node == nullptr ? otherwise.value_or({}) : node->text;
}

std::string YamlMap::name(std::string_view key, Default<std::string> otherwise) {
  const YamlNode* node = scalar({std::string(key), "a name", otherwise.text(std::identity{}), otherwise.required()});
  if (node == nullptr) {
    return otherwise.value_or({});
  }
  if (!is_name(node->text)) {
    errors_.add(*node, format_text("{}: found {}; expected a name of letters, digits and -_. only", key, describe(*node)));
  }
  return node->text;
}

std::int64_t YamlMap::integer(std::string_view key, Range<std::int64_t> range, Default<std::int64_t> otherwise) {
  const std::string limits = format_text("a whole number of {}..{}", range.min, range.max);
  const auto print = [](std::int64_t value) { return std::to_string(value); };
  const YamlNode* node = scalar({std::string(key), limits, otherwise.text(print), otherwise.required()});
  if (node == nullptr) {
    return otherwise.value_or(range.min);
  }
  const auto value = parse_integer(*node);
  if (!value || *value < range.min || *value > range.max) {
    errors_.add(*node,
                format_text("{}: {}", key,
                            value ? format_text("found {}; expected {}", describe(*node), limits) : value.error().message));
    return otherwise.value_or(range.min);
  }
  return *value;
}

std::uint64_t YamlMap::seed(std::string_view key, std::uint64_t otherwise) {
  return static_cast<std::uint64_t>(integer(key, {0, INT64_MAX}, static_cast<std::int64_t>(otherwise)));
}

double YamlMap::real(std::string_view key, Range<double> range, Default<double> otherwise) {
  const std::string expected = format_text("a number of {}..{}", number_text(range.min), number_text(range.max));
  const YamlNode* node = scalar({std::string(key), expected, otherwise.text(number_text), otherwise.required()});
  if (node == nullptr) {
    return otherwise.value_or(range.min);
  }
  double value = 0;
  const char* end = node->text.data() + node->text.size();
  const auto [stop, code] = std::from_chars(node->text.data(), end, value);
  if (node->quoted || code != std::errc{} || stop != end || !std::isfinite(value) || value < range.min || value > range.max ||
      has_leading_zero(without_sign(node->text))) {
    errors_.add(*node, format_text("{}: found {}; expected {}", key, describe(*node), expected));
    return otherwise.value_or(range.min);
  }
  return value;
}

bool YamlMap::flag(std::string_view key, Default<bool> otherwise) {
  const YamlNode* node = scalar(
      {std::string(key), "true or false", otherwise.text([](bool on) { return on ? "true" : "false"; }), otherwise.required()});
  if (node == nullptr) {
    return otherwise.value_or(false);
  }
  if (node->quoted || (node->text != "true" && node->text != "false")) {
    errors_.add(*node, format_text("{}: found {}; expected true or false, without quotes", key, describe(*node)));
    return otherwise.value_or(false);
  }
  return node->text == "true";
}

std::optional<std::size_t> YamlMap::word(std::string_view key, std::span<const std::string> words,
                                         Default<std::size_t> otherwise) {
  const std::string expected = "one of: " + joined(words);
  const auto print = [&](std::size_t place) { return place < words.size() ? words[place] : std::string(); };
  const YamlNode* node = scalar({std::string(key), expected, otherwise.text(print), otherwise.required()});
  if (node == nullptr) {
    return otherwise.required() ? std::nullopt : std::optional{otherwise.value_or(0)};
  }
  const auto at = std::ranges::find(words, node->text);
  if (at == words.end()) {
    errors_.add(*node,
                format_text("{}: found {}; expected {}{}", key, describe(*node), expected, suggestion(node->text, words)));
    return std::nullopt;
  }
  return static_cast<std::size_t>(at - words.begin());
}

std::int64_t YamlMap::quantity(std::string_view key, const UnitTable& table, Range<std::int64_t> range,
                               Default<std::int64_t> otherwise) {
  const std::string expected =
      format_text("{} of {} to {}", table.quantity, print_quantity(range.min, table), print_quantity(range.max, table));
  constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();  // kForever
  const auto print = [&](std::int64_t value) { return value == kEndless ? "no end" : print_quantity(value, table); };
  const YamlNode* node = scalar({std::string(key), expected, otherwise.text(print), otherwise.required()});
  if (node == nullptr) {
    return otherwise.value_or(range.min);
  }
  const auto value = parse_quantity(node->text, table);
  if (!value || *value < range.min || *value > range.max) {
    errors_.add(*node, format_text("{}: {}", key,
                                   value ? format_text("found {}; expected {}", in_quotes(node->text), expected)
                                         : value.error().message));
    return otherwise.value_or(range.min);
  }
  return *value;
}

Frequency YamlMap::frequency(std::string_view key, Range<Frequency> range, Default<Frequency> otherwise) {
  return {quantity(key, kFrequencyUnits, {range.min.mhz, range.max.mhz}, otherwise.in_finest(&Frequency::mhz))};
}

FrequencyOffset YamlMap::offset(std::string_view key, Range<FrequencyOffset> range, Default<FrequencyOffset> otherwise) {
  return {quantity(key, kFrequencyOffsetUnits, {range.min.mhz, range.max.mhz}, otherwise.in_finest(&FrequencyOffset::mhz))};
}

Dbm YamlMap::power(std::string_view key, Range<Dbm> range, Default<Dbm> otherwise) {
  const std::int64_t centi = quantity(key, kPowerUnits, {range.min.centi, range.max.centi}, otherwise.in_finest(&Dbm::centi));
  return {static_cast<std::int32_t>(centi)};
}

Db YamlMap::ratio(std::string_view key, Range<Db> range, Default<Db> otherwise) {
  const std::int64_t centi = quantity(key, kRatioUnits, {range.min.centi, range.max.centi}, otherwise.in_finest(&Db::centi));
  return {static_cast<std::int32_t>(centi)};
}

Duration YamlMap::duration(std::string_view key, Range<Duration> range, Default<Duration> otherwise) {
  const auto count = [](Duration duration) { return duration.count(); };
  return Duration{quantity(key, kDurationUnits, {range.min.count(), range.max.count()}, otherwise.in_finest(count))};
}

BitRate YamlMap::bit_rate(std::string_view key, Range<BitRate> range, Default<BitRate> otherwise) {
  return {quantity(key, kBitRateUnits, {range.min.bits_per_second, range.max.bits_per_second},
                   otherwise.in_finest(&BitRate::bits_per_second))};
}

Bytes YamlMap::bytes(std::string_view key, Range<Bytes> range, Default<Bytes> otherwise) {
  return {quantity(key, kBytesUnits, {range.min.count, range.max.count}, otherwise.in_finest(&Bytes::count))};
}

std::span<const YamlNode> YamlMap::list_of(std::string_view key, std::size_t limit, bool required) {
  const YamlNode* node = find(key);
  note(known_, {std::string(key), format_text("a list of at most {}", limit), {}, required});
  if (node == nullptr) {
    if (required && node_.kind == YamlNode::Kind::map) {
      errors_.add(node_, format_text("{} lacks the key {}; expected a list", noun_, in_quotes(key)));
    }
    return {};
  }
  if (node->kind != YamlNode::Kind::list) {
    errors_.add(*node, format_text("{}: found {}; expected a list", key, describe(*node)));
    return {};
  }
  if (node->items.size() > limit) {
    errors_.add(*node, format_text("{}: found {} items; expected at most {}", key, node->items.size(), limit));
    return {};
  }
  return node->items;
}

std::span<const YamlNode> YamlMap::list(std::string_view key, std::size_t limit, Rule) { return list_of(key, limit, true); }
std::span<const YamlNode> YamlMap::list(std::string_view key, std::size_t limit) { return list_of(key, limit, false); }

std::vector<std::string> YamlMap::texts(std::string_view key, std::size_t limit) {
  std::vector<std::string> texts;
  for (const YamlNode& item : list(key, limit)) {
    if (item.kind != YamlNode::Kind::scalar || item.text.empty()) {
      errors_.add(item, format_text("{}: found {}; expected a text", key, describe(item)));
    }
    texts.push_back(item.text);
  }
  return texts;
}

std::map<std::string, std::string> YamlMap::settings(std::string_view key, std::size_t limit) {
  std::map<std::string, std::string> settings;
  const YamlNode* node = find(key);
  note(known_, {std::string(key), format_text("a map of at most {} settings (key: value)", limit)});
  if (node == nullptr) {
    return settings;
  }
  if (node->kind != YamlNode::Kind::map || node->items.size() > limit) {
    errors_.add(*node,
                format_text("{}: found {}; expected a map of at most {} settings (key: value)", key, describe(*node), limit));
    return settings;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    if (node->items[i].kind != YamlNode::Kind::scalar) {
      errors_.add(node->items[i],
                  format_text("{}: found {}; expected a single value", node->keys[i].text, describe(node->items[i])));
    }
    settings[node->keys[i].text] = node->items[i].text;
  }
  return settings;
}

void YamlMap::finish() {
  std::vector<std::string> names;
  for (const YamlNode& key : node_.keys) {
    if (std::ranges::find(known_, key.text, &KeyQuestion::key) != known_.end()) {
      continue;
    }
    if (names.empty()) {
      std::ranges::transform(known_, std::back_inserter(names), &KeyQuestion::key);
    }
    errors_.add_unknown(key,
                        format_text("unknown key {} in {}{} (known: {})", in_quotes(key.text), noun_,
                                    suggestion(key.text, names), joined(names)),
                        known_);
  }
}

void NameIndex::add(const std::string& name, const YamlNode& where, ErrorList& errors) {
  const auto number = static_cast<std::uint32_t>(names_.size());
  if (!number_.emplace(name, number).second) {
    errors.add(where, format_text("the {} {} exists already; expected each name once", noun_, in_quotes(name)));
  }
  names_.push_back(name);
}

std::optional<std::uint32_t> NameIndex::find(const std::string& name) const {
  const auto at = number_.find(name);
  return at == number_.end() ? std::nullopt : std::optional{at->second};
}

std::optional<std::uint32_t> NameIndex::resolve(const std::string& name, const YamlNode& where, ErrorList& errors) const {
  const auto number = find(name);
  if (!number) {
    errors.add(where, format_text("there is no {} {}{}", noun_, in_quotes(name), suggestion(name, names_)));
  }
  return number;
}

void check_header(YamlMap& file, std::string_view kind) {
  file.integer("schema_version", {kSchemaVersion, kSchemaVersion}, Rule::required);
  const std::array<std::string, 1> kinds{std::string(kind)};
  file.word("kind", kinds, Rule::required);
}

}  // namespace loom
