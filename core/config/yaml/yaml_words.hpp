// SPDX-License-Identifier: Apache-2.0
// What readers of configuration files make of enumerations and of rows with names.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/config/yaml/yaml_reader.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

template <class Enum, std::size_t N>
std::array<std::string, N> words_of() {
  std::array<std::string, N> words;
  for (std::size_t i = 0; i < N; ++i) {
    words[i] = to_string(static_cast<Enum>(i));
  }
  return words;
}

/// Of the fabric's rows of one kind; none without a fabric.
template <class Row>
NameIndex names_of(std::string noun, const Fabric* fabric, std::vector<Row> Fabric::* rows, ErrorList& errors) {
  NameIndex names(std::move(noun));
  if (fabric != nullptr) {
    for (const Row& row : fabric->*rows) {
      names.add(row.name, YamlNode{}, errors);
    }
  }
  return names;
}

}  // namespace loom
