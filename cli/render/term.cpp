// Tables, durations and progress for people.
#include "cli/render/term.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

bool is_number(std::string_view cell) {
  return !cell.empty() &&
         (std::isdigit(static_cast<unsigned char>(cell.front())) != 0 || cell.front() == '-' || cell.front() == '+');
}

/// Columns on the screen: continuation bytes of UTF-8 take none.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

}  // namespace

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

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < header_.size(); ++column) {
    std::size_t width = columns_of(header_[column]);
    for (const auto& row : rows_) {
      width = std::max(width, columns_of(row[column]));
    }
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells, bool bold) {
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const std::string padding(widths[column] - columns_of(cells[column]), ' ');
      const bool flush_right = !bold && is_number(cells[column]);
      line += flush_right ? padding + cells[column] : cells[column] + padding;
      line += column + 1 < cells.size() ? "  " : "";
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

Progress::~Progress() {
  if (open_ && stderr_is_terminal()) {
    std::fputc('\n', stderr);
  }
}

void Progress::show(std::string_view label, std::uint64_t done, std::uint64_t total) {
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
  if (stderr_is_terminal()) {
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
  std::fprintf(stderr, "%.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

void complain(std::string_view what, std::string_view next) {
  std::fprintf(stderr, "loom: %.*s\n", static_cast<int>(what.size()), what.data());
  if (!next.empty()) {
    std::fprintf(stderr, "  try: %.*s\n", static_cast<int>(next.size()), next.data());
  }
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
