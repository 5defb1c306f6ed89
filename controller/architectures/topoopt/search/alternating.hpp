// SPDX-License-Identifier: Apache-2.0
// TopoOpt's alternating optimisation (docs/systems/topoopt.md#alternating-optimisation): a Markov chain over strategies by
// Metropolis' rule, whose topology is found anew from the traffic of what it accepts. A chain is a value that advances by
// step(); whoever wants several in parallel or a deadline keeps that to himself. Steps are costed by StrategyClock, the best of
// them judged by the prediction engine.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/architectures/topoopt/search/moves.hpp"
#include "controller/architectures/topoopt/search/strategy_clock.hpp"
#include "controller/predict/networks/network_terms.hpp"
#include "core/planning.hpp"

namespace loom {

struct SearchProblem {
  OpGraph graph;
  OpTimes times;
  NetworkTerms terms;  ///< rate: of one link; nodes: as the graph's
  InServer server{};
  std::optional<Network> fixed{};  ///< a network that stays as it is (a switch, a tree): only the strategy is searched
};

/// Defaults: the authors', where they are known (docs/systems/topoopt.md#alternating-optimisation).
struct SearchOptions {
  FinderOptions finder = as_in_code_release(4);
  MoveOptions moves{};
  std::uint64_t steps = 5000;        ///< proposals; 4000 to 8000 in the authors' scripts
  double alpha = 0.05;               ///< of Metropolis' rule, 1/ms; the code's default is 1.0, its README runs 0.05
  double topology_alpha = 0.5;       ///< the same for a new topology
  std::uint32_t patience = 50;       ///< accepted strategies in a row that did not improve, then a new topology whatever comes
  std::uint64_t reset_span = 0;      ///< the chain goes back to its best every so many steps; 0: steps / 100 within 1 .. 1000
  std::uint64_t judge_span = 1;      ///< the cheapest is predicted every so many resets, and when run() ends; 0: only then
  bool starts_data_parallel = true;  ///< otherwise from a random strategy
  std::uint64_t seed = 1;
};

/// A strategy and its topology. Times in ms.
struct SearchPoint {
  Strategy strategy;
  DirectTopology topology;  ///< empty where the network is fixed
  double cost_ms = 0;       ///< by StrategyClock
  double predicted_ms = 0;  ///< by Predictor; 0: not judged
};

/// Everything that a chain remembers: kept and handed to resume(), it goes on as if it had not been stopped.
struct SearchState {
  std::uint64_t step = 0;
  Draws draws;
  SearchPoint current;
  SearchPoint cheapest;          ///< by cost
  SearchPoint best;              ///< by prediction, of those that were judged
  double first_ms = 0;           ///< prediction of the start
  double topology_ms = 0;        ///< cost of the strategy that the topology was last found for
  std::uint32_t unimproved = 0;  ///< accepted since without a topology
  double judged_ms = 0;          ///< cost of the last one judged
  std::uint64_t unchanged = 0;   ///< proposals that were the current strategy
  std::uint64_t accepted = 0;    ///< others
  std::uint64_t topologies = 0;  ///< found
  std::uint64_t judged = 0;      ///< predictions
};

class AlternatingSearch {
 public:
  /// Errors: those of check(graph), find_topology, the network's builders and Predictor; invalid_argument (nodes of the terms
  /// and the graph differ, chances outside 0 .. 1, negative alphas, no steps).
  static Result<AlternatingSearch> make(SearchProblem problem, const SearchOptions& options);
  /// `state`: of a search with this problem and these options. Errors: as make(); invalid_argument (a strategy of another
  /// graph).
  static Result<AlternatingSearch> resume(SearchProblem problem, const SearchOptions& options, SearchState state);

  /// One proposal. Errors: of find_topology, the network's builders and, every reset span, Predictor.
  Result<void> step();
  bool is_done() const { return state_.step >= options_.steps; }
  /// Steps until done, `budget.steps` are used up or a stop is asked for, and judges what it has: usable whenever it returns.
  Result<void> run(const Budget& budget);
  /// Predicts the cheapest, if it has not been.
  Result<void> judge();

  const SearchState& state() const { return state_; }
  const SearchProblem& problem() const { return *problem_; }

 private:
  AlternatingSearch() = default;
  static Result<AlternatingSearch> begin(SearchProblem problem, const SearchOptions& options);
  Result<void> settle(const DirectTopology& topology);
  Result<void> consider_topology(double cost_ms);
  void note_cheapest();
  double cost_ms(const Strategy& strategy, double limit_ms);
  std::uint64_t reset_span() const;

  std::unique_ptr<const SearchProblem> problem_;
  SearchOptions options_;
  std::unique_ptr<StrategyClock> clock_;
  std::unique_ptr<Moves> moves_;
  LinkLoads loads_;  ///< of the current topology
  SearchState state_;
};

/// Traffic of a strategy, as finder_demand() of its task graph counts it.
FinderDemand demand_of(const OpGraph& graph, const Strategy& strategy);

/// One iteration, ms, of a strategy's task graph on a topology, by the prediction engine. Errors: those of graph_of, network_of
/// and Predictor.
Result<double> predicted_ms(const SearchProblem& problem, const Strategy& strategy, const DirectTopology& topology);

}  // namespace loom
