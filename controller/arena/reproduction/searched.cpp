// SPDX-License-Identifier: Apache-2.0
// CANDLE co-optimised: its strategy is not public, so it must be found (docs/systems/topoopt.md#iteration-times, T7).
#include <array>

#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/architectures/topoopt/search/alternating.hpp"
#include "controller/arena/reproduction/figures.hpp"
#include "controller/arena/reproduction/topoopt_jobs.hpp"
#include "core/text/format_text.hpp"

namespace loom::reproduction {

namespace {

/// One chain from a random strategy, as docs/topoopt.md says why; its seed and budget are fixed, so the figures are too.
Result<SearchPoint> searched(SearchProblem problem, const FinderOptions& finder) {
  SearchOptions options;
  options.finder = finder;
  options.steps = 20'000;
  options.alpha = 0.5;
  options.starts_data_parallel = false;
  options.judge_span = 10;
  options.seed = 1;
  auto chain = AlternatingSearch::make(std::move(problem), options);
  if (!chain) {
    return std::unexpected(std::move(chain).error());
  }
  LOOM_TRY(chain->run({}));
  return chain->state().best;
}

}  // namespace

Result<double> searched_candle_ms(const std::string& data, std::uint32_t degree) {
  auto problem = topoopt_problem(data, "candle-16", gigabits(100));
  if (!problem) {
    return std::unexpected(std::move(problem).error());
  }
  const auto best = searched(*std::move(problem), as_in_code_release(degree));
  return best ? Result<double>(best->predicted_ms) : std::unexpected(best.error());
}

Result<TaskGraph> candle_for_a_switch(const std::string& data, BitRate rate) {
  auto problem = topoopt_problem(data, "candle-16", rate);
  if (!problem) {
    return std::unexpected(std::move(problem).error());
  }
  auto network = make_ideal_switch(problem->terms);
  if (!network) {
    return std::unexpected(std::move(network).error());
  }
  problem->fixed = std::move(*network);
  const auto best = searched(*problem, as_in_code_release(4));
  return best ? graph_of(problem->graph, problem->times, best->strategy) : Result<TaskGraph>(std::unexpected(best.error()));
}

Figures searched_candle(const std::string& data) {
  constexpr Rows kRows{"T7", "validation"};
  constexpr std::array<std::pair<std::uint32_t, double>, 2> kPublished{{{4, 225.222}, {8, 131.546}}};
  std::vector<Figure> figures;
  for (const auto& [degree, published] : kPublished) {
    const auto ours = searched_candle_ms(data, degree);
    if (!ours) {
      return std::unexpected(ours.error());
    }
    figures.push_back(kRows.between(format_text("CANDLE, strategy and topology searched, {} x 100 Gb/s, ms", degree), published,
                                    *ours, -kUnbounded, 1.15 * published));
  }
  return figures;
}

}  // namespace loom::reproduction
