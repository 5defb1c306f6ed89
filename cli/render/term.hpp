// SPDX-License-Identifier: Apache-2.0
// What a person sees: tables, durations, colour only where a terminal wants it, progress bars on stderr. Data goes to stdout,
// words to stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/quantity_text.hpp"
#include "core/config/yaml/config_error.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// NO_COLOR is not set, and stdout is a terminal or CLICOLOR_FORCE is set (which is what --color sets).
bool wants_colour();
bool stderr_is_terminal();

using loom::text_of;

/// Of the terminal on stdout; 0: it is none, and nothing is cut.
std::size_t terminal_width();

/// A table with a header; columns as wide as their widest cell, numbers flush right. Where a terminal is narrower, it leaves
/// out columns that say nothing, then cuts words with an ellipsis, then leaves out columns between the first and the last, the
/// widest first, and says so. A number is never cut.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  /// As wide as the terminal.
  std::string text() const { return text(terminal_width()); }
  /// No line is longer than `width` columns of the screen; 0: as long as it must be.
  std::string text(std::size_t width) const;
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::size_t> natural_widths() const;
  std::string lines(const std::vector<std::size_t>& shown, const std::vector<std::size_t>& widths) const;

  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// One line on stderr that is overwritten while work goes on; on a pipe only its last state of each label is printed.
class Progress {
 public:
  ~Progress();
  void show(std::string_view label, std::uint64_t done, std::uint64_t total);
  /// Ends the line; `text` stays.
  void finish(std::string_view text);

 private:
  std::string last_label_;
  std::size_t width_ = 0;
  bool open_ = false;
};

/// How words leave on stderr: as sentences for people, or under --json as objects, one a line.
enum class Speech : std::uint8_t { sentences, json };
/// Said once, by main, before anything else is.
void set_speech(Speech speech);

/// A sentence on stderr; under --json {"note": "..."}.
void print_note(std::string_view sentence);
/// `loom: what` and, on a line of its own, what to type next; under --json {"error": {"code", "message", "next"}}.
void complain(ErrorCode code, std::string_view what, std::string_view next = {});
/// The same of what goes on; under --json {"warning": {"message", "next"}}.
void warn(std::string_view what, std::string_view next = {});
/// All that is wrong with files, a line each; under --json one error that lists them.
void complain(const std::vector<ConfigError>& errors);

/// The nearest of `known` to `word` by edit distance, or empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace loom::cli
