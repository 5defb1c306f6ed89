// SPDX-License-Identifier: Apache-2.0
// The alternating optimisation on TopoOpt's jobs: proposals a second, and what the search finds beside the published figure.
// Reads the authors' measurements from LIGHTLOOM_DATA (default: shared/data beside the source tree); says so where they are
// absent.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/architectures/topoopt/search/alternating.hpp"

using namespace loom;

namespace {

struct Case {
  const char* model;
  const char* measures;
  std::uint32_t degree;
  double published_ms;  ///< docs/systems/topoopt.md#iteration-times: best of the seeds; 0: none
  std::uint64_t steps;
  double target;  ///< proposals a second
};

std::string data_folder() {
  const char* folder = std::getenv("LIGHTLOOM_DATA");
  return folder != nullptr ? folder : LOOM_SOURCE_DIR "/../shared/data";
}

Result<SearchProblem> problem_of(const Case& of) {
  auto measures = load_measures(data_folder() + "/measures/" + of.measures);
  if (!measures) {
    return std::unexpected(measures.error());
  }
  auto graph = topoopt_model(of.model);
  auto times = times_of(*graph, *measures);
  if (!times) {
    return std::unexpected(times.error());
  }
  NetworkTerms terms;
  terms.nodes = graph->nodes;
  terms.rate = gigabits(100);
  terms.link_latency = std::chrono::microseconds{1};
  return SearchProblem{std::move(*graph), std::move(*times), terms, {}};
}

struct Chain {
  SearchState state;
  double seconds = 0;   ///< all of it
  double stepping = 0;  ///< without the first and the last prediction
  std::string fault;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void search(const SearchProblem& problem, const SearchOptions& options, Chain& chain) {
  const auto start = std::chrono::steady_clock::now();
  auto made = AlternatingSearch::make(problem, options);
  if (!made) {
    chain.fault = made.error().message;
    return;
  }
  const auto stepping = std::chrono::steady_clock::now();
  while (!made->is_done() && chain.fault.empty()) {
    const auto done = made->step();
    chain.fault = done ? "" : done.error().message;
  }
  chain.stepping = seconds_since(stepping);
  const auto judged = made->judge();
  chain.fault += judged ? "" : judged.error().message;
  chain.seconds = seconds_since(start);
  chain.state = made->state();
}

/// One chain a thread, seeds in a row.
std::vector<Chain> in_parallel(const SearchProblem& problem, SearchOptions options, std::uint32_t chains) {
  std::vector<Chain> results(chains);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < chains; ++i) {
    threads.emplace_back([&problem, &results, options, i]() mutable {
      options.seed += i;
      search(problem, options, results[i]);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return results;
}

void print(const Case& of, const char* what, const SearchOptions& options, const SearchProblem& problem,
           const std::vector<Chain>& chains) {
  double rate = 0;
  const Chain* best = &chains.front();
  for (const Chain& chain : chains) {
    if (!chain.fault.empty()) {
      std::printf("%s d=%u: %s\n", of.model, of.degree, chain.fault.c_str());
      return;
    }
    rate += static_cast<double>(chain.state.step) / chain.stepping;
    best = chain.state.best.predicted_ms < best->state.best.predicted_ms ? &chain : best;
  }
  const SearchState& state = best->state;
  std::printf(
      "%-10s d=%u %-14s seed %llu+%zu alpha %.2f: %llu proposals a chain, %.2f s, %.0f proposals a second (target %.0f)\n",
      of.model, of.degree, what, static_cast<unsigned long long>(options.seed), chains.size() - 1, options.alpha,
      static_cast<unsigned long long>(state.step), best->seconds, rate, of.target);
  std::printf(
      "           start %.2f ms, best %.2f ms (cost %.2f), published %.2f, ratio %.3f; accepted %.1f %%, unchanged %.1f %%, "
      "%llu topologies, %llu judged\n",
      state.first_ms, state.best.predicted_ms, state.best.cost_ms, of.published_ms,
      of.published_ms > 0 ? state.best.predicted_ms / of.published_ms : 0.0,
      100.0 * static_cast<double>(state.accepted) / static_cast<double>(state.step),
      100.0 * static_cast<double>(state.unchanged) / static_cast<double>(state.step),
      static_cast<unsigned long long>(state.topologies), static_cast<unsigned long long>(state.judged));
  std::string jumps;
  for (const std::uint32_t jump : state.best.topology.jumps) {
    jumps += " " + std::to_string(jump);
  }
  std::printf("           jumps%s, %zu pairs; %s\n", jumps.c_str(), state.best.topology.pairs.size(),
              describe(problem.graph, state.best.strategy).c_str());
  std::fflush(stdout);
}

/// Usage: topoopt_search [model] [degree] [steps] [alpha] [seed] [random|paper|2021|span<steps>|switch<Gb/s> ...]; without
/// arguments, all cases.
void run(const Case& of, int count, char** arguments) {
  auto problem = problem_of(of);
  if (!problem) {
    std::printf("skipped: %s\n", problem.error().message.c_str());
    return;
  }
  SearchOptions options;
  options.steps = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : of.steps;
  options.alpha = count > 4 ? std::strtod(arguments[4], nullptr) : options.alpha;
  options.seed = count > 5 ? std::strtoull(arguments[5], nullptr, 10) : 1;
  options.finder = as_in_code_release(of.degree);
  options.judge_span = problem->graph.nodes > 16 ? 0 : 1;  // one prediction of 128 servers takes seconds
  std::string what = "release";
  for (int i = 6; i < count; ++i) {
    const bool is_paper = std::strcmp(arguments[i], "paper") == 0;
    const bool is_2021 = std::strcmp(arguments[i], "2021") == 0;
    options.finder = is_paper ? as_in_paper(of.degree) : is_2021 ? as_in_code_2021(of.degree) : options.finder;
    options.starts_data_parallel = options.starts_data_parallel && std::strcmp(arguments[i], "random") != 0;
    if (std::strncmp(arguments[i], "span", 4) == 0) {
      options.reset_span = std::strtoull(arguments[i] + 4, nullptr, 10);
    }
    if (std::strncmp(arguments[i], "switch", 6) == 0) {
      NetworkTerms port = problem->terms;
      port.rate = gigabits(std::strtoll(arguments[i] + 6, nullptr, 10));
      problem->fixed = *make_ideal_switch(port);
    }
    what += std::string(" ") + arguments[i];
  }
  print(of, what.c_str(), options, *problem, in_parallel(*problem, options, 2));
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<Case> cases{{"vgg16-16", "vgg16.json", 4, 100.559, 20'000, 20'000},
                                {"vgg16-16", "vgg16.json", 8, 100.559, 20'000, 20'000},
                                {"bert-16", "transformer16.json", 4, 62.815, 6'000, 0},
                                {"bert-16", "transformer16.json", 8, 62.644, 6'000, 0},
                                {"dlrm-16", "dlrm16.json", 4, 23.16, 20'000, 4'000},
                                {"dlrm-16", "dlrm16.json", 8, 15.19, 20'000, 4'000},
                                {"candle-16", "candle16.json", 4, 225.222, 20'000, 4'000},
                                {"candle-16", "candle16.json", 8, 131.546, 20'000, 4'000},
                                {"dlrm-128", "dlrm128.json", 4, 0, 2'000, 200}};
  for (const Case& each : cases) {
    const bool is_wanted = (count < 2 || std::strcmp(arguments[1], each.model) == 0 || std::strcmp(arguments[1], "all") == 0) &&
                           (count < 3 || std::strtoul(arguments[2], nullptr, 10) == each.degree || arguments[2][0] == '0');
    if (is_wanted) {
      run(each, count, arguments);
    }
  }
  return 0;
}
