// SPDX-License-Identifier: Apache-2.0
// Entries made anew for each seed, since a topology may hang on it too.
#include "controller/arena/seeds.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Student's t at 97.5 %, by degrees of freedom; beyond the table within 0.002.
double student_t(std::size_t freedom) {
  constexpr std::array<double, 30> kTable{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                          2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                          2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  return freedom <= kTable.size() ? kTable[freedom - 1] : 1.96 + 2.4 / static_cast<double>(freedom);
}

Result<std::uint64_t> first_seed(const Settings& settings) {
  const auto said = settings.find("seed");
  std::uint64_t seed = 1;
  if (said != settings.end()) {
    const std::string& text = said->second;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (fault != std::errc{} || end != text.data() + text.size()) {
      return fail(ErrorCode::invalid_argument, format_text("seed={}: a whole number from 0 on", text));
    }
  }
  return seed;
}

}  // namespace

SeedSpread spread_of(std::span<const double> values) {
  LOOM_ASSERT(!values.empty());
  const auto count = static_cast<double>(values.size());
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  SeedSpread spread{std::accumulate(values.begin(), values.end(), 0.0) / count, 0, *least, *most};
  if (values.size() > 1) {
    double squares = 0;
    for (const double value : values) {
      squares += (value - spread.mean) * (value - spread.mean);
    }
    spread.half_width = student_t(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
  }
  return spread;
}

bool has_seed(std::string_view fabric) {
  const auto keys = arena_keys(fabric);
  return std::find(keys.begin(), keys.end(), "seed") != keys.end();
}

Result<SeededRow> play_seeds(std::string_view fabric, const SeededJob& job, const Settings& settings, const PlayTerms& terms) {
  const auto first = first_seed(settings);
  if (!first) {
    return std::unexpected(first.error());
  }
  const std::uint32_t count = has_seed(fabric) ? std::max(1U, job.seeds) : 1;
  std::vector<std::pair<ArenaRow, std::uint32_t>> runs;
  for (std::uint32_t i = 0; i < count; ++i) {
    Settings own = settings;
    if (count > 1) {
      own["seed"] = std::to_string(*first + i);
    }
    auto entry = job.make(own);
    if (!entry) {
      return std::unexpected(std::move(entry).error());
    }
    auto row = play(*entry, job.compute, terms);
    if (!row) {
      return std::unexpected(std::move(row).error());
    }
    runs.emplace_back(std::move(*row), static_cast<std::uint32_t>(*first + i));
  }
  SeededRow made;
  for (const auto& [row, seed] : runs) {
    made.runs_ms.push_back(static_cast<double>(row.iteration.count()) / 1e6);
  }
  if (count > 1) {
    made.spread = spread_of(made.runs_ms);
  }
  const auto middle = runs.begin() + (count - 1) / 2;
  std::nth_element(runs.begin(), middle, runs.end(), [](const auto& a, const auto& b) {
    return std::pair{a.first.iteration, a.second} < std::pair{b.first.iteration, b.second};
  });
  made.row = std::move(middle->first);
  made.seed = middle->second;
  return made;
}

}  // namespace loom
