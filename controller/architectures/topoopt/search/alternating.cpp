// SPDX-License-Identifier: Apache-2.0
// The chain: propose, cost, accept, and now and then another topology. Who calls step(), and how often, is not known here.
#include "controller/architectures/topoopt/search/alternating.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "controller/architectures/topoopt/network.hpp"
#include "controller/predict/engine/predictor.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::unexpected<Error> refuse(const std::string& what) {
  return fail(ErrorCode::invalid_argument, "alternating optimisation: " + what);
}

Result<void> check_search(const SearchProblem& problem, const SearchOptions& options) {
  LOOM_TRY(check(problem.graph));
  if (problem.times.lawful.size() != problem.graph.operators.size()) {
    return refuse(
        format_text("times of {} operators for a graph of {}", problem.times.lawful.size(), problem.graph.operators.size()));
  }
  const std::uint32_t nodes = problem.fixed ? problem.fixed->end_points : problem.terms.nodes;
  if (nodes != problem.graph.nodes) {
    return refuse(format_text("a network of {} nodes for a graph of {}", nodes, problem.graph.nodes));
  }
  const auto is_chance = [](double value) { return value >= 0 && value <= 1; };
  if (!is_chance(options.moves.propagation) || !is_chance(options.moves.goes_on) || !is_chance(options.moves.size_weight)) {
    return refuse("a chance outside 0 to 1");
  }
  if (!(options.alpha >= 0) || !(options.topology_alpha >= 0) || options.steps == 0) {
    return refuse("an alpha below 0, or no steps");
  }
  return {};
}

Result<Network> network_for(const SearchProblem& problem, const DirectTopology& topology) {
  return problem.fixed ? Result<Network>{*problem.fixed} : network_of(problem.terms, topology);
}

/// Empty where the network is fixed.
Result<DirectTopology> topology_for(const SearchProblem& problem, const Strategy& strategy, const FinderOptions& finder) {
  if (problem.fixed) {
    DirectTopology none;
    none.nodes = problem.graph.nodes;
    return none;
  }
  return find_topology(demand_of(problem.graph, strategy), finder);
}

bool is_same(const DirectTopology& a, const DirectTopology& b) {
  return a.jumps == b.jumps && a.pairs == b.pairs && a.rings == b.rings;
}

}  // namespace

FinderDemand demand_of(const OpGraph& graph, const Strategy& strategy) {
  const std::uint32_t nodes = graph.nodes;
  std::map<OpPlacement, std::int64_t> reduces;
  std::vector<std::int64_t> pairs(std::size_t{nodes} * nodes);
  for (std::uint32_t op = 0; op < strategy.size(); ++op) {
    const OpPlacement& to = strategy[op];
    if (to.parts > 1) {
      reduces[to] += parameter_bytes(graph.operators[op]).count;
    }
    for (const std::uint32_t input : graph.operators[op].inputs) {
      const OpPlacement& from = strategy[input];
      const std::int64_t a_sample = moved_bytes(graph, input, op);
      for (std::uint32_t b = 0; b < to.parts; ++b) {
        for (std::uint32_t a = b * from.parts / to.parts; a <= ((b + 1) * from.parts - 1) / to.parts; ++a) {
          const std::uint32_t source = from.first + a * (nodes / from.parts);
          const std::uint32_t destination = to.first + b * (nodes / to.parts);
          const std::int64_t bytes = a_sample * shared_samples(graph.samples, from.parts, a, to.parts, b);
          pairs[std::size_t{source} * nodes + destination] += bytes;
          pairs[std::size_t{destination} * nodes + source] += bytes;  // its gradients
        }
      }
    }
  }
  FinderDemand demand{nodes, {}, {}};
  for (const auto& [at, bytes] : reduces) {
    ReduceDemand& reduce = demand.reduces.emplace_back();
    for (std::uint32_t part = 0; bytes > 0 && part < at.parts; ++part) {
      reduce.members.push_back(at.first + part * (nodes / at.parts));
    }
    reduce.bytes = bytes;
  }
  std::erase_if(demand.reduces, [](const ReduceDemand& each) { return each.bytes == 0; });
  for (std::uint32_t source = 0; source < nodes; ++source) {
    for (std::uint32_t destination = 0; destination < nodes; ++destination) {
      const std::int64_t bytes = pairs[std::size_t{source} * nodes + destination];
      if (source != destination && bytes > 0) {
        demand.pairs.push_back({source, destination, bytes});
      }
    }
  }
  return demand;
}

Result<double> predicted_ms(const SearchProblem& problem, const Strategy& strategy, const DirectTopology& topology) {
  // Weights and bias of an operator in one: several times as fast to play, and 0.1 % apart.
  auto graph = graph_of(problem.graph, problem.times, strategy, {.server = problem.server, .one_reduce_an_operator = true});
  if (!graph) {
    return std::unexpected(graph.error());
  }
  const auto network = network_for(problem, topology);
  if (!network) {
    return std::unexpected(network.error());
  }
  stripe_over_rings(*graph, topology);
  auto predictor = Predictor::make(*graph, *network, {});
  if (!predictor) {
    return std::unexpected(predictor.error());
  }
  const auto iteration = predictor->run();
  if (!iteration) {
    return std::unexpected(iteration.error());
  }
  return *iteration / 1e6;
}

Result<AlternatingSearch> AlternatingSearch::begin(SearchProblem problem, const SearchOptions& options) {
  LOOM_TRY(check_search(problem, options));
  AlternatingSearch search;
  search.problem_ = std::make_unique<const SearchProblem>(std::move(problem));
  search.options_ = options;
  const SearchProblem& held = *search.problem_;
  search.clock_ = std::make_unique<StrategyClock>(held.graph, held.times, held.server);
  search.moves_ = std::make_unique<Moves>(held.graph, held.times, options.moves);
  return search;
}

Result<AlternatingSearch> AlternatingSearch::make(SearchProblem problem, const SearchOptions& options) {
  auto search = begin(std::move(problem), options);
  if (!search) {
    return search;
  }
  const SearchProblem& held = *search->problem_;
  SearchState& state = search->state_;
  state.draws.seed = options.seed;
  state.current.strategy = data_parallel(held.graph, held.times);
  for (std::uint32_t op = 0; !options.starts_data_parallel && op < state.current.strategy.size(); ++op) {
    state.current.strategy[op] = search->moves_->place(op, state.draws);
  }
  const auto topology = topology_for(held, state.current.strategy, options.finder);
  if (!topology) {
    return std::unexpected(topology.error());
  }
  LOOM_TRY(search->settle(*topology));
  state.topology_ms = state.current.cost_ms;
  state.cheapest = state.current;
  LOOM_TRY(search->judge());
  state.first_ms = state.best.predicted_ms;
  return search;
}

Result<AlternatingSearch> AlternatingSearch::resume(SearchProblem problem, const SearchOptions& options, SearchState state) {
  auto search = begin(std::move(problem), options);
  if (!search) {
    return search;
  }
  const SearchProblem& held = *search->problem_;
  for (const SearchPoint* point : {&state.current, &state.cheapest, &state.best}) {
    LOOM_TRY(check(held.graph, held.times, point->strategy));
  }
  const DirectTopology topology = state.current.topology;
  search->state_ = std::move(state);
  LOOM_TRY(search->settle(topology));
  return search;
}

double AlternatingSearch::cost_ms(const Strategy& strategy, double limit_ms) {
  return clock_->iteration_ns(strategy, loads_, limit_ms * 1e6) / 1e6;
}

/// Takes a topology for the current strategy.
Result<void> AlternatingSearch::settle(const DirectTopology& topology) {
  const auto network = network_for(*problem_, topology);
  if (!network) {
    return std::unexpected(network.error());
  }
  auto loads = LinkLoads::make(topology, *network);
  if (!loads) {
    return std::unexpected(loads.error());
  }
  loads_ = std::move(*loads);
  state_.current.topology = topology;
  state_.current.cost_ms = cost_ms(state_.current.strategy, StrategyClock::kTooLong);
  state_.current.predicted_ms = 0;
  return {};
}

void AlternatingSearch::note_cheapest() {
  if (state_.current.cost_ms < state_.cheapest.cost_ms) {
    state_.cheapest = state_.current;
  }
}

/// `cost_ms`: of the strategy that was just accepted. A new topology is taken if the strategy is better than the one that the
/// present topology was found for, by chance if it is not, and in any case when patience is at an end.
Result<void> AlternatingSearch::consider_topology(double cost_ms) {
  if (problem_->fixed) {
    return {};
  }
  const double worse = cost_ms - state_.topology_ms;
  const bool changes = worse < 0 || state_.draws.unit() < std::exp(-options_.topology_alpha * worse) ||
                       state_.unimproved + 1 >= options_.patience;
  if (!changes) {
    ++state_.unimproved;
    return {};
  }
  state_.unimproved = 0;
  const auto topology = topology_for(*problem_, state_.current.strategy, options_.finder);
  if (!topology) {
    return std::unexpected(topology.error());
  }
  ++state_.topologies;
  if (!is_same(*topology, state_.current.topology)) {
    LOOM_TRY(settle(*topology));
  }
  state_.topology_ms = state_.current.cost_ms;
  return {};
}

std::uint64_t AlternatingSearch::reset_span() const {
  return options_.reset_span > 0 ? options_.reset_span : std::clamp<std::uint64_t>(options_.steps / 100, 1, 1000);
}

Result<void> AlternatingSearch::judge() {
  if (state_.judged > 0 && state_.judged_ms == state_.cheapest.cost_ms) {
    return {};
  }
  const auto predicted = predicted_ms(*problem_, state_.cheapest.strategy, state_.cheapest.topology);
  if (!predicted) {
    return std::unexpected(predicted.error());
  }
  state_.cheapest.predicted_ms = *predicted;
  state_.judged_ms = state_.cheapest.cost_ms;
  if (state_.judged++ == 0 || *predicted < state_.best.predicted_ms) {
    state_.best = state_.cheapest;
  }
  return {};
}

Result<void> AlternatingSearch::step() {
  if (state_.step++ % reset_span() == 0 && state_.step > 1) {
    const std::uint64_t resets = (state_.step - 1) / reset_span();
    if (options_.judge_span > 0 && resets % options_.judge_span == 0) {
      LOOM_TRY(judge());
    }
    const bool moved = !is_same(state_.current.topology, state_.cheapest.topology);
    state_.current = state_.cheapest;
    if (moved) {
      LOOM_TRY(settle(state_.cheapest.topology));
    }
    state_.topology_ms = state_.current.cost_ms;
  }
  Strategy proposed = moves_->propose(state_.current.strategy, state_.draws);
  if (proposed == state_.current.strategy) {
    ++state_.unchanged;
    return {};
  }
  // Metropolis' rule, its chance drawn first: what is longer than this is refused, and need not be played to its end.
  const double chance = 1 - state_.draws.unit();
  const double limit =
      options_.alpha > 0 ? state_.current.cost_ms - std::log(chance) / options_.alpha : StrategyClock::kTooLong;
  const double cost = cost_ms(proposed, limit);
  if (cost > limit) {
    return {};
  }
  ++state_.accepted;
  state_.current.strategy = std::move(proposed);
  state_.current.cost_ms = cost;
  state_.current.predicted_ms = 0;
  note_cheapest();
  LOOM_TRY(consider_topology(cost));
  note_cheapest();
  return {};
}

Result<void> AlternatingSearch::run(const Budget& budget) {
  for (std::uint64_t done = 0; !is_done() && done < budget.steps && !budget.stop.stop_requested(); ++done) {
    LOOM_TRY(step());
  }
  return judge();
}

}  // namespace loom
