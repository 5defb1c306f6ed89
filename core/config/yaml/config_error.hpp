// SPDX-License-Identifier: Apache-2.0
// ConfigError: one thing wrong with one configuration file, and where. Loaded: a value, or everything that is wrong at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace loom {

/// A key that a map of a file may have, as its reader asks for it.
struct KeyQuestion {
  std::string key;
  std::string expected{};   ///< type, unit and range: "a duration of 1 us to 1 h"; empty: it takes more than one shape
  std::string otherwise{};  ///< the default, as a file would have it; empty: none
  bool required = false;
  bool operator==(const KeyQuestion&) const = default;
};

struct ConfigError {
  std::string file;
  int line = 0;    ///< from 1; 0: the file as a whole
  int column = 0;  ///< from 1
  std::string message;
  std::vector<KeyQuestion> known{};  ///< of an unknown key: those that its map may have, in the order of reading
  bool operator==(const ConfigError&) const = default;
};

/// `file:line:column: message`, as compilers print it, so that editors jump to it.
std::string to_string(const ConfigError& error);

/// No value means at least one error; a value means none.
template <class T>
struct Loaded {
  std::optional<T> value;
  std::vector<ConfigError> errors;
  explicit operator bool() const { return value.has_value(); }
};

}  // namespace loom
