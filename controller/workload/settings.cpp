// SPDX-License-Identifier: Apache-2.0
// Typed reading of key=value.
#include "controller/workload/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string shown(double value) {
  const std::string text = std::to_string(value);
  const std::size_t last = text.find_last_not_of('0');
  return text.substr(0, text[last] == '.' ? last : last + 1);
}

template <class Number>
Result<Number> parse(std::string_view key, std::string_view text, std::string_view wanted) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorCode::invalid_argument, format_text("{}={}: not {}", key, text, wanted));
  }
  return value;
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t fewest = ~std::size_t{0};
  for (const std::string_view candidate : known) {
    const std::size_t distance = edits(word.substr(0, 128), candidate);
    if (distance < fewest) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

Result<Settings> parse_settings(std::span<const std::string> texts) {
  Settings settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorCode::invalid_argument, format_text("'{}': expected key=value", text.substr(0, 128)));
    }
    if (text.size() > limits::kTextBytes) {
      return fail(ErrorCode::out_of_range,
                  format_text("{}: longer than {} bytes (kTextBytes)", text.substr(0, equals), limits::kTextBytes));
    }
    if (!settings.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      return fail(ErrorCode::invalid_argument, text.substr(0, equals) + ": given twice");
    }
  }
  return settings;
}

Result<void> check_keys(const Settings& settings, std::string_view owner, std::span<const std::string_view> known) {
  for (const auto& [key, value] : settings) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{} has no setting '{}'; did you mean '{}'?", owner, key.substr(0, 128), nearest(key, known)));
    }
  }
  return {};
}

Result<double> number(const Settings& settings, std::string_view key, double absent, double least, double most) {
  const auto found = settings.find(key);
  if (found == settings.end()) {
    return absent;
  }
  auto value = parse<double>(key, found->second, "a number");
  if (value && !(*value >= least && *value <= most)) {  // also refuses NaN
    return fail(ErrorCode::out_of_range, format_text("{}={}: outside {} .. {}", key, found->second, shown(least), shown(most)));
  }
  return value;
}

Result<std::int64_t> whole_number(const Settings& settings, std::string_view key, std::int64_t absent, std::int64_t least,
                                  std::int64_t most) {
  const auto found = settings.find(key);
  if (found == settings.end()) {
    return absent;
  }
  auto value = parse<std::int64_t>(key, found->second, "a whole number");
  if (value && (*value < least || *value > most)) {
    return fail(ErrorCode::out_of_range, format_text("{}={}: outside {} .. {}", key, found->second, least, most));
  }
  return value;
}

Result<std::string> choice(const Settings& settings, std::string_view key, std::string_view absent,
                           std::span<const std::string_view> choices) {
  const auto found = settings.find(key);
  const std::string word{found == settings.end() ? absent : std::string_view{found->second}};
  if (std::find(choices.begin(), choices.end(), word) == choices.end()) {
    std::string all;
    for (const std::string_view each : choices) {
      all += (all.empty() ? "" : ", ") + std::string{each};
    }
    return fail(ErrorCode::invalid_argument, format_text("{}={}: expected one of {}", key, word.substr(0, 128), all));
  }
  return word;
}

Result<std::vector<std::int64_t>> number_list(const Settings& settings, std::string_view key, std::vector<std::int64_t> absent,
                                              std::int64_t least, std::int64_t most) {
  const auto found = settings.find(key);
  if (found == settings.end()) {
    return absent;
  }
  std::vector<std::int64_t> values;
  std::string_view rest = found->second;
  for (;;) {
    const std::size_t dash = rest.find('-');
    const auto value = parse<std::int64_t>(key, rest.substr(0, dash), "whole numbers joined by '-'");
    if (!value) {
      return std::unexpected(value.error());
    }
    if (*value < least || *value > most) {
      return fail(ErrorCode::out_of_range,
                  format_text("{}={}: {} is outside {} .. {}", key, found->second, *value, least, most));
    }
    values.push_back(*value);
    if (dash == std::string_view::npos) {
      return values;
    }
    rest.remove_prefix(dash + 1);
  }
}

}  // namespace loom
