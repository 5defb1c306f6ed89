// TopoOpt's own jobs with the authors' measured compute times, as problems for the strategy search. For this folder only.
#pragma once

#include <string>
#include <string_view>

#include "controller/schedule/topoopt/alternating.hpp"

namespace loom::reproduction {

/// `model`: "candle-16" and so on, of topoopt_model(); links of `rate` and 1 us. Errors: not_found (the measurements), and
/// those of the model and its times.
Result<SearchProblem> topoopt_problem(const std::string& data, std::string_view model, BitRate rate);

/// One iteration in ms of a strategy on the topology that is found for it. Errors: of find_topology and predicted_ms.
Result<double> on_found_topology(const SearchProblem& problem, const Strategy& strategy, std::uint32_t degree);

}  // namespace loom::reproduction
