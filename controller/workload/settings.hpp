// SPDX-License-Identifier: Apache-2.0
// Settings given as key=value (`--set`): typed reading, with an unknown key refused and the nearest known one named. Never
// a default of its own: whoever asks says what holds when the key is absent.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace loom {

using Settings = std::map<std::string, std::string, std::less<>>;

/// The known word with the fewest edits to `word`; empty when `known` is.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// "key=value" texts to settings. Errors: invalid_argument when '=' or the key is missing, or a key comes twice.
Result<Settings> parse_settings(std::span<const std::string> texts);

/// Errors: invalid_argument naming the first key that is not `known`, with the nearest one. `owner` is whose keys they are.
Result<void> check_keys(const Settings& settings, std::string_view owner, std::span<const std::string_view> known);

/// The number under `key`, or `absent`. Errors: invalid_argument (not a number), out_of_range (outside [least, most]).
Result<double> number(const Settings& settings, std::string_view key, double absent, double least, double most);
Result<std::int64_t> whole_number(const Settings& settings, std::string_view key, std::int64_t absent, std::int64_t least,
                                  std::int64_t most);
/// The word under `key`, or `absent`. Errors: invalid_argument when it is none of `choices`.
Result<std::string> choice(const Settings& settings, std::string_view key, std::string_view absent,
                           std::span<const std::string_view> choices);
/// Whole numbers joined by '-', as "512-256-64".
Result<std::vector<std::int64_t>> number_list(const Settings& settings, std::string_view key, std::vector<std::int64_t> absent,
                                              std::int64_t least, std::int64_t most);

}  // namespace loom
