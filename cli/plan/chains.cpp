// SPDX-License-Identifier: Apache-2.0
// Chains side by side: whoever is free takes the next one, and all meet again a few times a second.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "cli/plan/search.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMeetEvery = 0.25;  ///< s
constexpr std::uint64_t kSliceMost = 1U << 20;

struct Chain {
  std::unique_ptr<AlternatingSearch> search;
  std::optional<Error> fault;
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

template <class Work>
void on_threads(std::uint32_t threads, std::size_t chains, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto serve = [&] {
    for (std::size_t chain = next++; chain < chains; chain = next++) {
      work(chain);
    }
  };
  std::vector<std::jthread> others;
  for (std::uint32_t i = 1; i < std::min<std::size_t>(std::max(threads, 1U), chains); ++i) {
    others.emplace_back(serve);
  }
  serve();
}

void begin(const SearchProblem& problem, const Search& search, std::size_t index, Chain& chain) {
  SearchOptions options = search.options;
  options.seed += index;
  auto made = index < search.chains.size() ? AlternatingSearch::resume(problem, options, search.chains[index])
                                           : AlternatingSearch::make(problem, options);
  if (made) {
    chain.search = std::make_unique<AlternatingSearch>(*std::move(made));
  } else {
    chain.fault = std::move(made).error();
  }
}

void advance(Chain& chain, std::uint64_t slice, const std::function<bool()>& is_over) {
  for (std::uint64_t i = 0; i < slice && !chain.search->is_done() && !is_over(); ++i) {
    if (auto stepped = chain.search->step(); !stepped) {
      chain.fault = std::move(stepped).error();
      return;
    }
  }
}

Result<void> first_fault(const std::vector<Chain>& chains) {
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (chains[i].fault) {
      return fail(chains[i].fault->code, format_text("chain {}: {}", i, chains[i].fault->message));
    }
  }
  return {};
}

std::vector<SearchState> states_of(const std::vector<Chain>& chains) {
  std::vector<SearchState> states;
  for (const Chain& chain : chains) {
    states.push_back(chain.search->state());
  }
  return states;
}

bool is_done(const std::vector<Chain>& chains) {
  return std::all_of(chains.begin(), chains.end(), [](const Chain& chain) { return chain.search->is_done(); });
}

/// Twice or half as much until a slice takes about kMeetEvery.
std::uint64_t next_slice(std::uint64_t slice, double took) {
  const std::uint64_t next = took < kMeetEvery / 2 ? slice * 2 : took > kMeetEvery * 2 ? slice / 2 : slice;
  return std::clamp<std::uint64_t>(next, 1, kSliceMost);
}

}  // namespace

std::size_t best_of(const std::vector<SearchState>& chains) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < chains.size(); ++i) {
    best = chains[i].best.predicted_ms < chains[best].best.predicted_ms ? i : best;
  }
  return best;
}

Result<SearchOutcome> run_search(const SearchProblem& problem, Search search, std::uint32_t count, const SearchRun& run) {
  const auto start = Clock::now();
  std::vector<Chain> chains(std::max<std::size_t>(count, search.chains.size()));
  on_threads(run.threads, chains.size(), [&](std::size_t i) { begin(problem, search, i, chains[i]); });
  LOOM_TRY(first_fault(chains));
  for (std::uint64_t slice = 1; !is_done(chains) && !run.is_over();) {
    const auto met = Clock::now();
    on_threads(run.threads, chains.size(), [&](std::size_t i) { advance(chains[i], slice, run.is_over); });
    LOOM_TRY(first_fault(chains));
    slice = next_slice(slice, seconds_since(met));
    if (run.tell) {
      search.chains = states_of(chains);
      run.tell(search, seconds_since(start));
    }
  }
  SearchOutcome outcome;
  outcome.was_cut_short = !is_done(chains);
  search.chains = states_of(chains);
  outcome.search = std::move(search);
  on_threads(run.threads, chains.size(), [&](std::size_t i) {
    if (auto judged = chains[i].search->judge(); !judged) {
      chains[i].fault = std::move(judged).error();
    }
  });
  LOOM_TRY(first_fault(chains));
  outcome.judged = states_of(chains);
  return outcome;
}

}  // namespace loom::cli
