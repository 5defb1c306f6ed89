// SPDX-License-Identifier: Apache-2.0
// A word of a file that must be one of those that are known; shared by the readers whose words other rooms own.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/config/yaml/yaml_reader.hpp"
#include "core/text/format_text.hpp"

namespace loom {

struct WordAt {
  const YamlNode& place;
  std::string what;  ///< of what it is the word: "workload"
  std::string word;
};

/// False: it is none of `known`, which an error says, with the nearest one or with all. An empty word was reported already.
inline bool check_word(const WordAt& at, const std::vector<std::string>& known, ErrorList& errors) {
  if (at.word.empty() || std::ranges::find(known, at.word) != known.end()) {
    return true;
  }
  std::string expected;
  for (const std::string& word : known) {
    expected += (expected.empty() ? "; expected one of " : ", ") + word;
  }
  const auto near = nearest(at.word, known);
  errors.add(at.place, format_text("{}: there is no '{}'{}", at.what, at.word,
                                   near ? format_text("; did you mean '{}'?", *near) : expected));
  return false;
}

}  // namespace loom
