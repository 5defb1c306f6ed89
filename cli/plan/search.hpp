// SPDX-License-Identifier: Apache-2.0
// loom plan --search: TopoOpt's alternating optimisation in parallel chains, with live progress, a deadline, interruption, and
// a file to go on from. Chain k has seed + k, and the best is chosen by value and then by index, so that nothing depends on how
// many threads there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/plan/plan.hpp"
#include "controller/architectures/topoopt/search/alternating.hpp"
#include "controller/workload/settings.hpp"

namespace loom::cli {

/// A search as it stands: what is saved and resumed.
struct Search {
  std::string model;
  std::uint32_t nodes = 0;  ///< 0: the model's own
  Settings settings;        ///< of the model
  std::string measures;     ///< digest of the times, so that a file of other ones is refused
  SearchOptions options;    ///< of chain 0; chain k has seed + k
  BitRate link{};
  std::vector<SearchState> chains;
};

/// Index of the best chain: least prediction, of equal ones the lowest. Precondition: there is one.
std::size_t best_of(const std::vector<SearchState>& chains);

struct SearchRun {
  std::uint32_t threads = 1;
  std::function<bool()> is_over;  ///< asked before every proposal, from every thread
  std::function<void(const Search&, double)>
      tell;  ///< every quarter of a second or so: where it stands, seconds since the start
};

/// Begins the chains that have no state yet, steps all until done or over, and judges what there is. `search.chains` of the
/// answer are as before that last judgement where it was cut short, so that resuming is as if it had not been; `judged` is what
/// to show. Errors: those of AlternatingSearch, naming the chain.
struct SearchOutcome {
  Search search;
  std::vector<SearchState> judged;
  bool was_cut_short = false;
};
Result<SearchOutcome> run_search(const SearchProblem& problem, Search search, std::uint32_t chains, const SearchRun& run);

/// With a search: that no option is given which a search does not obey. Errors: invalid_argument, naming the first one, and
/// why.
Result<void> check_search_options(const PlanCommand& order);
/// Without a search: that no option is given which only a search obeys. Errors: invalid_argument, naming the first one.
Result<void> check_no_search(const PlanCommand& order);

/// The command. Exit code 130 after Ctrl-C, with the best so far printed.
int plan_by_search(const Globals& globals, const PlanCommand& order);

}  // namespace loom::cli
