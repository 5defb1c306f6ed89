// CANDLE co-optimised: its strategy is not public, so it must be found (SYSTEMS.md B4.2, T7).
#include <array>

#include "controller/schedule/reproduction/figures.hpp"
#include "controller/schedule/reproduction/topoopt_jobs.hpp"
#include "controller/schedule/topoopt/alternating.hpp"

namespace loom::reproduction {

/// One chain from a random strategy, as docs/topoopt.md says why; its seed and budget are fixed, so the figures are too.
Figures searched_candle(const std::string& data) {
  const auto problem = topoopt_problem(data, "candle-16", gigabits(100));
  if (!problem) {
    return std::unexpected(problem.error());
  }
  constexpr Rows kRows{"T7", "validation"};
  constexpr std::array<std::pair<std::uint32_t, double>, 2> kPublished{{{4, 225.222}, {8, 131.546}}};
  std::vector<Figure> figures;
  for (const auto& [degree, published] : kPublished) {
    SearchOptions options;
    options.finder = as_in_code_release(degree);
    options.steps = 20'000;
    options.alpha = 0.5;
    options.starts_data_parallel = false;
    options.judge_span = 10;
    options.seed = 1;
    auto chain = AlternatingSearch::make(*problem, options);
    if (!chain) {
      return std::unexpected(chain.error());
    }
    LOOM_TRY(chain->run({}));
    figures.push_back(kRows.between("CANDLE, strategy and topology searched, " + std::to_string(degree) + " x 100 Gb/s, ms",
                                    published, chain->state().best.predicted_ms, -kUnbounded, 1.15 * published));
  }
  return figures;
}

}  // namespace loom::reproduction
