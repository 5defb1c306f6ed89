// SPDX-License-Identifier: Apache-2.0
// Tables, durations and progress for people.
#include "cli/render/term.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "cli/render/answer.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// A number, perhaps with its unit or a few more ("1200 0 3300 mV"); a sentence that begins with one is words.
bool is_number(std::string_view cell) {
  return !cell.empty() && std::ranges::count(cell, ' ') <= 3 &&
         (std::isdigit(static_cast<unsigned char>(cell.front())) != 0 || cell.front() == '-' || cell.front() == '+');
}

/// Columns on the screen: continuation bytes of UTF-8 take none.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

constexpr std::size_t kGap = 2;         ///< between columns
constexpr std::size_t kLeastWords = 8;  ///< a column of words is cut to no less

/// The bytes of the first or last `count` columns of the screen.
std::string_view first_columns(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  while (end < text.size() && (count > 0 || (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)) {
    count -= (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U ? 0 : 1;
    ++end;
  }
  return text.substr(0, end);
}
std::string_view last_columns(std::string_view text, std::size_t count) {
  return text.substr(first_columns(text, columns_of(text) - std::min(count, columns_of(text))).size());
}

/// Names differ at their ends, so they are cut in the middle; sentences at the end.
std::string cut(const std::string& cell, std::size_t width) {
  if (columns_of(cell) <= width) {
    return cell;
  }
  const bool is_sentence = cell.find(' ') != std::string::npos;
  const std::size_t tail = is_sentence ? 0 : (width - 1) / 2;
  std::string_view head = first_columns(cell, width - 1 - tail);
  head.remove_suffix(head.size() - 1 - std::min(head.find_last_not_of(' '), head.size() - 1));
  return format_text("{}\u2026{}", head, last_columns(cell, tail));
}

bool may_be_cut(const std::string& cell) { return !cell.empty() && (!is_number(cell) || cell.find(", ") != std::string::npos); }

std::size_t total_of(const std::vector<std::size_t>& shown, const std::vector<std::size_t>& widths) {
  std::size_t total = shown.empty() ? 0 : kGap * (shown.size() - 1);
  for (const std::size_t column : shown) {
    total += widths[column];
  }
  return total;
}

Speech& speech() {
  static Speech how = Speech::sentences;
  return how;
}

void print_sentence(std::string_view what, std::string_view next) {
  std::fprintf(stderr, "loom: %.*s\n", static_cast<int>(what.size()), what.data());
  if (!next.empty()) {
    std::fprintf(stderr, "  try: %.*s\n", static_cast<int>(next.size()), next.data());
  }
}

void print_line(const Json& object) {
  std::fprintf(stderr, "%s\n", object.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

void set_speech(Speech how) { speech() = how; }

std::size_t terminal_width() {
  winsize size{};
  return isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool wants_colour() {
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return !is_set("NO_COLOR") && (is_set("CLICOLOR_FORCE") || isatty(STDOUT_FILENO) != 0);
}
bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {}

void Table::add(std::vector<std::string> row) {
  row.resize(header_.size());
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < header_.size(); ++column) {
    std::size_t width = columns_of(header_[column]);
    for (const auto& row : rows_) {
      width = std::max(width, columns_of(row[column]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::string Table::lines(const std::vector<std::size_t>& shown, const std::vector<std::size_t>& widths) const {
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells, bool bold) {
    std::string line;
    for (const std::size_t column : shown) {
      const std::string cell = cut(cells[column], widths[column]);
      const std::string padding(widths[column] - columns_of(cell), ' ');
      const bool flush_right = !bold && is_number(cell);
      line += flush_right ? padding + cell : cell + padding;
      line += column != shown.back() ? std::string(kGap, ' ') : "";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += bold && wants_colour() ? format_text("\033[1m{}\033[0m\n", line) : line + "\n";
  };
  add_line(header_, true);
  for (const auto& row : rows_) {
    add_line(row, false);
  }
  return text;
}

std::string Table::text(std::size_t width) const {
  std::vector<std::size_t> widths = natural_widths();
  std::vector<std::size_t> shown(header_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (width == 0 || total_of(shown, widths) <= width) {
    return lines(shown, widths);
  }
  std::erase_if(shown, [&](std::size_t column) {
    return !rows_.empty() &&
           std::ranges::all_of(rows_, [&](const auto& row) { return row[column].empty() || row[column] == "-"; });
  });
  // Words may be cut, and so may several numbers in one cell; the widest column first, until all are as wide as each other.
  std::vector<std::size_t> least = widths;
  for (std::size_t column = 0; column < header_.size(); ++column) {
    const bool is_words = std::ranges::any_of(rows_, [&](const auto& row) { return may_be_cut(row[column]); });
    least[column] = is_words ? std::min(widths[column], std::max(columns_of(header_[column]), kLeastWords)) : widths[column];
  }
  const std::size_t wanted = shown.size();
  while (shown.size() > 2 && total_of(shown, least) > width) {
    // Between the first, which says of what, and the last, which says why: the widest, of equals the later one.
    const auto widest = std::max_element(shown.begin() + 1, shown.end() - 1,
                                         [&](std::size_t one, std::size_t other) { return least[one] <= least[other]; });
    shown.erase(widest);
  }
  while (total_of(shown, widths) > width) {
    std::size_t widest = shown.front();
    for (const std::size_t column : shown) {
      const bool is_wider =
          widths[column] > least[column] && (widths[widest] == least[widest] || widths[column] > widths[widest]);
      widest = is_wider ? column : widest;
    }
    if (widths[widest] == least[widest]) {
      break;
    }
    --widths[widest];
  }
  const std::size_t hidden = wanted - shown.size();
  return lines(shown, widths) +
         (hidden == 0
              ? ""
              : cut(format_text("({} more {}: a wider terminal, a pipe, --json)", hidden, hidden == 1 ? "column" : "columns"),
                    width) +
                    "\n");
}

Progress::~Progress() {
  if (open_ && stderr_is_terminal()) {
    std::fputc('\n', stderr);
  }
}

void Progress::show(std::string_view label, std::uint64_t done, std::uint64_t total) {
  if (speech() == Speech::json) {
    return;
  }
  if (!stderr_is_terminal()) {
    if (label != last_label_) {
      std::fprintf(stderr, "  %.*s ...\n", static_cast<int>(label.size()), label.data());
      last_label_ = label;
    }
    return;
  }
  constexpr std::size_t kBar = 30;
  const std::size_t filled = total == 0 ? 0 : static_cast<std::size_t>(kBar * std::min(done, total) / total);
  std::string line =
      format_text("  {} [{}{}] {}/{}", label, std::string(filled, '#'), std::string(kBar - filled, '.'), done, total);
  const std::size_t width = line.size();
  line += std::string(width_ > width ? width_ - width : 0, ' ');
  width_ = width;
  std::fprintf(stderr, "\r%s", line.c_str());
  std::fflush(stderr);
  open_ = true;
}

void Progress::finish(std::string_view text) {
  if (speech() == Speech::json) {
    print_note(text);
  } else if (stderr_is_terminal()) {
    std::string line = format_text("  {}", text);
    line += std::string(width_ > line.size() ? width_ - line.size() : 0, ' ');
    std::fprintf(stderr, "\r%s\n", line.c_str());
  } else {
    std::fprintf(stderr, "  %.*s\n", static_cast<int>(text.size()), text.data());
  }
  open_ = false;
  width_ = 0;
  last_label_.clear();
}

void print_note(std::string_view sentence) {
  if (speech() == Speech::json) {
    print_line({{"note", sentence.substr(std::min(sentence.find_first_not_of(' '), sentence.size()))}});
    return;
  }
  std::fprintf(stderr, "%.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

void complain(ErrorCode code, std::string_view what, std::string_view next) {
  if (speech() == Speech::json) {
    print_line({{"error", {{"code", loom::to_string(code)}, {"message", what}, {"next", next}}}});
    return;
  }
  print_sentence(what, next);
}

void warn(std::string_view what, std::string_view next) {
  if (speech() == Speech::json) {
    print_line({{"warning", {{"message", what}, {"next", next}}}});
    return;
  }
  print_sentence(what, next);
}

void complain(const std::vector<ConfigError>& errors) {
  if (speech() == Speech::sentences) {
    for (const ConfigError& error : errors) {
      print_note(to_string(error));
    }
    return;
  }
  Json list = Json::array();
  for (const ConfigError& error : errors) {
    list.push_back({{"file", error.file}, {"line", error.line}, {"column", error.column}, {"message", error.message}});
  }
  print_line({{"error",
               {{"code", loom::to_string(ErrorCode::invalid_config)},
                {"message", errors.empty() ? std::string("a file cannot be used") : to_string(errors.front())},
                {"next", "loom config check FILE"},
                {"errors", std::move(list)}}}});
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] = j;
    }
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t above = row[j];
        row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (word[i - 1] == candidate[j - 1] ? 0U : 1U)});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace loom::cli
