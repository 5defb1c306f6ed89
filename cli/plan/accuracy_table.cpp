// SPDX-License-Identifier: Apache-2.0
// Lines to rows.
#include "cli/plan/accuracy_table.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr double kBatchMost = 1'048'576;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  const auto last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first, last - first + 1);
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() && std::isfinite(value) ? std::optional(value)
                                                                                            : std::nullopt;
}

class Table {
 public:
  explicit Table(const std::string& source) : source_(source) {}

  Result<void> add(std::string_view line, std::size_t number) {
    const auto comma = line.find_first_of(line.contains(',') ? "," : " \t");
    const std::string_view first = trimmed(line.substr(0, comma));
    const std::string_view second = comma == std::string_view::npos ? std::string_view{} : trimmed(line.substr(comma + 1));
    if (rows_.empty() && !is_headed_ && !first.empty() && std::isalpha(static_cast<unsigned char>(first.front())) != 0) {
      is_headed_ = true;
      return {};
    }
    const auto batch = number_in(first);
    if (!batch || *batch < 1 || *batch != std::floor(*batch) || *batch > kBatchMost) {
      return refuse(number, 1, first, "a global batch is a whole number from 1 to 1048576");
    }
    const auto iterations = number_in(second);
    if (!iterations || *iterations <= 0 || *iterations > 1e12) {
      return refuse(number, 2, second, "iterations to accuracy are a number above 0, up to 1e12");
    }
    for (const AccuracyPoint& row : rows_) {
      if (row.global_batch == static_cast<std::uint32_t>(*batch)) {
        return refuse(number, 1, first, "this batch has a row already");
      }
    }
    if (rows_.size() == kAccuracyRows) {
      return fail(ErrorCode::out_of_range, format_text("{}: more than {} rows", source_, kAccuracyRows));
    }
    rows_.push_back({static_cast<std::uint32_t>(*batch), *iterations});
    return {};
  }

  Result<std::vector<AccuracyPoint>> take() && {
    if (rows_.empty()) {
      return fail(ErrorCode::invalid_argument, source_ + ": no row of a global batch and its iterations to accuracy");
    }
    return std::move(rows_);
  }

 private:
  std::unexpected<Error> refuse(std::size_t line, int column, std::string_view found, const char* why) const {
    return fail(ErrorCode::invalid_argument,
                format_text("{}:{}, column {}: found '{}'; {}", source_, line, column, found.substr(0, 64), why));
  }

  const std::string& source_;
  std::vector<AccuracyPoint> rows_;
  bool is_headed_ = false;
};

}  // namespace

Result<std::vector<AccuracyPoint>> parse_accuracy_table(std::string_view text, const std::string& source) {
  Table table(source);
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (!line.empty()) {
      LOOM_TRY(table.add(line, number));
    }
  }
  return std::move(table).take();
}

Result<std::vector<AccuracyPoint>> read_accuracy_table(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, path + ": cannot be opened", "give --accuracy a file of global_batch,iterations rows");
  }
  std::string text(limits::kConfigFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > limits::kConfigFileBytes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: more than {} bytes (kConfigFileBytes)", path, limits::kConfigFileBytes));
  }
  return parse_accuracy_table(text, path);
}

}  // namespace loom::cli
