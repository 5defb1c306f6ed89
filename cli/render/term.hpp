// What a person sees: tables, durations, colour only where a terminal wants it, progress bars on stderr. Data goes to stdout,
// words to stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/quantity_text.hpp"

namespace loom::cli {

/// NO_COLOR is not set, and stdout is a terminal or CLICOLOR_FORCE is set (which is what --color sets).
bool wants_colour();
bool stderr_is_terminal();

using loom::text_of;

/// A table with a header; columns as wide as their widest cell, numbers flush right.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  std::string text() const;
  bool empty() const { return rows_.empty(); }

 private:
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

/// A sentence on stderr.
void print_note(std::string_view sentence);
/// `loom: what` and, on a line of its own, what to type next.
void complain(std::string_view what, std::string_view next = {});

/// The nearest of `known` to `word` by edit distance, or empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace loom::cli
