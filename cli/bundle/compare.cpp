// SPDX-License-Identifier: Apache-2.0
// JSON as trees, CSV as cells, the rest as lines of words and numbers.
#include "cli/bundle/compare.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "controller/workload/models/compute_time.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownBytes = 60;
constexpr std::size_t kDepthMax = 200;  ///< of JSON that is compared by key

std::string shown(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text.size() <= kShownBytes ? text : text.substr(0, kShownBytes) + "...";
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

class Comparer {
 public:
  Comparer(const std::string& file, const std::vector<BundleRule>& rules, Comparison& into)
      : file_(file), rules_(rules), into_(into) {}

  bool is_left_out(const std::string& key) {
    const bool is = std::ranges::any_of(rules_, [&](const BundleRule& rule) { return !key.empty() && rule.key == key; });
    if (is) {
      ++into_.left_out[key];
    }
    return is;
  }

  void differ(const std::string& place, const std::string& recorded, const std::string& now) {
    ++into_.differing;
    if (into_.differences.size() >= kDifferencesMax) {
      return;
    }
    std::string by;
    const auto before = number_in(recorded);
    const auto after = number_in(now);
    if (before && after) {
      by = printed("%.6g", *after - *before);
      by += *before == 0 ? "" : printed(" (%.3g %%)", 100 * (*after - *before) / std::abs(*before));
    }
    into_.differences.push_back({file_, place, shown(recorded), shown(now), by});
  }

  void values(const std::string& place, const std::string& recorded, const std::string& now) {
    into_.numbers += number_in(recorded) ? 1 : 0;
    if (recorded != now) {
      differ(place, recorded, now);
    }
  }

  void trees(const std::string& place, const Json& recorded, const Json& now, std::size_t depth) {
    if (depth > kDepthMax) {
      return differ(place, "nested deeper than 200", "(kDepthMax): not compared");
    }
    if (recorded.is_object() && now.is_object()) {
      return objects(place, recorded, now, depth);
    }
    if (recorded.is_array() && now.is_array()) {
      for (std::size_t i = 0; i < std::max(recorded.size(), now.size()); ++i) {
        const std::string here = format_text("{}/{}", place, i);
        if (i < std::min(recorded.size(), now.size())) {
          trees(here, recorded[i], now[i], depth + 1);
        } else {
          differ(here, i < recorded.size() ? "there" : "not there", i < now.size() ? "there" : "not there");
        }
      }
      return;
    }
    const bool is_nested = recorded.is_structured() || now.is_structured();
    is_nested ? differ(place, recorded.type_name(), now.type_name()) : values(place, recorded.dump(), now.dump());
  }

  void tables(const std::vector<std::vector<std::string>>& recorded, const std::vector<std::vector<std::string>>& now) {
    if (recorded.empty() || now.empty() || recorded.size() != now.size() || recorded.front() != now.front()) {
      return differ("table", format_text("{} rows", recorded.size()), format_text("{} rows, or other columns", now.size()));
    }
    const auto& header = recorded.front();
    for (std::size_t row = 1; row < recorded.size(); ++row) {
      if (recorded[row].size() != now[row].size()) {
        differ(format_text("row {}", row), format_text("{} cells", recorded[row].size()),
               format_text("{} cells", now[row].size()));
        continue;
      }
      for (std::size_t column = 0; column < recorded[row].size(); ++column) {
        const std::string name = column < header.size() ? header[column] : std::to_string(column + 1);
        if (!is_left_out(name)) {
          values(format_text("row {}, column {}", row, name), recorded[row][column], now[row][column]);
        }
      }
    }
  }

  /// Words and numbers: where the words are the same, each number that is not is named.
  void lines(std::size_t line, const std::string& recorded, const std::string& now) {
    const auto before = tokens(recorded);
    const auto after = tokens(now);
    const bool has_same_words = before.size() == after.size() &&
                                std::equal(before.begin(), before.end(), after.begin(), [](const auto& a, const auto& b) {
                                  return a == b || (number_in(a) && number_in(b));
                                });
    const std::string place = format_text("line {}", line);
    if (!has_same_words) {
      return differ(place, recorded, now);
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      values(place, before[i], after[i]);
    }
  }

 private:
  void objects(const std::string& place, const Json& recorded, const Json& now, std::size_t depth) {
    for (const auto& [key, value] : recorded.items()) {
      const std::string here = format_text("{}/{}", place, key);
      if (is_left_out(key)) {
        continue;
      }
      const auto other = now.find(key);
      other == now.end() ? differ(here, "there", "not there") : trees(here, value, *other, depth + 1);
    }
    for (const auto& [key, value] : now.items()) {
      if (!recorded.contains(key) && !is_left_out(key)) {
        differ(format_text("{}/{}", place, key), "not there", "there");
      }
    }
  }

  static std::vector<std::string> tokens(const std::string& line) {
    const auto is_part = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; };
    std::vector<std::string> parts;
    bool was_part = false;
    for (const char c : line) {
      if (parts.empty() || is_part(c) != was_part) {
        parts.emplace_back();
      }
      parts.back() += c;
      was_part = is_part(c);
    }
    return parts;
  }

  const std::string& file_;
  const std::vector<BundleRule>& rules_;
  Comparison& into_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Quoted cells may have commas, doubled quotes and line ends.
std::vector<std::vector<std::string>> rows_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !is_quoted) {
      rows.emplace_back(1);
    } else {
      rows.back().back() += c;
    }
  }
  if (rows.back() == std::vector<std::string>(1)) {
    rows.pop_back();
  }
  return rows;
}

}  // namespace

void compare_file(const std::string& file, const std::string& recorded, const std::string& now,
                  const std::vector<BundleRule>& rules, Comparison& into) {
  for (const BundleRule& rule : rules) {
    if (!rule.suffix.empty() && file.ends_with(rule.suffix)) {
      ++into.left_out[rule.suffix];
      return;
    }
  }
  ++into.files;
  Comparer comparer(file, rules, into);
  const Json before = Json::parse(recorded, nullptr, false);
  const Json after = Json::parse(now, nullptr, false);
  if (before.is_structured() && after.is_structured()) {
    comparer.trees("", before, after, 0);
    return;
  }
  if (file.ends_with(".csv")) {
    comparer.tables(rows_of(recorded), rows_of(now));
    return;
  }
  const auto old_lines = lines_of(recorded);
  const auto new_lines = lines_of(now);
  if (old_lines.size() != new_lines.size()) {
    comparer.differ("file", format_text("{} lines", old_lines.size()), format_text("{} lines", new_lines.size()));
    return;
  }
  for (std::size_t i = 0; i < old_lines.size(); ++i) {
    comparer.lines(i + 1, old_lines[i], new_lines[i]);
  }
}

void compare_runs(const BundleManifest& manifest, int exit_code, const BundleContents& recorded, const BundleContents& now,
                  Comparison& into) {
  const std::string whole = "exit code";
  if (manifest.exit_code != exit_code) {
    Comparer(whole, manifest.not_compared, into)
        .differ("of the command", std::to_string(manifest.exit_code), std::to_string(exit_code));
  }
  for (const auto& [file, bytes] : recorded) {
    if (const auto other = now.find(file); other != now.end()) {
      compare_file(file, bytes, other->second, manifest.not_compared, into);
    } else {
      Comparer(file, manifest.not_compared, into).differ("file", "there", "not there");
    }
  }
  for (const auto& [file, bytes] : now) {
    if (!recorded.contains(file)) {
      Comparer(file, manifest.not_compared, into).differ("file", "not there", "there");
    }
  }
}

}  // namespace loom::cli
