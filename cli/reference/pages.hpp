// SPDX-License-Identifier: Apache-2.0
// The topics of loom help, and the pages of docs/reference: the same tables, for a terminal or as Markdown. A page is made from
// what the programs use themselves, never from a second list.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/alarm.hpp"

namespace CLI {
class App;
}

namespace loom::cli {

struct PageTable {
  std::string heading;  ///< empty: none of its own
  std::string text;     ///< above the table
  std::string usage{};  ///< of a command, on a line of its own
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Page {
  std::string title;
  std::string text;
  std::vector<PageTable> tables;
};

std::string to_markdown(const Page& page);
/// As wide as the terminal.
std::string to_text(const Page& page);

/// What an alarm means, and what to do.
struct AlarmWords {
  AlarmCode code;
  std::string_view meaning;
  std::string_view cause;
  std::string_view remedy;
};
/// One of every alarm.
std::vector<AlarmWords> alarm_words();

/// Topics, in the order of help.
const std::vector<std::string>& page_names();
/// Nothing: there is no such topic.
std::optional<std::string> page_of(const CLI::App& app, std::string_view name, bool markdown);

}  // namespace loom::cli
