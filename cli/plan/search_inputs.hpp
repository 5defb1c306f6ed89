// SPDX-License-Identifier: Apache-2.0
// What `loom plan --search` is told, read and judged before anybody searches: a model with its times, the finder's switches, a
// fabric where the result shall be lit, and a saved search that the command line must not contradict.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/plan/search.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"

namespace loom::cli {

struct SearchInputs {
  Search search;
  SearchProblem problem;
  std::uint32_t chains = 0;
  std::shared_ptr<const Fabric> fabric;    ///< null: nothing is to be lit
  std::vector<std::string> assumptions{};  ///< of the model and its times
};

/// Errors: not_found (a model, a file), invalid_argument (an option or setting that a search does not obey, with where it does;
/// what contradicts a saved search; a fabric whose servers cannot have the topology), invalid_config, out_of_range, and those
/// of the model, its times and the saved search.
Result<SearchInputs> read_search_inputs(const PlanCommand& order);

/// The model that is named, in whichever of the ways. Empty: none is.
std::string searched_model(const PlanCommand& order);

}  // namespace loom::cli
