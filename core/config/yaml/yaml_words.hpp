// SPDX-License-Identifier: Apache-2.0
// What readers of configuration files make of enumerations and of rows with names.
#pragma once

#include <array>
#include <string>

#include "core/config/yaml/yaml_reader.hpp"

namespace loom {

template <class Enum, std::size_t N>
std::array<std::string, N> words_of() {
  std::array<std::string, N> words;
  for (std::size_t i = 0; i < N; ++i) {
    words[i] = to_string(static_cast<Enum>(i));
  }
  return words;
}

template <class Rows>
NameIndex names_of(std::string noun, const Rows& rows, ErrorList& errors) {
  NameIndex names(std::move(noun));
  for (const auto& row : rows) {
    names.add(row.name, YamlNode{}, errors);
  }
  return names;
}

}  // namespace loom
