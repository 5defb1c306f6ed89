// SPDX-License-Identifier: Apache-2.0
// TopoOpt's own jobs with the authors' measured compute times, as problems for the strategy search. For this folder only.
#pragma once

#include <string>
#include <string_view>

#include "controller/architectures/topoopt/search/alternating.hpp"

namespace loom::reproduction {

/// `model`: "candle-16" and so on, of topoopt_model(); links of `rate` and 1 us. Errors: not_found (the measurements), and
/// those of the model and its times.
Result<SearchProblem> topoopt_problem(const std::string& data, std::string_view model, BitRate rate);

/// CANDLE on 16 servers with `degree` links of 100 Gb/s, its strategy and topology searched: one iteration in ms. Errors: of
/// topoopt_problem and of the search.
Result<double> searched_candle_ms(const std::string& data, std::uint32_t degree);
/// CANDLE on 16 servers with the strategy that the same search finds for an ideal switch of `rate`. Errors: as above.
Result<TaskGraph> candle_for_a_switch(const std::string& data, BitRate rate);

}  // namespace loom::reproduction
